"""Scout.retrieve with what strangers send: triplets, or one line that refuses."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from fuzz.strangers import FUZZ, NASTY, QUESTION, TEXT, TRIPLETS
from hypothesis import given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import check_question
from kgscout_jax.types import entity_key

LARGE = 1_000_000


def well_formed(found, graph, k: int) -> None:
    """Every form of what was found is whole, and only of this graph."""
    assert len(found) <= k and np.isfinite(found.scores).all()
    assert (np.diff(found.scores) <= 0).all()
    known = {entity_key(name) for name in graph.entities}
    relations = set(graph.relations)
    for head, relation, tail in found.triplets:
        assert entity_key(head) in known and entity_key(tail) in known
        assert relation in relations
    assert len(found.as_text().splitlines()) == len(found)
    assert len(found.as_paths().splitlines()) <= len(found) + 2
    record = json.loads(found.to_record("1").to_json())
    assert [tuple(t[:3]) for t in record["triplets"]] == list(found.triplets)
    assert found.to_networkx().number_of_edges() <= len(found)


@settings(FUZZ, max_examples=10)
@given(TRIPLETS, QUESTION, st.lists(TEXT, max_size=3) | st.none(), st.integers(1, 9))
def test_any_graph_any_question_any_topics(scout, triplets, question, topics, k):
    graph = KnowledgeGraph.from_triplets([*triplets, ("Alien", "is", "here")])
    found = scout.retrieve(question, graph, k, topics=topics)
    well_formed(found, graph, k)
    assert found.question == check_question(question)
    named = scout.retrieve(question, graph, 99, topics=[triplets[0][0]])
    assert named.triplets


def test_hostile_text_may_be_everything_at_once(scout, tmp_path):
    names = [text if text.strip() else f"x{text}x" for text in NASTY]
    edges = [(name, name, f"{name} {i}") for i, name in enumerate(names)]
    graph = KnowledgeGraph.from_triplets(edges)
    found = scout.retrieve_many(names, graph, 5, topics=names)
    for i, (each, name) in enumerate(zip(found, names, strict=True)):
        assert each.triplets and each.topics
        well_formed(each, graph, 5)
        page = each.to_html(tmp_path / f"{i}.html", answers=(name,), title=name)
        text = page.read_text("utf-8")
        assert text.count("<script") == text.count("</script")


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2028", None, 3, b"x", ["x"]])
def test_no_question_is_refused(scout, graph, text):
    with pytest.raises(UserError, match=r"^question: found .*, expected some text$"):
        scout.retrieve(text, graph)


@pytest.mark.parametrize("topics", [[1], [None], [b"x"], [["Alien"]]])
def test_no_names_are_refused(scout, graph, topics):
    with pytest.raises(UserError, match=r"^topics: found "):
        scout.retrieve("who?", graph, topics=topics)


@pytest.mark.parametrize(
    "piece",
    ["who directed Alien? ", "a", "🎬", "e\u0301?!", "漢[1 \x00"],
)
def test_a_question_of_a_megabyte(scout, graph, piece):
    started = time.process_time()
    found = scout.retrieve(piece * (LARGE // len(piece)), graph, 5)
    well_formed(found, graph, 5)
    assert time.process_time() - started < 20  # about 3 s at most


def test_names_of_a_hundred_thousand_characters(scout):
    long = ["x" * 100_000, " ".join(f"w{i}" for i in range(17_000)), "漢" * 100_000]
    edges = [(long[0], "r", "Alien"), (long[1], "s" * 100_000, "Alien")]
    graph = KnowledgeGraph.from_triplets([*edges, ("Alien", "q", long[2])])
    graph.embed(scout.encoder)
    for topics in (None, long):
        found = scout.retrieve("who directed Alien?", graph, 9, topics=topics)
        assert len(found) == 3
        well_formed(found, graph, 9)
        assert len(found.as_text()) < 20_000  # of a prompt


# --- embeddings that are no numbers


@pytest.fixture(scope="module")
def folder(scout, films, tmp_path_factory):
    """A GRAPH folder with embeddings kept beside it."""
    graph = tmp_path_factory.mktemp("embedded") / "graph"
    build_graph([films], graph)
    KnowledgeGraph.open(graph).embed(scout.encoder)
    return graph


@settings(FUZZ, max_examples=10)
@given(
    table=st.sampled_from(["triplets", "relations"]),
    value=st.sampled_from([np.nan, np.inf, -np.inf]),
    data=st.data(),
)
def test_kept_embeddings_that_are_no_numbers(scout, folder, table, value, data):
    (file,) = folder.rglob(f"*.{table}.npy")
    whole = np.load(file)
    row = data.draw(st.integers(0, len(whole) - 1))
    column = data.draw(st.integers(0, whole.shape[1] - 1))
    try:
        damaged = whole.copy()
        damaged[row, column] = value
        np.save(file, damaged)
        graph = KnowledgeGraph.open(folder)
        for film in ("Alien", "Kes"):
            try:
                found = scout.retrieve(f"who directed {film}?", graph, 50)
            except UserError as error:
                assert file.name in str(error) and "not finite" in str(error)
                assert "\n" not in str(error)
            else:
                well_formed(found, graph, 50)
                bad = graph.triplets[row].tolist() if table == "triplets" else None
                named = [(graph.entities[h], graph.relations[r], graph.entities[t])
                         for h, r, t in [bad]] if bad else []  # fmt: skip
                assert not set(named) & set(found.triplets)
    finally:
        np.save(file, whole)


def test_a_whole_table_that_is_no_number(scout, folder):
    for table in ("triplets", "relations"):
        (file,) = folder.rglob(f"*.{table}.npy")
        whole = np.load(file)
        try:
            np.save(file, np.full_like(whole, np.nan))
            with pytest.raises(UserError, match=r"not finite"):
                scout.retrieve("who?", KnowledgeGraph.open(folder), topics="Alien")
        finally:
            np.save(file, whole)
