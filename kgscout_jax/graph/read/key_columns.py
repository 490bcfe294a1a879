"""Which columns name the rows of a table, and hold their ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kgscout_jax.graph.read.header import (
    NAMES,
    NO_NAME,
    OF_NAME,
    TITLE,
    name_rank,
    plain,
)
from kgscout_jax.graph.read.node_columns import NODE_IDS, NodeColumns
from kgscout_jax.graph.read.row_names import is_short_for
from kgscout_jax.text.values import is_date

DISTINCT = 0.8
"""Share of different cells from which on a column may name entities."""
MOST_KEY = 80
"""Characters of the longest name in a column that no header calls so."""
DISTINCT_KEY = 0.9
"""Share of different cells in such a column behind the first."""
FEW_ROWS = 3
"""Rows below which only a column that is called name makes a table of entities."""
NUMBER = re.compile(r"[+-]?[\d.,:/ %-]+")
"""A number or a date."""
PAIRS_OF_NAMES = (
    ("first_name", "last_name"),
    ("firstname", "lastname"),
    ("given_name", "family_name"),
    ("forename", "surname"),
    ("first_name", "surname"),
    ("first", "last"),
    ("vorname", "nachname"),
    ("prénom", "nom"),
)
"""Columns that hold a name in two parts."""
DESCRIPTIONS = ("description", "descr", "desc", "bezeichnung", "designation")
"""What the columns of short descriptions are called, which name the rows of a code."""
_ID = re.compile(r"(^|_)(id|key|code|number|num|no|nr|uuid|guid|uri)$")
_CODE = re.compile(r"(?=.*\d)\S+")


def key_columns(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """The columns that name the rows, or none for events; None for other tables.

    Args:
        header: the names of the columns.
        columns: the first cells of each.
    """
    if (two := _two_names(header, columns)) is not None:
        return two
    if _are_ids_of_others(header, columns):
        return NodeColumns(None, None, None, facts=True)
    if (key := _key_column(header, columns)) is not None:
        if _names_a_part(key, header, columns):
            return replace(_named_by(0, [0]), numbered=True)
        return replace(key, numbered=_are_numbered(key, header, columns))
    return _events(header, columns)


def _are_ids_of_others(header: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether few columns begin with the ids of two others, as tables of SQL do that
    join actors and movies; the first of them repeats, and nothing names the rows."""
    names = [plain(name) for name in header]
    owners = {_ID.sub("", name) for name in names[:2] if _ID.search(name)} - {""}
    unnamed = len(names) < 4 or all(name_rank(name) == NO_NAME for name in names)
    return len(owners) == 2 and unnamed and len({*columns[0]}) < len(columns[0])


def _two_names(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """The columns of people, whose names stand in two of them."""
    names = [plain(name) for name in header]
    for pair in PAIRS_OF_NAMES:
        if not {*pair} <= {*names}:
            continue
        first, last = map(names.index, pair)
        if all(columns[first]) and not is_numeric(columns[first]):
            ids = [i for i, name in enumerate(names) if _ID.search(name)]
            ids = [i for i in ids if _is_distinct(columns[i])]
            id = ids[0] if ids else first
            return NodeColumns(id, first, None, surname=last, facts=True)
    return None


def _key_column(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """The column that names the entities; None where none does."""
    plain_names = [plain(name) for name in header]
    ids = [
        i
        for i, name in enumerate(plain_names)
        if _ID.search(name) and _is_distinct(columns[i])
    ]
    ranks = [*map(name_rank, plain_names)]
    named = [
        i
        for i in sorted(range(len(ranks)), key=ranks.__getitem__)
        if ranks[i] < NO_NAME and not is_property(i, header, columns, ids)
    ]
    if ids:  # Posts and publishers are few, and ids say which row is meant.
        named = [i for i in named if ranks[i] != TITLE or not _are_few(columns[i])]
    for i in named:
        filled = [cell for cell in columns[i] if cell]
        whole = 2 * len(filled) >= len(columns[i]) and not is_numeric(filled)
        if ranks[i] < OF_NAME and whole:
            return _named_by(i, ids)
    if len(columns[0]) < FEW_ROWS:
        own = f"{_ID.sub('', plain_names[0])}_name"  # the one agency of a timetable
        known = ids[:1] == [0] and own in plain_names
        return _named_by(plain_names.index(own), ids) if known else None
    if not named and ids[:1] == [0]:
        named += [
            i
            for i, name in enumerate(plain_names)
            if name.rpartition("_")[2] in DESCRIPTIONS and is_key(columns[i])
        ]
    # Beside ``product_id`` stands ``product``, and behind a number what it numbers.
    owners = {_ID.sub("", plain_names[i]) for i in ids}
    named += [i for i, name in enumerate(plain_names) if name in owners]
    if ids[:1] == [0] and is_numeric(columns[0]):  # ``unit_tag`` says more than 5003.
        own = f"{_ID.sub('', plain_names[0])}_"
        tags = [i for i, name in enumerate(plain_names) if name.startswith(own)]
        named += [i for i in tags if i and is_key(columns[i])]
    if plain_names[0] in NODE_IDS and 0 in ids and is_numeric(columns[0]):
        named += [1] if is_key(columns[1]) else []
    # A column of names says more than one of codes before it.
    first = (*named, 0) if _ID.search(plain_names[0]) else (0, *named)
    texts = [i for i in first if not is_numeric(columns[i])]
    # A number such as VN-310 says more than an id of digits.
    own = {_ID.sub("", plain_names[i]) for i in ids[:1]} | {""}
    codes = [i for i in ids if _ID.sub("", plain_names[i]) in own]
    codes = [i for i in codes if not is_numeric(columns[i])]
    for i in (*texts, *codes, *ids):
        named = header[i] and _is_distinct(columns[i]) and not is_index(header[i])
        if named and not _is_end(i, columns):
            return _named_by(i, ids)
    # Where words stand above numbers, the first row is surely a header.
    if not any(map(is_numeric, columns)):
        return None
    keys = [i for i, name in enumerate(header) if name and is_key(columns[i])]
    keys = [i for i in keys if not _is_end(i, columns)]
    keys.sort(key=lambda i: len({*columns[i]}) < len(columns[i]))
    return _named_by(keys[0], ids) if keys and len(header) > 4 else None


def _is_end(place: int, columns: Sequence[Sequence[str]]) -> bool:
    """Whether a column holds one end of what rows are, as the senders of transfers do.

    Some of its cells repeat, and several stand in another column of texts too.
    """
    cells = {*columns[place]}
    others = (column for i, column in enumerate(columns) if i != place)
    return len(cells) < len(columns[place]) and any(
        len(cells & {*column}) > 1 and not is_numeric(column) for column in others
    )


def is_property(
    place: int,
    header: Sequence[str],
    columns: Sequence[Sequence[str]],
    ids: Sequence[int],
) -> bool:
    """Whether a title or label is what rows have, as a post or a publisher is.

    Its cells repeat, and those of another column of texts do not.

    Args:
        place: of the column.
        header: the names of the columns.
        columns: their cells.
        ids: the columns of ids.
    """
    cells = columns[place]
    if plain(header[place]) not in NAMES[1:] or len(cells) < FEW_ROWS:
        return False
    if _is_distinct(cells):
        return False
    others = (i for i in range(len(columns)) if i not in (place, *ids))
    return any(is_key(columns[i]) for i in others)


def _events(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """Rows without a name, of four columns and more; None for another table.

    Numbers below words say that the first row is a header, and there are texts.
    """
    numeric = [*map(is_numeric, columns)]
    several = len(header) > 3 and len(columns[0]) >= FEW_ROWS and all(header)
    # So do two columns of addresses, which join what these are of.
    joins = sum(all("://" in cell for cell in column) for column in columns) > 1
    if not several or all(numeric) or not (any(numeric) or joins):
        return None
    return NodeColumns(None, None, None, facts=True)


def _names_a_part(
    nodes: NodeColumns, header: Sequence[str], columns: Sequence[Sequence[str]]
) -> bool:
    """Whether rows with an id join others, and are called by what is but a part of it.

    A row of ``role_id``, ``production_id``, ``person_id`` and ``character_name`` is no
    character.
    """
    names = [plain(name) for name in header]
    has_id = _ID.search(names[0]) is not None and _is_distinct(columns[0])
    if not nodes.called or not has_id:
        return False
    own = {short := _ID.sub("", names[0]), *NAMES}
    noun, _, end = names[nodes.called].rpartition("_")
    joined = [
        i
        for i in range(1, len(names))
        if _ID.search(names[i]) and all(columns[i]) and not _is_distinct(columns[i])
    ]
    is_own = noun in own or is_short_for(short, noun)
    return end in NAMES and noun != "" and not is_own and len(joined) > 1


def _are_numbered(
    nodes: NodeColumns, header: Sequence[str], columns: Sequence[Sequence[str]]
) -> bool:
    """Whether rows that only an id names stand between others, with a day or ids.

    A visit has a patient and a doctor, an order a customer, a product and a day. A
    listing has an address of its own, and is more than what it joins.
    """
    key = nodes.called
    if key is None or not _ID.search(plain(header[key])):
        return False
    if key != nodes.id and not is_numeric(columns[key]):
        return False  # People call a voyage VN-310, not by its id.
    codes = all(_CODE.fullmatch(cell) for cell in columns[key])
    others = [i for i in range(len(columns)) if i != key]
    if any(map(is_key, (columns[i] for i in others))):
        return False
    ids = [i for i in others if _ID.search(plain(header[i])) and any(columns[i])]
    texts = [i for i in others if i not in ids and _is_repeated(columns[i])]
    dated = any(sum(map(is_date, columns[i])) * 2 > len(columns[i]) for i in others)
    return codes and len(ids) + dated * len(texts) > 1


def _is_repeated(column: Sequence[str]) -> bool:
    """Whether texts of a column are those of several rows."""
    return not is_numeric(column) and len({*column}) < DISTINCT * len(column)


def _named_by(name: int, ids: Sequence[int]) -> NodeColumns:
    """The columns of entities with this name, and the first of ``ids`` if it leads."""
    if ids[:1] == [0] and name:
        return NodeColumns(0, name, None, facts=True)
    return NodeColumns(name, None, None, facts=True)


def is_key_name(name: str) -> bool:
    """Whether a column is called as ids are.

    >>> is_key_name("PartNo"), is_key_name("code"), is_key_name("city")
    (True, True, False)
    """
    return _ID.search(plain(name)) is not None


def is_index(name: str) -> bool:
    """Whether a column is the numbering that data frames write."""
    return name.startswith("Unnamed: ")


def _is_distinct(column: Sequence[str]) -> bool:
    """Whether each cell is filled, and nearly each is another one."""
    return all(column) and len({*column}) >= DISTINCT * len(column)


def is_code(cell: str) -> bool:
    """Whether a cell is a word with a digit: P-001."""
    return _CODE.fullmatch(cell) is not None


def is_key(column: Sequence[str]) -> bool:
    """Whether nearly each cell is another short text."""
    short = all(0 < len(cell) <= MOST_KEY for cell in column)
    distinct = len({*column}) >= DISTINCT_KEY * len(column)
    return short and distinct and not is_numeric(column)


def _are_few(column: Sequence[str]) -> bool:
    """Whether less than half of the cells are different."""
    return len(column) >= FEW_ROWS and 2 * len({*column}) < len(column)


def is_numeric(column: Sequence[str]) -> bool:
    """Whether most cells are numbers or dates."""
    return 2 * sum(NUMBER.fullmatch(cell) is not None for cell in column) > len(column)
