"""The order of triplets, and the retrievers that nobody trains."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.retrieve.baselines import PPR, Ceiling, Cosine, cosine_scores
from kgscout_jax.retrieve.protocol import Retriever, rank_candidates, top_k

values = st.sampled_from([0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan])


@given(st.data(), st.integers(0, 7), st.integers(1, 9))
def test_top_k_equals_sorted(data, n, k):
    scores = np.array([data.draw(st.lists(values, min_size=n, max_size=n))] * 2)
    flags = st.lists(st.booleans(), min_size=n, max_size=n)
    mask = np.array([data.draw(flags) for _ in range(2)]).reshape(2, n)
    ids = np.array([data.draw(st.permutations(range(n))) for _ in range(2)])
    ids = ids.reshape(2, n).astype(np.int32)
    positions, lengths = top_k(scores.reshape(2, n), mask, ids, k)
    assert positions.shape == (2, k) and positions.dtype == np.int32
    for row in range(2):
        real = [i for i in range(n) if mask[row, i] and not math.isnan(scores[row, i])]
        best = sorted(real, key=lambda i: (-scores[row, i], ids[row, i]))[:k]
        assert positions[row].tolist() == best + [-1] * (k - len(best))
        assert lengths[row] == len(best)


def test_scores_equal_as_float32_tie_and_k_is_at_least_1():
    """Scores that are one number in the file are one number here."""
    data = np.array([[1.0, 1.0 + 1e-12]]), np.ones((1, 2), bool), np.array([[3, 9]])
    assert top_k(*data, 2)[0].tolist() == [[0, 1]]
    with pytest.raises(ValueError, match="at least 1"):
        top_k(*data, 0)


CHAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "s", "d"), ("a", "s", "d")]
STAR = [("x", "r", "y"), ("x", "r", "z")]


def two_questions(n=None):
    chain = Case(triplets=CHAIN, topics=["a"], answers=["d"])
    return shards_of([chain, Case(triplets=STAR, topics=["x"], answers=["z"])], n=n)


def test_cosine_is_the_dot_product():
    shards, split = two_questions(n=6)
    scores = cosine_scores(shards, split)
    questions = split.question_embeddings.astype(np.float64)
    triplets = shards.triplet_embeddings.astype(np.float64)[split.candidates]
    expected = np.einsum("qd,qnd->qn", questions, triplets)
    expected[split.candidates < 0] = 0
    np.testing.assert_allclose(scores, expected, atol=1e-6)
    rankings = Cosine().rank(shards, split, 3)
    assert rankings.lengths.tolist() == [3, 2]
    assert (np.diff(rankings.scores[0]) <= 0).all()
    assert rankings.heads[1, 2] == -1


def test_equal_embeddings_are_ordered_by_triplet_id():
    shards, split = two_questions()
    shards.triplet_embeddings[:] = shards.triplet_embeddings[0]
    found = Cosine().rank(shards, split, 4)
    rows = np.stack([found.heads[0], found.relations[0], found.tails[0]], axis=1)
    assert rows.tolist() == sorted(rows.tolist())  # ids ascend with the triplets


def test_ppr_scores_are_the_sum_of_head_and_tail():
    shards, split = two_questions()
    rankings = PPR().rank(shards, split, 4)
    sums = split.ppr_of(np.array([0]))[0, : split.n_real[0]].sum(axis=1)
    np.testing.assert_array_equal(rankings.scores[0], np.sort(sums)[::-1])


def test_the_ceiling_has_every_candidate_in_order():
    shards, split = two_questions(n=5)
    rankings = Ceiling().rank(shards, split, 1)
    assert rankings.keeps_all and rankings.lengths.tolist() == [4, 2]
    kept = np.stack([rankings.heads, rankings.relations, rankings.tails], axis=-1)
    np.testing.assert_array_equal(kept[0, :4], shards.triplets[split.candidates[0, :4]])
    assert (kept[0, 4:] == -1).all()


@pytest.mark.parametrize("retriever", [Cosine(), PPR(), Ceiling()])
def test_retrievers_rank_all_candidates_of_every_question(retriever):
    shards, split = two_questions()
    assert isinstance(retriever, Retriever)
    rankings = retriever.rank(shards, split, 50)
    assert rankings.retriever == retriever.name
    assert rankings.lengths.tolist() == [4, 2]
    assert (rankings.seconds > 0).all() and len(rankings) == 2
    arrays = {
        name: getattr(split, name)[:0] for name in ("question_embeddings", "candidates")
    }
    nothing = dataclasses.replace(split, questions=[], **arrays)
    assert len(retriever.rank(shards, nothing, 3)) == 0


def test_scores_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="shape"):
        rank_candidates("x", *two_questions(), np.zeros((2, 3)), 2)
