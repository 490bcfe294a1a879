"""Deliberate mistakes in graphs: what changes, what does not, how similar it stays."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prep_factory import NEEDS_ENCODER

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.perturb.edges import METHODS, perturb
from kgscout_jax.perturb.link_scorer import LinkScorer, train_scorer
from kgscout_jax.perturb.similarity import (
    aggregated_triple_score,
    similarity,
    structure_means,
)


def random_graph(seed):
    """(unique triplets in ascending order, entities, relations, scorer)."""
    rng = np.random.default_rng(seed)
    e, r = int(rng.integers(1, 9)), int(rng.integers(1, 5))
    rows = rng.integers(0, (e, r, e), (int(rng.integers(1, 25)), 3))
    vectors = rng.normal(size=(e, 4)).astype(np.float32)
    matrices = rng.normal(size=(r, 4, 4)).astype(np.float32)
    return np.unique(rows, axis=0).astype(np.int32), e, r, LinkScorer(vectors, matrices)


def perturbed(seed, method, level):
    triplets, e, r, scorer = random_graph(seed)
    new, remains = perturb(
        triplets,
        method,
        level,
        n_entities=e,
        n_relations=r,
        seed=seed,
        scores=scorer.relation_scores,
    )
    return triplets, new, remains, scorer


@given(st.integers(0, 10**6), st.sampled_from(METHODS), st.floats(0, 1))
def test_only_what_the_method_says_changes(seed, method, level):
    triplets, new, remains, scorer = perturbed(seed, method, level)
    again = perturbed(seed, method, level)[1]
    np.testing.assert_array_equal(new, again)
    changed = (new != triplets).any(axis=1)
    count = int(level * len(triplets) + 0.5)
    if method == "ed":
        assert (~remains).sum() == count and not changed.any()
        return
    assert remains.all() and changed.sum() <= count
    assert len(np.unique(new, axis=0)) == len(new)
    old = set(map(tuple, triplets.tolist()))
    assert not old & set(map(tuple, new[changed].tolist()))
    if method == "er":
        assert (new[:, :2] == triplets[:, :2]).all()
        for head, _, tail in new[changed]:
            near = (triplets[:, [0, 2]] == head).any(axis=1)
            assert tail not in {head, *triplets[near][:, [0, 2]].ravel()}
    else:
        assert (new[:, [0, 2]] == triplets[:, [0, 2]]).all()
    if method == "rs":
        assert sorted(new[:, 1]) == sorted(triplets[:, 1])
    if method == "rr":
        for row in np.flatnonzero(changed):
            pair = (triplets[:, [0, 2]] == triplets[row, [0, 2]]).all(axis=1)
            others = {*triplets[pair, 1], *new[pair & changed, 1]} - {new[row, 1]}
            scores = scorer.relation_scores(triplets[row : row + 1])[0].copy()
            lower = [r for r, s in enumerate(scores) if s < scores[new[row, 1]]]
            assert set(lower) <= others


@given(st.integers(0, 10**6), st.sampled_from(METHODS))
def test_a_higher_level_keeps_the_changes_of_a_lower_one(seed, method):
    triplets, *low = perturbed(seed, method, 0.4)
    _, *high = perturbed(seed, method, 0.8)
    changed = (low[0] != triplets).any(axis=1) | ~low[1]
    np.testing.assert_array_equal(low[0][changed], high[0][changed])
    assert not high[1][~low[1]].any()
    none, remains = perturbed(seed, method, 0.0)[1:3]
    assert remains.all() and (none == triplets).all()


def test_most_of_a_graph_can_be_changed_at_level_1():
    rng = np.random.default_rng(0)
    rows = np.unique(rng.integers(0, (300, 6, 300), (2000, 3)), axis=0).astype(np.int32)
    scorer = LinkScorer(
        rng.normal(size=(300, 4)).astype(np.float32),
        rng.normal(size=(6, 4, 4)).astype(np.float32),
    )
    for method in ("rs", "rr", "er"):
        new, _ = perturb(
            rows,
            method,
            1.0,
            n_entities=300,
            n_relations=6,
            scores=scorer.relation_scores,
        )
        assert (new != rows).any(axis=1).mean() > 0.995, method
    with pytest.raises(UserError, match="--level: found 1"):
        perturb(rows, "ed", 1.5, n_entities=300, n_relations=6)


@given(st.integers(0, 10**6))
def test_structure_equals_networkx(seed):
    triplets, e, _, _ = random_graph(seed)
    means = structure_means(triplets, e)
    clustering, degree = np.zeros(e), np.zeros(e)
    relations = np.unique(triplets[:, 1])
    for relation in relations:
        graph = nx.Graph()
        graph.add_nodes_from(range(e))
        own = triplets[triplets[:, 1] == relation]
        graph.add_edges_from(own[:, [0, 2]].tolist())
        found = nx.clustering(graph)
        clustering += [found[i] for i in range(e)]
        degree += [graph.degree(i) for i in range(e)]
    np.testing.assert_allclose(means.clustering, clustering / len(relations))
    np.testing.assert_allclose(means.degree, degree / len(relations))


def test_similarity_by_hand():
    assert similarity(np.array([1.0, 2.0]), np.array([1.0, 2.0])) == 1
    assert similarity(np.array([0.0, 3.0]), np.array([4.0, 0.0])) == pytest.approx(
        1 / 6
    )
    empty = structure_means(np.empty((0, 3), np.int32), 2)
    assert empty.degree.tolist() == [0, 0] and empty.clustering.tolist() == [0, 0]


@pytest.mark.extended
def test_the_scorer_prefers_triplets_of_its_graph():
    """Two kinds of entities, by their vectors, and relations between given kinds."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 30)
    vectors = (rng.normal(size=(60, 8)) + 4 * kind[:, None]).astype(np.float16)
    heads = rng.integers(0, 30, 200)
    tails = np.where(np.arange(200) < 100, heads[::-1], 30 + heads)
    true = np.stack([heads, np.arange(200) // 100, tails], axis=1).astype(np.int32)
    scorer = train_scorer(true, vectors, 2)
    wrong = true.copy()
    wrong[:, 1] = 1 - wrong[:, 1]
    assert aggregated_triple_score(scorer, true) > 0.7
    assert aggregated_triple_score(scorer, wrong) < 0.3
    assert aggregated_triple_score(scorer, true[:0]) == 0
    table = scorer.relation_scores(true)
    rows = np.arange(200)
    np.testing.assert_allclose(table[rows, true[:, 1]], scorer.scores(true), atol=1e-5)


TRIPLETS = """Ann\tlikes\tBob
Bob\tlikes\tCid
Cid\tlikes\tAnn
Ann\tlives in\tRome
Bob\tlives in\tOslo
Cid\tlives in\tRome
Rome\tin country\tItaly
Oslo\tin country\tNorway
"""


@NEEDS_ENCODER
def test_the_command_writes_a_graph_and_says_how_similar_it_is(
    tmp_path, capsys, kgscout_cache
):
    file = tmp_path / "g.tsv"
    file.write_text(TRIPLETS)

    def run(kg, method, level, out):
        words = ["--method", method, "--level", str(level), "--json", "--seed", "1"]
        code = main(["perturb", "--kg", str(kg), *words, "--out", str(tmp_path / out)])
        lines = capsys.readouterr().out.splitlines()
        return code, json.loads(lines[-1]) if lines else None

    code, found = run(file, "er", 0.5, "er")
    assert code == 0 and found["triplets"] == 8 and found["changed"] == 4
    assert found["sd2"] < 1 and 0 < found["ats"] < found["ats_original"] < 1
    graph = KnowledgeGraph.open(tmp_path / "er", verify=True)
    assert len(graph) == 8 and len(graph.find_all(["ann", "italy"])) == 2
    assert graph.storage.manifest["settings"]["perturbation"]["level"] == 0.5
    assert sorted(p.name for p in (tmp_path / "er").iterdir()) == [
        "manifest.json",
        "v0001",
    ]
    code, found = run(tmp_path / "er", "ed", 1.0, "none")
    assert (found["ats"], found["triplets"]) == (0, 0)
    assert len(KnowledgeGraph.open(tmp_path / "none")) == 0
    code, found = run(tmp_path / "er", "rs", 0, "same")
    assert (found["changed"], found["sc2d"], found["sd2"]) == (0, 1, 1)
    same = KnowledgeGraph.open(tmp_path / "same")
    np.testing.assert_array_equal(same.triplets, graph.triplets)
    assert list(same.entities) == list(graph.entities)
    assert run(file, "rs", 0.1, "same") == (2, None)
    assert run(file, "rs", 1.1, "other") == (2, None)
    assert run(tmp_path / "missing.tsv", "rs", 0.1, "other") == (2, None)
    assert not (tmp_path / "other").exists()
