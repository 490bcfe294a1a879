"""The properties of an edge, as a row without a name that joins both ends.

That Keanu Reeves acted in The Matrix as Neo is what a table of roles would hold: a row
with a person, a movie and a role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kgscout_jax.graph.read.edge_kinds import edge_kind
from kgscout_jax.graph.read.header import ENDS, INITIALS, TYPE, plain
from kgscout_jax.graph.read.layout import property_name
from kgscout_jax.graph.row_id import row_id
from kgscout_jax.types import Triplet

SOURCE, TARGET = "source", "target"
"""What a row calls the ends, where nothing says what they are."""
_ENDS = {name for pair in ENDS for name in pair}.union(*INITIALS)


def edge_row(
    path: Path,
    number: int,
    ends: tuple[str, str],
    triplet: Triplet,
    properties: Iterable[tuple[str, str]],
) -> Iterator[Triplet]:
    """The triplets of an edge's properties; none where all are blank.

    The row is of the kind that its relation says, see ``edge_kind``.

    Args:
        path: the file.
        number: of the edge in the file.
        ends: what the row calls head and tail; "" where nothing says that.
        triplet: the edge.
        properties: names and values.

    >>> edge = "Ann", "knows", "Bo"
    >>> list(edge_row(Path("kg.csv"), 2, ("person", ""), edge, [("since", "2019")]))
    ... # doctest: +NORMALIZE_WHITESPACE
    [('_:kg:2', 'person', 'Ann'), ('_:kg:2', 'target', 'Bo'),
     ('_:kg:2', 'since', '2019')]
    >>> road = "Arden", "ROAD", "Bray"
    >>> next(edge_row(Path("kg.csv"), 2, ("", ""), road, [("length_km", "42")]))
    ('_:kg:2', 'type', 'road')
    """
    facts = [pair for pair in properties if pair[0].strip() and pair[1].strip()]
    if facts:
        row = row_id(path, number)
        kind = edge_kind(triplet[1])
        if kind is not None:
            yield row, TYPE, kind.noun
        # Two companies are told apart by what they are to a transfer.
        head, tail = ends if ends[0] != ends[1] else ("", "")
        if kind is not None:
            head, tail = head or kind.head, tail or kind.tail
        yield row, head or ends[0] or SOURCE, triplet[0]
        yield row, tail or ends[1] or TARGET, triplet[2]
        yield from ((row, name, value) for name, value in facts)


def named_ends(header: Sequence[str], head: int, tail: int) -> tuple[str, str]:
    """What the header of a table of edges says that the ends are; "" for nothing.

    >>> named_ends(["employee", "relation", "to"], 0, 2)
    ('employee', '')
    """
    names = [property_name(header[i]) if header else "" for i in (head, tail)]
    said = ["" if plain(name) in _ENDS or name.isdigit() else name for name in names]
    return said[0], said[1]
