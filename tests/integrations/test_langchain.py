"""The LangChain retriever, by the library's own ways of calling one."""

from __future__ import annotations

import asyncio
import dataclasses
import json

import pytest

pytest.importorskip("langchain_core", reason="the extra langchain is not installed")
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from pydantic import ValidationError

from kgscout_jax.integrations.langchain import KGScoutRetriever, documents_of
from kgscout_jax.types import Answer

QUESTION = "who directed Alien?"


@pytest.fixture
def retriever(scout, graph) -> KGScoutRetriever:
    return KGScoutRetriever(scout=scout, graph=graph, k=6)


def test_a_document_for_each_triplet_best_first(retriever, scout, graph):
    assert isinstance(retriever, BaseRetriever)
    documents = retriever.invoke(QUESTION)
    found = scout.retrieve(QUESTION, graph, 6)
    assert len(documents) == len(found) == 6
    for rank, (document, row) in enumerate(
        zip(documents, found.scored, strict=True), start=1
    ):
        assert isinstance(document, Document)
        head, relation, tail, score = row
        assert document.metadata == {
            "head": head,
            "relation": relation,
            "tail": tail,
            "score": score,
            "rank": rank,
        }
        assert head in document.page_content and tail in document.page_content
        json.dumps(document.metadata)  # vector stores and tracers write it down
    assert "\n".join(f"- {d.page_content}" for d in documents) == found.as_text()
    assert len({document.id for document in documents}) == 6


@pytest.mark.parametrize("form", ["text", "paths"])
def test_one_document_for_all(scout, graph, form):
    retriever = KGScoutRetriever(scout=scout, graph=graph, k=6, form=form)
    (document,) = retriever.invoke(QUESTION)
    found = scout.retrieve(QUESTION, graph, 6)
    expected = found.as_text() if form == "text" else found.as_paths()
    assert document.page_content == expected
    assert document.metadata == {
        "question": QUESTION,
        "topics": ["Alien"],
        "triplets": 6,
    }


def test_async_batches_and_chains_give_the_same(retriever):
    questions = [QUESTION, "who directed Heat?", QUESTION]
    expected = [retriever.invoke(question) for question in questions]
    assert retriever.batch(questions) == expected
    assert asyncio.run(retriever.abatch(questions)) == expected
    assert asyncio.run(retriever.ainvoke(QUESTION)) == expected[0]
    chain = retriever | RunnableLambda(lambda documents: len(documents))
    assert chain.invoke(QUESTION) == 6


def test_topics_may_be_given_and_nothing_may_be_found(scout, graph):
    heat = KGScoutRetriever(scout=scout, graph=graph, topics=["Heat"])
    assert heat.invoke(QUESTION)[0].metadata["head"]
    for form in ("triplets", "text", "paths"):
        nowhere = KGScoutRetriever(
            scout=scout, graph=graph, topics=["Atlantis"], form=form
        )
        assert nowhere.invoke(QUESTION) == []


@pytest.mark.parametrize(
    "field", [{"k": 0}, {"k": "5"}, {"form": "html"}, {"graph": 3}, {"target": 0.9}]
)
def test_fields_are_checked(scout, graph, field):
    with pytest.raises(ValidationError, match=next(iter(field))):
        KGScoutRetriever(**{"scout": scout, "graph": graph, **field})


def test_what_is_logged_of_it_holds_neither_scout_nor_graph(retriever):
    assert retriever.model_dump()["k"] == 6
    assert not {"scout", "graph"} & set(retriever.model_dump())
    assert "Alien" not in repr(retriever)


def test_answers_stand_with_the_triplets_of_their_paths(scout, graph):
    found = scout.retrieve(QUESTION, graph, 6)
    path = (found.triplets[1],)
    answer = Answer(name=path[0][2], probability=0.9, path=path)
    found = dataclasses.replace(found, answers=(answer,))
    written = {"name": answer.name, "probability": 0.9, "path": [list(path[0])]}
    documents = documents_of(found)
    expected = [[written] if rank == 1 else [] for rank in range(6)]
    assert [document.metadata["answers"] for document in documents] == expected
    (whole,) = documents_of(found, "text")
    assert whole.metadata["answers"] == [written]
