"""Anybody's graph: triplet files, and questions in train, dev and test.jsonl."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from data_prep.sources.base import Loaded
from data_prep.sources.fields import (
    UniqueIds,
    names_of,
    text_of,
    triplets_of,
    wrong,
)
from data_prep.sources.splits import (
    check_folder,
    in_order,
    json_lines_files,
    listing,
)
from data_prep.sources.triplet_files import read_triplets
from kgscout_jax.errors import UserError
from kgscout_jax.files import read_json_lines
from kgscout_jax.graph.store import KnowledgeGraph
from kgscout_jax.records import Question, Triplet


def load(path: Path | None, kg: Sequence[Path]) -> Loaded:
    """The questions of a folder over the graph of all triplet files together.

    Args:
        path: a folder with at least one of ``train.jsonl``, ``dev.jsonl`` (or
            ``validation.jsonl``), ``test.jsonl``, each also .gz. Fields: id, question,
            q_entity (a list of names, or one name); answer (a list of names; optional
            outside train); optional a_entity, relevant_triples, hop.
        kg: triplet files, see ``triplet_files.read_triplets``.

    Raises:
        UserError: a file is missing, empty or malformed, a field missing or of the
            wrong type, an id used twice.
    """
    if not kg:
        raise UserError("source 'kg' needs --kg FILE, one or more triplet files")
    if path is None:
        raise UserError(
            "source 'kg' needs --input FOLDER with train.jsonl, dev.jsonl or test.jsonl"
        )
    check_folder(path)
    found = json_lines_files(path)
    if not found:
        raise UserError(
            f"{path}: found none of train.jsonl, dev.jsonl, test.jsonl; {listing(path)}"
        )
    # Questions first: a mistake in them shows before a large graph is read.
    questions = {
        split: list(_read_questions(file, split)) for split, file in found.items()
    }
    if not any(questions.values()):
        raise UserError(
            f"{path}: no question in {', '.join(f.name for f in found.values())}"
        )
    notes = {"triplets_read": 0, "blank_triplets": 0}
    graph = KnowledgeGraph.from_triplets(_all_triplets(kg, notes))
    if not len(graph.triplets):
        raise UserError(f"{', '.join(map(str, kg))}: no triplets")
    notes["triplets_read"] = (
        len(graph.triplets) + graph.duplicates + notes["blank_triplets"]
    )
    notes["duplicate_triplets"] = graph.duplicates
    return Loaded(
        graph=graph,
        questions=in_order(questions),
        files=[*kg, *found.values()],
        notes=notes,
    )


def _all_triplets(kg: Sequence[Path], notes: dict[str, int]) -> Iterator[Triplet]:
    """The triplets of several files, one after the other."""
    for file in kg:
        yield from read_triplets(file, notes)


def _read_questions(path: Path, split: str) -> Iterator[Question]:
    """The questions of one file."""
    ids = UniqueIds()
    for number, row in read_json_lines(path):
        where = f"{path}:{number}"

        def given(name: str, row: dict[str, Any] = row) -> bool:
            return row.get(name) is not None

        yield Question(
            id=ids.add(text_of(row, "id", where, number=True), where),
            text=text_of(row, "question", where),
            topics=names_of(row, "q_entity", where, bare=True),
            answers=(
                names_of(row, "answer", where)
                if split == "train" or given("answer")
                else ()
            ),
            answer_entities=(
                names_of(row, "a_entity", where) if given("a_entity") else None
            ),
            relevant=(
                triplets_of(row, "relevant_triples", where)
                if given("relevant_triples")
                else ()
            ),
            hop=_hop(row, where) if given("hop") else None,
        )


def _hop(row: dict[str, Any], where: str) -> int:
    """The number of hops."""
    hop = row["hop"]
    if type(hop) is not int or hop < 0:
        raise wrong(where, "hop", "a whole number", repr(hop))
    return hop
