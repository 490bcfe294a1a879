"""Detects entities without a human-readable name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.string_table import Strings

BLOCK = 1 << 18
"""Names matched at once."""

OPAQUE = r"/?[mg][./][0-9][0-9a-z_]*|[Qq][1-9][0-9]*|_:.*|<.*>"
"""Freebase mids, Wikidata Q-ids, blank nodes, IRIs without a readable segment."""

NUMBER = r"[+-]?[0-9][0-9.,:TZ+-]*"
"""Numbers and dates."""

IDENTIFIER = r"\S*[0-9]\S*"
"""One word with a digit in it: an identifier, unless it is a number."""

_OPAQUE = re.compile(OPAQUE)


def opaque_mask(names: Sequence[str]) -> Bool[np.ndarray, "e"]:
    """True at names that are opaque identifiers."""
    matches = (_OPAQUE.fullmatch(name) is not None for name in names)
    return np.fromiter(matches, bool, len(names))


def arrow_strings(texts: Strings) -> Any:
    """Strings as an arrow array."""
    import pyarrow as pa

    return pa.LargeStringArray.from_buffers(
        len(texts),
        pa.py_buffer(texts.offsets),
        pa.py_buffer(np.ascontiguousarray(texts.data)),
    )


def unnamed_mask(
    ids: Strings, label_mask: Bool[np.ndarray, "e"] | None
) -> Bool[np.ndarray, "e"]:
    """True at entities of one block without a name.

    Without labels, these are the entities whose identity is opaque. With labels
    (``label_mask``), identifiers without a label are unnamed too. Words, numbers and
    dates are literals and need no label.
    """
    texts = arrow_strings(ids)

    def matches(pattern: str) -> Bool[np.ndarray, "e"]:
        mask = compute().match_substring_regex(texts, f"(?s)^(?:{pattern})$")
        return mask.to_numpy(zero_copy_only=False)

    opaque = matches(OPAQUE)
    if label_mask is None:
        return opaque
    return ~label_mask & (opaque | (matches(IDENTIFIER) & ~matches(NUMBER)))
