"""What two states of a graph have in common: data, names, triplets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Int32, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import Strings

AT_ONCE, BYTES_AT_ONCE = 1 << 14, 1 << 24
"""Names, and bytes of names, that are hashed in one piece."""


def mark_of(graph: KnowledgeGraph) -> str:
    """A hash of the data of a GRAPH folder that embeddings depend on."""
    assert graph.opened is not None
    files = graph.opened.manifest["files"]
    wanted = ("triplets.npy", "entities.utf8", "relations.utf8", "labels.utf8")
    hashes = {
        name.split("/")[-1]: about["sha256"]
        for name, about in files.items()
        if name.split("/")[-1] in wanted
    }
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()[:16]


def names_of(graph: KnowledgeGraph, like: dict[str, Any] | None = None) -> dict:
    """Number and hash of the names of entities and relations.

    With ``like``, of as many names as that tells: equal to it if and only if the names
    were only added to since.
    """
    out = {}
    for key, names in (("entities", graph.entities), ("relations", graph.relations)):
        count = len(names)
        if like is not None:
            count = min(count, int(like.get(key, {}).get("count", 0)))
        out[key] = {"count": count, "sha256": _hash(names, count)}
    return out


def _hash(names: Sequence[str], count: int) -> str:
    digest = hashlib.sha256()
    if isinstance(names, Strings):
        end = int(names.offsets[count]) if count else 0
        for array in (names.offsets[: count + 1], names.data[:end]):
            for low in range(0, len(array), BYTES_AT_ONCE):
                digest.update(array[low : low + BYTES_AT_ONCE].tobytes())
        return digest.hexdigest()
    for low in range(0, count, AT_ONCE):
        part = names[low : min(low + AT_ONCE, count)]
        digest.update(json.dumps(part).encode())
    return digest.hexdigest()


def matched(
    old: Int32[np.ndarray, "m 3"], new: Int32[np.ndarray, "n 3"]
) -> Int64[np.ndarray, "n"]:
    """Where in ``old`` each row of ``new`` is, -1 where it is not; both ascending."""
    if not len(old) or not len(new):
        return np.full(len(new), -1, np.int64)
    wide = int(max(old[:, 1].max(), new[:, 1].max())) + 1
    ends = int(max(old[:, 2].max(), new[:, 2].max())) + 1
    pair_old = old[:, 0].astype(np.int64) * wide + old[:, 1]
    pair_new = new[:, 0].astype(np.int64) * wide + new[:, 1]
    # Three ids do not fit 64 bits: the pair's number among the old ones does, with one.
    starts = np.flatnonzero(np.diff(pair_old, prepend=-1))
    pairs = pair_old[starts]
    number = np.cumsum(np.diff(pair_old, prepend=-1) != 0) - 1
    at = np.minimum(np.searchsorted(pairs, pair_new), len(pairs) - 1)
    keys_old = number * ends + old[:, 2]
    keys_new = at * ends + new[:, 2]
    rows = np.minimum(np.searchsorted(keys_old, keys_new), len(old) - 1)
    found = (pairs[at] == pair_new) & (keys_old[rows] == keys_new)
    return np.where(found, rows, -1)
