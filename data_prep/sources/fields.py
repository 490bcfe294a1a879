"""Checked fields of a row, with one-line errors that name the place.

``where`` is the place of the row: ``file:line``, or ``file: row n`` for
parquet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet
from kgscout_jax.utils.checks import type_name

Row = Mapping[str, Any]


def field_error(where: str, name: str, expected: str, found: str) -> UserError:
    """The error for a field of the wrong type."""
    return UserError(f"{where}: field {name!r}: expected {expected}, found {found}")


def value_of(row: Row, name: str, where: str) -> Any:
    """The value of a field that must be there."""
    try:
        return row[name]
    except KeyError:
        raise UserError(
            f"{where}: field {name!r} is missing; found: {', '.join(row) or 'none'}"
        ) from None


def check_text(texts: Iterable[str], where: str, name: str) -> None:
    """Raise UserError if a string holds half of a surrogate pair (JSON allows it)."""
    joined = "".join(texts)
    if joined.isascii():
        return
    try:
        joined.encode()
    except UnicodeEncodeError as error:
        found = f"the lone surrogate \\u{ord(joined[error.start]):04x}"
        raise field_error(where, name, "Unicode text", found) from None


def text_of(row: Row, name: str, where: str, *, number: bool = False) -> str:
    """A string that is not blank; with ``number`` an integer is taken as its digits."""
    value = value_of(row, name, where)
    if number and type(value) is int:
        return str(value)
    if not isinstance(value, str):
        raise field_error(where, name, "a string", type_name(value))
    if not value.strip():
        raise field_error(where, name, "a string", "an empty one")
    check_text([value], where, name)
    return value


def names_of(row: Row, name: str, where: str, *, bare: bool = False) -> tuple[str, ...]:
    """A list of strings, perhaps empty; with ``bare`` one string counts as a list.

    Blank strings are left out: they name nothing.
    """
    value = value_of(row, name, where)
    if bare and isinstance(value, str):
        value = [value]
    if not isinstance(value, list):
        raise field_error(where, name, "a list of strings", type_name(value))
    for item in value:
        if not isinstance(item, str):
            found = f"a list that holds {type_name(item)}"
            raise field_error(where, name, "a list of strings", found)
    check_text(value, where, name)
    return tuple(item for item in value if item.strip())


def flat_rows(value: Any, item_type: type, where: str, name: str) -> list[Any]:
    """A list of [head, relation, tail] as one flat list, three items a triplet.

    Args:
        value: what the field holds.
        item_type: the type of every item: str for names, int for indices.
    """
    expected = f"a list of [head, relation, tail] ({item_type.__name__})"
    if not isinstance(value, list):
        raise field_error(where, name, expected, type_name(value))
    if not set(map(type, value)) <= {list}:
        found = next(type_name(row) for row in value if type(row) is not list)
        raise field_error(where, name, expected, f"a list that holds {found}")
    if not set(map(len, value)) <= {3}:
        found = next(len(row) for row in value if len(row) != 3)
        raise field_error(where, name, expected, f"a row of {found}")
    flat = list(chain.from_iterable(value))
    if not set(map(type, flat)) <= {item_type}:
        found = next(type_name(item) for item in flat if type(item) is not item_type)
        raise field_error(where, name, expected, f"a row that holds {found}")
    if item_type is str:
        check_text(flat, where, name)
    return flat


def triplets_of(row: Row, name: str, where: str) -> tuple[Triplet, ...]:
    """Labelled triplets; those with a blank name are left out."""
    flat = without_blank(flat_rows(value_of(row, name, where), str, where, name))
    return tuple(zip(flat[0::3], flat[1::3], flat[2::3], strict=True))


def without_blank(flat: list[str]) -> list[str]:
    """The flat list less the triplets in which a name is blank."""
    if all(map(str.strip, flat)):
        return flat
    complete: list[str] = []
    for start in range(0, len(flat), 3):
        row = flat[start : start + 3]
        if all(map(str.strip, row)):
            complete += row
    return complete


class UniqueIds:
    """Question ids of one split; ``add`` raises UserError at the second use of one."""

    def __init__(self) -> None:
        self._first: dict[str, str] = {}

    def add(self, number: str, where: str) -> str:
        """``number`` itself, once it is known to be new."""
        first = self._first.setdefault(number, where)
        if first is not where:
            raise UserError(
                f"{where}: question id {number!r} occurs twice, first at {first}"
            )
        return number
