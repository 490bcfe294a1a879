"""Weighted means of measures."""

from __future__ import annotations

import math
from collections.abc import Mapping


def means(
    rows: Mapping[str, Mapping[str, float]], weights: Mapping[str, float]
) -> dict[str, float]:
    """The weighted mean of each key over the rows that have it.

    Args:
        rows: the name of a set -> its measures.
        weights: the name of a set -> its weight.
    """
    out = {}
    for key in dict.fromkeys(key for row in rows.values() for key in row):
        having = [name for name, row in rows.items() if key in row]
        total = math.fsum(weights[name] for name in having)
        value = math.fsum(weights[name] * rows[name][key] for name in having) / total
        out[key] = round(value, 6)
    return out
