"""Samples drafts of each shape: chains, implied steps, two conditions, counts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int64

from data_prep.synth.draft import Draft, Leg
from data_prep.synth.follow import Trace, distinct_pairs, follow
from data_prep.synth.relation_facts import RelationFacts
from data_prep.synth.sampler import Sampler, joint_path

BETWEEN = 3
"""Entities between topic and answers at most, as a multiple of the answers allowed."""
FUNCTIONAL = 0.95
"""Share of the entities of a link that it must lead from to one other, if it is left
out: that a city happens to be one person's place of birth goes without saying for
nobody."""
ALL_IMPLIED = 0.6
"""How often all links that lead to one entity are left out, not just some of them."""
WIDE = 20_000
"""Arcs at most of a step towards one of two conditions."""
MAX_TRIPLETS = 200
"""Triplets of one question at most."""


def sample_chains(
    sampler: Sampler, n: int, hops: int, most: int, *, counted: bool = False
) -> list[Draft]:
    """Questions about what a path of ``hops`` links reaches, or about its number.

    Args:
        sampler: the links.
        n: number of tries.
        hops: links of a path.
        most: answers at most.
        counted: ask for the number of answers, at least two.
    """
    topics, link, reached = sampler.first_links(n)
    links = [link]
    for _ in range(hops - 1):
        link, reached = sampler.links(reached)
        links.append(link)
    real = reached >= 0
    if hops > 2:
        # There and back is natural once: "other films of its director".
        back = [_is_back(sampler, a, b) for a, b in itertools.pairwise(links)]
        real &= sum(back) < 2
    topics, links = topics[real], [link[real] for link in links]
    turns = None
    if hops > 2:
        # Further on, "other films" are those that the walk goes on from.
        steps = sum((link >= 0).sum(axis=1) for link in links[:2])
        turns = np.where(_is_back(sampler, *links[:2]), steps, 0)
    trace = follow(sampler.index, topics, joint_path(links), BETWEEN * most, turns)
    drafts = []
    for _, leg, returns, answers, triplets in legs_of(trace, topics, links):
        fewest = 2 if counted else 1
        if not fewest <= len(answers) <= most:
            continue
        if not all(sampler.named[answer] for answer in answers):
            continue
        shape = "count" if counted else "chain"
        drafts.append(Draft(shape, (leg,), answers, triplets, returns=returns))
    return drafts


def sample_implied(
    sampler: Sampler, facts: Sequence[RelationFacts], n: int, hops: int, most: int
) -> list[Draft]:
    """Chains whose first links are left out, each of which leads to one entity.

    Links lead to one entity from almost wherever they start: the country of an airport
    goes without saying, the film of an actor who is in only one does not.

    Args:
        sampler: the links.
        facts: of every relation.
        n: number of tries.
        hops: links of a path, at least two.
        most: answers at most.
    """
    half, functionality = len(facts), sampler.index.functionality
    drafts = []
    for draft in sample_chains(sampler, n, hops, most):
        leg = draft.legs[0]
        sizes = leg.sizes[:-1]
        single = next((i for i, size in enumerate(sizes) if size > 1), len(sizes))
        back = any(abs(a - b) == half for a, b in itertools.pairwise(leg.path))
        # "The block of 128.6 days" leaves out too much.
        first = leg.path[0]
        of_value = first >= half and facts[first - half].kind != "entity"
        if single and not back and not of_value:
            all_of_them = sampler.rng.random() < ALL_IMPLIED
            implied = (
                single if all_of_them else int(sampler.rng.integers(1, single + 1))
            )
            arcs = [arc for link in leg.links[:implied] for arc in link]
            if functionality[arcs].min() >= FUNCTIONAL:
                drafts.append(replace(draft, shape="implied", implied=implied))
    return drafts


def _is_back(
    sampler: Sampler, one: Int64[np.ndarray, "k 2"], two: Int64[np.ndarray, "k 2"]
) -> Int64[np.ndarray, "k"]:
    """1 where a link is the reverse of the one before it."""
    return (reverse(sampler, one) == two).all(axis=1).astype(np.int64)


def legs_of(
    trace: Trace, topics: Int64[np.ndarray, "q"], links: list[Int64[np.ndarray, "q 2"]]
) -> Iterator[tuple[int, Leg, bool, tuple[int, ...], tuple[int, ...]]]:
    """(question, its path, whether that returns to its topic, answers, triplets).

    The topic is never an answer. Questions that reach nothing, too much, whose path
    ends in too many triplets, or is on its way at its topic again and nowhere else (by
    a self-loop, or by two relations to the same entity), are left out.
    """
    ends = trace.ends()
    owner, entity = np.divmod(ends, trace.n)
    is_topic = entity == topics[owner]
    returns = np.bincount(owner[is_topic], minlength=len(topics)) > 0
    ends = ends[~is_topic]
    answers = values_by_owner(ends // trace.n, ends % trace.n, len(topics))
    triplets = values_by_owner(*trace.relevant(ends), len(topics))
    steps = np.cumsum([(link >= 0).sum(axis=1) for link in links], axis=0)
    sizes = np.stack([trace.sizes(trace.after(step)) for step in steps])
    for i in map(int, np.flatnonzero(trace.within & ~_stays(trace, topics))):
        if len(answers[i]) and len(triplets[i]) <= MAX_TRIPLETS:
            path = tuple(tuple(map(int, link[i][link[i] >= 0])) for link in links)
            counts = (*map(int, sizes[:-1, i]), len(answers[i]))
            leg = Leg(int(topics[i]), path, counts)
            yield i, leg, bool(returns[i]), answers[i], triplets[i]


def _stays(trace: Trace, topics: Int64[np.ndarray, "q"]) -> Bool[np.ndarray, "q"]:
    """Whether some step of a path before its last leads to its topic alone."""
    stays = np.zeros(len(topics), bool)
    for step, keys in enumerate(trace.keys[1:], start=1):
        owner, entity = np.divmod(keys, trace.n)
        at_topic = np.bincount(owner[entity == topics[owner]], minlength=len(topics))
        alone = (at_topic == 1) & (trace.sizes(keys) == 1)
        stays |= alone & (step < trace.lengths)
    return stays


def sample_pairs(sampler: Sampler, n: int, most: int, *, deep: bool) -> list[Draft]:
    """Questions with two conditions on one answer; neither alone gives the answers.

    Args:
        sampler: the links.
        n: number of tries.
        most: answers at most.
        deep: whether the first condition is two links long.
    """
    index = sampler.index
    answer, one, first = sampler.first_links(n)
    two, second = sampler.links(np.where(first >= 0, answer, -1))
    links = [reverse(sampler, one)]
    if deep:
        three, first = sampler.links(first)
        links.insert(0, reverse(sampler, three))
    other = [reverse(sampler, two)]
    real = (first >= 0) & (second >= 0) & (first != second)
    # Topics are names: "1979" as a condition is fine, a group that is too large is not.
    real &= (first != answer) & (second != answer)
    first, second = first[real], second[real]
    links, other = [link[real] for link in links], [link[real] for link in other]
    drafts = []
    size = 2048
    for low in range(0, len(first), size):
        part = slice(low, low + size)
        drafts += _pairs(
            follow(index, first[part], joint_path([x[part] for x in links]), WIDE),
            follow(index, second[part], joint_path([x[part] for x in other]), WIDE),
            first[part], second[part],
            [x[part] for x in links], [x[part] for x in other], sampler, most,
        )  # fmt: skip
    return drafts


def _pairs(
    left: Trace,
    right: Trace,
    first: Int64[np.ndarray, "q"],
    second: Int64[np.ndarray, "q"],
    links: list[Int64[np.ndarray, "q 2"]],
    other: list[Int64[np.ndarray, "q 2"]],
    sampler: Sampler,
    most: int,
) -> list[Draft]:
    """The drafts of paths from two topics each."""
    count = len(first)
    one, two = left.ends(), right.ends()
    both = np.intersect1d(one, two, assume_unique=True)
    owner, entity = np.divmod(both, left.n)
    both = both[(entity != first[owner]) & (entity != second[owner])]
    answers = values_by_owner(both // left.n, both % left.n, count)
    sizes = left.sizes(one), right.sizes(two)
    pairs = [np.stack(trace.relevant(both)) for trace in (left, right)]
    owner, ids = distinct_pairs(*np.concatenate(pairs, axis=1))
    triplets = values_by_owner(owner, ids, count)
    steps = np.cumsum([(link >= 0).sum(axis=1) for link in links], axis=0)
    between = left.sizes(left.after(steps[0]))
    drafts = []
    for i in map(int, np.flatnonzero(left.within & right.within)):
        found = len(answers[i])
        if not (0 < found <= most and found < min(sizes[0][i], sizes[1][i])):
            continue
        if len(links) > 1 and between[i] > BETWEEN * most:
            continue
        if len(triplets[i]) > MAX_TRIPLETS or not all(
            sampler.named[answer] for answer in answers[i]
        ):
            continue
        counts = (int(between[i]), found) if len(links) > 1 else (found,)
        legs = (
            Leg(int(first[i]), link_types(links, i), counts),
            Leg(int(second[i]), link_types(other, i), (found,)),
        )
        if legs[0].path != legs[1].path or first[i] < second[i]:
            drafts.append(Draft("pair", legs, answers[i], triplets[i]))
    return drafts


def link_types(
    links: list[Int64[np.ndarray, "q 2"]], i: int
) -> tuple[tuple[int, ...], ...]:
    """The links of one path."""
    return tuple(tuple(map(int, link[i][link[i] >= 0])) for link in links)


def reverse(
    sampler: Sampler, link: Int64[np.ndarray, "k 2"]
) -> Int64[np.ndarray, "k 2"]:
    """Links walked from their other end; -1 stays behind."""
    turned = sampler.index.inverse(link)
    return np.where((link[:, 1] >= 0)[:, None], turned[:, ::-1], turned)


def values_by_owner(
    owner: Int64[np.ndarray, "k"], values: Int64[np.ndarray, "k"], count: int
) -> list[tuple[int, ...]]:
    """The values of each owner, in order; ``owner`` ascends."""
    bounds = np.searchsorted(owner, np.arange(count + 1))
    plain = values.tolist()
    return [tuple(plain[a:b]) for a, b in itertools.pairwise(bounds)]
