"""Tables of one entity a row, as spreadsheets hold them: its name, then facts about it.

    name,capital,languages
    France,Paris,French
    Belgium,Brussels,Dutch;French

A row gives (Belgium, capital, Brussels), and a triplet for each language. Rows of
events, such as orders and matches, have facts and no name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from kgscout_jax.graph.read.code_columns import OF_ID, code_columns
from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.header import (
    NAMES,
    NO_NAME,
    OF_NAME,
    TITLE,
    name_rank,
    plain,
)
from kgscout_jax.graph.read.layout import Layout, property_name, row_id
from kgscout_jax.graph.read.node_columns import NODE_IDS, NodeColumns
from kgscout_jax.graph.read.options import MISSING, NA
from kgscout_jax.graph.read.streams import inner_name
from kgscout_jax.text.kinds import (
    base_noun,
    is_attribute,
    is_measure,
    noun_kind,
    singular_form,
)
from kgscout_jax.types import entity_key

MOST_HEADER = 60
"""Characters of the longest name of a column."""
MOST_PART = 40
"""Characters of the longest part of a list in a cell."""
DISTINCT = 0.8
"""Share of different cells from which on a column may name entities."""
MOST_KEY = 80
"""Characters of the longest name in a column that no header calls so."""
DISTINCT_KEY = 0.9
"""Share of different cells in such a column behind the first."""
FEW_ROWS = 3
"""Rows below which only a column that is called name makes a table of entities."""
SURE_SEPARATORS = ("|", ";")
_NUMBER = re.compile(r"[+-]?[\d.,:/ %-]+")
_FLOAT = re.compile(r"[+-]?\d+\.0")
_SMALL = re.compile(r"\d{1,3}[a-z]*")
_WORDS = re.compile(r"[^\W\d][\w-]*(?:,[^\W\d][\w-]*)*")
"""Single words, separated by commas alone."""
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
_ANYTHING = frozenset(
    "node vertex entity item row record entry line sheet export result value triple "
    "triplet fact object".split()
)
"""What rows of any table are."""
_OWN = frozenset("parent manager supervisor boss leader mentor reports_to".split())
"""What columns of ids of the table itself are called."""
_ID = re.compile(r"(^|_)(id|key|code|number|no|uuid)$")


def entity_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of a table with a row for each entity; None for other tables.

    Three columns may be triplets without a header: there one is called name, and the
    second one holds what no relation is. Two may be pairs: there one is called name, or
    as a kind of things or a property.

    Args:
        dialect: of the table.
        rows: its first rows.
    """
    header, cells = [cell.strip() for cell in rows[0]], rows[1:]
    width = len(header)
    if width < 2 or not cells or any(len(row) != width for row in cells):
        return None
    columns = columns_of(cells, width)
    if not _is_header(header, columns):
        return None
    nodes = (
        _two_names(header, columns)
        or _key_column(header, columns)
        or _events(header, columns)
    )
    if nodes is None or (width < 4 and not _are_facts(header, columns, nodes)):
        return None
    return Layout(
        dialect,
        header=tuple("" if _is_index(name) else name for name in header),
        skip_first=True,
        width=width,
        nodes=nodes,
        edges=False,
        sample=list(rows[:4]),
        lists=list_separators(columns),
        whole=frozenset(i for i, column in enumerate(columns) if _is_whole(column)),
        with_na=frozenset(i for i, column in enumerate(columns) if _has_na(column)),
        codes=tuple(
            header[i] for i in code_columns(header, columns) if i != nodes.called
        ),
    )


def columns_of(rows: Sequence[list[str]], width: int) -> list[list[str]]:
    """The cells of each column, of rows that have as many."""
    whole = [row for row in rows if len(row) == width]
    return [[row[i].strip() for row in whole] for i in range(width)]


def list_separators(columns: Sequence[Sequence[str]]) -> dict[int, str]:
    """``list_separator`` of the columns that have one."""
    found = {i: list_separator(column) for i, column in enumerate(columns)}
    return {i: separator for i, separator in found.items() if separator}


def _is_header(header: Sequence[str], columns: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: none of it stands below."""
    names = [name for name in header if name]
    return (
        len(names) >= max(2, len(header) - 1)
        and len({*map(str.casefold, names)}) == len(names)
        and all(len(name) <= MOST_HEADER for name in names)
        and not any(map(_NUMBER.fullmatch, names))
        and all(
            name not in column
            for name, column in zip(header, columns, strict=True)
            if name
        )
    )


def _is_whole(column: Sequence[str]) -> bool:
    """Whether a column is of whole numbers, some missing, as data frames write them.

    >>> _is_whole(["172.0", "", "96.0"]), _is_whole(["1.0", "2.0"])
    (True, False)
    """
    cells = [cell for cell in column if cell not in MISSING | {NA, ""}]
    return 0 < len(cells) < len(column) and all(map(_FLOAT.fullmatch, cells))


def _has_na(column: Sequence[str]) -> bool:
    """Whether cells "NA" are missing values, as R writes them, and no code of Namibia.

    >>> _has_na(["12", "NA", "7"]), _has_na(["DE", "NA", "FR"])
    (True, False)
    """
    rest = [cell for cell in column if cell != NA]
    several = len(column) - len(rest) > 1
    return len(rest) < len(column) and (several or not rest or _is_numeric(rest))


def _is_index(name: str) -> bool:
    """Whether a column is the numbering that data frames write."""
    return name.startswith("Unnamed: ")


def _two_names(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """The columns of people, whose names stand in two of them."""
    names = [plain(name) for name in header]
    for pair in PAIRS_OF_NAMES:
        if not {*pair} <= {*names}:
            continue
        first, last = map(names.index, pair)
        if all(columns[first]) and not _is_numeric(columns[first]):
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
        whole = 2 * len(filled) >= len(columns[i]) and not _is_numeric(filled)
        if ranks[i] < OF_NAME and whole:
            return _named_by(i, ids)
    if len(columns[0]) < FEW_ROWS:
        return None
    # Beside ``product_id`` stands ``product``, and behind a number what it numbers.
    owners = {_ID.sub("", plain_names[i]) for i in ids}
    named += [i for i, name in enumerate(plain_names) if name in owners]
    if plain_names[0] in NODE_IDS and 0 in ids and _is_numeric(columns[0]):
        named += [1] if _is_key(columns[1]) else []
    # A column of names says more than one of codes before it.
    first = (*named, 0) if _ID.search(plain_names[0]) else (0, *named)
    texts = [i for i in first if not _is_numeric(columns[i])]
    for i in (*texts, *ids):
        if header[i] and _is_distinct(columns[i]) and not _is_index(header[i]):
            return _named_by(i, ids)
    # Where words stand above numbers, the first row is surely a header.
    if not any(map(_is_numeric, columns)):
        return None
    keys = [i for i, name in enumerate(header) if name and _is_key(columns[i])]
    keys.sort(key=lambda i: len({*columns[i]}) < len(columns[i]))
    return _named_by(keys[0], ids) if keys and len(header) > 4 else None


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
    return any(_is_key(columns[i]) for i in others)


def _events(
    header: Sequence[str], columns: Sequence[Sequence[str]]
) -> NodeColumns | None:
    """Rows without a name, of four columns and more; None for another table.

    Numbers below words say that the first row is a header, and there are texts.
    """
    numeric = [*map(_is_numeric, columns)]
    several = len(header) > 3 and len(columns[0]) >= FEW_ROWS and all(header)
    if not several or all(numeric) or not any(numeric):
        return None
    return NodeColumns(None, None, None, facts=True)


def _named_by(name: int, ids: Sequence[int]) -> NodeColumns:
    """The columns of entities with this name, and the first of ``ids`` if it leads."""
    if ids[:1] == [0] and name:
        return NodeColumns(0, name, None, facts=True)
    return NodeColumns(name, None, None, facts=True)


def _is_distinct(column: Sequence[str]) -> bool:
    """Whether each cell is filled, and nearly each is another one."""
    return all(column) and len({*column}) >= DISTINCT * len(column)


def _is_key(column: Sequence[str]) -> bool:
    """Whether nearly each cell is another short text."""
    short = all(0 < len(cell) <= MOST_KEY for cell in column)
    distinct = len({*column}) >= DISTINCT_KEY * len(column)
    return short and distinct and not _is_numeric(column)


def _are_few(column: Sequence[str]) -> bool:
    """Whether less than half of the cells are different."""
    return len(column) >= FEW_ROWS and 2 * len({*column}) < len(column)


def _is_numeric(column: Sequence[str]) -> bool:
    """Whether most cells are numbers or dates."""
    return 2 * sum(_NUMBER.fullmatch(cell) is not None for cell in column) > len(column)


def _is_known_noun(cell: str) -> bool:
    """Whether the name of a column is a kind of things, or a property."""
    noun = base_noun(plain(cell).rpartition("_")[2])
    return noun_kind(noun) != "thing" or is_attribute(noun) or is_measure(noun)


def _are_facts(
    header: Sequence[str], columns: Sequence[Sequence[str]], nodes: NodeColumns
) -> bool:
    """Whether few columns are an entity and facts, and no triplets or pairs."""
    if not all(header) or nodes.surname is not None:
        return True
    key = nodes.called
    if key is None:
        return False
    if len(header) == 2:
        return plain(header[key]).endswith(NAMES) or any(map(_is_known_noun, header))
    second = columns[1]
    values = len({*second}) > max(1, len(second) // 2) or _is_numeric(second)
    return plain(header[key]).endswith(NAMES) and (values or key == 1)


def list_separator(column: Sequence[str]) -> str | None:
    """What separates several values in the cells of a column; None: nothing does.

    Bars and semicolons do wherever the parts are short. Commas do where the same parts
    stand in several places of lists, as genres and ingredients do and "Paris, France"
    does not, and between single words without spaces, where cells have one, two and
    more of them.

    >>> list_separator(["Action|Drama", "Drama", "Comedy|Action"])
    '|'
    >>> list_separator(["Dutch, French", "French", "French, German", "German, Dutch"])
    ','
    >>> list_separator(["Paris, France", "Lyon, France", "Rome, Italy"])
    >>> list_separator(["1", "7, 14", "14", "1, 4, 7"])
    ','
    >>> list_separator(["1,250", "48.9, 2.3", "14"])
    """
    cells = [cell for cell in column if cell]
    for separator in SURE_SEPARATORS:
        lists = [cell.split(separator) for cell in cells if separator in cell]
        parts = [part.strip() for each in lists for part in each]
        several = len(lists) > 1 or not {*cells}.isdisjoint(parts)
        if several and all(0 < len(part) <= MOST_PART for part in parts):
            return separator
    cells = [cell.strip(" ,") for cell in cells]
    lists = [[part.strip() for part in cell.split(",")] for cell in cells]
    if sum(len(parts) > 1 for parts in lists) < 2:
        return None
    if _is_numeric(cells) and not _are_numbered(lists):
        return None
    if any(not part or len(part) > MOST_PART for parts in lists for part in parts):
        return None
    if all(map(_WORDS.fullmatch, cells)) and len({*map(len, lists)}) > 2:
        return ","
    places: dict[str, set[int]] = {}
    counts: Counter[str] = Counter()
    for parts in lists:
        for place, part in enumerate(parts):
            counts[entity_key(part)] += 1
            places.setdefault(entity_key(part), set()).add(place)
    repeated = [part for part, count in counts.items() if count > 1]
    moving = sum(len(places[part]) > 1 for part in repeated)
    many = 2 * len(counts) <= counts.total()
    varied = len({*map(len, lists)}) > 2 and len(repeated) > 2
    is_list = (many or varied) and 2 * moving >= len(repeated)
    return "," if repeated and is_list else None


def _are_numbered(lists: Sequence[Sequence[str]]) -> bool:
    """Whether cells are lists of small numbers: lines "1, 14", no "1,234" or "48.9, 2".

    Some have one and others several, which are no groups of three digits.
    """
    later = [part for parts in lists for part in parts[1:]]
    small = all(_SMALL.fullmatch(part) for parts in lists for part in parts)
    groups = all(len(part) == 3 for part in later)
    return small and not groups and len({*map(len, lists)}) > 2


def facts_remark(path: Path, layout: Layout) -> str:
    """What to tell of a table of facts: how its first row is read; "" without one."""
    nodes, rows = layout.nodes, layout.sample[layout.skip_first :]
    if nodes is None or not rows:
        return ""
    columns, row = [nodes.called, nodes.surname], rows[0]
    names = [i for i in columns if i is not None]
    name = " ".join(row[i] for i in names)[:30] or row_id(path, 2)
    facts = [
        str((name, property_name(layout.header[i]), _first_value(layout, row, i)[:30]))
        for i in layout.extra
        if row[i].strip()
    ]
    kind = row_kind(path, id_column(layout)) or "entity"
    called = " and ".join(layout.header[i] for i in names)
    naming = f"called by its {called}" if called else "which has no name"
    return (
        f"{path}: each row is read as facts about one {kind}, {naming}: "
        f"{', '.join(facts[:3])} ...; --columns HEAD,RELATION,TAIL reads triplets "
        "instead"
    )


def _first_value(layout: Layout, row: Sequence[str], i: int) -> str:
    """The first of several values of a cell."""
    cell, separator = row[i], layout.lists.get(i)
    if i in layout.whole:
        return cell.removesuffix(".0")
    return cell if separator is None else cell.split(separator)[0].strip()


def id_column(layout: Layout) -> str:
    """The name of the column of ids, or of names that are the ids; "" for none."""
    assert layout.nodes is not None
    id = layout.nodes.id
    return "" if id is None else property_name(layout.header[id])


def references(
    columns: Sequence[str], scopes: Mapping[str, int], own: int
) -> dict[str, tuple[str, int]]:
    """Columns that hold ids of nodes: the relation that they stand for, and the scope
    of the ids.

    ``department_id`` holds those of the table departments, ``manager_id`` its own.

    Args:
        columns: of the table, but for its own ids.
        scopes: of the tables of nodes, by ``row_names``.
        own: the scope of the table itself.
    """
    out = {}
    for name in columns:
        if plain(name) in _OWN:
            out[name] = name, own
        elif match := OF_ID.fullmatch(name):
            relation = match[1]
            scope = scopes.get(singular_form(plain(relation)))
            if scope is None and plain(relation) in _OWN:
                scope = own
            if scope is not None:
                out[name] = relation, scope
    return out


def row_kind(path: Path, id_name: str) -> str | None:
    """What each row of a table of facts is; None where nothing says it.

    A column ``employee_id`` does, or a file that is called by a noun in plural.

    Args:
        path: the file.
        id_name: its column of ids, see ``id_column``; "" for none.

    >>> row_kind(Path("Countries.csv"), "name"), row_kind(Path("data.csv"), "name")
    ('country', None)
    """
    own, *files = reversed(row_names(path, id_name))
    if files:
        return files[0]
    stem = plain(Path(inner_name(path)).stem)
    return own if stem.isalpha() and own != stem and own not in _ANYTHING else None


def row_names(path: Path, id_name: str) -> list[str]:
    """What a row of a table may be called: as its column of ids, and as its file.

    >>> row_names(Path("data/Towns.csv.gz"), "city_id")
    ['city', 'town']
    """
    match = OF_ID.fullmatch(id_name)
    own = [match[1]] if match else []
    return [singular_form(plain(name)) for name in (*own, Path(inner_name(path)).stem)]
