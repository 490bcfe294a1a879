"""Nodes and edges of property graphs, and the triplets that they give."""

from __future__ import annotations

import functools
import re
import sqlite3
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.described_edges import JOINT, described_triplets
from kgscout_jax.graph.read.drawing import drawing_names, is_of_edge_alone
from kgscout_jax.graph.read.edge_rows import edge_row
from kgscout_jax.graph.read.header import (
    EDGE_DESCRIPTIONS,
    NAMES,
    RELATIONS,
    TYPE,
    in_roles,
    plain,
)
from kgscout_jax.graph.read.options import ReadOptions, check_name, excerpt
from kgscout_jax.types import Triplet, display_name, entity_key

Attributes = list[tuple[str, str]]
"""Names and values of properties; a name may occur repeatedly."""

KINDS = (TYPE, "kind", "class", "category", "labels", "entity_type", "node_type")
"""Attributes of a node that say what it is, where it has no labels."""
_PROPERTY = re.compile(r"P\d+")
MISSING = "nodes_without_a_record"
"""The note that counts them."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a property graph."""

    line: int
    id: str
    attributes: Attributes = field(default_factory=list)
    labels: Sequence[str] = ()
    facts: bool = False
    """Whether all its attributes are facts; else some may say how it is drawn."""
    called: str = ""
    """Its name, where no attribute says that: a title may be a post."""

    @property
    def name_attribute(self) -> str | None:
        """The attribute that names the node; None without one."""
        if self.called:
            return None
        present = [name for name, value in self.attributes if value.strip()]
        named = {plain(name): name for name in reversed(present)}
        return next((named[name] for name in NAMES if name in named), None)

    @property
    def name(self) -> str:
        """What it is called, or the first attribute that names nodes, else the id."""
        used = self.name_attribute
        named = (v for name, v in self.attributes if name == used and v.strip())
        return self.called or next(named, self.id)

    @property
    def kind(self) -> str:
        """What it is: its first label, or the first attribute for that, else ""."""
        given = {plain(name): value for name, value in reversed(self.attributes)}
        said = [*self.labels[:1], *(given[name] for name in KINDS if name in given)]
        return next((each.strip(" :") for each in said if each.strip(" :")), "")


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a property graph."""

    line: int
    source: str
    target: str
    attributes: Attributes = field(default_factory=list)
    internal: tuple[str, ...] = ()
    """Attributes that say nothing, such as the number of the edge."""
    relation: str | None = None
    """The relation, where it is no attribute."""
    described: bool = False
    """Whether that is a text about both ends."""


class NodeNames:
    """The names of nodes by their ids, in a temporary file.

    Within a file (or the files that share their ids), different nodes have different
    names: the second one of a name gets its id in brackets.
    """

    def __init__(self) -> None:
        # An empty name is a private file on disk that SQLite deletes.
        self._base = sqlite3.connect("", isolation_level=None, check_same_thread=False)
        for statement in (
            "PRAGMA journal_mode = OFF",
            "PRAGMA synchronous = OFF",
            "PRAGMA cache_size = -65536",
            "CREATE TABLE node (id TEXT PRIMARY KEY, name TEXT, kind TEXT) "
            "WITHOUT ROWID",
            "CREATE TABLE owner (key TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE TABLE missing (id TEXT PRIMARY KEY) WITHOUT ROWID",
            "BEGIN",
        ):
            self._base.execute(statement)
        weakref.finalize(self, self._base.close)
        self._cached = functools.lru_cache(1 << 18)(self._find)
        self.scopes: set[int] = set()
        """The scopes with nodes."""

    def add(self, scope: int, node: Node) -> bool:
        """Add a node; False if its name was another node's too."""
        self.scopes.add(scope)
        key = f"{scope} {node.id}"
        if self._find(key) is not None:
            return True
        name = display_name(node.name)
        unique = name
        while not self._claim(f"{scope} {entity_key(unique)}"):
            unique = f"{name} ({node.id})" if unique == name else f"{unique}'"
        values = key, unique, node.kind
        self._base.execute("INSERT INTO node VALUES (?, ?, ?)", values)
        return unique == name

    def add_code(self, scope: int, column: str, code: str, node: str) -> None:
        """Add another identifier of a node, as its row has in a column."""
        statement = "INSERT OR IGNORE INTO node VALUES (?, ?, '')"
        name = self.get(scope, node)
        self._base.execute(statement, (f"{scope}:{column} {code}", name))

    def by_code(self, scope: int, column: str, code: str) -> str | None:
        """The name of the node of a code; None if it is unknown."""
        return self._cached(f"{scope}:{column} {code}")

    def _claim(self, key: str) -> bool:
        """Whether a name is free; it is not afterwards."""
        made = self._base.execute("INSERT OR IGNORE INTO owner VALUES (?)", (key,))
        return made.rowcount > 0

    def _find(self, key: str) -> str | None:
        row = self._base.execute(
            "SELECT name FROM node WHERE id = ?", (key,)
        ).fetchone()
        return None if row is None else row[0]

    def get(self, scope: int, node: str) -> str | None:
        """The name of a node; None if it is unknown."""
        return self._cached(f"{scope} {node}")

    def of_property(self, scope: int, name: str) -> str:
        """A relation's name; that of an id of Wikibase by the property itself."""
        if _PROPERTY.fullmatch(name) is None:
            return name
        return self.get(scope, name) or name

    def kind(self, scope: int, node: str) -> str:
        """What a node is; "" where that is unknown."""
        row = self._base.execute(
            "SELECT kind FROM node WHERE id = ?", (f"{scope} {node}",)
        ).fetchone()
        return "" if row is None else row[0]

    def is_newly_missed(self, scope: int, node: str) -> bool:
        """Whether other nodes of the scope are known, and this is first missed now."""
        if scope not in self.scopes:
            return False
        statement = "INSERT OR IGNORE INTO missing VALUES (?)"
        return self._base.execute(statement, (f"{scope} {node}",)).rowcount > 0


def element_triplets(
    path: Path,
    elements: Iterable[Node | Edge],
    names: NodeNames,
    scope: int,
    options: ReadOptions,
    notes: dict[str, int],
    left_out: Counter[str],
) -> Iterator[Triplet]:
    """The triplets of nodes and edges.

    An edge with properties also gives a row, see ``edge_row``.

    Args:
        path: for errors, and for the rows of edges.
        elements: the nodes and edges.
        names: of the nodes.
        scope: of the file's ids.
        options: whether properties that say how something is drawn or where it is
            from are read, and the attribute that is the relation.
        notes: ``nodes_without_a_record`` counts nodes of edges that nothing describes,
            where other nodes are described.
        left_out: the properties that are not read are counted here, by their names.

    Raises:
        UserError: an edge has no relation, or an end without a name.
    """
    chosen = in_roles(options.columns)[1] if options.columns else None
    empty, n_rows = True, 0
    for element in elements:
        where = f"{path}:{element.line}"
        if isinstance(element, Node):
            used = element.name_attribute
            facts = [(TYPE, label) for label in element.labels]
            facts += [
                (names.of_property(scope, name), value)
                for name, text in element.attributes
                for value in text.split(JOINT)
                if name != used
            ]
            facts = [
                (name, value) for name, value in facts if name.strip() and value.strip()
            ]
            drawn: frozenset[str] = frozenset()
            if not (options.properties or element.facts):
                drawn = drawing_names(facts)
            head = names.get(scope, element.id) or display_name(element.name)
            for name, value in facts:
                if name in drawn:
                    left_out[name] += 1
                    continue
                check_name(value, where)
                empty = False
                yield head, name, value
            continue
        if element.relation is not None:
            relation, used = names.of_property(scope, element.relation), None
        else:
            relation, used = _relation(element, chosen, where)
        ends = []
        for end in (element.source, element.target):
            name = names.get(scope, end)
            if name is None:
                if names.is_newly_missed(scope, end):
                    notes[MISSING] = notes.get(MISSING, 0) + 1
                name = end
            if not name.strip():
                raise UserError(f"{where}: an edge whose end has no id")
            ends.append(name)
        triplet = ends[0], relation, ends[1]
        for name in triplet:
            check_name(name, where)
        empty = False
        if element.described or (used is not None and plain(used) in EDGE_DESCRIPTIONS):
            yield from described_triplets(*triplet)
        else:
            yield triplet
        facts = []
        for key, text in element.attributes:
            if key == used or key in element.internal:
                continue
            if used is not None and {plain(used), plain(key)} <= {*EDGE_DESCRIPTIONS}:
                continue  # keywords of the sentence that is the relation
            name = names.of_property(scope, key)
            value = text if name == key else names.get(scope, text) or text
            if not (name.strip() and value.strip()):
                continue
            is_fact = chosen is None and not is_of_edge_alone(name, value)
            if options.properties or is_fact:
                check_name(value, where)
                facts.append((name, value))
            else:
                left_out[name] += 1
        if facts:
            n_rows += 1
            source, target = element.source, element.target
            kinds = names.kind(scope, source), names.kind(scope, target)
            yield from edge_row(path, n_rows, kinds, triplet, facts)
    if empty:
        notes["files_without_triplets"] = notes.get("files_without_triplets", 0) + 1


def left_out_remark(path: Path, left_out: Counter[str]) -> str:
    """What is said of a file whose properties are not read."""
    names = [f"{excerpt(name, 30)} ({n:,})" for name, n in left_out.most_common(8)]
    more = f" and {len(left_out) - 8:,} more" if len(left_out) > 8 else ""
    return (
        f"{path}: properties are left out: {', '.join(names)}{more}; "
        "--properties reads them"
    )


def _relation(edge: Edge, chosen: str | None, where: str) -> tuple[str, str | None]:
    """The relation of an edge, and the attribute that it is."""
    if chosen is not None and chosen.startswith("="):
        return chosen[1:].strip(), None
    given = {name: value for name, value in edge.attributes if value.strip()}
    named = {plain(name): name for name in reversed(given) if name not in edge.internal}
    if chosen is None:
        wanted = (*RELATIONS, *NAMES, "kind", *EDGE_DESCRIPTIONS)
        names = [named[name] for name in wanted if name in named]
    else:
        names = [name for name in (chosen, named.get(plain(chosen))) if name in given]
    if not names or names[0] is None:
        found = ", ".join(excerpt(name, 30) for name in list(given)[:8]) or "none"
        wanted = f"the attribute {chosen}" if chosen else "a relation"
        raise UserError(
            f"{where}: an edge without {wanted}; found the attributes {found} "
            "(--columns source,NAME,target names the relation's attribute, "
            "source,=NAME,target gives all edges one relation)"
        )
    return given[names[0]], names[0]
