"""The layout of a text table: separator, quoting, header, columns."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.header import NAMES, find_roles, in_roles, plain
from kgscout_jax.graph.read.options import MAX_NAME, ReadOptions, excerpt
from kgscout_jax.graph.read.streams import inner_name, open_text

NODE_IDS = ("id", "node_id", "nodeid", "entity_id")
"""Names of the column of ids in a table of nodes, which also has a name."""
LABEL_COLUMNS = ("_labels", ":label", "~label")
"""The column of a node's kinds."""
_NODE_ID = re.compile(r":ID(\(.*\))?(\{.*\})?$|^_id$|^~id$", re.IGNORECASE)

SAMPLE_CHARS = 1 << 20
SAMPLE_ROWS = 1000
"""The start of a file that decides about its layout."""

SEPARATIONS = {
    "\t": "tab-separated",
    ",": "comma-separated",
    ";": "semicolon-separated",
    "|": "bar-separated",
}
TABLES = {".tsv": "\t", ".txt": "\t", ".csv": ","}
"""Suffix of a text table -> its usual column separator."""


@dataclass(frozen=True)
class Dialect:
    """How a line is divided into cells."""

    separator: str
    quoted: bool
    """Whether cells may be in quotes, as spreadsheets write them."""

    def rows(self, lines: Sequence[str]) -> list[list[str]] | None:
        """The rows of some lines without blank ones; None if they are not valid."""
        if not self.quoted:
            stripped = (line.rstrip("\n") for line in lines if line.strip())
            return [line.split(self.separator) for line in stripped]
        csv.field_size_limit(MAX_NAME)
        try:
            reader = csv.reader(lines, delimiter=self.separator, strict=True)
            return [row for row in reader if row]
        except csv.Error:
            return None


@dataclass(frozen=True)
class NodeColumns:
    """Where a table has nodes, the columns that describe them."""

    id: int
    name: int | None
    labels: int | None
    space: str = ""
    """The name space of the ids (Neo4j)."""


@dataclass(frozen=True)
class Layout:
    """How the rows of one table are read."""

    dialect: Dialect
    head: int = 0
    relation: int = 1
    tail: int = 2
    constant: str | None = None
    """The relation of all rows, instead of a column."""
    header: tuple[str, ...] = ()
    """Names of the columns; () without a header."""
    skip_first: bool = False
    """Whether the first row is a header."""
    width: int = 3
    """Cells of a row."""
    nodes: NodeColumns | None = None
    """The columns of nodes, in a table of nodes."""
    edges: bool = True
    """Whether rows may be triplets."""
    spaces: tuple[str, str] = ("", "")
    """The name spaces of the ids of heads and tails (Neo4j)."""
    doubt: str | None = None
    """Why the triplets may be read wrongly."""
    sample: list[list[str]] = field(default_factory=list, compare=False)
    """The first rows, with the header."""

    @property
    def extra(self) -> list[int]:
        """The other columns with a name."""
        used: set[int | None] = {self.head, self.tail} if self.edges else set()
        if self.edges and not self.constant:
            used.add(self.relation)
        if self.nodes is not None:
            used |= {self.nodes.id, self.nodes.name, self.nodes.labels}
        return [
            i
            for i, name in enumerate(self.header)
            if i not in used and property_name(name) and ":IGNORE" not in name.upper()
        ]

    def remark(self, path: Path) -> str | None:
        """What to tell about a doubtful layout: the first triplets, and a remedy."""
        if self.doubt is None:
            return None
        rows = [row for row in self.sample[self.skip_first :] if len(row) == self.width]
        triplets = ", ".join(
            "({}, {}, {})".format(
                *(
                    excerpt(cell, 30)
                    for cell in (
                        row[self.head],
                        self.constant or row[self.relation],
                        row[self.tail],
                    )
                )
            )
            for row in rows[:3]
        )
        return (
            f"{path}: {self.doubt}; read as {triplets} ...; "
            "--columns HEAD,RELATION,TAIL changes that, with names of the header or "
            "numbers"
        )


def dialects(suffix: str) -> list[Dialect]:
    """The dialects of a file name, the usual one first."""
    if suffix == ".csv":
        return [Dialect(separator, True) for separator in ",;\t|"] + [
            Dialect("|", False)
        ]
    return [
        Dialect("\t", False),
        Dialect("\t", True),
        Dialect(",", True),
        Dialect(";", True),
        Dialect("|", False),
    ]


def table_layout(path: Path, options: ReadOptions) -> Layout:
    """The layout of a text table, from its first rows.

    A table of three columns in the usual dialect of its name, whose first row names no
    columns, is read in the order head, relation, tail.

    Raises:
        UserError: the file cannot be read, or has not the columns of the options.
    """
    suffix = Path(inner_name(path)).suffix
    usual = Dialect(TABLES[suffix], suffix == ".csv")
    lines, whole = _first_lines(path)
    samples = {
        dialect: rows
        for dialect in dialects(suffix)
        if (rows := _rows(dialect, lines, whole))
    }
    if options.columns:
        return _given_layout(path, options.columns, samples, usual)
    rows = samples.get(usual)
    if rows and (found := _header_layout(usual, rows)):
        return found
    in_quotes = Dialect(usual.separator, True)
    if in_quotes in samples and (
        found := _header_layout(in_quotes, samples[in_quotes])
    ):
        return found
    if rows and all(len(row) == 3 for row in rows):
        return Layout(usual, sample=rows, doubt=_suspicion(rows))
    for dialect, rows in samples.items():
        if found := _header_layout(dialect, rows):
            return found
    for dialect, rows in samples.items():
        if dialect not in (usual, in_quotes) and all(len(row) == 3 for row in rows):
            words = SEPARATIONS[dialect.separator]
            return Layout(dialect, sample=rows, doubt=f"found {words} columns")
    return Layout(usual)


def _first_lines(path: Path) -> tuple[list[str], bool]:
    """The first lines without a byte order mark, and whether these are all."""
    with open_text(path) as handle:
        text = handle.read(SAMPLE_CHARS)
    # Not str.splitlines: it knows ends of lines that files do not.
    lines = io.StringIO(text.removeprefix("\ufeff"), newline="\n").readlines()
    whole = len(text) < SAMPLE_CHARS
    if not whole:
        lines.pop()
    return lines[:SAMPLE_ROWS], whole and len(lines) <= SAMPLE_ROWS


def _rows(
    dialect: Dialect, lines: Sequence[str], whole: bool
) -> list[list[str]] | None:
    """The rows of the lines; a row in quotes that goes on beyond them is left out."""
    rows = dialect.rows(lines)
    while rows is None and not whole and len(lines) > 1:
        lines = lines[: len(lines) // 2]
        rows = dialect.rows(lines)
    return rows


def _header_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout if the first row names head, relation and tail, or an id of nodes."""
    header = tuple(cell.strip() for cell in rows[0])
    roles = find_roles(header)
    nodes = _node_columns(header, with_edges=roles is not None)
    if roles is None and (nodes is None or not _lists_nodes(rows, nodes)):
        return None
    layout = Layout(
        dialect,
        header=header,
        skip_first=True,
        width=len(header),
        nodes=nodes,
        edges=roles is not None,
        sample=list(rows[:4]),
    )
    if roles is None:
        return layout
    certain = nodes is not None or header[roles.head].startswith((":", "_", "~"))
    doubt = "several columns could be meant"
    if len(header) == 3:
        doubt = "the first line is taken for a header"
    return replace(
        layout,
        head=roles.head,
        relation=roles.relation,
        tail=roles.tail,
        spaces=(id_space(header[roles.head]), id_space(header[roles.tail])),
        doubt=doubt if roles.ambiguous and not certain else None,
    )


def _node_columns(header: Sequence[str], *, with_edges: bool) -> NodeColumns | None:
    """The columns of nodes if these cells name an id, as in exports of databases.

    In a table of edges, only ``_id`` beside ``_labels`` is one (Neo4j).
    """
    names = [plain(cell) for cell in header]
    lowered = [cell.lower() for cell in header]
    if with_edges:
        if not {"_id", "_labels"} <= set(lowered):
            return None
        id = lowered.index("_id")
    else:
        marked = [i for i, cell in enumerate(header) if _NODE_ID.search(cell)]
        usual = [names.index(name) for name in NODE_IDS if name in names]
        if not marked and not (usual and set(names) & set(NAMES)):
            return None
        id = (marked or usual)[0]
    labels = [i for i, cell in enumerate(lowered) if cell in LABEL_COLUMNS]
    named = [names.index(name) for name in NAMES if name in names]
    named = [i for i in named if i != id and i not in labels]
    return NodeColumns(
        id,
        named[0] if named else None,
        labels[0] if labels else None,
        id_space(header[id]),
    )


def _lists_nodes(rows: Sequence[list[str]], nodes: NodeColumns) -> bool:
    """Whether a table without edges is a list of nodes.

    Three columns without a mark of a database may be triplets: as a list of nodes,
    they begin with the id, and no id occurs twice.
    """
    if len(rows[0]) != 3 or _NODE_ID.search(rows[0][nodes.id].strip()):
        return True
    ids = [row[0] for row in rows]
    return nodes.id == 0 and len(rows) > 1 and len(set(ids)) == len(ids)


def id_space(cell: str) -> str:
    """The name space in a column's name: Person in ``:START_ID(Person)``."""
    match = re.search(r"\(([^)]*)\)$", cell.strip())
    return match[1] if match else ""


def property_name(cell: str) -> str:
    """A column's name without its type: born in ``born:int``."""
    return cell.strip().partition(":")[0].strip()


def _given_layout(
    path: Path,
    columns: Sequence[str],
    samples: dict[Dialect, list[list[str]]],
    usual: Dialect,
) -> Layout:
    """The layout with the columns that the user names."""
    for dialect, rows in samples.items():
        if found := _named_layout(dialect, rows, columns):
            return found
    for dialect in sorted(samples, key=lambda each: each != usual):
        if found := _numbered_layout(dialect, samples[dialect], columns):
            return found
    first = samples.get(usual) or next(iter(samples.values()), [[]])
    raise UserError(
        f"{path}:1: expected the columns {', '.join(columns)}, found "
        f"{', '.join(excerpt(cell, 30) for cell in first[0][:12]) or 'nothing'}"
    )


def _named_layout(
    dialect: Dialect, rows: Sequence[list[str]], columns: Sequence[str]
) -> Layout | None:
    """The layout if the first row has columns of these names."""
    header = tuple(cell.strip() for cell in rows[0])
    wanted = in_roles(columns)
    spellings = [cell.lower() for cell in header], [plain(cell) for cell in header]
    places: list[int] = []
    for name in wanted:
        key, short = name.strip().lower(), plain(name)
        if name.startswith("=") and len(places) == 1:
            places.append(-1)
        elif key in spellings[0]:
            places.append(spellings[0].index(key))
        elif short in spellings[1]:
            places.append(spellings[1].index(short))
        else:
            return None
    return replace(
        _places_layout(dialect, places, columns),
        header=header,
        skip_first=True,
        width=len(header),
        sample=list(rows[:4]),
    )


def _numbered_layout(
    dialect: Dialect, rows: Sequence[list[str]], columns: Sequence[str]
) -> Layout | None:
    """The layout if the columns are numbers, or name those of a table in order."""
    width = len(rows[0])
    if width < 2:
        return None
    names = [plain(name) for name in columns]
    if width == 3 and not any(name.isdigit() for name in names):
        roles = find_roles(columns)
        if roles is None:
            return None
        places = [roles.head, roles.relation, roles.tail]
        return replace(_places_layout(dialect, places, columns), sample=list(rows[:4]))
    places = []
    for i, name in enumerate(columns):
        if name.startswith("=") and i == 1:
            places.append(-1)
        elif name.isdecimal() and name.isascii() and 1 <= int(name[:9]) <= width:
            places.append(int(name[:9]) - 1)
        else:
            return None
    header = find_roles(rows[0]) is not None
    return replace(
        _places_layout(dialect, places, columns),
        header=tuple(cell.strip() for cell in rows[0]) if header else (),
        skip_first=header,
        width=width,
        sample=list(rows[:4]),
    )


def _places_layout(
    dialect: Dialect, places: Sequence[int], columns: Sequence[str]
) -> Layout:
    """The layout with these places; -1 is a relation that ``=NAME`` gives."""
    head, relation, tail = places
    constant = columns[1][1:].strip() or None if relation < 0 else None
    if relation < 0 and constant is None:
        raise UserError("columns: expected =NAME, found = without a name")
    return Layout(dialect, head, max(relation, 0), tail, constant=constant)


def _suspicion(rows: Sequence[list[str]]) -> str | None:
    """Why three columns without a header may be in another order, if so."""
    if len(rows) < 3:
        return None
    heads, relations, tails = (Counter(column) for column in zip(*rows, strict=True))
    if len(rows) > 7 and 4 * min(len(heads), len(tails)) < len(relations):
        return "the second column holds more different names than another one"
    first = rows[0]
    others = len(relations) - 1
    repeated = 3 * others < len(rows) if len(rows) > 7 else 2 * others < len(rows)
    if (
        relations[first[1]] == 1
        and repeated
        and not any(heads[cell] + tails[cell] > 1 for cell in (first[0], first[2]))
    ):
        return "the first line may be a header"
    return None


def wrong_width(layout: Layout, number: int, found: int) -> str:
    """What is wrong with a row of ``found`` cells, for an error."""
    words = SEPARATIONS[layout.dialect.separator]
    origin = ", as in the header" if layout.skip_first and layout.width != 3 else ""
    hint = ""
    if number == 1 and found > 1 and not layout.header:
        hint = (
            "; --columns HEAD,RELATION,TAIL names them: numbers from 1, names of the "
            "header, or =NAME as the relation of all rows"
        )
    return f"expected {layout.width} {words} columns{origin}, found {found}{hint}"
