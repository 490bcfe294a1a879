"""Languages that share their name with what is from a country."""

import pytest

from kgscout_jax import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.graph.link.languages import with_languages

GRAPH = KnowledgeGraph.from_triplets([
    ("Germany", "official language", "German"), ("Austria", "speaks", "German"),
    ("Acme", "country", "Germany"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Which countries speak German?", "German"),
        ("What country has the official language German?", "German"),
        ("Which language is spoken in Germany?", "Germany"),
    ],
)
def test_words_around_tell_a_language_from_its_country(question, name):
    links = with_languages(question, linker_of(GRAPH).link(question), GRAPH)
    assert [link.name for link in links] == [name]
    assert GRAPH.entities[links[0].entity] == name
