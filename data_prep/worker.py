"""Tasks on a chunk of questions, run by any process.

A worker process memory-maps the graph from its folder, and reads and writes results in
the workspace. No large array is sent to it.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16

from data_prep.embedding_table import EmbeddingTask, TripletTable
from data_prep.question_chunks import (
    Arrays,
    QuestionEntities,
    choose_chunk,
    cosines,
    cut_chunk,
    relation_cosines,
)
from data_prep.settings import PrepSettings
from data_prep.workspace import Workspace
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize
from kgscout_jax.utils.io import (
    read_array,
    read_json,
    write_array,
    write_json,
    write_lines,
)


@dataclass(frozen=True, kw_only=True)
class Chunk:
    """Consecutive questions of a split: the unit of a task."""

    split: str
    low: int
    """The first question's number in the split."""
    questions: Sequence[QuestionEntities]
    embeddings: Float16[np.ndarray, "k d"]

    def task(self, stage: str) -> str:
        """The name of the chunk's task in a stage, cut or choose."""
        return task_name(stage, self.split, self.low)


def task_name(stage: str, split: str, low: int) -> str:
    """The name of a task: stage, split and first question."""
    return f"{stage}-{split}-{low:07d}"


class Job:
    """The shared state of the tasks of one preparation.

    It is pickled as its folder's name and the settings; call ``save`` first.
    """

    def __init__(
        self,
        workspace: Workspace,
        settings: PrepSettings,
        graph: KnowledgeGraph,
        relations: Float16[np.ndarray, "r d"],
        *,
        cache: EmbeddingCache | None = None,
        span: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.workspace, self.settings, self.graph = workspace, settings, graph
        self.relations = relations
        """Embeddings of all relation phrases of the graph."""
        self.table = TripletTable(workspace.folder / "table", len(graph.triplets), span)
        """Embeddings of triplets computed so far."""
        self.threads = threads
        """``Network.threads`` of an embedding process; None for the default."""
        if cache is not None:
            self.cache = cache

    @cached_property
    def cache(self) -> EmbeddingCache:
        return EmbeddingCache(
            SentenceEncoder(
                self.settings.encoder, backend=self.settings.encoder_backend
            ),
            self.settings.cache,
        )

    def cut(self, chunk: Chunk) -> str:
        """Cut the subgraphs of a chunk; returns the task's name."""

        def compute() -> Arrays:
            likeness = relation_cosines(chunk.embeddings, self.relations)
            cut = cut_chunk(self.graph, chunk.questions, likeness, self.settings)
            return {**cut, "questions": chunk.embeddings}

        return self._run(chunk.task("cut"), compute)

    def choose(self, chunk: Chunk) -> str:
        """Choose the candidates of a cut and embedded chunk; returns the name."""

        def compute() -> Arrays:
            cut = self.workspace.read(chunk.task("cut"))
            ids = np.unique(cut["triplet_ids"])
            rows = self.table.rows(ids, chunk.embeddings.shape[1])
            cosine = cosines(cut, chunk.embeddings, ids, rows)
            n, select = self.settings.candidates, self.settings.select
            return choose_chunk(self.graph, chunk.questions, cut, cosine, n, select)

        return self._run(chunk.task("choose"), compute)

    def _run(self, name: str, compute: Callable[[], Arrays]) -> str:
        if not self.workspace.has(name):
            start = time.monotonic()
            arrays = compute()
            seconds = np.array(time.monotonic() - start)
            self.workspace.write(name, {**arrays, "seconds": seconds})
        return name

    def embed(self, task: EmbeddingTask) -> tuple[int, int]:
        """Embed a task's triplets; returns the numbers (from the cache, computed)."""
        if self.threads is not None:
            self.cache.encoder.network.threads = self.threads
        before = self.cache.hits, self.cache.misses
        prefix = self.cache.encoder.identity.document_prefix
        texts = [prefix + linearize(self.graph.triplet(int(i))) for i in task.ids]
        self.table.add(task, self.cache.embed(texts, what="triplets"))
        return self.cache.hits - before[0], self.cache.misses - before[1]

    def save(self) -> None:
        """Write the inputs of other processes: a graph in memory, and relations."""
        folder = self.workspace.folder / "graph"
        if (folder / "graph.json").exists():
            return
        graph = self.graph
        source = graph.folder
        if source is None:
            write_array(folder / "triplets.npy", graph.triplets)
            write_lines(folder / "entities.txt", graph.entities)
            write_lines(folder / "relations.txt", graph.relations)
        write_array(folder / "relations.npy", self.relations)
        metadata = {
            "folder": None if source is None else str(source.resolve()),
            "entities": len(graph.entities),
            "relations": len(graph.relations),
        }
        write_json(folder / "graph.json", metadata)

    def __reduce__(self) -> tuple[Any, ...]:
        folder = self.workspace.folder.resolve()
        return _open_job, (folder, self.settings, self.table.span, self.threads)


@lru_cache(maxsize=1)
def _open_job(
    folder: Path, settings: PrepSettings, span: int, threads: int | None
) -> Job:
    """The job that another process saved."""
    graph_folder = folder / "graph"
    if not (graph_folder / "graph.json").exists():
        raise UserError(
            f"{folder}: not to be seen from {socket.gethostname()}; with --engine ray "
            "the folder of shards must lie where every node sees it"
        )
    metadata = read_json(graph_folder / "graph.json")
    if metadata["folder"] is not None:
        graph = KnowledgeGraph.open(metadata["folder"])
    else:
        graph = KnowledgeGraph(
            FileLines(graph_folder / "entities.txt", metadata["entities"]),
            FileLines(graph_folder / "relations.txt", metadata["relations"]),
            read_array(graph_folder / "triplets.npy", mmap=True),
        )
    relations = read_array(graph_folder / "relations.npy", mmap=True)
    return Job(
        Workspace(folder), settings, graph, relations, span=span, threads=threads
    )


class FileLines(Sequence[str]):
    """The lines of a file, read on first use, because most tasks need no names."""

    def __init__(self, file: Path, length: int) -> None:
        self.file, self.length = file, length

    @cached_property
    def _lines(self) -> list[str]:
        return self.file.read_text("utf-8").split("\n")[: self.length]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        return self._lines[i]
