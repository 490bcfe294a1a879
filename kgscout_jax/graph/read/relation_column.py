"""Tables of triplets of which only the relation's column has a usual name.

``exporter,relation,importer,value`` and ``person_a,person_b,relationship,since`` are
edges, whatever their ends are called.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.entity_tables import columns_of
from kgscout_jax.graph.read.header import SURE_RELATIONS, plain
from kgscout_jax.graph.read.key_columns import is_numeric
from kgscout_jax.graph.read.layout import Layout

_RELATIONS = SURE_RELATIONS.union(
    "relation_type relationship_type rel_type edge_type interaction".split()
)
MAX_RELATION = 60
"""Characters of the longest relation; longer ones describe something."""
_ADDRESS = ("@", "://")
"""What stands in cells that are no names of things."""


def wide_relation_layout(dialect: Dialect, rows: Sequence[list[str]]) -> Layout | None:
    """The layout of four columns and more that name a relation; None for others.

    The ends stand on both sides of the relation, or before it if those two are alike.
    Relations repeat or are in capitals, and ends are no numbers.

    Args:
        dialect: of the table.
        rows: its first rows, with the header.
    """
    header = tuple(cell.strip() for cell in rows[0])
    places = [i for i, name in enumerate(header) if plain(name) in _RELATIONS]
    if len(header) < 4 or len(places) != 1 or len(rows) < 3:
        return None
    place, columns = places[0], columns_of(rows[1:], len(header))
    relations = columns[place]
    repeat = len({*relations}) < len(relations) or "".join(relations).isupper()
    if not repeat or max(map(len, relations)) > MAX_RELATION or is_numeric(relations):
        return None
    is_sure = plain(header[place]) in SURE_RELATIONS
    for head, tail in ((place - 2, place - 1), (place - 1, place + 1)):
        inside = head >= 0 and tail < len(header)
        if not inside or not _are_ends(columns[head], columns[tail]):
            continue
        if _are_alike(header, columns, (head, tail)) or (tail > place and is_sure):
            return Layout(
                dialect,
                head,
                place,
                tail,
                header=header,
                skip_first=True,
                width=len(header),
                sample=list(rows[:4]),
            )
    return None


def _are_ends(heads: Sequence[str], tails: Sequence[str]) -> bool:
    """Whether both columns hold names."""
    cells = [*heads, *tails]
    if not all(heads) or any(mark in cell for cell in cells for mark in _ADDRESS):
        return False
    return not (is_numeric(heads) or is_numeric(tails))


def _are_alike(
    header: Sequence[str], columns: Sequence[Sequence[str]], ends: tuple[int, int]
) -> bool:
    """Whether two columns share cells, or are called alike: person_a, person_b."""
    first, second = (plain(header[i])[:-1] for i in ends)
    return first == second or not {*columns[ends[0]]}.isdisjoint(columns[ends[1]])
