"""Files of JSON that hold a record for each entity: its name, then facts about it.

    {"name": "Ann", "city": "Rome", "team": {"name": "Sales", "floor": 2}}

An object in a record is another entity if it has a name, as the team; otherwise its
fields are those of the record (``address_street``), or, in a list, it is a node without
a name, as a row of events is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.code_columns import code_columns
from kgscout_jax.graph.read.code_names import CODE_SHARE
from kgscout_jax.graph.read.elements import Attributes, Edge, Node
from kgscout_jax.graph.read.header import NAMES, NO_NAME, TITLE, name_rank, plain
from kgscout_jax.graph.read.json_lines import (
    fact_text,
    is_element,
    name_field,
    row_elements,
    text_of,
)
from kgscout_jax.graph.read.json_rows import JsonRow, json_rows
from kgscout_jax.graph.read.key_columns import key_columns
from kgscout_jax.graph.read.node_columns import NODE_IDS
from kgscout_jax.graph.read.node_tables import qualified
from kgscout_jax.graph.read.quantities import quantity_text
from kgscout_jax.graph.read.query_results import result_columns
from kgscout_jax.graph.read.row_names import (
    OWN,
    named_kind,
    owner_of_ids,
    row_kind,
    row_noun,
)
from kgscout_jax.graph.row_id import row_id
from kgscout_jax.types import replace_surrogates

_LINKED_DATA = frozenset(("@context", "@id"))
"""Fields of JSON-LD, which ``rdf`` reads."""
_REFERENCE = frozenset("type kind ref href url uri link self".split())
"""Fields of an object that but refers to a record, beside its id."""
_NAMES_BESIDE = (*NAMES, "display_name")
"""What ends the name of a field that names the address in another."""
SAMPLE_RECORDS = 1_000
"""Records that tell which fields hold names and codes."""


@dataclass(frozen=True)
class RecordTable:
    """How the records of one list are read."""

    names: tuple[str, ...]
    """The fields that together name a record; () for events, which nothing names."""
    id: str = ""
    """The field of its id; "" without one."""
    kind: str | None = None
    """What each record is."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Other names of fields, see ``ResultColumns``; "" for those that say nothing."""


@dataclass(frozen=True)
class RecordFields:
    """The fields of the records of a file."""

    tables: Mapping[str, RecordTable]
    """By the name of the list, see ``JsonRow``."""
    names: tuple[str, ...]
    codes: tuple[str, ...]
    """Those that hold a code of each record's entity, see ``code_columns``."""
    varying: frozenset[str] = frozenset()
    """Those whose objects say something else of one entity in each record: a role."""
    referring: frozenset[str] = frozenset()
    """Those whose objects but refer to records, by their ids."""

    @property
    def nouns(self) -> list[str]:
        """What the records of each list are called."""
        return [row_noun(name) for name in self.tables if name]

    @property
    def ids(self) -> list[str]:
        """The fields of ids."""
        return [*dict.fromkeys(table.id for table in self.tables.values() if table.id)]


def record_fields(path: Path) -> RecordFields | None:
    """The fields of a file of records; None for a file of nodes and edges.

    Raises:
        UserError: the file is missing or malformed.
    """
    rows = [*islice(json_rows(path), SAMPLE_RECORDS)]
    if not rows or any(is_element(row.value) for row in rows):
        return None
    if any(not _LINKED_DATA.isdisjoint(row.value) for row in rows):
        raise UserError(
            f"{path}: JSON-LD is read from files that begin with @context, @graph or "
            "@id, or whose names end in .jsonld"
        )
    by_table: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        by_table[row.table].append(row.value)
    tables = {
        name: table
        for name, values in by_table.items()
        if (table := _table(path, name, values)) is not None
    }
    if len(tables) < len(by_table):
        return None
    fields = RecordFields(tables, (), (), _varying(rows), _referring(rows, tables))
    nodes = [each for row in rows for each in _Record(path, row, fields).nodes()]
    columns = _columns([_single(node.attributes) for node in nodes])
    codes = code_columns([*columns], [*columns.values()])
    names = [*columns]
    return replace(fields, names=(*names,), codes=tuple(names[i] for i in codes))


def record_elements(path: Path, fields: RecordFields) -> Iterator[Node | Edge]:
    """The nodes of a file of records, and the triplets among them.

    Raises:
        UserError: (on iteration) the file is malformed.
    """
    for number, row in enumerate(json_rows(path), start=1):
        if is_element(row.value):
            yield from row_elements(path, row)
        else:
            yield from _Record(path, row, fields, number).nodes()


def _table(
    path: Path, list_name: str, rows: Sequence[dict[str, Any]]
) -> RecordTable | None:
    """How the records of one list are read; None where nothing names them."""
    single = [_scalars(row) for row in rows]
    columns = _columns(single)
    header = [*columns]
    if result := result_columns(header, [*columns.values()]):
        fields = dict(zip(header, result.names, strict=True))
        called, id = header[result.called], header[result.addresses[0]]
        kind = row_kind(path, "") or named_kind([fields[called]])
        return RecordTable((called,), id, kind, fields)
    found = key_columns(header, [*columns.values()]) if header else None
    if found is None:
        ranked = [name for name in header if name_rank(plain(name)) < NO_NAME]
        names = sorted(ranked, key=lambda name: name_rank(plain(name)))[:1]
        if not names:
            return None
        ids: list[str] = []
    else:
        keys = [found.called, found.surname]
        names = [header[i] for i in keys if i is not None]
        ids = [header[found.id]] if found.id not in (None, found.called) else []
    ids = ids or [name for name in header if plain(name) in NODE_IDS]
    id = next((name for name in ids if name not in names), "")
    kind = (row_kind(Path(list_name), id) if list_name else None) or row_kind(path, id)
    return RecordTable(tuple(names), id, kind or named_kind(names))


def _table_of_one(row: Mapping[str, Any]) -> RecordTable:
    """How a record of a list is read that no other of the sample is from."""
    name = name_field(row)
    return RecordTable(() if name is None else (name,))


def _scalars(row: Mapping[str, Any]) -> dict[str, str]:
    """The fields that hold one value."""
    pairs = {name: text_of(value) for name, value in row.items()}
    return {name: text for name, text in pairs.items() if text is not None}


def _referred_id(fields: Mapping[str, str]) -> str | None:
    """The id in an object that but refers to a record; None in another object.

    >>> _referred_id({"type": "users", "id": "usr-7"})
    'usr-7'
    """
    ids = [text for name, text in fields.items() if plain(name) in NODE_IDS]
    others = {plain(name) for name in fields} - {*NODE_IDS} - _REFERENCE
    return ids[0] if len(ids) == 1 and not others else None


def _with_names_at_addresses(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an object, with names for addresses that fields beside them name.

    >>> _with_names_at_addresses({"host": "https://a.org/P1", "host_name": "ACM"})
    {'host': 'ACM'}
    """
    named = {
        name: other
        for name, each in value.items()
        if isinstance(each, str) and "://" in each
        for end in _NAMES_BESIDE
        if isinstance(value.get(other := f"{name}_{end}"), str)
    }
    fields = {name: value[named.get(name, name)] for name in value}
    return {name: each for name, each in fields.items() if name not in named.values()}


def _single(pairs: Attributes) -> dict[str, str]:
    """The values of fields; "" for several, of which none is the code of one entity."""
    out: dict[str, str] = {}
    for name, value in pairs:
        out[name] = "" if name in out else value
    return out


def _columns(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """The values of each field, "" where a row has none."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name, "") for row in rows] for name in names}


def _varying(rows: Sequence[JsonRow]) -> frozenset[str]:
    """The fields of ``RecordFields.varying``."""
    known: dict[tuple[str, str], Any] = {}
    out = set[str]()
    for row in rows:
        for name, value in row.value.items():
            for each in value if isinstance(value, list) else ():
                if isinstance(each, dict) and (key := name_field(each)):
                    entity = name, str(each[key])
                    if known.setdefault(entity, each) != each:
                        out.add(name)
    return frozenset(out)


def _referring(
    rows: Sequence[JsonRow], tables: Mapping[str, RecordTable]
) -> frozenset[str]:
    """The fields of ``RecordFields.referring``: nearly all of their ids are known."""
    ids: dict[str, list[str | None]] = defaultdict(list)
    known = set[str | None]()
    for row in rows:
        known.add(text_of(row.value.get(tables[row.table].id)))
        for name, value in row.value.items():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, dict):
                    ids[name].append(_referred_id(_scalars(each)))
    known -= {None, ""}
    return frozenset(
        name
        for name, each in ids.items()
        if sum(id in known for id in each) >= CODE_SHARE * len(each)
    )


@dataclass
class _Record:
    """One record as nodes: its own, and those of the objects in it."""

    path: Path
    row: JsonRow
    fields: RecordFields
    number: int = 1
    """Of the record in its file."""
    _inner: list[Node] = field(default_factory=list)
    _events: int = 0

    def nodes(self) -> list[Node]:
        """The node of the record, which may have no name, and those behind it."""
        value = self.row.value
        table = self.fields.tables.get(self.row.table) or _table_of_one(value)
        id = (text_of(value.get(table.id)) or "").strip()
        names = table.names
        if names and not any(map(value.get, names)) and (other := name_field(value)):
            names = (other,)
        called = " ".join(text for name in names if (text := text_of(value.get(name))))
        called = replace_surrogates(called.strip() or id)
        if not names or not called:
            called = self._row_id
        known = {*names, *([table.id] if plain(table.id) in NODE_IDS else ())}
        rest = {
            said: each
            for name, each in value.items()
            if name not in known and (said := table.fields.get(name, name))
            if each != called or name_rank(plain(name)) > TITLE
        }
        labels = () if table.kind is None else (table.kind,)
        pairs = self._pairs(rest, called, table.kind)
        if len(self.fields.tables) > 1:
            pairs = [self._with_list(*pair) for pair in pairs]
            id = qualified(self.row.table, id or called)
        line, id = self.row.line, id or called
        return [Node(line, id, pairs, labels, True, called), *self._inner]

    def _with_list(self, name: str, value: str) -> tuple[str, str]:
        """A field with the id of a record of another list, with this list."""
        owner = owner_of_ids(name)
        if owner in OWN:
            return name, qualified(self.row.table, value)
        tables = (each for each in self.fields.tables if row_noun(each) == owner)
        return name, qualified(next(tables, ""), value)

    @property
    def _row_id(self) -> str:
        """The id of the record as one of a row without a name."""
        file = Path(self.row.table) if self.row.table else self.path
        return row_id(file, self.number)

    def _pairs(
        self, value: Mapping[str, Any], owner: str, kind: str | None, prefix: str = ""
    ) -> Attributes:
        """The fields of an object and their values; objects in it are nodes.

        Args:
            value: the object.
            owner: the name of what it describes.
            kind: what that is.
            prefix: what the names of fields begin with.
        """
        pairs: Attributes = []
        for key, each in _with_names_at_addresses(value).items():
            name = replace_surrogates(f"{prefix}_{key}" if prefix else key)
            listed = isinstance(each, list)
            for item in each if listed else [each]:
                if isinstance(item, dict):
                    fields = _scalars(item)
                    text = quantity_text(fields) if len(fields) == len(item) else None
                    id = _referred_id(fields) if key in self.fields.referring else None
                    if text is not None:
                        pairs.append((name, text))
                    elif id is not None:
                        pairs.append((f"{name}_id", id))
                    else:
                        pairs += self._object(item, name, owner, kind, listed=listed)
                elif (text := fact_text(item)) is not None:
                    pairs.append((name, text))
        return pairs

    def _object(
        self,
        value: Mapping[str, Any],
        name: str,
        owner: str,
        kind: str | None,
        *,
        listed: bool,
    ) -> Attributes:
        """What the field ``name`` says of its owner by an object."""
        key = name_field(value)
        called = "" if key is None else replace_surrogates(str(text_of(value[key])))
        if key is None and not listed:
            return self._pairs(value, owner, kind, prefix=name)
        rest = {k: v for k, v in value.items() if k != key}
        if key is not None:
            rest = {k: v for k, v in rest.items() if plain(k) not in NODE_IDS}
        if key is not None and name not in self.fields.varying:
            if pairs := self._pairs(rest, called, None):
                self._add(called, pairs)
            return [(name, called)]
        self._events += 1
        event = f"{self._row_id}.{self._events}"
        pairs = self._pairs(rest, event, None)
        if key is None:
            self._add(event, pairs)
            return [(name, event)]
        # What a record says of another entity is said by a node for both.
        if pairs:
            both = [(name, called), *([(kind, owner)] if kind else [])]
            self._add(event, [*both, *pairs])
        return [(name, called), *([(name, event)] if pairs and not kind else [])]

    def _add(self, called: str, pairs: Attributes) -> None:
        """Add a node without an id."""
        self._inner.append(Node(self.row.line, "", pairs, facts=True, called=called))
