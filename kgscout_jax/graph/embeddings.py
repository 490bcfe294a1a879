"""Embeddings of a graph's relations and triplets: all of them, or as they are needed.

    graph.embed(encoder)       once; of a GRAPH folder it is kept beside the data:

    GRAPH/embeddings/DIGEST/   DIGEST is that of the encoder's identity
        manifest.json          what the tables are of; written last
        NAME.triplets.npy      float16[M, d]; NAME is a hash of the graph's data
        NAME.relations.npy     float16[R, d]
        NAME.ids.npy           int32[M, 3]: whose rows those are

When the graph has changed, rows of triplets that it still has are copied, and only the
others are embedded. Embedding that was killed goes on where it was. A graph that is not
embedded is served ``OnDemand``: only triplets that somebody asks for are embedded.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Float32, Int, Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.embedding_texts import (
    encodable,
    relation_texts,
    triplet_texts,
)
from kgscout_jax.graph.fingerprint import mark_of, matched, names_of
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import EncoderIdentity, SentenceEncoder
from kgscout_jax.utils.io import read_array, read_json, write_array, write_json
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import progress

__all__ = [
    "Embedded",
    "OnDemand",
    "Table",
    "embed_graph",
    "embeddings_of",
    "encodable",
    "encoder_lock",
    "mark_of",
    "matched",
    "names_of",
    "open_table",
]

logger = logging.getLogger("kgscout")

FOLDER, MANIFEST = "embeddings", "manifest.json"
FORMAT, VERSION = "kgscout-graph-embeddings", 1
AT_ONCE = 1 << 14
"""Triplets between two moments at which embedding could go on after a kill."""
MOST_KEPT = 1 << 18
"""Rows that ``OnDemand`` holds in memory."""

_guard = threading.Lock()


def encoder_lock(encoder: SentenceEncoder) -> threading.RLock:
    """The lock to hold while an encoder works: its tokenizer takes one call at once."""
    with _guard:
        return encoder.__dict__.setdefault("_lock", threading.RLock())


@dataclass(frozen=True, eq=False)
class Table:
    """The embeddings of a whole graph, in memory or memory-mapped."""

    ids: Int32[np.ndarray, "m 3"]
    """The triplets whose rows these are."""
    triplets: Float16[np.ndarray, "m d"]
    relations: Float16[np.ndarray, "r d"]
    names: dict[str, Any]
    """How the names were, see ``names_of``."""
    folder: Path | None = None
    """Where its files are, if it is kept."""
    mark: str = ""
    """What its files are called."""

    def __post_init__(self) -> None:
        self._check(self.relations, "relations")

    @cached_property
    def wide_relations(self) -> Float32[np.ndarray, "r d"]:
        return self.relations.astype(np.float32)

    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
        """Embeddings of the triplets ``ids``."""
        return np.asarray(self.triplets[ids])

    def refuse(self) -> None:
        """Raise UserError if some rows are not finite."""
        self._check(self.triplets, "triplets")

    def _check(self, table: np.ndarray, name: str) -> None:
        """Raise UserError if some rows of a table are not finite."""
        bad = sum(
            int((~finite(table[low : low + AT_ONCE])).sum())
            for low in range(0, len(table), AT_ONCE)
        )
        if not bad:
            return
        where = f"{self.folder / f'{self.mark}.{name}.npy'}: " if self.folder else ""
        raise UserError(
            f"{where}{bad} of {len(table)} rows of embeddings of {name} are not "
            "finite, expected none; delete them and embed the graph again"
        )


@dataclass(eq=False)
class OnDemand:
    """Embeddings of a graph that is not embedded, computed where they are asked for.

    What was computed is kept by ``EmbeddingCache``, and the last of it in memory.
    """

    graph: KnowledgeGraph
    encoder: SentenceEncoder
    cache: EmbeddingCache
    _ids: Int64[np.ndarray, "k"] = field(default_factory=lambda: np.empty(0, np.int64))
    _rows: Any = None

    @cached_property
    def relations(self) -> Float16[np.ndarray, "r d"]:
        with encoder_lock(self.encoder):
            return self.cache.embed(
                relation_texts(self.graph, self.encoder), what="relations"
            )

    @cached_property
    def wide_relations(self) -> Float32[np.ndarray, "r d"]:
        return self.relations.astype(np.float32)

    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
        """Embeddings of the triplets ``ids``."""
        with encoder_lock(self.encoder):
            if len(self._ids) > MOST_KEPT:
                self._ids, self._rows = self._ids[:0], None
            missing = np.setdiff1d(ids, self._ids)
            if len(missing) or self._rows is None:
                texts = triplet_texts(self.graph, missing, self.encoder)
                found = self.cache.embed(texts, what="triplets")
                known = [] if self._rows is None else [self._rows]
                both = np.concatenate([self._ids, missing])
                order = np.argsort(both)
                self._rows = np.concatenate([*known, found])[order]
                self._ids = both[order]
            return self._rows[np.searchsorted(self._ids, ids)]

    def refuse(self) -> None:
        """Raise UserError if some rows are not finite."""
        if self._rows is not None and not (good := finite(self._rows)).all():
            raise UserError(
                f"{self.cache.folder}: {int((~good).sum())} of {len(good)} embeddings "
                "that were read are not finite, expected none; delete the folder"
            )


def finite(rows: np.ndarray) -> np.ndarray:
    """Whether each row is finite."""
    return np.asarray(np.isfinite(rows).all(axis=1))


Embedded = Table | OnDemand
"""Where the embeddings of a graph come from."""


# --- which table a graph has


def embeddings_of(
    graph: KnowledgeGraph, encoder: SentenceEncoder, *, cache: Path | None = None
) -> Embedded:
    """The graph's table for this encoder if there is one, else ``OnDemand``.

    Raises:
        UserError: the table beside the graph is damaged.
    """
    kept = graph.kept
    digest = encoder.identity.digest
    with _guard:
        lock = kept.setdefault("embeddings lock", threading.Lock())
    with lock:
        source = kept.get(("embeddings", digest))
        if source is None:
            source = open_table(graph, encoder.identity)
        if source is None:
            logger.info(
                "%s is not embedded: triplets are embedded as questions need them; "
                "embed it once (graph.embed, or --embed) for speed",
                graph.folder or "the graph",
            )
            source = OnDemand(graph, encoder, EmbeddingCache(encoder, cache))
        kept["embeddings", digest] = source
    return source


def open_table(graph: KnowledgeGraph, identity: EncoderIdentity) -> Table | None:
    """The table that lies beside the graph's data, if it is of these data.

    Raises:
        UserError: it is damaged.
    """
    if graph.folder is None:
        return None
    folder = graph.folder / FOLDER / identity.digest
    table = _open(folder, identity)
    if table is None or table.mark != mark_of(graph):
        return None
    return table


def _open(folder: Path, identity: EncoderIdentity) -> Table | None:
    """The table in a folder, whatever graph it is of; None if there is none."""
    file = folder / MANIFEST
    if not file.exists():
        return None
    about = read_json(file)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise UserError(f"{file}: not the manifest of {FORMAT}; delete the folder")
    if about.get("version") != VERSION:
        raise UserError(
            f"{file}: format version is {about.get('version')}, expected {VERSION}"
        )
    mark, counts = about.get("mark"), about.get("counts")
    if not isinstance(mark, str) or not isinstance(counts, dict):
        raise UserError(f"{file}: damaged, no mark or counts; delete the folder")
    m, r, d = counts.get("triplets"), counts.get("relations"), identity.dimension
    arrays = {}
    for name, shape, dtype in (
        ("ids", (m, 3), np.int32),
        ("triplets", (m, d), np.float16),
        ("relations", (r, d), np.float16),
    ):
        path = folder / f"{mark}.{name}.npy"
        arrays[name] = array = np.asarray(read_array(path, mmap=True))
        if array.shape != shape or array.dtype != dtype:
            raise UserError(
                f"{path}: expected {np.dtype(dtype).name}{list(shape)}, found "
                f"{array.dtype.name}{list(array.shape)}; delete the folder"
            )
    return Table(**arrays, names=about.get("names", {}), folder=folder, mark=mark)


# --- embedding


def embed_graph(graph: KnowledgeGraph, encoder: SentenceEncoder) -> Table:
    """The embeddings of all relations and triplets, kept with the graph.

    Those of a GRAPH folder are written beside its data; where that cannot be, an error
    says so. Triplets of a graph that this one was made from, or that the folder held
    before, are not embedded again.

    Raises:
        UserError: the folder cannot be written, or another process embeds it.
    """
    identity = encoder.identity
    with _guard:
        lock = graph.kept.setdefault("embeddings lock", threading.Lock())
    with lock:
        known = graph.kept.get(("embeddings", identity.digest))
        if isinstance(known, Table):
            return known
        if graph.folder is None:
            table = _in_memory(graph, encoder)
        else:
            table = _in_folder(graph, graph.folder, encoder)
        graph.kept["embeddings", identity.digest] = table
        graph.kept.pop("before", None)
    return table


def _in_memory(graph: KnowledgeGraph, encoder: SentenceEncoder) -> Table:
    before: KnowledgeGraph | None = graph.kept.get("before")
    old = before and before.kept.get(("embeddings", encoder.identity.digest))
    old = old if isinstance(old, Table) else None
    out = np.empty((len(graph.triplets), encoder.identity.dimension), np.float16)
    for _ in _fill(graph, encoder, out, _reused(graph, old), 0):
        pass
    relations = _embed(relation_texts(graph, encoder), encoder)
    names = names_of(graph)
    return Table(np.asarray(graph.triplets), out, relations, names)


def _in_folder(graph: KnowledgeGraph, path: Path, encoder: SentenceEncoder) -> Table:
    identity, mark = encoder.identity, mark_of(graph)
    folder = path / FOLDER / identity.digest
    with locked(folder, "embedding of this graph"):
        old = _open(folder, identity)
        if old is not None and old.mark == mark:
            return old
        aside, at = folder / f"{mark}.triplets.part", folder / f"{mark}.part.json"
        shape = (len(graph.triplets), identity.dimension)
        begin, mode = 0, "w+"
        if aside.exists() and at.exists():
            begin, mode = int(read_json(at)["done"]), "r+"
        out: Any = np.empty(shape, np.float16)
        if len(out):
            out = np.lib.format.open_memmap(
                aside,
                mode=mode,
                dtype=np.float16,
                shape=shape if mode == "w+" else None,
            )
        relations = _embed(relation_texts(graph, encoder), encoder)
        for done in _fill(graph, encoder, out, _reused(graph, old), begin):
            if isinstance(out, np.memmap):
                out.flush()
            write_json(at, {"done": done})
        if isinstance(out, np.memmap):
            aside.replace(folder / f"{mark}.triplets.npy")
        else:
            write_array(folder / f"{mark}.triplets.npy", out)
        write_array(folder / f"{mark}.relations.npy", relations)
        write_array(folder / f"{mark}.ids.npy", np.asarray(graph.triplets))
        about = {
            "format": FORMAT,
            "version": VERSION,
            "mark": mark,
            "encoder": identity.to_dict(),
            "counts": {"triplets": shape[0], "relations": len(relations)},
            "names": names_of(graph),
        }
        write_json(folder / MANIFEST, about)
        for file in folder.iterdir():
            if file.name not in (MANIFEST, ".lock") and not (
                file.name.startswith(mark) and file.suffix == ".npy"
            ):
                file.unlink()
        table = _open(folder, identity)
        assert table is not None
        return table


def _reused(graph: KnowledgeGraph, old: Table | None) -> tuple[Table | None, Any]:
    """A table of before, and per triplet its row there, -1 where there is none."""
    none = np.full(len(graph.triplets), -1, np.int64)
    if old is None or not len(old.ids):
        return None, none
    if names_of(graph, old.names) != old.names:
        logger.info("names have changed: every triplet is embedded again")
        return None, none
    return old, matched(np.asarray(old.ids), np.asarray(graph.triplets))


def _fill(
    graph: KnowledgeGraph,
    encoder: SentenceEncoder,
    out: Any,
    reused: tuple[Table | None, Int64[np.ndarray, "m"]],
    done: int,
) -> Iterator[int]:
    """Fill ``out`` from row ``done`` on; yields the number of rows that are there."""
    old, rows = reused
    new = int((rows[done:] < 0).sum())
    if old is not None:
        logger.info(
            "%d triplets are embedded already, %d are new", len(rows) - new, new
        )
    with progress(new, "embedding triplets", "triplets") as bar:
        for low in range(done, len(rows), AT_ONCE):
            here = rows[low : low + AT_ONCE]
            have = np.flatnonzero(here >= 0)
            if old is not None and len(have):
                out[low + have] = old.triplets[here[have]]
            missing = low + np.flatnonzero(here < 0)
            texts = triplet_texts(graph, missing, encoder)
            with encoder_lock(encoder):
                for places, vectors in encoder.stream(texts):
                    out[missing[places]] = vectors
                    bar.update(len(places))
            yield low + len(here)


def _embed(texts: Sequence[str], encoder: SentenceEncoder) -> np.ndarray:
    with encoder_lock(encoder):
        return encoder.encode(texts)
