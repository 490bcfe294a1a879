"""MetaQA: questions of one, two and three hops over a graph of films."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from data_prep.sources.base import Loaded
from data_prep.sources.splits import (
    check_file,
    check_folder,
    in_order,
    listing,
    split_by_topic,
)
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question, Triplet
from kgscout_jax.utils.io import open_text

HOPS = (1, 2, 3)
OFFICIAL = "{hop}-hop/vanilla/qa_{split}.txt"
FLAT = "{hop}hop_{split}.txt"


def load(path: Path) -> Loaded:
    """The questions of whatever hops and splits are there, over the whole graph.

    Args:
        path: a folder with ``kb.txt`` and the official layout
            (``1-hop/vanilla/qa_train.txt`` ...) or the flat one (``1hop_train.txt``).

    Splits are used as given, except where a flat folder has only one: then questions
    are split by their topic entity. Ids are ``metaqa-{hop}-{line:05d}``, the line
    counted from 1 in the question's file.

    Raises:
        UserError: a file is missing or a line malformed.
    """
    check_folder(path)
    kb = check_file(path / "kb.txt")
    found = _question_files(path, OFFICIAL)
    given = bool(found)
    if not found:
        found = _question_files(path, FLAT)
        given = len({split for _, split in found}) > 1
    if not found:
        raise UserError(
            f"{path}: found neither 1-hop/vanilla/qa_train.txt nor 1hop_train.txt, nor "
            f"another hop (1, 2, 3) or split (train, dev, test); {listing(path)}"
        )
    graph = KnowledgeGraph.from_triplets(_read_kb(kb))
    if not len(graph.triplets):
        raise UserError(f"{kb}: holds no triplets")
    questions: dict[str, list[Question]] = {}
    for (hop, split), file in found.items():
        for question in _read_questions(file, hop):
            name = split if given else split_by_topic(question.topics[0])
            questions.setdefault(name, []).append(question)
    if not questions:
        raise UserError(f"{path}: no question in {', '.join(map(str, found.values()))}")
    return Loaded(
        graph=graph,
        questions=in_order(questions),
        files=[kb, *found.values()],
        notes={
            "triplets_read": len(graph.triplets) + graph.duplicates,
            "duplicate_triplets": graph.duplicates,
        },
    )


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
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            cells = line.rstrip("\n").split("|")
            if len(cells) != 3:
                raise UserError(
                    f"{path}:{number}: expected 3 columns separated by |, found "
                    f"{len(cells)}"
                )
            if not all(map(str.strip, cells)):
                raise UserError(f"{path}:{number}: a column is empty")
            yield cells[0], cells[1], cells[2]


def _read_questions(path: Path, hop: int) -> Iterator[Question]:
    """The questions of one file: question with its [topic] TAB answer|answer."""
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            where = f"{path}:{number}"
            cells = line.rstrip("\n").split("\t")
            if len(cells) != 2:
                raise UserError(
                    f"{where}: expected question TAB answers, found {len(cells)} "
                    f"column{'s' * (len(cells) != 1)}"
                )
            before, topic, after = _around_topic(cells[0], where)
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
    before, opened, rest = text.partition("[")
    topic, closed, after = rest.rpartition("]")
    depth = 1
    for letter in topic:
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            break
    if not (opened and closed and topic.strip() and depth == 1 and "]" not in before):
        raise UserError(f"{where}: expected one [topic] in the question, got {text!r}")
    return before, topic, after
