"""Which drafts become questions of which split: breadth, and nothing shared.

No topic and no combination of paths (``Draft.signature``) of dev or test occurs in
another split; one path of a combination may. Combinations are divided first, within
groups of equal lengths; a topic belongs to the split that takes it first, and topics of
many drafts belong to train. Dev and test, which choose first, take a share of the
topics at most: of a small graph little would be left to train on.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from data_prep.synth.draft import Draft
from data_prep.synth.frames import SPLITS

SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}
"""Share of the questions of each split, and of the paths."""
PER_TOPIC = 3
"""Questions of a topic before others come first."""
TOPIC_SHARE = 0.12
"""Share of all topics that dev may take, and test."""
LEAST_TOPICS = 20
"""Topics that each may take though they are a larger share, up to a quarter."""
HUB = 3.0
"""Drafts of a topic, as a multiple of the mean, from which it belongs to train."""


class Selection:
    """Hands out drafts per split and class, broad ones first."""

    def __init__(
        self,
        pools: Mapping[str, Sequence[Draft]],
        relations: Sequence[str],
        seed: int,
    ) -> None:
        """``pools``: drafts by class, such as "chain 2", in random order."""
        self.pools = pools
        drafts = [draft for pool in pools.values() for draft in pool]
        self.split_of_path = split_paths(drafts, relations, seed)
        counts = Counter(leg.topic for draft in drafts for leg in draft.legs)
        mean = sum(counts.values()) / max(len(counts), 1)
        self.split_of_topic = {
            topic: "train"
            for topic, count in counts.items()
            if count > max(HUB * mean, len(drafts) / 100)
        }
        few = min(LEAST_TOPICS, len(counts) // 4)
        most = max(round(TOPIC_SHARE * len(counts)), few)
        self.topics_left = {"train": len(counts), "dev": most, "test": most}

    def drafts(self, split: str, name: str, quota: int) -> Iterator[Draft]:
        """The drafts of a class for a split; those the caller takes are ``claimed``."""
        pool = [d for d in self.pools[name] if self.split_of_path[d.signature] == split]
        cap = max(5, quota // 10)
        paths: Counter[object] = Counter()
        topics: Counter[int] = Counter()
        ranks = []
        for draft in pool:
            topic = draft.legs[0].topic
            ranks.append(max(paths[draft.signature] / cap, topics[topic] / PER_TOPIC))
            paths[draft.signature] += 1
            topics[topic] += 1
        for i in sorted(range(len(pool)), key=lambda i: int(ranks[i])):
            if self._is_free(pool[i], split):
                yield pool[i]

    def claim(self, draft: Draft, split: str) -> None:
        """Give the topics of a question to its split."""
        for topic in self._new_topics(draft):
            self.split_of_topic[topic] = split
            self.topics_left[split] -= 1

    def _is_free(self, draft: Draft, split: str) -> bool:
        if len(self._new_topics(draft)) > self.topics_left[split]:
            return False
        return all(
            self.split_of_topic.get(leg.topic, split) == split for leg in draft.legs
        )

    def _new_topics(self, draft: Draft) -> set[int]:
        """Its topics that no split has."""
        return {leg.topic for leg in draft.legs} - self.split_of_topic.keys()


def split_paths(
    drafts: Sequence[Draft], relations: Sequence[str], seed: int
) -> dict[tuple[tuple[int, ...], ...], str]:
    """The split of each signature; fewer than five of equal lengths all go to train."""
    groups: dict[tuple[int, ...], set[tuple[tuple[int, ...], ...]]] = defaultdict(set)
    for draft in drafts:
        groups[tuple(len(path) for path in draft.signature)].add(draft.signature)
    half = len(relations)

    def place(signature: tuple[tuple[int, ...], ...]) -> str:
        arcs = [
            [f"{relations[a % half]}{a // half}" for a in path] for path in signature
        ]
        return hashlib.sha256(f"{seed} {arcs}".encode()).hexdigest()

    splits = {}
    for _, signatures in sorted(groups.items()):
        ranked = sorted(signatures, key=place)
        n = len(ranked)
        dev = max(round(SHARES["dev"] * n), n >= 5)
        test = max(round(SHARES["test"] * n), n >= 5)
        for i, signature in enumerate(ranked):
            splits[signature] = (
                "dev" if i < dev else "test" if i < dev + test else "train"
            )
    return splits


def quotas(questions: int, classes: Mapping[str, float]) -> dict[str, dict[str, int]]:
    """The number of questions of each split and class; they add up to ``questions``."""
    sizes = {split: round(questions * SHARES[split]) for split in ("dev", "test")}
    sizes["train"] = questions - sum(sizes.values())
    total = sum(classes.values())
    out = {}
    for split in SPLITS:
        left = sizes[split]
        out[split] = {}
        for i, (name, share) in enumerate(classes.items()):
            count = round(sizes[split] * share / total)
            last = i == len(classes) - 1
            out[split][name] = left if last else min(count, left)
            left -= out[split][name]
    return out
