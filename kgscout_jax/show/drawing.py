"""A view as the data that the script in the page draws: ids, weights, path marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.graph.walk.shortest_paths import shortest_path_edges
from kgscout_jax.show.view import MAX_DRAWN, GraphView
from kgscout_jax.types import display_name, entity_key

TOPIC, ANSWER, GOLD = 1, 2, 4
"""Bits of an entity's kind."""

_PATH_LIKE = re.compile(r"[^\s./]+(?:\.+[^\s./]+)+")


def drawing_data(view: GraphView) -> dict[str, Any]:
    """What is drawn, ready for JSON.

    ``names`` and ``kinds`` (bits) per entity, ``relations`` as [written, label],
    ``triplets`` as [head, relation, tail, score, weight] with the weight in [0, 1],
    ``paths`` as [K, marked ranks from 0] wherever raising K changes what is marked,
    ``given``: paths that were given, not the shortest ones, ``judged``: gold answers
    are known, ``total``: triplets given, drawn or not. ``sources`` of the triplets,
    where they are known; ``nothing``: why there are none, where that is said.
    """
    triplets = view.triplets[:MAX_DRAWN]
    ids: dict[str, int] = {}
    names: list[str] = []

    def entity(name: str) -> int:
        index = ids.setdefault(entity_key(name), len(ids))
        if index == len(names):
            names.append(display_name(name))
        return index

    ends = [(entity(head), entity(tail)) for head, _, tail, _ in triplets]
    heads, tails = np.array(ends, np.int32).reshape(-1, 2).T
    marked = (view.topics, TOPIC), (view.answers, ANSWER), (view.gold or (), GOLD)
    bits = [(entity(name), bit) for group, bit in marked for name in group]
    kinds = np.zeros(len(names), np.int32)
    for index, bit in bits:
        kinds[index] |= bit
    # A dict keeps the order in which relations first occur.
    relations = {relation: i for i, relation in enumerate({t[1]: 0 for t in triplets})}
    scores = np.array([float(t[3]) for t in triplets])
    rows = zip(
        heads.tolist(),
        [relations[t[1]] for t in triplets],
        tails.tolist(),
        scores.tolist(),
        weights(scores).tolist(),
        strict=True,
    )
    return {
        "names": names,
        "kinds": kinds.tolist(),
        "relations": [[relation, relation_label(relation)] for relation in relations],
        "triplets": [list(row) for row in rows],
        "paths": path_marks(heads, tails, kinds)
        if view.paths is None
        else given_marks(view.paths),
        "given": view.paths is not None,
        "judged": view.gold is not None,
        "total": len(view.triplets),
        **({"nothing": display_name(view.empty_note)} if view.empty_note else {}),
        **({"sources": list(view.sources[:MAX_DRAWN])} if view.sources else {}),
    }


def weights(scores: np.ndarray) -> np.ndarray:
    """Scores moved into [0, 1] within the question; all 0.5 where they are equal."""
    if scores.size == 0:
        return scores
    # Halved first: the range of two huge scores would overflow.
    low, high = scores.min() / 2, scores.max() / 2
    if high <= low:
        return np.full(scores.shape, 0.5)
    return np.round((scores / 2 - low) / (high - low), 4)


def relation_label(relation: str) -> str:
    """The relation in few words: the last step of a dotted or slashed name.

    >>> relation_label("people.person.place_of_birth")
    'place of birth'
    >>> relation_label("directed_by"), relation_label("is part of")
    ('directed by', 'is part of')
    """
    label = relation.rstrip("/#")
    if "//" in label or label.startswith("/"):
        label = re.split(r"[/#]", label)[-1]
    if _PATH_LIKE.fullmatch(label):
        label = label.rsplit(".", 1)[-1]
    return display_name(label.replace("_", " ")) or relation


def path_marks(
    heads: Int[np.ndarray, "n"],
    tails: Int[np.ndarray, "n"],
    kinds: Int[np.ndarray, "n_nodes"],
) -> list[tuple[int, list[int]]]:
    """(K, triplets) from each K at which the marks change, K ascending.

    Marked are the triplets of the top K that lie on a shortest path, edges walked both
    ways, from a topic to a given or gold answer within the top K. A longer path may
    stop being a shortest one as K grows, so marks can go as well as come.
    """
    n, n_nodes = len(heads), len(kinds)
    is_topic, is_answer = (kinds & TOPIC) > 0, (kinds & (ANSWER | GOLD)) > 0
    if not (n and is_topic.any() and is_answer.any()):
        return []
    # One copy of the graph per K, side by side: block b holds the top b + 1 triplets.
    block, triplet = np.nonzero(np.tri(n, dtype=bool))
    offset = np.arange(n) * n_nodes
    _, on_path = shortest_path_edges(
        n * n_nodes,
        heads[triplet] + offset[block],
        tails[triplet] + offset[block],
        offset[:, None] + np.flatnonzero(is_topic),
        np.tile(is_answer, n),
        directed=False,
    )
    marks: Bool[np.ndarray, "n n"] = np.zeros((n, n), bool)
    marks[block, triplet] = on_path
    before = np.vstack([np.zeros((1, n), bool), marks[:-1]])
    changed = np.flatnonzero((marks != before).any(axis=1))
    return [(int(b) + 1, np.flatnonzero(marks[b]).tolist()) for b in changed]


def given_marks(paths: Sequence[Sequence[int]]) -> list[tuple[int, list[int]]]:
    """``path_marks`` of given paths, each marked from the K on that holds it whole."""
    drawn = sorted((max(path) + 1, path) for path in paths if path)
    drawn = [(k, path) for k, path in drawn if k <= MAX_DRAWN]
    marks: dict[int, list[int]] = {}
    marked: set[int] = set()
    for k, path in drawn:
        marked = marked.union(path)
        marks[k] = sorted(marked)
    return list(marks.items())
