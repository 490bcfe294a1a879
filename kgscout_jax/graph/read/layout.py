"""The layout of a text table: dialect, header, columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgscout_jax.graph.read.dialect import Dialect, separation
from kgscout_jax.graph.read.drawing import is_of_edge_alone
from kgscout_jax.graph.read.header import EDGE_DESCRIPTIONS, plain
from kgscout_jax.graph.read.node_columns import NODE_IDS, NodeColumns
from kgscout_jax.graph.read.options import ReadOptions, excerpt


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
    lists: Mapping[int, str] = field(default_factory=dict)
    """Columns whose cells may hold several values, with what separates these."""
    whole: frozenset[int] = frozenset()
    """Columns of whole numbers that are written with ".0"."""
    with_na: frozenset[int] = frozenset()
    """Columns in which "NA" is a missing value."""
    flags: frozenset[int] = frozenset()
    """Columns of 0 and 1 that say whether something is so: ``IsWon``."""
    units: tuple[str, ...] = ()
    """The row of units below the header; () without one."""
    merged: int = 0
    """Columns at the start whose blank cells have the value above."""
    codes: tuple[str, ...] = ()
    """Columns of codes of the rows' entities, see ``code_columns``."""
    coded: bool = False
    """Whether the ids of nodes that have names are codes that people say: JFK."""
    named: tuple[int | None, ...] = ()
    """The columns that hold the names of the ids of head, relation and tail; () where
    none does."""
    dated: bool = False
    """Whether each row is an event: what else it holds is always read."""
    doubt: str | None = None
    """Why the triplets may be read wrongly."""
    sample: list[list[str]] = field(default_factory=list, compare=False)
    """The first rows, with the header."""

    @property
    def extra(self) -> list[int]:
        """The other columns with a name."""
        used: set[int | None] = {*self.named}
        used |= {self.head, self.tail} if self.edges else set()
        if self.edges and not self.constant:
            used.add(self.relation)
        if self.nodes is not None:
            nodes = self.nodes
            used |= {nodes.name, nodes.surname, nodes.labels}
            # The id of an employee may be a fact, that of a node only if it is a code.
            own = "" if nodes.id is None else plain(self.header[nodes.id])
            of_row = nodes.facts and own not in NODE_IDS
            if nodes.name is None or not (of_row or self.coded):
                used.add(nodes.id)
        return [
            i
            for i, name in enumerate(self.header)
            if i not in used and property_name(name) and ":IGNORE" not in name.upper()
        ]

    def edge_properties(self, options: ReadOptions) -> list[int]:
        """The columns of triplets that are facts about both ends, see ``edge_row``.

        Columns that are chosen leave out others, and a doubtful layout has none.
        """
        if options.properties or self.dated:
            return self.extra
        if options.columns or self.doubt is not None:
            return []
        names = {i: property_name(self.header[i]) for i in self.extra}
        # Gephi says of each edge that it is directed.
        return [
            i
            for i, name in names.items()
            if not all(
                is_of_edge_alone(name, value) for value in _values(self._rows, i)
            )
        ]

    def remark_properties(self, path: Path, options: ReadOptions) -> str | None:
        """What to tell about further columns of triplets; None for nothing."""
        named = {i: property_name(self.header[i]) for i in self.extra}
        if options.columns or self.dated or not named:
            return None
        read = {*self.edge_properties(options)}
        kept = ", ".join(name for i, name in named.items() if i in read)
        rest = ", ".join(name for i, name in named.items() if i not in read)
        said = [
            f"{kept}: read as facts about both ends (--columns HEAD,RELATION,TAIL "
            "leaves them out)" * bool(kept),
            f"{rest}: left out (--properties reads them)" * bool(rest),
        ]
        return f"{path}: further columns: " + "; ".join(filter(None, said))

    @property
    def _rows(self) -> list[list[str]]:
        """The first rows that have all cells, without the header."""
        return [row for row in self.sample[self.skip_first :] if len(row) == self.width]

    @property
    def is_described(self) -> bool:
        """Whether the relation is a text about both ends."""
        place = self.relation if self.edges and not self.constant else len(self.header)
        names = self.header[place : place + 1]
        return any(plain(name) in EDGE_DESCRIPTIONS for name in names)

    @property
    def is_kgtk(self) -> bool:
        """Whether it is a file of edges of KGTK."""
        return {"node1", "label", "node2"} <= {*map(plain, self.header)}

    def remark(self, path: Path) -> str | None:
        """What to tell about a doubtful layout: the first triplets, and a remedy."""
        if self.doubt is None:
            return None
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
            for row in self._rows[:3]
        )
        return (
            f"{path}: {self.doubt}; read as {triplets} ...; "
            "--columns HEAD,RELATION,TAIL changes that, with names of the header or "
            "numbers"
        )


def _values(rows: Sequence[Sequence[str]], column: int) -> list[str]:
    """The first cells of a column; a blank one where no row is known."""
    return [row[column] for row in rows] or [""]


def property_name(cell: str) -> str:
    """A column's name without its type: born in ``born:int``."""
    return cell.strip().partition(":")[0].strip()


def wrong_width(layout: Layout, number: int, found: int) -> str:
    """What is wrong with a row of ``found`` cells, for an error."""
    words = separation(layout.dialect.separator)
    origin = ", as in the header" if layout.skip_first and layout.width != 3 else ""
    hint = ""
    if number == 1 and found == 1:
        hint = "; tabs, commas, semicolons or | separate columns, spaces do not"
    elif number == 1 and not layout.header:
        hint = (
            "; --columns HEAD,RELATION,TAIL names them: numbers from 1, names of the "
            "header, or =NAME as the relation of all rows"
        )
    return f"expected {layout.width} {words} columns{origin}, found {found}{hint}"
