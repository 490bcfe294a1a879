"""Names of entities that are a relation's in a question."""

import pytest

from kgscout_jax.graph.link.asked_relations import without_asked_relations
from kgscout_jax.graph.link.links import Link
from kgscout_jax.text.relation_index import RelationIndex

INDEX = RelationIndex(["license", "publicationYear"])


@pytest.mark.parametrize(
    ("question", "names", "expected"),
    [
        ("Does Fizz have a license?", ["Fizz", "license"], ["Fizz"]),
        ("Is there a license for Fizz?", ["license", "Fizz"], ["Fizz"]),
        ("Does Fizz have any publication year?", ["Fizz", "publication"], ["Fizz"]),
        ("What license does Fizz use?", ["license", "Fizz"], ["Fizz"]),
        ("Do Fizz and Buzz have the same license?", ["Fizz", "license"], ["Fizz"]),
        # What is no relation, and what is asked of the entity itself.
        ("Does Fizz have a publication?", ["Fizz", "publication"], None),
        ("Is Fizz a license?", ["Fizz", "license"], None),
        ("What publication does Fizz have?", ["publication", "Fizz"], None),
        ("Who has a license?", ["license"], None),
    ],
)
def test_a_relation_that_something_has_is_no_topic(question, names, expected):
    places = [(name, question.index(name)) for name in names]
    links = [
        Link(entity=i, name=name, score=1, how="exact", start=at, stop=at + len(name))
        for i, (name, at) in enumerate(places)
    ]
    found = without_asked_relations(question, links, lambda: INDEX)
    assert [link.name for link in found] == (names if expected is None else expected)


def test_a_word_of_a_relation_is_no_misspelt_name():
    def kept(question, name, word):
        at = question.index(word)
        link = Link(
            entity=0, name=name, score=1, how="fuzzy", start=at, stop=at + len(word)
        )
        return without_asked_relations(
            question, [link], lambda: RelationIndex(["hair_color"])
        )

    assert not kept("Who has no hair?", "fair", "hair")
    assert kept("Who is in hairspray?", "Hair", "hairspray")
    assert kept("Who acts in hair?", "Hair and Now", "hair")
