"""User graphs: triplet files or a GRAPH folder, with questions in JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data_prep.sources.dataset import Dataset, check_questions, in_order
from data_prep.sources.fields import (
    UniqueIds,
    field_error,
    names_of,
    text_of,
    triplets_of,
)
from data_prep.sources.splits import (
    json_lines_files,
    listing,
)
from kgscout_jax.errors import UserError
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.types import Question
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.io import read_json_lines


def load(
    path: Path | None, kg: Sequence[Path], options: ReadOptions | None = None
) -> Dataset:
    """The questions of a folder over the graph of a GRAPH folder or triplet files.

    Args:
        path: a folder with at least one of ``train.jsonl``, ``dev.jsonl`` (or
            ``validation.jsonl``), ``test.jsonl``, each also .gz. Fields: id, question,
            optional q_entity (a list of names, or one name; without it the topics are
            found in the question); answer (a list of names; optional
            outside train); optional a_entity, relevant_triples, hop.
        kg: triplet files, see ``read_triplets``, or one folder of ``kgscout graph``.
        options: how the files are read.

    Raises:
        UserError: a file is missing, empty or malformed, a field missing or of the
            wrong type, an id used twice.
    """
    if not kg:
        raise UserError("source 'kg' needs --kg: triplet files, or one GRAPH folder")
    if path is None:
        raise UserError(
            "source 'kg' needs --input FOLDER with train.jsonl, dev.jsonl or test.jsonl"
        )
    check_folder(path)
    files = json_lines_files(path)
    if not files:
        raise UserError(
            f"{path}: found none of train.jsonl, dev.jsonl, test.jsonl; {listing(path)}"
        )
    # Questions first: a mistake in them shows before a large graph is read.
    questions = {
        split: list(read_questions(file, split)) for split, file in files.items()
    }
    check_questions(path, questions, list(files.values()))
    notes = {"triplets_read": 0, "blank_triplets": 0}
    graph = open_graph(kg, notes, options)
    if graph.storage is not None:
        # Its checksums stand in the manifest: another graph is another manifest.
        graph_files = [graph.storage.path / "manifest.json"]
        notes = {"unnamed_entities": graph.storage.manifest["counts"]["unnamed"]}
    else:
        graph_files = list(kg)
        notes["triplets_read"] = (
            len(graph.triplets) + graph.duplicates + notes["blank_triplets"]
        )
        notes["duplicate_triplets"] = graph.duplicates
    return Dataset(
        graph=graph,
        questions=in_order(questions),
        files=[*graph_files, *files.values()],
        notes=notes,
    )


def read_questions(path: Path, split: str) -> Iterator[Question]:
    """The questions of one file.

    Raises:
        UserError: a line is malformed, a field missing or of the wrong type, or an id
            is used twice; names file and line.
    """
    ids = UniqueIds()
    for number, row in read_json_lines(path):
        where = f"{path}:{number}"

        fields = {name for name, value in row.items() if value is not None}
        answers = split == "train" or "answer" in fields
        yield Question(
            id=ids.add(text_of(row, "id", where, number=True), where),
            text=text_of(row, "question", where),
            topics=(
                names_of(row, "q_entity", where, bare=True)
                if "q_entity" in fields
                else ()
            ),
            find_topics="q_entity" not in fields,
            answers=names_of(row, "answer", where) if answers else (),
            answer_entities=(
                names_of(row, "a_entity", where) if "a_entity" in fields else None
            ),
            relevant_triplets=(
                triplets_of(row, "relevant_triples", where)
                if "relevant_triples" in fields
                else ()
            ),
            hop=_hop(row, where) if "hop" in fields else None,
        )


def _hop(row: dict[str, Any], where: str) -> int:
    """The number of hops."""
    hop = row["hop"]
    if type(hop) is not int or hop < 0:
        raise field_error(where, "hop", "a whole number", repr(hop))
    return hop
