"""RoG's release of WebQSP and CWQ: every question brings its own subgraph.

Parquet files as on the Hugging Face hub, or JSON lines with the same columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from data_prep.sources.base import Loaded
from data_prep.sources.fields import (
    UniqueIds,
    flat_rows,
    names_of,
    text_of,
    value_of,
    without_blank,
)
from data_prep.sources.splits import SPLIT_OF, in_order, json_lines_files, listing
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import GraphBuilder
from kgscout_jax.graph.read.parquet import batches, is_string, open_parquet, strings
from kgscout_jax.types import Question
from kgscout_jax.utils.io import read_json_lines

COLUMNS = ("id", "question", "answer", "q_entity", "a_entity", "graph")
BATCH = 64
"""Questions decoded at a time from parquet: some 300,000 triplets."""

_PARQUET = re.compile(
    rf"({'|'.join(SPLIT_OF)})(?:-(\d+)-of-(\d+))?(?:[-.].*)?\.parquet"
)

Item = tuple[str, dict[str, Any], list[str]]
"""Where it stands, the row without its graph, the graph as a flat list of names."""


def load(path: Path) -> Loaded:
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
    builder = GraphBuilder()
    questions: dict[str, list[Question]] = {}
    pieces: dict[str, list[int]] = {}
    files: list[Path] = []
    notes = {"triplets_read": 0, "blank_triplets": 0, "empty_graphs": 0}
    for split, paths in _split_files(path).items():
        ids = UniqueIds()
        for file in paths:
            files.append(file)
            read = _parquet_items if file.suffix == ".parquet" else _json_items
            for where, row, given in read(file):
                flat = without_blank(given)
                notes["triplets_read"] += len(given) // 3
                notes["blank_triplets"] += (len(given) - len(flat)) // 3
                notes["empty_graphs"] += not flat
                question = _question(row, where, ids)
                questions.setdefault(split, []).append(question)
                piece = builder.add(
                    zip(flat[0::3], flat[1::3], flat[2::3], strict=True)
                )
                pieces.setdefault(split, []).append(piece)
    if not questions:
        raise UserError(f"{path}: no question in {', '.join(f.name for f in files)}")
    graph, triplet_ids = builder.build()
    if not len(graph.triplets):
        raise UserError(f"{path}: the graph of every question is empty")
    notes["duplicate_triplets"] = graph.duplicates
    subgraphs: dict[str, list[np.ndarray]] = {
        split: [triplet_ids[i] for i in numbers] for split, numbers in pieces.items()
    }
    return Loaded(
        graph=graph,
        questions=in_order(questions),
        subgraphs=in_order(subgraphs),
        files=files,
        notes=notes,
    )


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
        if folder.is_dir() and (found := _files_in(folder)):
            return found
    alone = [file for file in path.iterdir() if file.suffix == ".jsonl"]
    if len(alone) == 1:
        return {"test": alone}
    raise UserError(
        f"{path}: expected train-*.parquet, train.jsonl or another split (validation, "
        f"dev, test), here or in data/; {listing(path)}"
    )


def _files_in(folder: Path) -> dict[str, list[Path]]:
    """Split -> its files in this very folder."""
    found: dict[str, dict[str, list[Path]]] = {}
    for file in sorted(folder.glob("*.parquet")):
        if match := _PARQUET.fullmatch(file.name):
            by_name = found.setdefault(SPLIT_OF[match[1]], {})
            by_name.setdefault(match[1], []).append(file)
            _check_shard_count(folder, match)
    for split, file in json_lines_files(folder).items():
        found.setdefault(split, {})[file.name] = [file]
    for split, by_name in found.items():
        if len(by_name) > 1:
            both = " and ".join(files[0].name for files in by_name.values())
            raise UserError(f"{folder}: {both} both hold the split {split}")
    return in_order({s: next(iter(by_name.values())) for s, by_name in found.items()})


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


def _json_items(path: Path) -> Iterator[Item]:
    """Rows of a JSON lines file."""
    for number, row in read_json_lines(path):
        where = f"{path}:{number}"
        yield where, row, flat_rows(value_of(row, "graph", where), str, where, "graph")


def _parquet_items(path: Path) -> Iterator[Item]:
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

    def is_list(kind: pa.DataType) -> bool:
        return pa.types.is_list(kind) or pa.types.is_large_list(kind)

    def lengths(lists: Any) -> np.ndarray:
        return np.diff(lists.offsets.to_numpy())

    kind = column.type
    if is_list(kind) and is_list(kind.value_type) and not column.null_count:
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
    # Something is odd about a row, or every graph is empty: say which, row by row.
    for number, value in enumerate(column.to_pylist(), start=before + 1):
        yield flat_rows(value, str, f"{path}: row {number}", "graph")
