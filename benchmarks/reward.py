"""The host's reward against networkx: the same subsets, the same numbers.

    python benchmarks/reward.py --shards SHARDS

Subsets of real questions are scored by ``HostReward``, in one call, and by the
thesis's formulas written down with networkx, one subset after the other. The peer comes
in two strengths: it looks for all shortest paths of a pair when it scores (the thesis),
or gets them listed beforehand, which is not counted. Its graphs of the whole questions
are not counted either. Both sides must agree on every part of every subset. Ends with
one JSON line.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from common import CLOCKS, last_line, race, seconds, show
from jaxtyping import Int

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.learn.reward_host import HostReward, RewardParts

PARTS = ("presence", "connectivity", "efficiency", "coverage")


@dataclass
class Question:
    """One question as networkx sees it; nodes are local ids."""

    whole: Any
    """Its candidates and the hops of its shortest paths."""
    topics: list[int]
    answers: list[int]
    paths: dict[tuple[int, int], list[list[int]]] = field(default_factory=dict)
    """All shortest paths of each (topic, answer) pair that is connected."""

    @staticmethod
    def of(split: Split, row: int, direction: str) -> Question:
        """A question out of shards, its shortest paths listed."""
        whole = nx.MultiDiGraph() if direction == "directed" else nx.MultiGraph()
        edges = split.nodes[row, : split.n_real[row]].tolist()
        whole.add_edges_from((head, tail) for head, tail in edges)
        hops = split.path_edges[direction][row].tolist()
        whole.add_edges_from((u, v) for _, u, v, _ in hops)
        topics, answers = (
            array[row][array[row] >= 0].tolist()
            for array in (split.topics, split.answers)
        )
        out = Question(whole, topics, answers)
        for pair in ((t, a) for t in topics for a in answers if t != a):
            out.paths[pair] = out.shortest_paths(*pair)
        return out

    def shortest_paths(self, topic: int, answer: int) -> list[list[int]]:
        if topic not in self.whole or answer not in self.whole:
            return []
        if not nx.has_path(self.whole, topic, answer):
            return []
        return list(nx.all_shortest_paths(self.whole, topic, answer))


def networkx_parts(
    question: Question, kept: list[list[int]], decay: float, *, known: bool
) -> tuple[float, ...]:
    """The four parts of one subset, one pair and one path at a time.

    ``known``: shortest paths come from the list.
    """
    small = type(question.whole)()
    small.add_edges_from(kept)
    presence = sum(answer in small for answer in question.answers)
    presence /= max(len(question.answers), 1)
    connectivity = efficiency = coverage = 0.0
    for topic in question.topics:
        for answer in question.answers:
            if topic == answer:
                if answer in small:
                    connectivity = efficiency = coverage = 1.0
                continue
            if topic in small and answer in small and nx.has_path(small, topic, answer):
                d = nx.shortest_path_length(small, topic, answer)
                connectivity = max(connectivity, 1 - decay * (d - 1), 0.0)
                efficiency = max(efficiency, 1 / (1 + d))
            if known:
                paths = question.paths[topic, answer]
            else:
                paths = question.shortest_paths(topic, answer)
            for path in paths:
                hops = len(path) - 1
                hit = sum(map(small.has_edge, path[:-1], path[1:]))
                coverage = max(coverage, hit / hops)
    return presence, connectivity, efficiency, coverage


def draw(
    split: Split, rows: Int[np.ndarray, "b"], g: int, k: int, seed: int
) -> Int[np.ndarray, "b g k"]:
    """Subsets as a policy draws them: Gumbel-top-k, the first candidates likelier."""
    rng = np.random.default_rng(seed)
    width = split.candidates.shape[1]
    keys = rng.gumbel(size=(len(rows), g, width)) - np.arange(width) / 200
    real = np.arange(width) < split.n_real[rows][:, None, None]
    keys = np.where(real, keys, -np.inf)
    top = np.argsort(-keys, axis=2)[:, :, :k]
    return np.where(np.take_along_axis(keys, top, axis=2) > -np.inf, top, -1)


def check(
    ours: RewardParts, theirs: list[tuple[float, ...]], shape: tuple[int, int]
) -> None:
    """Raise AssertionError unless both sides agree on every subset."""
    for part, values in zip(PARTS, zip(*theirs, strict=True), strict=True):
        found = getattr(ours, part)
        expected = np.reshape(values, shape)
        np.testing.assert_allclose(found, expected, atol=1e-6, err_msg=part)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shards", type=Path, required=True)
    parser.add_argument("--split", default="train")
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--k", type=int, default=100)
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--clock", choices=list(CLOCKS), default="wall")
    args = parser.parse_args()
    split = Shards.open(args.shards).split(args.split)
    rng = np.random.default_rng(args.seed)
    good = np.flatnonzero((split.answers >= 0).any(axis=1) & (split.n_real > args.k))
    size = min(args.questions, len(good))
    rows = np.sort(rng.choice(good, size, replace=False))
    table, ratios = [], {}
    for direction in ("directed", "both"):
        reward = HostReward(split, direction)
        decay = reward.weights.decay
        questions = [Question.of(split, int(row), direction) for row in rows]
        for g in args.samples:
            positions = draw(split, rows, g, args.k, args.seed + g)
            kept = [
                (question, split.nodes[row][of[of >= 0]].tolist())
                for question, row, subsets in zip(
                    questions, rows, positions, strict=True
                )
                for of in subsets
            ]

            def theirs(known: bool, kept: Any = kept, decay: float = decay) -> Any:
                return [
                    networkx_parts(question, edges, decay, known=known)
                    for question, edges in kept
                ]

            for known in (False, True):
                check(reward.score(rows, positions), theirs(known), (size, g))
            works: dict[str, Callable[[], Any]] = {
                "ours": partial(reward.total, rows, positions),
                "networkx": partial(theirs, False),
                "networkx, paths known": partial(theirs, True),
            }
            times = race(works, repeats=args.repeats, clock=args.clock)
            each = {name: timing.best / len(kept) for name, timing in times.items()}
            ours = each["ours"]
            for name, value in list(each.items())[1:]:
                ratio = value / ours
                title = f"{size} x {g}, {direction}"
                table.append(
                    [title, name, seconds(ours), seconds(value), f"{ratio:.0f}"]
                )
                key = name.replace(", ", "_").replace(" ", "_")
                ratios[f"{key}_{direction}_{g}"] = ratio
    header = ["subsets", "peer", "ours, each", "peer, each", "ratio"]
    show("Reward, equal on every subset", header, table)
    last_line("reward", clock=args.clock, ratios=ratios)


if __name__ == "__main__":
    main()
