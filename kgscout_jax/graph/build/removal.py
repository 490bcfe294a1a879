"""Finds the triplets that an update of a GRAPH folder removes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from jaxtyping import Bool, Int32, Int64, UInt64

from kgscout_jax.graph.build.interning import strings_of
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.name_hashes import entity_hashes
from kgscout_jax.graph.read.arrow_batches import Columns
from kgscout_jax.types import display_name


def removal_mask(
    old: GraphFolder, chunks: Iterable[Columns]
) -> tuple[Bool[np.ndarray, "m"], int]:
    """True at the triplets of ``old`` to remove; number of rows without a match.

    Args:
        old: the folder before the update.
        chunks: the triplets to remove, by name.
    """
    triplets, offsets = old.arrays["triplets"], old.arrays["head_offsets"]
    relations = {name: i for i, name in enumerate(old.strings("relations"))}
    relations |= {name: i for i, name in enumerate(old.relation_ids)}
    mask = np.zeros(len(triplets), bool)
    missing = 0
    for heads, phrases, tails in chunks:
        rows = np.empty((len(heads), 3), np.int32)
        rows[:, 0] = _entity_ids(old, heads)
        rows[:, 2] = _entity_ids(old, tails)
        encoded = phrases.dictionary_encode()
        spellings = encoded.dictionary.to_pylist()
        ids = [relations.get(display_name(text), -1) for text in spellings]
        rows[:, 1] = np.array(ids, np.int32)[encoded.indices.to_numpy()]
        rows = rows[(rows >= 0).all(axis=1)]
        matches = find_triplets(triplets, offsets, rows)
        missing += len(heads) - int((matches >= 0).sum())
        mask[matches[matches >= 0]] = True
    return mask, missing


def _entity_ids(old: GraphFolder, names: Any) -> Int32[np.ndarray, "n"]:
    """Ids of an arrow column of names, -1 for unknown ones."""
    encoded = names.dictionary_encode()
    hashes = entity_hashes(strings_of(encoded.dictionary))
    return old.index.ids_of(hashes)[encoded.indices.to_numpy()]


def find_triplets(
    triplets: Int32[np.ndarray, "m 3"],
    offsets: Int64[np.ndarray, "e+1"],
    rows: Int32[np.ndarray, "n 3"],
) -> Int64[np.ndarray, "n"]:
    """The id of each of ``rows`` among canonical triplets, or -1.

    A vectorised binary search; ``offsets`` are the offsets by head.
    """
    low = np.array(offsets[rows[:, 0]])
    stop = np.asarray(offsets[rows[:, 0] + 1])
    high = stop.copy()
    keys = _pair_keys(rows)
    while (searching := low < high).any():
        middle = (low + high) >> 1
        here = np.flatnonzero(searching)
        less = np.zeros(len(rows), bool)
        less[here] = _pair_keys(triplets[middle[here]]) < keys[here]
        low = np.where(less, middle + 1, low)
        high = np.where(searching & ~less, middle, high)
    equal = low < stop
    here = np.flatnonzero(equal)
    equal[here] = _pair_keys(triplets[low[here]]) == keys[here]
    return np.where(equal, low, -1)


def _pair_keys(rows: Int32[np.ndarray, "n 3"]) -> UInt64[np.ndarray, "n"]:
    """Relation and tail as one key."""
    relations = rows[:, 1].astype(np.uint64) << np.uint64(32)
    return relations | rows[:, 2].astype(np.uint64)
