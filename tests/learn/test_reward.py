"""The host reward against plain networkx, and by hand."""

from typing import Literal

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from split_factory import Case, build_split

from kgscout_jax.learn.reward_host import HostReward, RewardParts, RewardWeights
from kgscout_jax.learn.reward_scipy import ScipyReward

Direction = Literal["directed", "both"]
PARTS = ("presence", "connectivity", "efficiency", "coverage")
NAMES = [f"e{i}" for i in range(7)]
names = st.sampled_from(NAMES)
triplets = st.tuples(names, st.sampled_from(["r", "s"]), names)


@st.composite
def cases(draw):
    """A small question; names may be missing from its graph, candidates cut."""
    rows = sorted(set(draw(st.lists(triplets, max_size=14))))
    chosen = draw(st.permutations(range(len(rows))))
    cut = draw(st.integers(0, len(rows)))
    return Case(
        triplets=rows,
        topics=draw(st.lists(names, max_size=3, unique=True)),
        answers=draw(st.lists(names, max_size=3, unique=True)),
        candidates=chosen[: len(rows) - cut // 4],
    )


def oracle(case, kept, direction, decay):
    """The four parts as the thesis writes them, one pair and one path at a time."""
    kind = nx.MultiDiGraph if direction == "directed" else nx.MultiGraph
    whole, small = kind(), kind()
    whole.add_edges_from((h, t) for h, _, t in case.triplets)
    small.add_edges_from((h, t) for h, _, t in kept)
    gold = [answer for answer in case.answers if answer in whole]
    topics = [topic for topic in case.topics if topic in whole]
    presence = sum(answer in small for answer in gold) / max(len(gold), 1)
    connectivity = efficiency = coverage = 0.0
    for topic in topics:
        for answer in gold:
            if topic == answer:
                if answer in small:
                    connectivity = efficiency = coverage = 1.0
                continue
            if topic in small and answer in small and nx.has_path(small, topic, answer):
                d = nx.shortest_path_length(small, topic, answer)
                connectivity = max(connectivity, 1 - decay * (d - 1))
                efficiency = max(efficiency, 1 / (1 + d))
            if nx.has_path(whole, topic, answer):
                for path in nx.all_shortest_paths(whole, topic, answer):
                    hops = list(nx.utils.pairwise(path))
                    hit = sum(small.has_edge(u, v) for u, v in hops)
                    coverage = max(coverage, hit / len(hops))
    return presence, connectivity, efficiency, coverage


@pytest.mark.parametrize("direction", ["directed", "both"])
@given(data=st.data())
def test_equals_networkx_on_random_multigraphs(direction, data):
    batch = data.draw(st.lists(cases(), min_size=1, max_size=4))
    built = build_split(batch, n=data.draw(st.integers(14, 16)))
    rows = np.array(data.draw(st.permutations(range(len(batch)))))
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    g, k = data.draw(st.integers(1, 3)), data.draw(st.integers(0, 9))
    # -1, repeats and positions beyond n_real are all among them.
    positions = rng.integers(-1, 16, (len(rows), g, k))
    decay = data.draw(st.sampled_from([0.2, 0.0, 0.6]))
    weights = RewardWeights(decay=decay)
    found = HostReward(built.split, direction, weights).score(rows, positions)
    by_scipy = ScipyReward(built.split, direction, weights).score(rows, positions)
    for ours, theirs in zip(found, by_scipy, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-6)
    for i, row in enumerate(rows):
        for j in range(g):
            real = [p for p in positions[i, j] if p < built.split.n_real[row]]
            kept = built.triplets(row, real)
            expected = oracle(batch[row], kept, direction, decay)
            got = [getattr(found, part)[i, j] for part in PARTS]
            np.testing.assert_allclose(got, expected, atol=1e-6)


def score(case, kept, direction: Direction = "directed"):
    """The parts of one subset, given by the triplets it keeps."""
    built = build_split([case])
    everything = built.triplets(0, range(len(case.triplets)))
    positions = np.array([everything.index(triplet) for triplet in kept])
    parts = HostReward(built.split, direction).score(
        np.array([0]), positions[None, None]
    )
    return tuple(getattr(parts, part).item() for part in PARTS), parts


CHAIN = [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "d"), ("a", "r", "x")]


def test_a_whole_path_by_hand():
    case = Case(triplets=CHAIN, topics=["a"], answers=["d", "x"])
    parts, arrays = score(case, CHAIN[:3])
    # d is 3 hops away; x, one hop away, is not kept.
    np.testing.assert_allclose(parts, (0.5, 0.6, 0.25, 1.0), rtol=1e-6)
    total = arrays.total(RewardWeights())
    assert total.dtype == np.float32
    assert total.shape == (1, 1)
    assert total.item() == pytest.approx(2 * 0.5 + 4 * 0.6 + 0.25 + 3)
    parts, arrays = score(case, CHAIN)
    np.testing.assert_allclose(parts, (1.0, 1.0, 0.5, 1.0))
    assert arrays.total(RewardWeights()).item() == pytest.approx(9.5)


def test_a_broken_path_is_covered_in_part():
    case = Case(triplets=CHAIN, topics=["a"], answers=["d"])
    parts, _ = score(case, [CHAIN[0], CHAIN[2]])
    np.testing.assert_allclose(parts, (1.0, 0.0, 0.0, 2 / 3), rtol=1e-6)


def test_far_answers_are_efficient_but_not_connected():
    path = [(f"n{i}", "r", f"n{i + 1}") for i in range(7)]
    parts, _ = score(Case(triplets=path, topics=["n0"], answers=["n7"]), path)
    np.testing.assert_allclose(parts, (1.0, 0.0, 1 / 8, 1.0))  # 1 - .2 * 6 < 0


def test_direction_decides_whether_a_triplet_connects():
    case = Case(triplets=[("b", "r", "a")], topics=["a"], answers=["b"])
    assert score(case, case.triplets)[0] == (1.0, 0.0, 0.0, 0.0)
    assert score(case, case.triplets, "both")[0] == (1.0, 1.0, 0.5, 1.0)


def test_a_topic_that_is_an_answer_counts_once_it_is_kept():
    case = Case(triplets=[*CHAIN, ("a", "r", "a")], topics=["a"], answers=["a", "c"])
    assert score(case, [CHAIN[2]])[0] == (0.5, 0.0, 0.0, 0.0)
    parts, arrays = score(case, [("a", "r", "a")])
    assert parts == (0.5, 1.0, 1.0, 1.0)
    assert arrays.total(RewardWeights()).item() == 9.0
    parts, arrays = score(case, CHAIN[:2])
    assert arrays.total(RewardWeights()).item() == 10.0


def test_parallel_triplets_cover_the_same_hop():
    case = Case(
        triplets=[("a", "r", "b"), ("a", "s", "b"), ("b", "r", "c"), ("b", "s", "c")],
        topics=["a"],
        answers=["c"],
    )
    assert score(case, [("a", "s", "b")])[0][3] == 0.5
    assert score(case, [("a", "s", "b"), ("a", "r", "b")])[0][3] == 0.5
    assert score(case, [("a", "s", "b"), ("b", "r", "c")])[0][3] == 1.0


def test_coverage_takes_one_path_not_pieces_of_two():
    # Two paths of 3 hops, crossing nowhere; two kept hops on one, one on the other.
    up = [("a", "r", "u"), ("u", "r", "v"), ("v", "r", "z")]
    down = [("a", "r", "m"), ("m", "r", "n"), ("n", "r", "z")]
    case = Case(triplets=up + down, topics=["a"], answers=["z"])
    parts, _ = score(case, [up[0], up[1], down[2]])
    assert parts[3] == pytest.approx(2 / 3)
    parts, _ = score(case, [up[0], down[2]])
    assert parts[3] == pytest.approx(1 / 3)


def test_a_path_through_triplets_that_are_no_candidates_is_still_the_path():
    case = Case(triplets=CHAIN[:3], topics=["a"], answers=["d"], candidates=[0, 2])
    split = build_split([case]).split
    parts = HostReward(split).score(np.array([0]), np.array([[[0, 1]]]))
    assert parts.coverage.item() == pytest.approx(2 / 3)


@pytest.mark.parametrize("kind", [HostReward, ScipyReward])
def test_questions_that_lack_something_score_zero(kind):
    batch = [
        Case(triplets=CHAIN, topics=[], answers=["d"]),
        Case(triplets=CHAIN, topics=["a"], answers=[]),
        Case(triplets=[], topics=["a"], answers=["d"]),
        Case(triplets=CHAIN, topics=["a"], answers=["nowhere"]),
        Case(triplets=CHAIN, topics=["a"], answers=["d"]),
    ]
    reward = kind(build_split(batch).split)
    rows = np.arange(5)
    everything = np.tile(np.arange(4), (5, 2, 1))
    everything[:, 1] = -1
    total = reward.total(rows, everything)
    np.testing.assert_allclose(total[:, 0], [2.0, 0, 0, 0, 2 + 4 * 0.6 + 0.25 + 3])
    np.testing.assert_array_equal(total[:, 1], 0.0)
    for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0)):
        empty = reward.score(rows[: shape[0]], np.full(shape, -1))
        assert empty.coverage.shape == shape[:2]
    only_empty = reward.score(np.array([2]), np.array([[[0, -1]]]))
    assert only_empty.presence.item() == 0.0


def test_a_subset_scores_the_same_in_any_company():
    rng = np.random.default_rng(5)
    batch = []
    for _ in range(6):
        ends = rng.integers(0, 30, (80, 2))
        rows = {(f"e{h}", f"r{i % 3}", f"e{t}") for i, (h, t) in enumerate(ends)}
        batch.append(Case(triplets=sorted(rows), topics=["e0", "e1"], answers=["e2"]))
    split = build_split(batch).split
    rows = np.array([3, 1, 3, 5])
    positions = np.stack([rng.permuted(np.arange(40))[:25] for _ in range(12)])
    positions = positions.reshape(4, 3, 25)
    for direction in ("directed", "both"):
        reward = HostReward(split, direction)
        together = reward.score(rows, positions)
        assert together.total(reward.weights).std() > 0
        for i in range(4):
            for j in range(3):
                alone = reward.score(rows[i : i + 1], positions[i : i + 1, j : j + 1])
                for part in PARTS:
                    whole = getattr(together, part)[i, j]
                    assert getattr(alone, part).item() == whole


def test_parts_are_float32_and_weights_are_checked():
    ones = np.ones((2, 3), np.float32)
    parts = RewardParts(
        presence=ones, connectivity=ones, efficiency=ones, coverage=ones
    )
    np.testing.assert_array_equal(parts.total(RewardWeights()), 10.0)
    with pytest.raises(ValueError, match=r"decay is -0\.1"):
        RewardWeights(decay=-0.1)
    with pytest.raises(ValueError, match="presence is nan"):
        RewardWeights(presence=float("nan"))
    split = build_split([Case(triplets=CHAIN)]).split
    with pytest.raises(ValueError, match="direction is 'up'"):
        HostReward(split, "up")  # pyright: ignore[reportArgumentType]
