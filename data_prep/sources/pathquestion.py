"""PathQuestion: questions of two and three hops with the path that answers them.

Names are as in the source (``frederica_of_mecklenburg``), in the graph and in the
questions alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from data_prep.sources.dataset import Dataset, shared_graph_dataset
from data_prep.sources.splits import (
    check_file,
    column_rows,
    listing,
    split_by_topic,
)
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.columns import read_tsv
from kgscout_jax.types import Question
from kgscout_jax.utils.checks import check_folder

HOPS = (2, 3)
END = "<end>"


def load(path: Path) -> Dataset:
    """The questions, split by topic entity, over the union of both graphs.

    Args:
        path: a folder with ``2H-kb.txt`` and ``PQ-2H.txt``, or the same with 3H, or
            both.

    Ids are ``pq-{2h|3h}-{line:05d}``, the line counted from 1 in the question's file.
    The labelled relevant triplets are those of the path.

    Raises:
        UserError: a file is missing or a line malformed.
    """
    check_folder(path)
    hops = [hop for hop in HOPS if (path / f"PQ-{hop}H.txt").is_file()]
    if not hops:
        raise UserError(
            f"{path}: found neither PQ-2H.txt nor PQ-3H.txt; {listing(path)}"
        )
    graphs = [check_file(path / f"{hop}H-kb.txt") for hop in hops]
    graph = KnowledgeGraph.from_triplets(chain.from_iterable(map(read_tsv, graphs)))
    questions: dict[str, list[Question]] = {}
    files: list[Path] = []
    for hop in hops:
        files.append(path / f"PQ-{hop}H.txt")
        for question in _read_questions(files[-1], hop):
            split = split_by_topic(question.topics[0])
            questions.setdefault(split, []).append(question)
    return shared_graph_dataset(path, graph, graphs, questions, files)


def _read_questions(path: Path, hop: int) -> Iterator[Question]:
    """The questions of one file: question TAB answer(a/b/) TAB path."""
    for number, cells in column_rows(path, "\t", 3, "3 tab-separated columns"):
        where = f"{path}:{number}"
        text, gold, steps = cells
        walk, _, _ = steps.partition(f"#{END}")
        nodes = walk.split("#")
        if len(nodes) != 2 * hop + 1 or not all(map(str.strip, nodes)):
            raise UserError(
                f"{where}: expected a path topic#relation#entity... of {hop} hops "
                f"before #{END}, got {steps!r}"
            )
        # The first answer is the path's last entity; parentheses and all.
        prefix = nodes[-1] + "("
        if not (gold.startswith(prefix) and gold.endswith(")")):
            raise UserError(
                f"{where}: expected answers as {nodes[-1]}(a/b/), got {gold!r}"
            )
        answers = gold[len(prefix) : -1].split("/")
        if not text.strip():
            raise UserError(f"{where}: the question is empty")
        yield Question(
            id=f"pq-{hop}h-{number:05d}",
            text=text.strip(),
            topics=(nodes[0],),
            answers=tuple(a for a in answers if a.strip()),
            relevant_triplets=tuple(
                (nodes[i], nodes[i + 1], nodes[i + 2])
                for i in range(0, len(nodes) - 2, 2)
            ),
            hop=hop,
        )
