"""Pieces of work on a chunk of questions, done by whichever process is given them.

A process apart opens the graph by its folder, memory-mapped, and reads and writes
pieces in the workspace; nothing of size is sent to it.
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

from data_prep.embedding_table import TablePieces, Wanted
from data_prep.question_chunks import (
    Arrays,
    Linked,
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
    """Some questions of a split, one after the other: what one piece is about."""

    split: str
    low: int
    """The first question's place in the split."""
    questions: Sequence[Linked]
    embeddings: Float16[np.ndarray, "k d"]

    def piece(self, stage: str) -> str:
        """The name of its piece of a stage, cut or choose."""
        return piece_name(stage, self.split, self.low)


def piece_name(stage: str, split: str, low: int) -> str:
    """The name of a piece: stage, split and first question."""
    return f"{stage}-{split}-{low:07d}"


class Job:
    """All that pieces of one preparation have in common.

    Sent to another process it is its folder's name and the settings: ``save`` first.
    """

    def __init__(
        self,
        work: Workspace,
        settings: PrepSettings,
        graph: KnowledgeGraph,
        relations: Float16[np.ndarray, "r d"],
        *,
        cache: EmbeddingCache | None = None,
        span: int | None = None,
        threads: int | None = None,
    ) -> None:
        self.work, self.settings, self.graph = work, settings, graph
        self.relations = relations
        """Embeddings of all relation phrases of the graph."""
        self.table = TablePieces(work.folder / "table", len(graph.triplets), span)
        """Embeddings of triplets that are there."""
        self.threads = threads
        """Of torch where sentences are embedded apart: as here."""
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
        """Cut the subgraphs of a chunk; the piece's name."""

        def make() -> Arrays:
            likeness = relation_cosines(chunk.embeddings, self.relations)
            cut = cut_chunk(self.graph, chunk.questions, likeness, self.settings)
            return {**cut, "questions": chunk.embeddings}

        return self._make(chunk.piece("cut"), make)

    def choose(self, chunk: Chunk) -> str:
        """Choose the candidates of a chunk that is cut and embedded; the name."""

        def make() -> Arrays:
            cut = self.work.read(chunk.piece("cut"))
            ids = np.unique(cut["triplet_ids"])
            rows = self.table.rows(ids, chunk.embeddings.shape[1])
            cosine = cosines(cut, chunk.embeddings, ids, rows)
            n, select = self.settings.candidates, self.settings.select
            return choose_chunk(self.graph, chunk.questions, cut, cosine, n, select)

        return self._make(chunk.piece("choose"), make)

    def _make(self, name: str, make: Callable[[], Arrays]) -> str:
        if not self.work.has(name):
            start = time.monotonic()
            arrays = make()
            seconds = np.array(time.monotonic() - start)
            self.work.write(name, {**arrays, "seconds": seconds})
        return name

    def embed(self, wanted: Wanted) -> tuple[int, int]:
        """Embed triplets that no piece holds yet; (found in the cache, computed)."""
        if self.threads is not None:
            import torch

            torch.set_num_threads(self.threads)
        before = self.cache.hits, self.cache.misses
        prefix = self.cache.encoder.identity.document_prefix
        texts = [prefix + linearize(self.graph.triplet(int(i))) for i in wanted.ids]
        self.table.add(wanted, self.cache.embed(texts, what="triplets"))
        return self.cache.hits - before[0], self.cache.misses - before[1]

    def save(self) -> None:
        """Write what other processes need: a graph in memory, relations' embeddings."""
        folder = self.work.folder / "graph"
        if (folder / "graph.json").exists():
            return
        graph = self.graph
        opened = graph.folder
        if opened is None:
            write_array(folder / "triplets.npy", graph.triplets)
            write_lines(folder / "entities.txt", graph.entities)
            write_lines(folder / "relations.txt", graph.relations)
        write_array(folder / "relations.npy", self.relations)
        about = {
            "folder": None if opened is None else str(opened.resolve()),
            "entities": len(graph.entities),
            "relations": len(graph.relations),
        }
        write_json(folder / "graph.json", about)

    def __reduce__(self) -> tuple[Any, ...]:
        folder = self.work.folder.resolve()
        return _opened, (folder, self.settings, self.table.span, self.threads)


@lru_cache(maxsize=1)
def _opened(
    folder: Path, settings: PrepSettings, span: int, threads: int | None
) -> Job:
    """The job that another process saved."""
    work = Workspace(folder)
    saved = work.folder / "graph"
    if not (saved / "graph.json").exists():
        raise UserError(
            f"{folder}: not to be seen from {socket.gethostname()}; with --engine ray "
            "the folder of shards must lie where every node sees it"
        )
    about = read_json(saved / "graph.json")
    if about["folder"] is not None:
        graph = KnowledgeGraph.open(about["folder"])
    else:
        graph = KnowledgeGraph(
            Lines(saved / "entities.txt", about["entities"]),
            Lines(saved / "relations.txt", about["relations"]),
            read_array(saved / "triplets.npy", mmap=True),
        )
    relations = read_array(saved / "relations.npy", mmap=True)
    return Job(work, settings, graph, relations, span=span, threads=threads)


class Lines(Sequence[str]):
    """The lines of a file, read when one is asked for: most pieces need no name."""

    def __init__(self, file: Path, length: int) -> None:
        self.file, self.length = file, length

    @cached_property
    def _lines(self) -> list[str]:
        return self.file.read_text("utf-8").split("\n")[: self.length]

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, i: Any) -> Any:
        return self._lines[i]
