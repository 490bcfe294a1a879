"""NSM's form of WebQSP and CWQ, shared by GraftNet and ReaRev: everything an index.

Names, not ids, are what the encoder reads, so ids are replaced by names where a table
has them. The names that stand beside gold answers are not used for this: only answers
would be named by them, which tells a model where the answers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_prep.sources.dataset import Dataset, SubgraphDataset
from data_prep.sources.fields import (
    UniqueIds,
    check_text,
    field_error,
    flat_rows,
    text_of,
    value_of,
)
from data_prep.sources.splits import check_file, listing
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.types import Question, entity_key
from kgscout_jax.utils.checks import check_folder, type_name
from kgscout_jax.utils.io import open_text, read_json, read_json_lines

UNNAMED = ("", "None")
"""What stands in a table of names for an entity without one."""


@dataclass(frozen=True, kw_only=True)
class _Names:
    """A table that indices point into."""

    file: Path
    names: Sequence[str]
    """Index -> name, or the id where there is no name."""
    positions: dict[str, int]
    """Id as in the source -> index."""


def load(path: Path) -> Dataset:
    """The questions of a folder with their own subgraphs, as one interned graph.

    Args:
        path: a folder with ``{train,dev,test}_simple.json`` (JSON lines, at least one
            of them), ``relations.txt`` and ``entities.txt`` (an id a line) or
            ``entity_name.txt`` (id TAB name). Beside ``entities.txt``,
            ``entity_name.txt`` or ``entities_names.json`` gives names in any order.

    Entities of one name become one entity, counted under ``ids_sharing_a_name``.

    Raises:
        UserError: a file is missing or malformed, an index points beyond its table.
    """
    check_folder(path)
    split_files = {s: path / f"{s}_simple.json" for s in SPLITS}
    split_files = {split: file for split, file in split_files.items() if file.is_file()}
    if not split_files:
        raise UserError(
            f"{path}: found none of train_simple.json, dev_simple.json, "
            f"test_simple.json; {listing(path)}"
        )
    entities, files = _read_entities(path)
    relations = _table(check_file(path / "relations.txt"))
    pairs = zip(entities.positions, entities.names, strict=True)
    dataset = SubgraphDataset()
    dataset.notes = {
        "entity_ids": len(entities.names),
        "entity_ids_with_name": sum(name != mid for mid, name in pairs),
        "ids_sharing_a_name": len(entities.names)
        - len(set(map(entity_key, entities.names))),
    } | dataset.notes
    for split, file in split_files.items():
        ids = UniqueIds()
        for number, row in read_json_lines(file):
            where = f"{file}:{number}"
            names = _triplets(row, where, entities, relations)
            dataset.add(split, _question(row, where, ids, entities), names)
    return dataset.build(path, [*files, relations.file], list(split_files.values()))


def _lines(path: Path) -> list[str]:
    """The lines of a table; a blank one keeps its place, except at the end."""
    with open_text(path) as handle:
        lines = [line.rstrip("\n") for line in handle]
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise UserError(f"{path}: empty, expected a name a line")
    return lines


def _table(path: Path) -> _Names:
    """A table with one name a line."""
    lines = _lines(path)
    return _Names(
        file=path,
        names=lines,
        positions={line: i for i, line in enumerate(lines)},
    )


def _read_entities(folder: Path) -> tuple[_Names, list[Path]]:
    """The entities in the order of their indices, and the files that were read."""
    order, pairs = folder / "entities.txt", folder / "entity_name.txt"
    extra = folder / "entities_names.json"
    if not order.is_file() and not pairs.is_file():
        raise UserError(
            f"{folder}: found neither entities.txt nor entity_name.txt; "
            f"{listing(folder)}"
        )
    names: dict[str, str] = {}
    ids: list[str] = []
    files: list[Path] = []
    if pairs.is_file():
        files.append(pairs)
        for number, line in enumerate(_lines(pairs), start=1):
            cells = line.split("\t")
            if len(cells) > 2:
                raise UserError(
                    f"{pairs}:{number}: expected id TAB name, found {len(cells)} "
                    "columns"
                )
            ids.append(cells[0])
            names[cells[0]] = cells[-1]
    if extra.is_file():
        files.append(extra)
        table = read_json(extra)
        if not isinstance(table, dict):
            raise UserError(
                f"{extra}: expected an object of id: name, found {type_name(table)}"
            )
        for key, name in table.items():
            check_text([key], str(extra), "an id")
            if isinstance(name, str):
                check_text([name], str(extra), key)
        names |= {key: name for key, name in table.items() if isinstance(name, str)}
    if order.is_file():
        files.append(order)
        ids = _lines(order)
    readable = [
        mid if (name := names.get(mid, "")).strip() in UNNAMED else name for mid in ids
    ]
    positions = {mid: i for i, mid in enumerate(ids)}
    if len(positions) != len(ids):
        first = next(i for i, mid in enumerate(ids) if positions[mid] != i)
        raise UserError(
            f"{files[-1]}:{positions[ids[first]] + 1}: id {ids[first]!r} occurs twice, "
            f"first in line {first + 1}"
        )
    file = order if order.is_file() else pairs
    return _Names(file=file, names=readable, positions=positions), files


def _check_range(
    values: Sequence[int], table: _Names, where: str, name: str
) -> Sequence[int]:
    """``values``, if all of them point into ``table``."""
    size = len(table.names)
    if values and not (min(values) >= 0 and max(values) < size):
        bad = next(i for i in values if not 0 <= i < size)
        expected = f"an index below {size}, the length of {table.file.name}"
        raise field_error(where, name, expected, str(bad))
    return values


def _triplets(
    row: dict[str, Any], where: str, entities: _Names, relations: _Names
) -> list[str]:
    """The subgraph of a question, names in a flat list."""
    subgraph = value_of(row, "subgraph", where)
    if not isinstance(subgraph, dict):
        raise field_error(
            where, "subgraph", "an object with tuples", type_name(subgraph)
        )
    tuples = value_of(subgraph, "tuples", f"{where}: field 'subgraph'")
    flat = flat_rows(tuples, int, where, "subgraph.tuples")
    for start, table in ((0, entities), (1, relations), (2, entities)):
        column = _check_range(flat[start::3], table, where, "subgraph.tuples")
        flat[start::3] = [table.names[i] for i in column]
    return flat


def _question(
    row: dict[str, Any], where: str, ids: UniqueIds, entities: _Names
) -> Question:
    """One question without its subgraph."""
    topics = value_of(row, "entities", where)
    if not isinstance(topics, list) or not set(map(type, topics)) <= {int}:
        found = type_name(topics)
        raise field_error(where, "entities", "a list of indices (int)", found)
    _check_range(topics, entities, where, "entities")
    names = [entities.names[int(i)] for i in topics]
    answers = value_of(row, "answers", where)
    if not isinstance(answers, list):
        raise field_error(where, "answers", "a list of objects", type_name(answers))
    pairs = [_answer(answer, where, entities) for answer in answers]
    return Question(
        id=ids.add(text_of(row, "id", where, number=True), where),
        text=text_of(row, "question", where),
        topics=tuple(name for name in names if name.strip()),
        answers=tuple(gold for gold, _ in pairs),
        answer_entities=tuple(entity for _, entity in pairs),
    )


def _answer(answer: Any, where: str, entities: _Names) -> tuple[str, str]:
    """A gold answer as people read it, and as its entity is called in the graph."""
    if not isinstance(answer, dict):
        found = f"a list that holds {type_name(answer)}"
        raise field_error(where, "answers", "a list of objects", found)
    place = f"{where}: field 'answers'"
    # ReaRev's loader: where kb_id is a number, the id stands under "text".
    key = "text" if type(answer.get("kb_id")) is int else "kb_id"
    mid = text_of(answer, key, place)
    position = entities.positions.get(mid)
    text = answer.get("text")
    if text is not None and not isinstance(text, str):
        raise field_error(place, "text", "a string or null", type_name(text))
    check_text([text or ""], place, "text")
    name = mid if position is None else entities.names[position]
    gold = name if text is None or text.strip() in UNNAMED or text == mid else text
    return gold, gold if position is None else name
