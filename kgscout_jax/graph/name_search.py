"""Names that contain a text: for people who type the beginning of a name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.normalise import join_lines
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name, replace_surrogates

BLOCK = 1 << 14
"""Names that are compared at once."""


@dataclass(frozen=True, slots=True)
class NameMatch:
    """An entity whose name contains a text."""

    entity: int
    name: str
    how: Literal["prefix", "inside"]
    share: float
    """Share of the name's characters that the text has."""


def names_with(graph: KnowledgeGraph, text: str, most: int) -> list[NameMatch]:
    """The entities whose names contain ``text``, whatever its case.

    Names that begin with it come first, then those with a word that does, then the
    others; the best connected first among equals.
    """
    needle = _folded(text)
    if not needle:
        return []
    found = [
        _places(block, needle.encode(), start)
        for start, block in _folded_blocks(graph.entities)
    ]
    ids = np.concatenate([np.empty(0, np.int64), *(ids for ids, _ in found)])
    ranks = np.concatenate([np.empty(0, np.int64), *(ranks for _, ranks in found)])
    degrees = graph.by_head.offsets[ids + 1] - graph.by_head.offsets[ids]
    degrees += graph.by_tail.offsets[ids + 1] - graph.by_tail.offsets[ids]
    order = np.lexsort((ids, -degrees, ranks))[:most]
    matches = []
    for entity, rank in zip(ids[order].tolist(), ranks[order].tolist(), strict=True):
        name = graph.entities[int(entity)]
        share = min(len(needle) / max(len(name), 1), 1.0)
        matches.append(NameMatch(entity, name, "inside" if rank else "prefix", share))
    return matches


def _folded(text: str) -> str:
    return display_name(replace_surrogates(text)).casefold()


def _folded_blocks(names: Sequence[str]) -> Iterator[tuple[int, Strings]]:
    """(number of its first name, case-folded names) of each block."""
    for start in range(0, len(names), BLOCK):
        stop = min(start + BLOCK, len(names))
        if isinstance(names, Strings):
            block = names.block(start, stop)
            raw = block.data.tobytes()
            if raw.isascii():
                lower = np.frombuffer(raw.lower(), np.uint8)
                yield start, Strings(lower, block.offsets)
                continue
        lines = join_lines(names[start:stop]).casefold()
        data = np.frombuffer(lines.encode("utf-8", "replace") + b"\n", np.uint8)
        yield start, Strings(data, np.r_[0, np.flatnonzero(data == ord("\n")) + 1])


def _places(
    names: Strings, needle: bytes, first: int
) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
    """(ids, ranks) of the names that contain ``needle``: 0 at the beginning of the
    name, 1 at that of a word, 2 inside one."""
    data, offsets = names.data, names.offsets
    none = np.empty(0, np.int64)
    if data.tobytes().find(needle) < 0:
        return none, none
    at = np.flatnonzero(data[: len(data) - len(needle) + 1] == needle[0])
    for place, byte in enumerate(needle[1:], start=1):
        at = at[data[at + place] == byte]
    rows = np.searchsorted(offsets, at, side="right") - 1
    whole = at + len(needle) <= offsets[rows + 1]
    at, rows = at[whole], rows[whole]
    before = data[np.maximum(at - 1, 0)]
    letters = (before >= 0x80) | np.isin(before, _LETTERS)
    ranks = np.where(at == offsets[rows], 0, np.where(letters, 2, 1))
    order = np.lexsort((ranks, rows))
    rows, ranks = rows[order], ranks[order]
    new = np.ones(len(rows), bool)
    new[1:] = rows[1:] != rows[:-1]
    return rows[new].astype(np.int64) + first, ranks[new].astype(np.int64)


_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
