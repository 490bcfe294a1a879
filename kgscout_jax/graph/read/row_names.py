"""What the rows of a table are called, and columns that hold ids of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kgscout_jax.graph.read.code_columns import key_owner
from kgscout_jax.graph.read.header import NAMES, plain
from kgscout_jax.graph.read.layout import Layout, property_name
from kgscout_jax.graph.read.sqlite_tables import DATABASES
from kgscout_jax.graph.read.streams import table_name
from kgscout_jax.text.kinds import is_attribute, is_measure, singular_form

_ANYTHING = frozenset(
    "node vertex entity item row record entry line sheet export result value triple "
    "triplet fact object".split()
)
"""What rows of any table are."""
_NO_KINDS = _ANYTHING.union(
    (*NAMES, "id", "key", "code", "number", "symbol", "sku", "isbn", "url", "email"),
    "full first last family common display short long official scientific".split(),
    "your my our their his her its".split(),
    "word term question text phrase description note comment subject head".split(),
)
"""Columns of names that do not say what the rows are."""
_ROWS = frozenset(
    "aircraft airline airport album animal artist artwork athlete author beer bird "
    "book bridge building car castle cheese city cocktail coin company country "
    "customer dinosaur disease dish dog drug element employee event experiment film "
    "fish flower fruit game gene hotel ingredient island lake lighthouse medicine "
    "mineral molecule monument mountain movie museum mushroom novel opera painting "
    "paper park patient person pet planet plant player podcast poem politician "
    "president product project protein recipe restaurant river satellite scientist "
    "sculpture ship song species star statue student supplier teacher temple tool "
    "tree university vehicle vessel volcano weapon whale whisky wine winery "
    "writer".split()
)
"""Nouns that a file with one table of them may be called by: ``wine.csv``. Others may
say whose the rows are, or where: ``library.csv`` has books, ``family.csv`` people."""
OWN = frozenset("parent manager supervisor boss leader mentor reports_to".split())
"""What columns of ids of the table itself are called."""


def id_column(layout: Layout) -> str:
    """The name of the column of ids, or of names that are the ids; "" for none."""
    assert layout.nodes is not None
    id = layout.nodes.id
    return "" if id is None else property_name(layout.header[id])


def row_kind(path: Path, id_name: str) -> str | None:
    """What each row of a table of facts is; None where nothing says it.

    A column ``employee_id`` does, or a file that is called by a noun in plural, or by
    one for single things, or any table of a database. The file says what ``dept_id`` is
    short for.

    Args:
        path: the file.
        id_name: its column of ids, see ``id_column``; "" for none.

    >>> row_kind(Path("Countries.csv"), "name"), row_kind(Path("data.csv"), "name")
    ('country', None)
    >>> row_kind(Path("wine.csv"), "name"), row_kind(Path("library.csv"), "name")
    ('wine', None)
    >>> row_kind(Path("departments.csv"), "dept_id"), row_kind(Path("a.csv"), "dept_id")
    ('department', 'dept')
    """
    own, *ids = reversed(row_names(path, id_name))
    if ids:
        return own if is_short_for(ids[0], own) else ids[0]
    stem = plain(table_name(path))
    several = own != stem or own in _ROWS or path.parent.suffix in DATABASES
    return own if stem.isalpha() and several and own not in _ANYTHING else None


def is_short_for(short: str, noun: str) -> bool:
    """Whether a word has some letters of a noun in their order, with the first one.

    >>> is_short_for("dept", "department"), is_short_for("city", "town")
    (True, False)
    """
    rest = iter(noun)
    fits = short[:1] == noun[:1] and all(letter in rest for letter in short)
    return fits and len(short) < len(noun) and noun.isalpha()


def named_kind(columns: Sequence[str]) -> str | None:
    """What each row is by its column of names; None where that may be said of anything.

    Args:
        columns: those that name the rows; several hold parts of names.

    >>> named_kind(["Player"]), named_kind(["movie_title"]), named_kind(["full_name"])
    ('player', 'movie', None)
    """
    words = plain(columns[0]).split("_") if len(columns) == 1 else []
    if len(words) > 1 and words[-1] in NAMES:
        words = words[:-1]
    kind = "".join(words[:1]) if len(words) == 1 else ""
    known = len(kind) > 2 and kind.isalpha() and kind not in _NO_KINDS
    return kind if known and not is_attribute(kind) and not is_measure(kind) else None


def row_names(path: Path, id_name: str) -> list[str]:
    """What a row of a table may be called: as its column of ids, and as its file.

    >>> row_names(Path("data/Towns.csv.gz"), "city_id")
    ['city', 'town']
    >>> row_names(Path("Part.csv"), "PartNo")
    ['part', 'part']
    """
    own = [owner] if (owner := key_owner(id_name)) else []
    return [row_noun(name) for name in (*own, table_name(path))]


def row_noun(name: str) -> str:
    """What one row is called of a table or a list of this name.

    >>> row_noun("countries")
    'country'
    """
    return singular_form(plain(name))


def owner_of_ids(column: str) -> str:
    """What a column holds ids of, in singular; "" where it says none.

    >>> owner_of_ids("countries_id"), owner_of_ids("manager"), owner_of_ids("city")
    ('country', 'manager', '')
    """
    if plain(column) in OWN:
        return plain(column)
    return row_noun(owner) if (owner := key_owner(column)) else ""


def references(
    columns: Sequence[str],
    scopes: Mapping[str, int],
    keys: Mapping[str, tuple[str, int]],
    own: int,
) -> dict[str, tuple[str, int]]:
    """Columns that hold ids of nodes: the relation that they stand for, and the scope
    of the ids.

    ``department_id`` holds those of the table departments, ``manager_id`` its own, and
    ``ManagerEmpNo`` those of the table whose key is called ``EmpNo``.

    Args:
        columns: of the table, but for its own ids.
        scopes: of the tables of nodes, by ``row_names``.
        keys: what rows are called and their scope, by the column of their ids.
        own: the scope of the table itself.
    """
    out = {}
    for name in columns:
        if (found := _by_key(name, keys)) is not None:
            out[name] = found
            continue
        relation = key_owner(name) or name
        scope = scopes.get(owner_of_ids(name) or row_noun(name))
        if plain(relation) in OWN and scope is None:
            scope = own
        if scope is None and (owner := owner_of_ids(name)):
            # ``class_id`` of boats, beside ``boat_classes``
            longer = {
                each for noun, each in scopes.items() if noun.endswith(f"_{owner}")
            }
            scope = longer.pop() if len(longer) == 1 else None
        if scope is not None:
            out[name] = relation, scope
    return out


def _by_key(column: str, keys: Mapping[str, tuple[str, int]]) -> tuple[str, int] | None:
    """The relation and scope of a column that ends like a table's key; None of others.

    >>> keys = {"EmpNo": ("employee", 3)}
    >>> [_by_key(name, keys) for name in ("EmpNo", "ManagerEmpNo", "Name")]
    [('employee', 3), ('Manager', 3), None]
    """
    if column in keys:
        return keys[column]
    for key, (_, scope) in keys.items():
        first = column.removesuffix(key).rstrip("-_ ")
        if (
            first
            and first != column
            and plain(column) == f"{plain(first)}_{plain(key)}"
        ):
            return first, scope
    return None
