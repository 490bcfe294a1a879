"""Which entities have no name that a person would understand."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.string_table import Strings

BLOCK = 1 << 18
"""Names looked at a time."""

OPAQUE = r"[mg]\.[0-9][0-9a-z_]*|[Qq][1-9][0-9]*|_:.*|<.*>"
"""Freebase mids, Wikidata Q-ids, blank nodes, IRIs without a readable segment."""

NUMBER = r"[+-]?[0-9][0-9.,:TZ+-]*"
"""Numbers and dates."""

IDENTIFIER = r"\S*[0-9]\S*"
"""What waits for its label, unless it is a number: one word with a digit in it."""

_OPAQUE = re.compile(OPAQUE)


def is_opaque(name: str) -> bool:
    """Whether a name is an identifier that says nothing."""
    return _OPAQUE.fullmatch(name) is not None


def opaque_mask(names: Sequence[str]) -> Bool[np.ndarray, "e"]:
    """Marks names that are identifiers which say nothing."""
    return np.fromiter(map(is_opaque, names), bool, len(names))


def unnamed_mask(
    ids: Strings, labelled: Bool[np.ndarray, "e"] | None
) -> Bool[np.ndarray, "e"]:
    """Marks entities of one block without a name.

    Without labels: those whose identity is opaque. With labels (``labelled`` is given):
    also those that have none and are known by an identifier. Words, numbers and dates
    say what they are: literals need no label.
    """
    import pyarrow as pa

    texts = pa.LargeStringArray.from_buffers(
        len(ids),
        pa.py_buffer(ids.offsets),
        pa.py_buffer(np.ascontiguousarray(ids.data)),
    )

    def matches(pattern: str) -> Bool[np.ndarray, "e"]:
        found = compute().match_substring_regex(texts, f"(?s)^(?:{pattern})$")
        return found.to_numpy(zero_copy_only=False)

    opaque = matches(OPAQUE)
    if labelled is None:
        return opaque
    return ~labelled & (opaque | (matches(IDENTIFIER) & ~matches(NUMBER)))
