"""Embeddings of a graph's relations and triplets, for the whole graph or on demand.

``graph.embed(encoder)`` embeds a graph once. The table of a GRAPH folder lies beside
its data. After a change of the graph, rows of unchanged triplets are copied and only
new triplets are embedded. A killed run is resumed. A graph without a table uses
``LazyEmbeddings``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from jaxtyping import Bool, Float16, Float32, Int, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import NamedTriplets, match_rows
from kgscout_jax.graph.embedding_table import (
    Embeddings,
    EmbeddingTable,
    TableWriter,
    finite_mask,
    open_table,
)
from kgscout_jax.graph.embedding_texts import relation_texts, triplet_texts
from kgscout_jax.graph.fingerprint import data_fingerprint, name_fingerprints
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import (
    DEFAULT_ENCODER,
    EncoderIdentity,
    SentenceEncoder,
)
from kgscout_jax.text.linearize import is_camel_case
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import ProgressBar

if TYPE_CHECKING:
    from kgscout_jax.graph.merge.members import Members

logger = logging.getLogger("kgscout")

FOLDER = "embeddings"
MAX_CACHED_ROWS = 1 << 18
"""The most rows that ``LazyEmbeddings`` caches in memory."""
SMALL_GRAPH = 20_000
"""Graphs of at most so many triplets are embedded on demand without a word."""

SAVED_ROWS = 2048
"""Rows that are encoded, in a few seconds, before they are saved."""
CACHED_FROM, CACHED_TO = 2000, 2_000_000
"""Sizes of graphs whose rows are looked for in the cache."""


@dataclass(eq=False)
class LazyEmbeddings:
    """Embeddings of a graph without a table, computed on first use.

    ``EmbeddingCache`` stores them on disk; the most recent stay in memory.
    """

    graph: NamedTriplets
    encoder: SentenceEncoder
    cache: EmbeddingCache
    _ids: Int64[np.ndarray, "k"] = field(default_factory=lambda: np.empty(0, np.int64))
    """Triplets in memory, ascending."""
    _places: Int64[np.ndarray, "k"] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )
    """Where the row of each is."""
    _rows: Float16[np.ndarray, "m d"] = field(init=False)
    """Rows in the order in which they came, then room for more."""

    def __post_init__(self) -> None:
        self._rows = np.empty((0, self.encoder.identity.dimension), np.float16)

    @property
    def whole(self) -> bool:
        """Whether all triplets are embedded."""
        return False

    @property
    def relations(self) -> Float16[np.ndarray, "r d"]:
        return self._relations

    @cached_property
    def _relations(self) -> Float16[np.ndarray, "r d"]:
        with self.encoder.lock:
            return self.cache.embed(
                relation_texts(self.graph, self.encoder), what="relations"
            )

    @property
    def relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self._relations_float32

    @cached_property
    def _relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self.relations.astype(np.float32)

    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
        """Embeddings of the triplets ``ids``."""
        with self.encoder.lock:
            if len(self._ids) > MAX_CACHED_ROWS:
                self._ids, self._places = self._ids[:0], self._places[:0]
            at, known = self._found(ids)
            if not known.all():
                missing = np.unique(ids[~known])
                texts = triplet_texts(self.graph, missing, self.encoder)
                self._add(missing, self.cache.embed(texts, what="triplets"))
                at, _ = self._found(ids)
            return self._rows[self._places[at]]

    def _found(
        self, ids: Int[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "k"], Bool[np.ndarray, "k"]]:
        """(place among the triplets in memory, whether it is there)."""
        at = np.searchsorted(self._ids, ids)
        known = np.zeros(len(ids), bool)
        inside = at < len(self._ids)
        known[inside] = self._ids[at[inside]] == ids[inside]
        return at, known

    def _add(
        self, ids: Int64[np.ndarray, "k"], rows: Float16[np.ndarray, "k d"]
    ) -> None:
        """Keep the rows of other triplets, ascending, behind those in memory."""
        begin, end = len(self._ids), len(self._ids) + len(ids)
        if end > len(self._rows):
            room = np.empty((max(begin, len(ids)), rows.shape[1]), np.float16)
            self._rows = np.concatenate([self._rows[:begin], room])
        self._rows[begin:end] = rows
        at = np.searchsorted(self._ids, ids)
        self._ids = np.insert(self._ids, at, ids)
        self._places = np.insert(self._places, at, np.arange(begin, end))

    def check_finite(self) -> None:
        """Raise UserError if some rows are not finite."""
        good = finite_mask(self._rows[: len(self._ids)])
        if not good.all():
            raise UserError(
                f"{self.cache.folder}: {int((~good).sum())} of {len(good)} embeddings "
                "that were read are not finite, expected none; delete the folder"
            )


@dataclass(eq=False)
class GraphEmbeddings:
    """The embeddings of a graph, by the fingerprint of the encoder's identity."""

    by_encoder: dict[str, Embeddings] = field(default_factory=dict)
    previous: dict[str, EmbeddingTable] = field(default_factory=dict)
    """Tables of the graph that this one was derived from; their rows are copied."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while embeddings are opened or computed."""

    @property
    def tables(self) -> dict[str, EmbeddingTable]:
        """The embeddings of the whole graph."""
        items = list(self.by_encoder.items())
        return {key: item for key, item in items if isinstance(item, EmbeddingTable)}


class EmbeddableGraph(NamedTriplets, Protocol):
    """A graph that holds its embeddings."""

    @property
    def storage(self) -> GraphFolder | None: ...
    @property
    def embeddings(self) -> GraphEmbeddings: ...
    @property
    def members(self) -> Members | None: ...


def embeddings_of(
    graph: EmbeddableGraph, encoder: SentenceEncoder, *, cache: Path | None = None
) -> Embeddings:
    """The graph's table for this encoder, or ``LazyEmbeddings`` without one.

    Raises:
        UserError: the table beside the graph is damaged.
    """
    embeddings, digest = graph.embeddings, encoder.identity.fingerprint
    with embeddings.lock:
        if digest not in embeddings.by_encoder and graph.members is not None:
            from kgscout_jax.graph.merge.embeddings import MergedEmbeddings

            embeddings.by_encoder[digest] = MergedEmbeddings(
                graph.members,
                [embeddings_of(g, encoder, cache=cache) for g in graph.members.graphs],
            )
        elif digest not in embeddings.by_encoder:
            table = stored_table(graph, encoder.identity)
            if table is None and len(graph.triplets) > SMALL_GRAPH:
                logger.info("%s", _embedding_hint(graph.storage, encoder))
            embeddings.by_encoder[digest] = table or LazyEmbeddings(
                graph, encoder, EmbeddingCache(encoder, cache)
            )
        return embeddings.by_encoder[digest]


def _embedding_hint(storage: GraphFolder | None, encoder: SentenceEncoder) -> str:
    """What to do about a large graph that is not embedded."""
    said = "is not embedded: triplets are embedded as questions need them"
    if storage is None:
        return (
            f"the graph {said}; make it a GRAPH folder once, for speed: kgscout graph"
        )
    own = "" if encoder.name == DEFAULT_ENCODER else f" --encoder {encoder.name}"
    once = f"kgscout graph --out {storage.path} --embed{own}"
    return f"{storage.path} {said}; embed it once, for speed: {once}"


def stored_table(
    graph: EmbeddableGraph, identity: EncoderIdentity
) -> EmbeddingTable | None:
    """The table beside a GRAPH folder's data; None if it is missing or outdated.

    Raises:
        UserError: it is damaged.
    """
    if graph.storage is None:
        return None
    identity = table_identity(graph, identity)
    table = open_table(graph.storage.path / FOLDER / identity.fingerprint, identity)
    if table is None or table.fingerprint != storage_fingerprint(graph.storage):
        return None
    return table


def table_identity(graph: NamedTriplets, identity: EncoderIdentity) -> EncoderIdentity:
    """The identity with the lowest text version that has the graph's texts.

    Tables and shards of version 1 so remain valid, unless the graph has camelCase
    relations.
    """
    split = any(map(is_camel_case, map(str, graph.relations)))
    return identity if split else identity.version_1


def storage_fingerprint(storage: GraphFolder) -> str:
    """The fingerprint of a GRAPH folder's data."""
    return data_fingerprint(storage.manifest["files"])


def embed_graph(graph: EmbeddableGraph, encoder: SentenceEncoder) -> Embeddings:
    """The table of all relations and triplets, stored in ``graph.embeddings``.

    The table of a GRAPH folder is written beside its data. Triplets of the graph that
    this one was derived from, or of the folder's previous data, are not embedded again.

    Raises:
        UserError: the folder cannot be written, or another process embeds it.
    """
    embeddings, digest = graph.embeddings, encoder.identity.fingerprint
    if graph.members is not None:
        for member in graph.members.graphs:
            member.embed(encoder)
        with embeddings.lock:  # those of the members as they were before
            embeddings.by_encoder.pop(digest, None)
        return embeddings_of(graph, encoder)
    with embeddings.lock:
        table = embeddings.by_encoder.get(digest)
        if not isinstance(table, EmbeddingTable):
            embed = _embed_in_memory if graph.storage is None else _embed_in_folder
            table = embeddings.by_encoder[digest] = embed(graph, encoder)
            embeddings.previous = {}
    return table


def _embed_in_memory(
    graph: EmbeddableGraph, encoder: SentenceEncoder
) -> EmbeddingTable:
    old = graph.embeddings.previous.get(encoder.identity.fingerprint)
    rows = np.empty((len(graph.triplets), encoder.identity.dimension), np.float16)
    cache = _cache(graph, encoder)
    for _ in _fill(graph, encoder, rows, old, 0, cache=cache, store=True):
        pass
    ids, names = np.asarray(graph.triplets), name_fingerprints(graph)
    return EmbeddingTable(ids, rows, _relations(graph, encoder), names)


def _embed_in_folder(
    graph: EmbeddableGraph, encoder: SentenceEncoder
) -> EmbeddingTable:
    assert graph.storage is not None
    identity = table_identity(graph, encoder.identity)
    fingerprint = storage_fingerprint(graph.storage)
    folder = graph.storage.path / FOLDER / identity.fingerprint
    with locked(folder, "embedding of this graph"):
        # Rows are copied, and sealed with new checksums.
        old = open_table(folder, identity, verify=True)
        if old is not None and old.fingerprint == fingerprint:
            return old
        shape = (len(graph.triplets), identity.dimension)
        writer = TableWriter(folder, fingerprint, shape)
        if writer.rows:
            logger.info("%d of %d triplets were embedded before", writer.rows, shape[0])
        relations = _relations(graph, encoder)
        cache = _cache(graph, encoder)
        for rows in _fill(graph, encoder, writer.triplets, old, writer.rows, cache):
            writer.flush(rows)
        ids, names = np.asarray(graph.triplets), name_fingerprints(graph)
        return writer.publish(ids, relations, names, identity)


def _cache(graph: NamedTriplets, encoder: SentenceEncoder) -> EmbeddingCache | None:
    """The cache that rows are taken from; None where encoding takes but seconds.

    A very large graph would look for each of its rows in each of many files.
    """
    few_or_many = not CACHED_FROM <= len(graph.triplets) <= CACHED_TO
    return None if few_or_many else EmbeddingCache(encoder)


def _fill(
    graph: NamedTriplets,
    encoder: SentenceEncoder,
    out: Any,
    old: EmbeddingTable | None,
    start: int,
    cache: EmbeddingCache | None = None,
    *,
    store: bool = False,
) -> Iterator[int]:
    """Fill ``out`` from row ``start`` on; yields the number of complete rows.

    Rows of triplets that are in ``old`` are copied, those in ``cache`` read.

    Args:
        graph: the triplets.
        encoder: of the rows.
        out: float16[M, d].
        old: an earlier table.
        start: the first row to fill.
        cache: rows that were embedded on demand.
        store: write new rows to ``cache``, for they are saved nowhere else.
    """
    rows = _old_rows(graph, old)
    new = int((rows[start:] < 0).sum())
    if (rows >= 0).any():
        logger.info(
            "%d triplets are embedded already, %d are new", len(rows) - new, new
        )
    with ProgressBar(new, "embedding triplets", "triplets") as bar:
        for low in range(start, len(rows), SAVED_ROWS):
            block = rows[low : low + SAVED_ROWS]
            if old is not None and len(copied := np.flatnonzero(block >= 0)):
                out[low + copied] = old.rows(block[copied])
            missing = low + np.flatnonzero(block < 0)
            texts = triplet_texts(graph, missing, encoder)
            if cache is not None and len(texts):
                cached, found = cache.lookup(texts)
                out[missing[found]] = cached[found]
                bar.update(int(found.sum()))
                texts = [
                    text for text, has in zip(texts, found, strict=True) if not has
                ]
                missing = missing[~found]
            with encoder.lock:
                for places, vectors in encoder.stream(texts):
                    out[missing[places]] = vectors
                    bar.update(len(places))
            if store and cache is not None and len(texts):
                cache.store(texts, out[missing])
            yield low + len(block)


def _old_rows(
    graph: NamedTriplets, old: EmbeddingTable | None
) -> Int64[np.ndarray, "m"]:
    """The row of each triplet in ``old``, or -1."""
    if old is None or not len(old.ids):
        return np.full(len(graph.triplets), -1, np.int64)
    if name_fingerprints(graph, old.names) != old.names:
        logger.info("names have changed: every triplet is embedded again")
        return np.full(len(graph.triplets), -1, np.int64)
    return match_rows(np.asarray(old.ids), np.asarray(graph.triplets))


def _relations(
    graph: NamedTriplets, encoder: SentenceEncoder
) -> Float16[np.ndarray, "r d"]:
    """The embeddings of all relations."""
    with encoder.lock:
        return encoder.encode(relation_texts(graph, encoder))
