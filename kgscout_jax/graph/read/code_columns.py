"""Columns that hold a code of each row's entity: ``FR`` of France."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.graph.read.header import plain
from kgscout_jax.text.relation_words import CODE_NOUNS

OF_ID = re.compile(r"(.+?)[-_. ]?(?:id|Id|ID)")
"""A column of ids, and whose they are."""
OF_KEY = re.compile(
    r"(.+?)[-_. ]?(?:id|Id|ID|No|Nr|Num|Key|Code)|(.+?)[-_. ](?:no|nr|num|key|code)"
    r"|(.+?) ?#"
)
"""The same of any key: ``PartNo``."""
_DISTINCT = 0.9
"""Share of different codes in a column of codes."""
_CODE = re.compile(r"[A-Z][A-Z0-9._-]{0,11}")
_SYMBOL = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,11}")
_NAMES = CODE_NOUNS | frozenset(("short", "alpha2", "alpha3"))
"""What columns of codes are called; those of capitals only may have any name."""


def key_owner(column: str) -> str:
    """Whose keys a column holds by its name; "" where it says none.

    >>> key_owner("PartNo"), key_owner("dept_id"), key_owner("piano")
    ('Part', 'dept', '')
    >>> key_owner("Inv. No."), key_owner("Order #")
    ('Inv', 'Order')
    """
    match = OF_KEY.fullmatch(column.strip().rstrip("."))
    return "" if match is None else (match[1] or match[2] or match[3]).rstrip(".")


def code_columns(header: Sequence[str], columns: Sequence[Sequence[str]]) -> list[int]:
    """The columns that hold a code of each row's entity.

    Args:
        header: names of the columns.
        columns: the first cells of each.

    >>> code_columns(["name", "iso", "in"], [["Rom", "Bari"], ["RM", "BA"], ["I", "I"]])
    [1]
    """
    out = []
    for i, (name, column) in enumerate(zip(header, columns, strict=True)):
        cells = [cell for cell in column if cell]
        words = plain(name).split("_")
        form = _SYMBOL if not _NAMES.isdisjoint(words) else _CODE
        if (
            2 * len(cells) > len(column) > 1
            and len({*cells}) >= _DISTINCT * len(cells)
            and all(map(form.fullmatch, cells))
        ):
            out.append(i)
    return out
