"""Contexts of JSON-LD that are given by their address, as pages on the web do.

    {"@context": "https://schema.org", "@type": "Recipe", "name": "Borscht"}

Nothing is fetched: the address becomes the vocabulary of all terms, of which only the
last segment is displayed, and a value that is an address in it is one of its terms.
Texts of pages may be escaped, ``&amp;``, and ``/ann#person`` is a part of a page.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from kgscout_jax.graph.read.schema_kinds import is_one_by_name

_CONTEXT, _ID, _TYPE = "@context", "@id", "@type"
_BY_ADDRESS = re.compile(rb'"@context"\s*:\s*(\[[^\]{]*)?"\s*https?://')
_PARTS = ("PostalAddress", "Offer", "AggregateOffer", "AggregateRating", "Rating")
"""Kinds of objects that say something of the object that holds them."""
_ALIASES: dict[str, str] = {"id": _ID, "type": _TYPE}
"""What contexts on the web call the keywords."""


def with_local_contexts(data: bytes) -> bytes:
    """JSON-LD with vocabularies instead of the addresses of contexts.

    Other data, and what is not valid JSON, stays as it is: its parser says what is
    wrong.
    """
    if _BY_ADDRESS.search(data) is None:
        return data
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    objects = [*_objects(value)]
    contexts = [
        each
        for one in objects
        for each in _listed(one.get(_CONTEXT))
        if isinstance(each, str)
    ]
    kinds = {str(each) for one in objects for each in _listed(_field(one, _TYPE))}
    parts = frozenset(re.split(r"[/#:]", kind)[-1].casefold() for kind in kinds)
    page = _Page(tuple({_secure(_vocabulary(each)) for each in contexts}), parts)
    return json.dumps(page.localised(value), ensure_ascii=False).encode()


@dataclass(frozen=True)
class _Page:
    """What tells how the values of a file are read."""

    vocabularies: tuple[str, ...]
    parts: frozenset[str]
    """What the parts of pages may be called: a kind, in lower case."""

    def localised(self, value: Any, key: str = "") -> Any:
        """A value with local contexts; ``key`` is the field that holds it."""
        if isinstance(value, list):
            return [self.localised(each, key) for each in value]
        if isinstance(value, dict):
            value = _with_parts(value)
            own = _own_id(value)
            return own | {
                name: _context(each)
                if name == _CONTEXT
                else self.localised(each, _ALIASES.get(str(name), str(name)))
                for name, each in value.items()
            }
        if not isinstance(value, str):
            return value
        if key == _ID:
            return self._id(value)
        if key.startswith("@"):
            return value
        if _secure(value).startswith(self.vocabularies):
            return {_ID: value}
        return html.unescape(value)

    def _id(self, address: str) -> str:
        """An address of which the last segment names the page of a part as well.

        Of all authors ``/ann#person`` is Ann, and ``/#website`` no class.
        """
        page, mark, part = address.partition("#")
        is_part = page.endswith("/") or part.casefold() in self.parts
        return f"{page.rstrip('/')}%23{part}" if mark and is_part else address


def _with_parts(value: dict[str, Any]) -> dict[str, Any]:
    """An object with the fields of its address, its only offer and the like as its own.

    >>> _with_parts({"name": "Bag", "offers": {"@type": "Offer", "price": "79.90"}})
    {'name': 'Bag', 'price': '79.90'}
    """
    out: dict[str, Any] = {}
    for name, each in value.items():
        listed = _listed(each)
        part = listed[0] if len(listed) == 1 else None
        fields = _part_fields(part) if isinstance(part, dict) else {}
        if fields and value.keys().isdisjoint(fields):
            out |= fields
        else:
            out[name] = each
    return out


def _part_fields(part: dict[str, Any]) -> dict[str, Any]:
    """What an address, an offer or a rating without an id says; {} of other objects."""
    if _field(part, _TYPE) not in _PARTS or _field(part, _ID):
        return {}
    return {key: field for key, field in part.items() if key not in (_TYPE, "type")}


def _own_id(value: dict[str, Any]) -> dict[str, str]:
    """The id of an object that has none, where its kind and name tell which it is.

    Each page of a shop says again that the brand of its product is called Acme.

    >>> _own_id({"@type": "Brand", "name": "Acme"})
    {'@id': '#Brand/Acme'}
    >>> _own_id({"@type": "Event", "name": "Fair"})
    {}
    """
    kinds = [str(each) for each in _listed(_field(value, _TYPE))]
    kind, name = next(filter(is_one_by_name, kinds), None), value.get("name")
    if kind is None or not isinstance(name, str) or _field(value, _ID):
        return {}
    return {_ID: f"#{kind}/{quote(name)}"}


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a value."""
    if isinstance(value, dict):
        yield value
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from _objects(each)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _field(value: dict[str, Any], keyword: str) -> Any:
    """The value of a keyword, which may have an alias."""
    return value.get(keyword, value.get(keyword.removeprefix("@")))


def _vocabulary(address: str) -> str:
    """What begins the terms of a context.

    >>> _vocabulary("https://schema.org")
    'https://schema.org/'
    """
    return address if address.endswith(("/", "#")) else f"{address}/"


def _context(value: Any) -> Any:
    """A context with vocabularies instead of addresses."""
    if isinstance(value, str):
        return {"@vocab": _vocabulary(value), **_ALIASES}
    return [*map(_context, value)] if isinstance(value, list) else value


def _secure(address: str) -> str:
    """An address of the web with https."""
    return re.sub(r"^http:", "https:", address)
