"""The result of every source: a graph, questions per split, optional subgraphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from jaxtyping import Int32

from data_prep.sources.fields import without_blank
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.graph.builder import GraphBuilder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A data set as in its source, before any selection."""

    graph: KnowledgeGraph
    questions: dict[str, list[Question]]
    """Split (train, dev, test) -> questions; a split the source lacks is absent."""
    subgraphs: dict[str, list[Int32[np.ndarray, "m"]]] | None = None
    """Split -> triplet ids of each question's own subgraph (rog, nsm), aligned with
    ``questions``; None where all questions share ``graph``."""
    files: list[Path] = field(default_factory=list)
    """Every file that was read: their hashes go into the manifest."""
    versions: dict[str, str] = field(default_factory=dict)
    """Packages the data came from and their versions: recorded like ``files``."""
    notes: dict[str, int] = field(default_factory=dict)
    """Counts by a short name. Sources that read files give ``triplets_read`` and
    ``duplicate_triplets`` (dropped; repeats between the subgraphs of different
    questions are none); ``blank_triplets`` were dropped because a name in them is
    blank, ``empty_graphs`` are questions whose own subgraph is empty."""


def check_questions(path: Path, questions: dict, files: Sequence[Path]) -> None:
    """Raise UserError unless some split of ``questions`` holds one."""
    if not any(questions.values()):
        names = ", ".join(file.name for file in files)
        raise UserError(f"{path}: no question in {names}")


def in_order(splits: dict[str, list]) -> dict[str, list]:
    """The splits that hold something, in the order train, dev, test."""
    return {name: splits[name] for name in SPLITS if splits.get(name)}


def shared_graph_dataset(
    path: Path,
    graph: KnowledgeGraph,
    graph_files: Sequence[Path],
    questions: dict[str, list[Question]],
    question_files: Sequence[Path],
) -> Dataset:
    """Questions over one graph; raises UserError if there is none."""
    check_questions(path, questions, question_files)
    return Dataset(
        graph=graph,
        questions=in_order(questions),
        files=[*graph_files, *question_files],
        notes={
            "triplets_read": len(graph.triplets) + graph.duplicates,
            "duplicate_triplets": graph.duplicates,
        },
    )


class SubgraphDataset:
    """Collects questions that bring their own subgraphs, as one interned graph."""

    def __init__(self) -> None:
        self.notes = {"triplets_read": 0, "blank_triplets": 0, "empty_graphs": 0}
        self._builder = GraphBuilder()
        self._questions: dict[str, list[Question]] = {}
        self._numbers: dict[str, list[int]] = {}
        """Split -> number of each question's subgraph in the builder."""

    def add(self, split: str, question: Question, names: list[str]) -> None:
        """Add a question; ``names``: its triplets as a flat list of names."""
        flat = without_blank(names)
        self.notes["triplets_read"] += len(names) // 3
        self.notes["blank_triplets"] += (len(names) - len(flat)) // 3
        self.notes["empty_graphs"] += not flat
        self._questions.setdefault(split, []).append(question)
        number = self._builder.add(zip(flat[0::3], flat[1::3], flat[2::3], strict=True))
        self._numbers.setdefault(split, []).append(number)

    def build(
        self, path: Path, files: Sequence[Path], question_files: Sequence[Path]
    ) -> Dataset:
        """The data set; raises UserError without a question or without a triplet."""
        check_questions(path, self._questions, question_files)
        graph, triplet_ids = self._builder.build()
        if not len(graph.triplets):
            raise UserError(f"{path}: the graph of every question is empty")
        subgraphs = {
            split: [triplet_ids[i] for i in numbers]
            for split, numbers in self._numbers.items()
        }
        return Dataset(
            graph=graph,
            questions=in_order(self._questions),
            subgraphs=in_order(subgraphs),
            files=[*files, *question_files],
            notes=self.notes | {"duplicate_triplets": graph.duplicates},
        )
