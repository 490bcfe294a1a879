"""Triplets by rules on a parse: each construction of plain English."""

from __future__ import annotations

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.extract.descriptions import Fact
from kgscout_jax.ingest.extract.protocol import NestedTriplet, Node
from kgscout_jax.ingest.extract.syntax import SyntaxExtractor, load_parser


@pytest.fixture(scope="module")
def extractor() -> SyntaxExtractor:
    return SyntaxExtractor()


def nested(*parts: Node) -> NestedTriplet:
    head, relation, tail = parts
    assert isinstance(relation, str)
    return NestedTriplet(head, relation, tail)


BORN = nested("Ada", "born in", "London")
FAMILY_GUY = nested("Seth MacFarlane", "created", "Family Guy")
CASES = {
    "Ada was born in London in 1815.": [BORN, nested(BORN, "in", "1815")],
    "Seth MacFarlane created Family Guy in 1999.": [
        FAMILY_GUY,
        nested(FAMILY_GUY, "in", "1999"),
    ],
    "In 1999, Seth MacFarlane created Family Guy.": [
        FAMILY_GUY,
        nested(FAMILY_GUY, "in", "1999"),
    ],
    "The capital of France is Paris.": [nested("France", "capital", "Paris")],
    "Kai Wegner is the mayor of Berlin.": [nested("Berlin", "mayor", "Kai Wegner")],
    "Kenya's capital is Nairobi, and its currency is the Kenyan shilling.": [
        nested("Kenya", "capital", "Nairobi"),
        nested("Kenya", "currency", "Kenyan shilling"),
    ],
    "Anna Berg, a writer, wrote Blue Hills and Cold Sea.": [
        nested("Anna Berg", "is a", "writer"),
        nested("Anna Berg", "wrote", "Blue Hills"),
        nested("Anna Berg", "wrote", "Cold Sea"),
    ],
    "Paris, the capital of France, lies on the Seine.": [
        nested("France", "capital", "Paris"),
        nested("Paris", "lies on", "Seine"),
    ],
    "The novel was written by Ernest Hemingway.": [
        nested("Ernest Hemingway", "wrote", "novel")
    ],
    "Elizabeth Taylor married Michael Wilding, who died in Chichester.": [
        nested("Elizabeth Taylor", "married", "Michael Wilding"),
        nested("Michael Wilding", "died in", "Chichester"),
    ],
    "Lyon is a large city in France. The city has 500,000 inhabitants.": [
        nested("Lyon", "is a", "large city"),
        nested("Lyon", "large city in", "France"),
        nested("Lyon", "has", "500,000 inhabitants"),
    ],
    "Tokyo did not host the 1960 Olympics.": [
        nested("Tokyo", "not host", "1960 Olympics")
    ],
    "John Smith said that Anna Berg died in Rome.": [
        nested("John Smith", "said", nested("Anna Berg", "died in", "Rome"))
    ],
    "Acme has its seat in Ohio.": [nested("Acme", "seat in", "Ohio")],
    "If Anna wins, Bob leaves Rome in May.": [],
    "Who founded Acme in Ohio?": [],
    "Germany shares borders with France and Poland.": [
        nested("Germany", "shares borders with", "France"),
        nested("Germany", "shares borders with", "Poland"),
    ],
    "Trinidad and Tobago is an island country.": [
        nested("Trinidad and Tobago", "is a", "island country")
    ],
    "A topic is a named stream of messages.": [
        nested("topic", "named stream of", "messages"),
        nested("topic", "is a", "named stream of messages"),
    ],
    "Norway has been a member of NATO since 1949.": [
        nested("Norway", "member of", "NATO"),
        nested("Norway", "is a", "member of NATO"),
        nested(nested("Norway", "member of", "NATO"), "since", "1949"),
    ],
    "Tern is no database, because there is no standard way to store it.": [
        nested("Tern", "not is", "database")
    ],
    "Acme employs 1,850 people in four countries.": [
        nested("Acme", "employs", "1,850 people"),
        nested(nested("Acme", "employs", "1,850 people"), "in", "four countries"),
    ],
    "Acme runs a factory in Oslo.": [
        nested("Acme", "runs", "factory"),
        nested("Acme", "runs factory in", "Oslo"),
    ],
    "Lise Meitner moved to Berlin in 1907, where she worked with Otto Hahn.": [
        nested("Lise Meitner", "moved to", "Berlin"),
        nested(nested("Lise Meitner", "moved to", "Berlin"), "in", "1907"),
        nested("Lise Meitner", "worked with", "Otto Hahn"),
    ],
}


@pytest.mark.parametrize("text", CASES)
def test_a_plain_sentence_gives_its_facts(extractor: SyntaxExtractor, text: str):
    triplets = [span.triplet for span in extractor.extract([text])[0].triplets]
    assert triplets == CASES[text]


def test_a_pronoun_stands_for_the_subject_before_it(extractor: SyntaxExtractor):
    text = "Ada Lovelace lived in London. She wrote a program. Her father was Byron."
    labels = [span.triplet.label for span in extractor.extract([text])[0].triplets]
    assert "Ada Lovelace wrote program" in labels
    assert "Ada Lovelace father Byron" in labels


def test_a_role_without_an_owner_is_one_in_what_the_text_is_about(
    extractor: SyntaxExtractor,
):
    text = "Halden Paper makes paper. Ingrid Solberg is the chief executive."
    labels = [span.triplet.label for span in extractor.extract([text])[0].triplets]
    assert "Halden Paper chief executive Ingrid Solberg" in labels


def test_a_person_is_known_by_a_part_of_the_name(extractor: SyntaxExtractor):
    text = (
        "Anna Berg and Tomas Lind founded Acme in Oslo. Berg studied in Rome. "
        "Clara Lind left Acme. Lind moved to Paris. Henry Ford founded Ford."
    )
    labels = [span.triplet.label for span in extractor.extract([text])[0].triplets]
    assert "Anna Berg studied in Rome" in labels
    assert "Lind moved to Paris" in labels  # one of two
    assert "Henry Ford founded Ford" in labels  # a company


def test_a_line_of_key_and_value_is_about_the_heading(extractor: SyntaxExtractor):
    text = (
        "Acme Group\n\nCEO: Anna Berg\n\nNumber of staff: 4,200\n\nNote: see above: all"
    )
    triplets = [span.triplet for span in extractor.extract([text])[0].triplets]
    assert triplets[:2] == [
        nested("Acme Group", "CEO", "Anna Berg"),
        nested("Acme Group", "number of staff", "4,200"),
    ]
    (alone,) = extractor.extract(["Number of staff: 4,200"])
    assert alone.triplets == ()
    # the nearest heading is none: nothing is said of one further up
    (other,) = extractor.extract(["Acme\n\nHow to get help and ask\n\nPhone: 12"])
    assert other.triplets == ()


def test_a_range_holds_the_words_of_its_fact(extractor: SyntaxExtractor):
    text = "It rained.\nParis was captured by the Germans in 1940. Nobody slept."
    spans = extractor.extract([text, text])[1].triplets
    assert [text[span.start : span.end] for span in spans] == [
        "Paris was captured by the Germans",
        "Paris was captured by the Germans in 1940",
    ]


def test_a_range_runs_forward_where_a_clause_stands_before_its_subject():
    assert Fact(BORN, 7, 3).tokens == Fact(BORN, 3, 7).tokens == (3, 7)


def test_a_hypernode_is_labelled_with_its_full_meaning():
    triplet = nested(nested(BORN, "in", "1815"), "says", BORN)
    assert triplet.label == "Ada born in London in 1815 says Ada born in London"
    assert list(triplet.hypernodes()) == [BORN, nested(BORN, "in", "1815"), BORN]


def test_a_parser_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"pip install 'kgscout-jax\[ingest\]'"):
        load_parser.__wrapped__()
