"""Tables whose first row stands in a file of its own, as Neo4j's import has them.

``reviewed.csv``, ``reviewed-part1.csv`` and so on have the columns that
``reviewed-header.csv`` names.
"""

from __future__ import annotations

import re
from pathlib import Path

from kgscout_jax.graph.read.streams import open_text, table_name

_HEADER = re.compile(r"(.+?)[-_.]header", re.IGNORECASE)
_PART = re.compile(r"[-_.]?(?:part)?[-_.]?\d+$", re.IGNORECASE)
_SUFFIXES = (".csv", ".tsv")


def header_line(path: Path) -> str:
    """The line that names the columns of a table in another file; "" without one."""
    header = header_file(path)
    return "" if header is None else _only_line(header)


def header_file(path: Path) -> Path | None:
    """The file that may have the header of a table; None for none."""
    name = table_name(path)
    for stem in dict.fromkeys((name, _PART.sub("", name))):
        for joint in "-_.":
            for suffix in _SUFFIXES:
                header = path.with_name(f"{stem}{joint}header{suffix}")
                if header != path and header.is_file():
                    return header
    return None


def is_header_file(path: Path) -> bool:
    """Whether a file has but the header of another one beside it."""
    match = _HEADER.fullmatch(table_name(path))
    if match is None or not _only_line(path):
        return False
    others = (each for each in path.parent.iterdir() if each != path)
    return any(
        _PART.sub("", table_name(each)) == match[1] or table_name(each) == match[1]
        for each in others
    )


def _only_line(path: Path) -> str:
    """The one line of a file; "" where it has more."""
    with open_text(path) as handle:
        line, rest = handle.readline(), handle.read(1)
    line = line.removeprefix("\ufeff")
    return "" if rest.strip() else line.rstrip("\r\n") + "\n"
