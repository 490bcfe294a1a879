"""Columns of head, relation and tail, found by the names in a header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

ENDS = (
    ("head", "tail"),
    ("subject", "object"),
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("start", "end"),
    ("subj", "obj"),
    ("src", "dest"),
    ("source", "destination"),
    ("head_name", "tail_name"),
    ("subject_name", "object_name"),
    ("source_name", "target_name"),
    ("from_name", "to_name"),
    ("x_name", "y_name"),
    ("subject_label", "object_label"),
    ("head_entity", "tail_entity"),
    ("head_id", "tail_id"),
    ("subject_id", "object_id"),
    ("source_id", "target_id"),
    ("from_id", "to_id"),
    ("start_id", "end_id"),
    ("start_node", "end_node"),
    ("from_node", "to_node"),
    ("source_node", "target_node"),
    ("node1", "node2"),
    ("entity1", "entity2"),
    ("entity_1", "entity_2"),
    ("node_1", "node_2"),
    ("entity_a", "entity_b"),
    ("node_a", "node_b"),
    ("source_entity", "target_entity"),
    ("subject_entity", "object_entity"),
    ("src", "tgt"),
    ("entity", "value"),
    ("subj", "obj"),
    ("subjekt", "objekt"),
    ("quelle", "ziel"),
    ("von", "nach"),
    ("sujet", "objet"),
    ("sujeto", "objeto"),
    ("origen", "destino"),
    ("source", "cible"),
    ("soggetto", "oggetto"),
)
"""Names of the columns of heads and tails, the first match counts."""
MIXED = 6
"""So many of the first pairs may be mixed, as in source and object."""

RELATIONS = (
    "relation",
    "predicate",
    "relationship",
    "relation_name",
    "predicate_name",
    "relation_label",
    "predicate_label",
    "relation_type",
    "relationship_type",
    "rel_type",
    "rel",
    "edge_type",
    "edge_label",
    "edge",
    "property",
    "attribute",
    "interaction",
    "link",
    "verb",
    "relation_id",
    "predicate_id",
    "pred",
    "prädikat",
    "beziehung",
    "prédicat",
    "predicado",
    "relación",
    "predicato",
    "relazione",
    "label",
    "type",
)
"""Names of the column of relations, the first match counts."""

SURE_RELATIONS = frozenset(("relation", "relationship", "predicate"))
"""Names of a column between two others that are as telling as those of its ends."""

TYPE = "type"
"""The relation of a node to its labels (Neo4j: Person, Movie)."""
NAMES = ("name", "label", "title")
"""Properties that name a node, the first match counts."""

FULL_NAMES = frozenset(
    first + joint + last
    for first, last in (
        *(("display", "name"), ("full", "name"), ("preferred", "name")),
        *(("pref", "label"), ("preferred", "label"), ("display", "label")),
    )
    for joint in ("", "_")
)
"""Other names of such a property."""

TITLE, OF_NAME, NO_NAME = 1, 2, 3
"""``name_rank`` of titles and labels, of columns whose names end in one of the three,
and of those that name nothing."""

EDGE_DESCRIPTIONS = (
    *("description", "relationship_description", "relation_description"),
    *("fact", "statement", "keywords", "sentence", "text"),
)
"""Columns that say in words how two entities are related, the first match counts."""

DIRECTIONS = frozenset(("directed", "undirected", "mutual"))
"""What Gephi writes below ``Type``."""

CANONICAL = (("head", "relation", "tail"), ("subject", "predicate", "object"))
"""Headers without a doubt."""

_HUMP = re.compile(r"(?<=[a-zß-ÿ0-9])(?=[A-ZÀ-Þ])|(?<=[A-Z])(?=[A-Z](?!s\b)[a-z])")
"""Where a word begins in CamelCase."""

INITIALS = (("h", "r", "t"), ("s", "p", "o"))
"""Headers of one letter a column; in another order or among others they are names."""


@dataclass(frozen=True)
class Roles:
    """Positions of the three columns."""

    head: int
    relation: int
    tail: int
    ambiguous: bool = False
    """Whether other columns could be meant."""


def plain(cell: str) -> str:
    """A column's name in lower case, without the marks of Neo4j and Neptune.

    >>> [plain(name) for name in (":START_ID(Person)", "name:string", "~From", "EmpNo")]
    ['start_id', 'name', 'from', 'emp_no']
    >>> plain("Inv. No."), plain("Order #")
    ('inv_no', 'order_no')
    """
    name = cell.strip().lstrip(":_~")
    name = re.split(r"[:(]", name, maxsplit=1)[0].strip().rstrip(".")
    name = re.sub(r"(?<=\w) ?#$", " no", name)  # "Order #"
    return re.sub(r"[\s.-]+", "_", _HUMP.sub("_", name.strip())).lower()


def name_rank(name: str) -> int:
    """How likely a column names what its rows are, by its plain name; the least first.

    >>> [name_rank(each) for each in ("name", "title", "full_name", "city_name", "x")]
    [0, 1, 1, 2, 3]
    """
    if name == NAMES[0]:
        return 0
    if name in NAMES or name in FULL_NAMES:
        return TITLE
    return OF_NAME if name.endswith(NAMES) else NO_NAME


def column_order(cells: Sequence[str]) -> tuple[int, int, int] | None:
    """Positions of head, relation and tail if a canonical header names them."""
    lowered = [cell.strip().lower() for cell in cells]
    for header in CANONICAL:
        if all(name in lowered for name in header):
            head, relation, tail = map(lowered.index, header)
            return head, relation, tail
    return None


def find_ends(names: Sequence[str]) -> tuple[int, int, bool] | None:
    """Positions of head and tail among plain names, and whether others match too."""
    pairs = [(head, tail) for head, tail in ENDS if head in names and tail in names]
    heads = [head for head, _ in ENDS[:MIXED] if head in names]
    tails = [tail for _, tail in ENDS[:MIXED] if tail in names]
    if not pairs and not (heads and tails):
        return None
    head, tail = pairs[0] if pairs else (heads[0], tails[0])
    matches = {name for pair in ENDS for name in pair if name in names}
    doubt = len(matches) > 2 or names.count(head) + names.count(tail) > 2
    return names.index(head), names.index(tail), doubt


def without_directions(rows: Sequence[Sequence[str]]) -> list[str]:
    """The first row, where Gephi's columns that say no relation have no name.

    These are ``Type`` with directions, and beside others a blank ``Label``.
    """
    first, *others = rows

    def says_nothing(i: int, name: str) -> bool:
        cells = [row[i].strip().lower() for row in others if row[i:]]
        return bool(others) and (
            (name == "type" and DIRECTIONS.issuperset(cells))
            or (name == "label" and len(first) > 3 and not any(cells))
        )

    return [
        "" if says_nothing(i, plain(cell)) else cell for i, cell in enumerate(first)
    ]


def find_roles(cells: Sequence[str]) -> Roles | None:
    """The columns of head, relation and tail if these cells name them, else None."""
    if len(cells) < 3:
        return None
    if tuple(cell.strip().lower() for cell in cells) in INITIALS:
        return Roles(0, 1, 2, ambiguous=True)
    if order := column_order(cells):
        return Roles(*order)
    names = [plain(cell) for cell in cells]
    ends = find_ends(names)
    relations = [name for name in RELATIONS if name in names]
    if ends is None or not relations:
        return None
    doubt = ends[2] or len(relations) > 1 or names.count(relations[0]) > 1
    return Roles(ends[0], names.index(relations[0]), ends[1], doubt)


def described_relation(header: Sequence[str]) -> int | None:
    """The column that says in words how two entities are related; None without one.

    Graphs that language models make of texts (GraphRAG) have no other relation.

    >>> described_relation(["id", "source", "target", "description", "weight"])
    3
    """
    names = [*map(plain, header)]
    found = (names.index(name) for name in EDGE_DESCRIPTIONS if name in names)
    return next(found, None)


def in_roles(columns: Sequence[str]) -> Sequence[str]:
    """Three columns in the order head, relation, tail.

    This is their own order, unless the name of a relation stands elsewhere than in the
    middle: ``source,target,relation`` is meant by its names.
    """
    names = [plain(column) for column in columns]
    if names[1] in RELATIONS or columns[1].startswith("="):
        return columns
    roles = find_roles(columns)
    if roles is None:
        return columns
    return [columns[i] for i in (roles.head, roles.relation, roles.tail)]
