"""Folders of OpenKE: triplets of numbers, and files with the names of these.

``entity2id.txt`` and ``relation2id.txt`` have a line for each name and its number
behind one with their count; ``train2id.txt`` and the like have head, tail and relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.streams import bounded_lines, inner_name, open_text
from kgscout_jax.types import Triplet

_NAMES = ("entity2id.txt", "relation2id.txt")
_END = "2id.txt"


def is_openke(path: Path) -> bool:
    """Whether a file is one of such a folder."""
    return inner_name(path).endswith(_END) and all(
        path.with_name(name).is_file() for name in _NAMES
    )


def openke_triplets(path: Path) -> Iterator[Triplet]:
    """The triplets of a file by their names; none of a file of names.

    Raises:
        UserError: (on iteration) a file is malformed, or a number has no name.
    """
    if inner_name(path) in _NAMES:
        return
    entities, relations = (_names(path.with_name(name)) for name in _NAMES)
    for number, cells in _rows(path):
        if len(cells) != 3:
            raise UserError(
                f"{path}:{number}: expected the numbers of head, tail and relation, "
                f"found {len(cells)} cells"
            )
        head, tail, relation = cells
        for cell, names, file in zip(
            cells, (entities, entities, relations), (0, 0, 1), strict=True
        ):
            if cell not in names:
                raise UserError(f"{path}:{number}: {cell} is not in {_NAMES[file]}")
        yield entities[head], relations[relation], entities[tail]


def _names(path: Path) -> dict[str, str]:
    """The names by their numbers."""
    out = {}
    for number, cells in _rows(path):
        if len(cells) < 2:
            raise UserError(f"{path}:{number}: expected a name and its number")
        out[cells[-1]] = " ".join(cells[:-1])
    return out


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of the lines behind the first one, the count."""
    with open_text(path) as handle:
        for number, line in enumerate(bounded_lines(path, handle), start=1):
            if number == 1 and line.strip().isdecimal():
                continue
            if line.strip():
                text = line.strip()
                yield number, text.split("\t") if "\t" in text else text.split()
