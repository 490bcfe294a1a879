"""Scout.retrieve with what strangers send: triplets, or one line that refuses."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from film_world import film_triplets
from fuzz.strangers import FUZZ, NASTY, QUESTION, TEXT, TRIPLETS
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.arguments import check_question
from kgscout_jax.types import entity_key

pytestmark = pytest.mark.extended

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


@FUZZ
@given(TRIPLETS, QUESTION, st.lists(TEXT, max_size=3) | st.none(), st.integers(1, 9))
def test_any_question_of_any_graph_is_answered(
    hash_scout, triplets, question, topics, k
):
    graph = KnowledgeGraph.from_triplets([*triplets, ("Alien", "is", "here")])
    found = hash_scout.retrieve(question, graph, k, topics=topics)
    well_formed(found, graph, k)
    assert found.question == check_question(question)
    assert hash_scout.retrieve(question, graph, topics=[triplets[0][0]]).triplets


def test_hostile_text_may_be_question_topic_name_and_title(
    hash_scout, scout, graph, tmp_path
):
    names = [text if text.strip() else f"x{text}x" for text in NASTY]
    for result in scout.retrieve_many(names, graph, 5):
        well_formed(result, graph, 5)
    edges = [(name, name, f"{name} {i}") for i, name in enumerate(names)]
    hostile = KnowledgeGraph.from_triplets(edges)
    found = hash_scout.retrieve_many(names, hostile, 5, topics=names)
    for i, (result, name) in enumerate(zip(found, names, strict=True)):
        assert result.triplets and result.topics
        well_formed(result, hostile, 5)
        page = result.to_html(tmp_path / f"{i}.html", answers=(name,), title=name)
        text = page.read_text("utf-8")
        assert text.count("<script") == text.count("</script")


@pytest.mark.parametrize("text", ["", " ", "\n\t\u2028", None, 3, b"x", ["x"]])
def test_a_question_that_is_no_text_is_refused(hash_scout, graph, text):
    with pytest.raises(UserError, match=r"^question: found .*, expected some text$"):
        hash_scout.retrieve(text, graph)


@pytest.mark.parametrize("topics", [[1], [None], [b"x"], [["Alien"]]])
def test_topics_that_are_no_names_are_refused(hash_scout, graph, topics):
    with pytest.raises(UserError, match=r"^topics: found "):
        hash_scout.retrieve("who?", graph, topics=topics)


PIECES = ["who directed Alien? ", "a", "🎬", "e\u0301?!", "漢[1 \x00"]


def test_a_question_of_a_megabyte_takes_bounded_time(hash_scout, scout):
    graph = KnowledgeGraph.from_triplets(film_triplets())
    for one, pieces in ((hash_scout, PIECES), (scout, ["".join(PIECES)])):
        for piece in pieces:
            started = time.process_time()
            found = one.retrieve(piece * (LARGE // len(piece)), graph, 5)
            well_formed(found, graph, 5)
            assert time.process_time() - started < 20, piece  # about 3 s at most


def test_names_of_a_hundred_thousand_characters(hash_scout):
    long = ["x" * 100_000, " ".join(f"w{i}" for i in range(17_000)), "漢" * 100_000]
    edges = [(long[0], "r", "Alien"), (long[1], "s" * 100_000, "Alien")]
    graph = KnowledgeGraph.from_triplets([*edges, ("Alien", "q", long[2])])
    for topics in (None, long):
        found = hash_scout.retrieve("who directed Alien?", graph, 9, topics=topics)
        assert len(found) == 3
        well_formed(found, graph, 9)
        assert len(found.as_text()) < 20_000  # of a prompt


@pytest.fixture(scope="module")
def folder(hash_scout, films, tmp_path_factory):
    """A GRAPH folder with embeddings beside it."""
    graph = tmp_path_factory.mktemp("embedded") / "graph"
    build_graph([films], graph)
    KnowledgeGraph.open(graph).embed(hash_scout.encoder)
    return graph


@FUZZ
@given(
    table=st.sampled_from(["triplets", "relations"]),
    value=st.sampled_from([np.nan, np.inf, -np.inf]),
    data=st.data(),
)
def test_a_triplet_without_a_finite_embedding_is_never_retrieved(
    hash_scout, folder, table, value, data
):
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
                found = hash_scout.retrieve(f"who directed {film}?", graph, 50)
            except UserError as error:
                assert file.name in str(error)
                assert "not finite" in str(error) or "damaged" in str(error)
                assert "\n" not in str(error)
            else:
                well_formed(found, graph, 50)
                assert table == "relations" or graph.triplet(row) not in found.triplets
        np.save(file, np.full_like(whole, np.nan))
        with pytest.raises(UserError, match=r"not finite|damaged"):
            hash_scout.retrieve("who?", KnowledgeGraph.open(folder), topics="Alien")
    finally:
        np.save(file, whole)
