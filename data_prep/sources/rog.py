"""RoG's release of WebQSP and CWQ: every question brings its own subgraph.

Parquet files as on the Hugging Face hub, or JSON lines with the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from data_prep.sources.dataset import Dataset, SubgraphDataset, in_order
from data_prep.sources.fields import (
    UniqueIds,
    flat_rows,
    names_of,
    text_of,
    value_of,
)
from data_prep.sources.splits import SPLIT_OF, json_lines_files, listing
from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.parquet import batches, is_string, open_parquet, strings
from kgscout_jax.types import Question
from kgscout_jax.utils.io import read_json_lines

COLUMNS = ("id", "question", "answer", "q_entity", "a_entity", "graph")
BATCH = 64
"""Questions decoded at a time from parquet: some 300,000 triplets."""

_PARQUET = re.compile(
    rf"({'|'.join(SPLIT_OF)})(?:-(\d+)-of-(\d+))?(?:[-.].*)?\.parquet"
)

Row = tuple[str, dict[str, Any], list[str]]
"""(place, the row without its graph, the graph as a flat list of names)."""


def load(path: Path) -> Dataset:
    """The questions of a release with their own subgraphs, as one interned graph.

    Args:
        path: a folder with, directly or in ``data/``, ``{split}-*.parquet`` (several
            a split) or ``{split}.jsonl`` (also .gz), ``validation`` being dev; or one
            such file. JSON lines under a name that is no split are taken as test.

    Triplets with a blank name are dropped and counted; an empty graph is legal.

    Raises:
        UserError: nothing to read, a column missing, a value of the wrong type, an id
            used twice, a damaged file.
    """
    dataset = SubgraphDataset()
    files: list[Path] = []
    for split, paths in _split_files(path).items():
        ids = UniqueIds()
        for file in paths:
            files.append(file)
            rows = _parquet_rows if file.suffix == ".parquet" else _json_rows
            for where, row, names in rows(file):
                dataset.add(split, _question(row, where, ids), names)
    return dataset.build(path, [], files)


def _question(row: dict[str, Any], where: str, ids: UniqueIds) -> Question:
    """One question without its graph."""
    return Question(
        id=ids.add(text_of(row, "id", where, number=True), where),
        text=text_of(row, "question", where),
        topics=names_of(row, "q_entity", where, bare=True),
        answers=names_of(row, "answer", where),
        answer_entities=names_of(row, "a_entity", where),
    )


def _split_files(path: Path) -> dict[str, list[Path]]:
    """Split -> the files that hold it, in the order train, dev, test."""
    if path.is_file():
        spelling = re.split(r"[-.]", path.name)[0]
        return {SPLIT_OF.get(spelling, "test"): [path]}
    if not path.is_dir():
        raise UserError(f"{path}: no such file or folder")
    for folder in (path, path / "data"):
        if folder.is_dir() and (files := _files_in(folder)):
            return files
    others = [file for file in path.iterdir() if file.suffix == ".jsonl"]
    if len(others) == 1:
        return {"test": others}
    raise UserError(
        f"{path}: expected train-*.parquet, train.jsonl or another split (validation, "
        f"dev, test), here or in data/; {listing(path)}"
    )


def _files_in(folder: Path) -> dict[str, list[Path]]:
    """Split -> its files in this very folder."""
    files: dict[str, dict[str, list[Path]]] = {}
    for file in sorted(folder.glob("*.parquet")):
        if match := _PARQUET.fullmatch(file.name):
            by_name = files.setdefault(SPLIT_OF[match[1]], {})
            by_name.setdefault(match[1], []).append(file)
            _check_shard_count(folder, match)
    for split, file in json_lines_files(folder).items():
        files.setdefault(split, {})[file.name] = [file]
    for split, by_name in files.items():
        if len(by_name) > 1:
            both = " and ".join(group[0].name for group in by_name.values())
            raise UserError(f"{folder}: {both} both hold the split {split}")
    return in_order({s: next(iter(by_name.values())) for s, by_name in files.items()})


def _check_shard_count(folder: Path, match: re.Match[str]) -> None:
    """Raise UserError if parts are missing beside this ``-00000-of-00002`` file."""
    if match[3] is None:
        return
    there = len(list(folder.glob(f"{match[1]}-*-of-{match[3]}*.parquet")))
    if there != int(match[3]):
        raise UserError(
            f"{folder / match[0]}: one of {int(match[3])} parts, of which {there} "
            "are there"
        )


def _json_rows(path: Path) -> Iterator[Row]:
    """Rows of a JSON lines file."""
    for number, row in read_json_lines(path):
        where = f"{path}:{number}"
        yield where, row, flat_rows(value_of(row, "graph", where), str, where, "graph")


def _parquet_rows(path: Path) -> Iterator[Row]:
    """Rows of a parquet file, a batch at a time."""
    file = open_parquet(path)
    columns = file.schema_arrow.names
    for name in COLUMNS:
        if name not in columns:
            raise UserError(
                f"{path}: column {name!r} is missing; found: {', '.join(columns)}"
            )
    number = 0
    for batch in batches(path, file, COLUMNS, BATCH):
        try:
            rows = batch.select(COLUMNS[:-1]).to_pylist()
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not UTF-8 text ({error.reason})") from None
        for row, flat in zip(
            rows, _parquet_graphs(path, batch.column("graph"), number), strict=True
        ):
            number += 1
            yield f"{path}: row {number}", row, flat


def _parquet_graphs(path: Path, column: Any, before: int) -> Iterator[list[str]]:
    """The graph of each row of a list<list<string>> column, flat."""
    import pyarrow as pa

    def is_list(data_type: pa.DataType) -> bool:
        return pa.types.is_list(data_type) or pa.types.is_large_list(data_type)

    def lengths(lists: Any) -> np.ndarray:
        return np.diff(lists.offsets.to_numpy())

    column_type = column.type
    if (
        is_list(column_type)
        and is_list(column_type.value_type)
        and not column.null_count
    ):
        rows = column.flatten()
        names = rows.flatten()
        if (
            is_string(names.type)
            and not rows.null_count
            and not names.null_count
            and (lengths(rows) == 3).all()
        ):
            flat = strings(path, names)
            start = 0
            for length in lengths(column).tolist():
                yield flat[start : start + 3 * length]
                start += 3 * length
            return
    # A row is malformed, or every graph is empty: the check by row names it.
    for number, value in enumerate(column.to_pylist(), start=before + 1):
        yield flat_rows(value, str, f"{path}: row {number}", "graph")
