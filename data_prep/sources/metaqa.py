"""MetaQA: questions of one, two and three hops over a graph of films."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from data_prep.sources.dataset import Dataset, shared_graph_dataset
from data_prep.sources.splits import (
    check_file,
    column_rows,
    listing,
    split_by_topic,
)
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question, Triplet
from kgscout_jax.utils.checks import check_folder

HOPS = (1, 2, 3)
OFFICIAL = "{hop}-hop/vanilla/qa_{split}.txt"
FLAT = "{hop}hop_{split}.txt"


def load(path: Path) -> Dataset:
    """The questions of whatever hops and splits are there, over the whole graph.

    Args:
        path: a folder with ``kb.txt`` and the official layout
            (``1-hop/vanilla/qa_train.txt`` ...) or the flat one (``1hop_train.txt``).

    The splits are the source's; where a flat folder has only one, questions are split
    by their topic entity. Ids are ``metaqa-{hop}-{line:05d}``, the line
    counted from 1 in the question's file.

    Raises:
        UserError: a file is missing or a line malformed.
    """
    check_folder(path)
    kb = check_file(path / "kb.txt")
    files = _question_files(path, OFFICIAL)
    has_splits = bool(files)
    if not files:
        files = _question_files(path, FLAT)
        has_splits = len({split for _, split in files}) > 1
    if not files:
        raise UserError(
            f"{path}: found neither 1-hop/vanilla/qa_train.txt nor 1hop_train.txt, nor "
            f"another hop (1, 2, 3) or split (train, dev, test); {listing(path)}"
        )
    graph = KnowledgeGraph.from_triplets(_read_kb(kb))
    if not len(graph.triplets):
        raise UserError(f"{kb}: holds no triplets")
    questions: dict[str, list[Question]] = {}
    for (hop, split), file in files.items():
        for question in _read_questions(file, hop):
            name = split if has_splits else split_by_topic(question.topics[0])
            questions.setdefault(name, []).append(question)
    return shared_graph_dataset(path, graph, [kb], questions, list(files.values()))


def _question_files(folder: Path, layout: str) -> dict[tuple[int, str], Path]:
    """(hop, split) -> file, for those that are there."""
    paths = {
        (hop, split): folder / layout.format(hop=hop, split=split)
        for split in SPLITS
        for hop in HOPS
    }
    return {key: path for key, path in paths.items() if path.is_file()}


def _read_kb(path: Path) -> Iterator[Triplet]:
    """The triplets of ``kb.txt``: head|relation|tail."""
    for number, cells in column_rows(path, "|", 3, "3 columns separated by |"):
        if not all(map(str.strip, cells)):
            raise UserError(f"{path}:{number}: a column is empty")
        yield cells[0], cells[1], cells[2]


def _read_questions(path: Path, hop: int) -> Iterator[Question]:
    """The questions of one file: question with its [topic] TAB answer|answer."""
    for number, cells in column_rows(path, "\t", 2, "question TAB answers"):
        before, topic, after = _around_topic(cells[0], f"{path}:{number}")
        yield Question(
            id=f"metaqa-{hop}-{number:05d}",
            text=(before + topic + after).strip(),
            topics=(topic,),
            answers=tuple(a for a in cells[1].split("|") if a.strip()),
            hop=hop,
        )


def _around_topic(text: str, where: str) -> tuple[str, str, str]:
    """The text before the [topic], the topic, the text after it.

    A topic may hold brackets itself, as the film [[REC]] does.
    """
    before, opening, rest = text.partition("[")
    topic, closing, after = rest.rpartition("]")
    depth = 1
    for letter in topic:
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            break
    if not (opening and closing and topic.strip() and depth == 1 and "]" not in before):
        raise UserError(f"{where}: expected one [topic] in the question, got {text!r}")
    return before, topic, after
