"""Names of a question that a graph does not hold."""

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.absent_names import absent_names
from kgscout_jax.graph.link.elliptic_names import with_elliptic_names
from kgscout_jax.graph.link.graph_index import linker_of

GRAPH = KnowledgeGraph.from_triplets([
    ("Vivien Leigh", "award", "Best actress"),
    ("Vivien Leigh", "born in", "India"),
    ("Vivien Leigh", "movie", "Gone with the Wind"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who won best actress for Casablanca?", ("Casablanca",)),
        ("Which movie did Vivien Smith star in?", ("Smith",)),
        ("Which Movie did Vivien Leigh win for?", ()),  # a relation
        ("Which Indian won best actress in May?", ()),  # a word for what is from India
        ("What is the VAT of Vivien Leigh?", ()),  # an abbreviation
        ("Tell me this: Where was she born?", ()),  # begins a sentence
        ("who won best actress for casablanca", ()),
        ("Who Won Best Actress For Casablanca", ()),
        ("who won the well-known best-actress award", ()),
    ],
)
def test_a_capital_that_no_name_and_no_relation_has_is_absent(question, expected):
    links = linker_of(GRAPH).link(question)
    assert absent_names(question, links, GRAPH) == expected


def test_an_identifier_is_absent_from_a_graph_of_identifiers():
    services = ("search-api", "mail-sender", "user_profile")
    graph = KnowledgeGraph.from_triplets([(s, "owned_by", "Core") for s in services])
    for question, expected in (
        ("which team owns the billing-portal service", ("billing-portal",)),
        ("which team owns search-api", ()),
    ):
        links = linker_of(graph).link(question)
        assert absent_names(question, links, graph) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("who designed Edinburgh Castle", ("Edinburgh Castle",)),
        ("who designed the castle in Edinburgh", ()),
        ("who designed Pena Castle", ()),  # Pena is one
        ("who of Edinburgh designed Pena Castle", ()),
    ],
)
def test_a_name_of_an_entity_and_a_class_is_absent_unless_it_is_of_it(
    question, expected
):
    graph = KnowledgeGraph.from_triplets([
        ("Pena", "type", "Castle"), ("Leeds", "type", "Castle"),
        ("Ann", "designed", "Pena"), ("Ann", "born in", "Edinburgh"),
    ])  # fmt: skip
    links = linker_of(graph).link(question)
    assert absent_names(question, links, graph) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is the Department of Music?", ("Department of Music",)),
        ("Where is the Department of Physics?", ()),
        ("Where is the Department of Phsyics?", ()),
    ],
)
def test_a_name_that_shares_its_first_word_with_another_is_absent(question, expected):
    graph = KnowledgeGraph.from_triplets([
        ("Department of Physics", "in", "Hall A"), ("Ann", "teaches", "Music Theory"),
    ])  # fmt: skip
    links = linker_of(graph).link(question)
    assert absent_names(question, links, graph) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which drugs target JAK2?", ("JAK2",)),
        ("Which drugs target EGFR1?", ()),
        ("Which genes are associated with lupus?", ("lupus",)),
        ("Which genes are associated with asthma?", ()),
        ("Which genes are found in the city?", ()),
    ],
)
def test_codes_and_rare_nouns_that_nothing_has_are_absent(question, expected):
    rows = [
        ("EGFR1", "type", "gene"),
        ("BRCA2", "type", "gene"),
        ("EGFR1", "associated_with", "asthma"),
        ("Gefitinib", "targets", "EGFR1"),
        ("Gefitinib", "type", "drug"),
    ]
    graph = KnowledgeGraph.from_triplets(rows)
    links = linker_of(graph).link(question)
    assert absent_names(question, links, graph) == expected


def test_names_that_share_their_beginning_are_all_found():
    prizes = [
        "Nobel Prize in Physics",
        "Nobel Prize in Chemistry",
        "Nobel Prize in Peace",
    ]
    graph = KnowledgeGraph.from_triplets([("Marie Curie", "won", p) for p in prizes])
    question = "Who won Nobel Prizes in both Physics and Chemistry?"
    links = with_elliptic_names(question, linker_of(graph).link(question), graph)
    found = {link.name: question[link.start : link.stop] for link in links}
    assert found == {
        "Nobel Prize in Physics": "Physics",
        "Nobel Prize in Chemistry": "Chemistry",
    }


def test_a_name_that_shares_a_word_with_another_is_absent():
    rows = [("King Duncan", "role in", "Macbeth"), ("Ann Lee", "directed", "Macbeth")]
    graph = KnowledgeGraph.from_triplets(rows)
    for question, expected in (
        ("Who directed King Lear?", ("Lear",)),
        ("Who directed Macbeth?", ()),
    ):
        links = linker_of(graph).link(question)
        assert absent_names(question, links, graph) == expected
