"""The connectivity of the closed form against every subset, every path, and by hand."""

from __future__ import annotations

import itertools
from functools import partial

import jax
import jax.numpy as jnp
import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.learn.connectivity import DECAY, HOPS, connectivity
from kgscout_jax.learn.estimators import closed_form
from kgscout_jax.learn.reward_host import RewardWeights
from kgscout_jax.policy.inclusion import Inclusion

N, NODES = 8, 6


@partial(jax.jit, static_argnames="directed")
def found(probability, mask, nodes, topics, answers, directed):
    intensity = -jnp.log1p(-jnp.asarray(probability))
    included = Inclusion(intensity, jnp.asarray(probability), jnp.float32(0))
    return connectivity(included, mask, nodes, topics, answers, directed=directed)


def multigraph(nodes, kept, directed):
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    for i in kept:
        graph.add_edge(int(nodes[i][0]), int(nodes[i][1]), key=i)
    return graph


def closeness(graph, topics, answers):
    """The thesis's R_conn of a graph of selected triplets."""
    best = 0.0
    for topic, answer in itertools.product(topics, answers):
        if topic in graph and answer in graph and nx.has_path(graph, topic, answer):
            hops = nx.shortest_path_length(graph, topic, answer)
            best = max(best, min(1.0, 1 - DECAY * (hops - 1)))
    return best


def expectation(probability, mask, nodes, topics, answers, directed):
    """The mean of R_conn over all subsets, each triplet kept by itself."""
    real, total = np.flatnonzero(mask), 0.0
    for kept in itertools.product([False, True], repeat=len(real)):
        q = probability[real]
        chance = float(np.prod(np.where(kept, q, 1 - q)))
        graph = multigraph(nodes, real[np.array(kept, bool)], directed)
        total += chance * closeness(graph, topics, answers)
    return total


def best_path(probability, mask, nodes, topics, answers, directed):
    """The largest connectivity times probability of one path, all enumerated."""
    graph, best = multigraph(nodes, np.flatnonzero(mask), directed), 0.0
    for topic, answer in itertools.product(topics, answers):
        if topic == answer and topic in graph:
            at = [i for i in np.flatnonzero(mask) if topic in nodes[i]]
            best = max(best, 1 - float(np.prod(1 - probability[at])))
        elif topic in graph and answer in graph:
            for path in nx.all_simple_edge_paths(graph, topic, answer, cutoff=HOPS):
                product = float(np.prod(probability[[edge[-1] for edge in path]]))
                best = max(best, (1 - DECAY * (len(path) - 1)) * product)
    return best


@st.composite
def questions(draw):
    g = np.random.default_rng(draw(st.integers(0, 10_000)))
    ids = st.lists(st.integers(0, NODES - 1), max_size=2, unique=True)
    return {
        "probability": g.uniform(0.02, 0.98, N).astype(np.float32),
        "mask": np.arange(N) < draw(st.integers(0, N)),
        "nodes": g.integers(0, NODES, (N, 2)).astype(np.int32),
        "topics": draw(ids),
        "answers": draw(ids),
        "directed": draw(st.booleans()),
    }


def as_arrays(topics, answers):
    is_topic = np.zeros(NODES, bool)
    is_topic[topics] = True
    return is_topic, np.array(answers + [-1] * (2 - len(answers)), np.int32)


@given(questions())
def test_it_is_the_best_path_and_at_most_the_expectation(question):
    arrays = as_arrays(question["topics"], question["answers"])
    first = [question[name] for name in ("probability", "mask", "nodes")]
    value = float(found(*first, *arrays, question["directed"]))
    assert value == pytest.approx(best_path(**question), abs=1e-5)
    assert value <= expectation(**question) + 1e-5


def test_one_path_is_exact_and_its_gradient_that_of_the_product():
    q = np.array([0.5, 0.4, 0.3, 0.9], np.float32)
    nodes = np.array([[0, 1], [1, 2], [2, 3], [4, 5]], np.int32)
    arrays = np.ones(4, bool), nodes, *as_arrays([0], [3])
    value, slope = jax.value_and_grad(found)(q, *arrays, True)
    assert float(value) == pytest.approx(0.6 * 0.5 * 0.4 * 0.3)
    expected = 0.6 * np.array([0.4 * 0.3, 0.5 * 0.3, 0.5 * 0.4, 0])
    np.testing.assert_allclose(slope, expected, rtol=1e-5)
    exact = expectation(q, arrays[0], nodes, [0], [3], True)
    assert float(value) == pytest.approx(exact, rel=1e-5)
    # Against the edges nothing leads there.
    assert float(found(q, *arrays[:2], *as_arrays([3], [0]), True)) == 0
    assert float(found(q, *arrays[:2], *as_arrays([3], [0]), False)) > 0


def test_two_disjoint_paths_join_more_often_than_the_better_one():
    q = np.array([0.5, 0.4], np.float32)
    arrays = np.ones(2, bool), np.array([[0, 1], [0, 1]], np.int32)
    value = float(found(q, *arrays, *as_arrays([0], [1]), True))
    assert value == pytest.approx(0.5)
    assert expectation(q, *arrays, [0], [1], True) == pytest.approx(0.7)


def test_it_is_part_of_the_closed_form_with_finite_gradients():
    g = np.random.default_rng(0)
    nodes = jnp.array([[0, 1], [1, 2], *[[3, 4]] * 6], jnp.int32)
    mask = jnp.arange(N) < 6
    logits = jnp.where(mask, g.normal(size=N).astype(np.float32), jnp.nan)
    topics, answers = map(jnp.asarray, as_arrays([0], [2]))

    def value(logits, k):
        out = closed_form(
            logits, mask, nodes, answers, mask, k, NODES, topics, directed=True
        )
        return out.connectivity

    learn = jax.jit(jax.value_and_grad(value))
    slope = np.asarray(learn(logits, jnp.float32(3))[1])
    assert (slope[:2] > 0).all() and (slope[2:6] < 0).all() and not slope[6:].any()
    # Everything is selected: certain, and nothing to learn.
    certain, slope = learn(logits, jnp.float32(6))
    assert float(certain) == pytest.approx(0.8) and not np.asarray(slope).any()
    parts = logits, mask, nodes, answers, mask, jnp.float32(3)
    plain = jax.eval_shape(partial(closed_form, n_nodes=NODES), *parts)
    assert plain.connectivity is None


def test_the_decay_is_that_of_the_reward():
    assert RewardWeights().decay == DECAY
