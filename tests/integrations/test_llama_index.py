"""The LlamaIndex retriever, by the library's own ways of calling one."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("llama_index.core", reason="the extra llama-index is missing")
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode, QueryBundle, TextNode

from kgscout_jax.errors import UserError
from kgscout_jax.integrations.llama_index import KGScoutRetriever

QUESTION = "who directed Alien?"


@pytest.fixture
def retriever(scout, graph) -> KGScoutRetriever:
    return KGScoutRetriever(scout=scout, graph=graph, k=6)


def test_a_node_for_each_triplet_best_first(retriever, scout, graph):
    assert isinstance(retriever, BaseRetriever)
    nodes = retriever.retrieve(QUESTION)
    found = scout.retrieve(QUESTION, graph, 6)
    assert len(nodes) == len(found) == 6
    for rank, (each, row) in enumerate(zip(nodes, found.scored, strict=True), start=1):
        head, relation, tail, score = row
        assert isinstance(each.node, TextNode) and each.score == score
        assert each.node.metadata == {
            "head": head,
            "relation": relation,
            "tail": tail,
            "rank": rank,
        }
        # a model reads the text alone
        assert each.node.get_content(MetadataMode.LLM) == each.node.text
    assert "\n".join(f"- {each.node.text}" for each in nodes) == found.as_text()
    again = retriever.retrieve(QueryBundle(QUESTION))
    assert [each.node.node_id for each in again] == [e.node.node_id for e in nodes]
    assert len({each.node.node_id for each in nodes}) == 6


@pytest.mark.parametrize("form", ["text", "paths"])
def test_one_node_for_all(scout, graph, form):
    retriever = KGScoutRetriever(scout=scout, graph=graph, k=6, form=form)
    (each,) = retriever.retrieve(QUESTION)
    found = scout.retrieve(QUESTION, graph, 6)
    expected = found.as_text() if form == "text" else found.as_paths()
    assert each.node.text == expected
    assert each.node.metadata["topics"] == ["Alien"]


def test_async_gives_the_same(retriever):
    async def work():
        return await asyncio.gather(*(retriever.aretrieve(QUESTION) for _ in range(3)))

    expected = [(e.node.text, e.score) for e in retriever.retrieve(QUESTION)]
    for nodes in asyncio.run(work()):
        assert [(each.node.text, each.score) for each in nodes] == expected


def test_a_query_engine_puts_the_triplets_into_the_prompt(retriever):
    engine = RetrieverQueryEngine.from_args(retriever, llm=MockLLM())
    reply = engine.query(QUESTION)  # the mock replies with the prompt
    for each in retriever.retrieve(QUESTION):
        assert each.node.text in str(reply)
    assert len(reply.source_nodes) == 6


def test_nothing_found_is_no_node(scout, graph):
    for form in ("triplets", "text", "paths"):
        retriever = KGScoutRetriever(
            scout=scout, graph=graph, topics=["Atlantis"], form=form
        )
        assert retriever.retrieve(QUESTION) == []


@pytest.mark.parametrize("field", [{"k": 0}, {"k": True}, {"form": "html"}])
def test_settings_are_checked(scout, graph, field):
    with pytest.raises(UserError, match=next(iter(field))):
        KGScoutRetriever(scout=scout, graph=graph, **field)
