"""Triplets as paths: chains that start at a question's topics.

A kept triplet says little alone where the answer is two hops away. Here the triplets
are closed into a tree of best paths from the topics, edges followed both ways, and
each line of the prompt is one chain of that tree:

    - Lou Seal -> mascot team -> Giants -> championships -> 2010 World Series; 2012 ...

What a relation leads to stands behind it, several ends of one chain side by side; a
hop against the direction of its triplet is written ``<- relation -``. Every triplet
given appears: in a chain, or, where no topic reaches it, as a line of its own behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kgscout_jax.reason.prompts import (
    NO_TRIPLETS,
    Prompt,
    Scored,
    Template,
    check_budget,
    likely_line,
    most_triplets,
    prompt_name,
    prompt_phrase,
    render_text,
    source_note,
    triplet_line,
)
from kgscout_jax.types import Triplet, entity_key

MAX_HOPS = 4
"""Longest chain; triplets further from every topic stand behind, as lines."""
STAR = 5
"""Of what one entity has by one relation, so much is named."""
NOTE = (
    'Each line is a chain of triplets: in "A -> r -> B <- s - C", A has the relation r '
    "to B, and C has the relation s to B. Ends that share a chain are separated by "
    "semicolons."
)
"""Stands above the chains."""
REST = "Further triplets, as head, relation, tail:"
"""Stands between the chains and the triplets on none."""


@dataclass(frozen=True, slots=True)
class _Hop:
    """A triplet as a step of a chain, away from the topics."""

    start: str
    """Key of the entity it leaves."""
    end: str
    triplet: int
    """Its rank: 0 is the best."""
    forward: bool
    mean: float
    """Mean score of the triplets from the topic to here, this one included."""


def render_paths(
    template: Template,
    question: str,
    triplets: Sequence[Scored],
    topics: Sequence[str],
    *,
    answers: Sequence[tuple[str, float]] = (),
    scores: bool = False,
    sources: Sequence[str] = (),
    budget: int | None = None,
) -> Prompt:
    """The prompt for a question, its best triplets as paths from the topics.

    As with lines, the best triplets are those that are shown: as many of them, from
    the first on, as leave the messages within the budget.

    Args:
        template: the words.
        question: as people read it.
        triplets: best first.
        topics: the question's entities, by name.
        answers: name and probability of likely answers, best first.
        scores: whether to write each triplet's score.
        sources: where each triplet stands, in brackets; () to write none.
        budget: the most tokens the messages may have; None: no limit.

    Raises:
        UserError: the budget does not even hold the words and the question.
    """

    below = likely_line(answers)

    def show(n: int) -> Prompt:
        lines = path_lines(triplets[:n], topics, scores=scores, sources=sources[:n])
        text = "\n".join(lines)
        return render_text(template, question, text or NO_TRIPLETS, n, below)

    bare = show(0)
    check_budget(bare, budget)
    best = most_triplets(show, lambda prompt: prompt.tokens, len(triplets), budget)
    return best or bare


def path_lines(
    triplets: Sequence[Scored],
    topics: Sequence[str],
    *,
    scores: bool = False,
    sources: Sequence[str] = (),
) -> list[str]:
    """The lines that show these triplets: a note, chains best first, then the rest.

    A chain's place is by the mean score of its triplets, ties by the rank of the last
    one; where a chain has several ends, by the best of them. Triplets that no topic
    reaches within MAX_HOPS keep their order.

    Args:
        triplets: best first.
        topics: the question's entities, by name; those in no triplet are ignored.
        scores: whether to write each triplet's score, in brackets.
        sources: where each triplet stands, in brackets; () to write none.
    """
    sources = sources or ("",) * len(triplets)
    notes = [
        (f" [{triplet[3]:.2f}]" if scores else "") + source_note(source)
        for triplet, source in zip(triplets, sources, strict=True)
    ]
    chains, rest = _chains(triplets, topics)
    lines = [_chain_line(*chain, triplets, notes) for chain in chains]
    if lines:
        lines.insert(0, NOTE)
        if rest:
            lines.append(REST)
    return lines + [
        triplet_line(triplets[rank], scores=scores) + source_note(sources[rank])
        for rank in rest
    ]


def path_line(path: Sequence[Triplet], end: str = "") -> str:
    """A path as one chain: ``Alien -> directed by -> Ridley Scott``; "" without one.

    Triplets that share no entity with the one before begin another chain, behind a
    semicolon: the values of two entities that are compared. Three and more with one
    entity and one relation in common are told together: what is counted.

    Args:
        path: triplets that follow one another, each of which may be walked either way.
        end: the entity in which the path ends, or from which its last triplet leads
            on; "" where that is clear or does not matter.
    """
    if star := _star(path):
        return star
    chains: list[list[Triplet]] = []
    for triplet in path:
        if chains and _ends(chains[-1][-1]) & _ends(triplet):
            chains[-1].append(triplet)
        else:
            chains.append([triplet])
    return "; ".join(_chain(each, end if len(chains) == 1 else "") for each in chains)


def _star(path: Sequence[Triplet]) -> str:
    """What one entity has by one relation, if that is all; else ""."""
    if len(path) < 3:
        return ""
    heads, relations, tails = map(dict.fromkeys, zip(*path, strict=True))
    if len(relations) > 1 or 1 not in (len(heads), len(tails)):
        return ""
    forward = len(heads) == 1
    centre, others = (heads, tails) if forward else (tails, heads)
    first = ", ".join(map(prompt_name, [*others][:STAR]))
    more = " and more" if len(others) > STAR else ""
    phrase = prompt_phrase(*relations)
    arrow = f"-> {phrase} ->" if forward else f"<- {phrase} -"
    return f"{prompt_name(*centre)} {arrow} {first}{more}"


def _ends(triplet: Triplet) -> set[str]:
    """Keys of head and tail."""
    return {entity_key(triplet[0]), entity_key(triplet[2])}


def _chain(path: Sequence[Triplet], end: str) -> str:
    """A path whose triplets all follow one another."""
    keys = [(entity_key(head), entity_key(tail)) for head, _, tail in path]
    at = entity_key(end)
    before = keys[-2] if len(keys) > 1 else ()
    if at not in keys[-1] or at in before:
        at = keys[-1][0] if keys[-1][1] in before else keys[-1][1]
    parts: list[str] = []
    start = ""
    for (head, relation, tail), (head_key, tail_key) in zip(
        reversed(path), reversed(keys), strict=True
    ):
        forward = at == tail_key
        phrase = prompt_phrase(relation)
        arrow = f"-> {phrase} ->" if forward else f"<- {phrase} -"
        parts += [prompt_name(tail if forward else head), arrow]
        start, at = (head, head_key) if forward else (tail, tail_key)
    return " ".join(reversed([*parts, prompt_name(start)]))


def path_order(triplets: Sequence[Scored], topics: Sequence[str]) -> list[int]:
    """Positions of all triplets in the order in which ``path_lines`` first shows them.

    Args:
        triplets: best first.
        topics: the question's entities, by name; those in no triplet are ignored.
    """
    chains, rest = _chains(triplets, topics)
    order = [hop.triplet for way, others in chains for hop in (*way, *others)]
    return list(dict.fromkeys(order + rest))


def path_closure(
    triplets: Sequence[Scored], topics: Sequence[str], k: int
) -> list[int]:
    """Positions of ``k`` triplets that paths connect with the topics, ascending.

    The best come first, each with the triplets that join it to a topic, whatever the
    rank of these; one whose way does not fit any more is passed over. Only if those
    within reach of a topic are fewer than k do others follow, best first.

    Args:
        triplets: best first, more than k of them: what may close a path.
        topics: the question's entities, by name; those in no triplet are ignored.
        k: how many triplets, at most.
    """
    hops, reached_by = _hops(triplets, topics)
    positions: dict[int, None] = {}
    for hop in sorted(hops, key=lambda hop: hop.triplet):
        way = (step.triplet for step in _path_to(hop, reached_by))
        missing = [rank for rank in way if rank not in positions]
        if len(positions) + len(missing) <= k:
            positions.update(dict.fromkeys(missing))
    for rank in range(len(triplets)):
        if len(positions) >= k:
            break
        positions[rank] = None
    return sorted(positions)


def _chains(
    triplets: Sequence[Scored], topics: Sequence[str]
) -> tuple[list[tuple[list[_Hop], list[_Hop]]], list[int]]:
    """The chains, best first, and the triplets on none, best first.

    A chain is its hops from a topic on, and the last hops to its other ends.
    """
    hops, reached_by = _hops(triplets, topics)
    starts = {hop.start for hop in hops}
    inner = {hop.triplet for end, hop in reached_by.items() if end in starts}
    groups: dict[tuple[str, str, bool], list[_Hop]] = {}
    for hop in sorted(hops, key=lambda hop: (-hop.mean, hop.triplet)):
        if hop.triplet not in inner:
            group = (hop.start, triplets[hop.triplet][1], hop.forward)
            groups.setdefault(group, []).append(hop)
    chains = [(_path_to(ends[0], reached_by), ends[1:]) for ends in groups.values()]
    used = {hop.triplet for hop in hops}
    return chains, [rank for rank in range(len(triplets)) if rank not in used]


def _path_to(hop: _Hop, reached_by: dict[str, _Hop]) -> list[_Hop]:
    """The hops from a topic to this one, itself included."""
    way = [hop]
    while (before := reached_by.get(way[-1].start)) is not None:
        way.append(before)
    return way[::-1]


def _hops(
    triplets: Sequence[Scored], topics: Sequence[str]
) -> tuple[list[_Hop], dict[str, _Hop]]:
    """One hop per triplet within reach, and entity -> the hop it is reached by.

    A triplet is left from its end nearer to a topic, from its head if both are equally
    near. An entity is reached by the fewest hops, and of those by the highest scores.
    Topics are reached by none.
    """
    keys = [(entity_key(head), entity_key(tail)) for head, _, tail, _ in triplets]
    at: dict[str, list[int]] = {}
    for rank, ends in enumerate(keys):
        for key in dict.fromkeys(ends):
            at.setdefault(key, []).append(rank)
    level = dict.fromkeys(key for topic in topics if (key := entity_key(topic)) in at)
    total = dict.fromkeys(level, 0.0)
    hops: dict[int, _Hop] = {}
    reached_by: dict[str, _Hop] = {}
    for depth in range(1, MAX_HOPS + 1):
        reached: dict[str, None] = {}
        for key in level:
            for rank in at[key]:
                if rank in hops or (keys[rank][0] != key and keys[rank][0] in level):
                    continue
                head, tail = keys[rank]
                end = tail if key == head else head
                score = total[key] + triplets[rank][3]
                hop = _Hop(key, end, rank, key == head, score / depth)
                hops[rank] = hop
                if end in total and end not in reached:
                    continue  # a topic, or reached before
                if end not in reached or score > total[end]:
                    total[end], reached_by[end] = score, hop
                    reached[end] = None
        level = reached
    return list(hops.values()), reached_by


def _chain_line(
    way: Sequence[_Hop],
    others: Sequence[_Hop],
    triplets: Sequence[Scored],
    notes: Sequence[str],
) -> str:
    """A chain from its topic on, with the other ends of its last hop.

    ``notes`` of triplets stand behind the entities that they lead to.
    """

    def entity(hop: _Hop, *, start: bool = False) -> str:
        head, _, tail, _ = triplets[hop.triplet]
        name = prompt_name(head if start == hop.forward else tail)
        return name if start else name + notes[hop.triplet]

    parts = [entity(way[0], start=True)]
    for hop in way:
        phrase = prompt_phrase(triplets[hop.triplet][1])
        arrow = f"-> {phrase} ->" if hop.forward else f"<- {phrase} -"
        parts += [arrow, entity(hop)]
    return "- " + "; ".join([" ".join(parts), *map(entity, others)])
