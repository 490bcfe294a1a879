"""Results of SPARQL queries as tables, such as those of Wikidata's query service.

    country,countryLabel,capital,capitalLabel
    http://www.wikidata.org/entity/Q142,France,http://www.wikidata.org/entity/Q90,Paris

A column of addresses and one of their labels stand for one relation, and the first pair
names the rows, which repeat where an entity has several values.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

LABEL = "Label"
_ADDRESS = re.compile(r"https?://\S+")


class ResultColumns(NamedTuple):
    """The columns of the result of a query."""

    addresses: tuple[int, ...]
    """Those whose labels stand in other columns; the first one's rows are meant."""
    names: tuple[str, ...]
    """What each column is called without ``LABEL``; "" for those addresses."""

    key: str
    """The name of the first of them."""

    @property
    def called(self) -> int:
        """The column with the names of the rows."""
        return self.names.index(self.key)


def result_columns(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> ResultColumns | None:
    """The columns of the result of a query; None for other tables.

    >>> result_columns(["city", "cityLabel", "size"], [["http://x/1"], ["Ulm"], ["9"]])
    ResultColumns(addresses=(0,), names=('', 'city', 'size'), key='city')
    """
    addresses = [
        i
        for i, name in enumerate(header)
        if name + LABEL in header and _are_addresses(columns[i])
    ]
    if not addresses:
        return None
    names = [name.removesuffix(LABEL) if name != LABEL else name for name in header]
    names = ["" if i in addresses else name for i, name in enumerate(names)]
    return ResultColumns((*addresses,), (*names,), header[addresses[0]])


def _are_addresses(column: Sequence[str]) -> bool:
    """Whether all cells are addresses, but for empty ones."""
    cells = [cell for cell in column if cell]
    return bool(cells) and all(map(_ADDRESS.fullmatch, cells))


def plain_binding(value: Any) -> Any:
    """A row of SPARQL's JSON without the types of its terms.

    >>> plain_binding({"city": {"type": "literal", "value": "Ulm"}})
    {'city': 'Ulm'}
    """
    if not isinstance(value, dict):
        return value
    return {
        name: term["value"] if isinstance(term, dict) and "value" in term else term
        for name, term in value.items()
    }
