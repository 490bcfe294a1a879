"""Where the triplets of a graph come from: document, chunk and characters.

One file beside the data of a GRAPH folder, ``ingest/provenance.npz``:

    keys        uint64[p], ascending: hashes of (head, relation, tail)
    rows        int32[p, 4]: document, chunk, first character, behind the last one
    documents   uint8[n]: JSON, see ``Document``

Triplets are found by their names, so that the file stays right when triplets are added
to the graph or removed from it.
"""

from __future__ import annotations

import bisect
import hashlib
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int32, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.types import Triplet, display_name, entity_key
from kgscout_jax.utils.io import NPZ_DAMAGE, read_arrays, whole_file
from kgscout_jax.utils.manifest import as_record

FOLDER = "ingest"
"""The folder within a GRAPH folder."""
FILE = "provenance.npz"
MAX_TEXTS = 16
"""Texts of documents that stay in memory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """A document that triplets come from."""

    name: str
    """Its path below the folder of documents."""
    sha256: str
    """Of the file."""
    text: str
    """File of its plain text, below ``ingest/``; ranges are of its characters."""
    chunks: tuple[tuple[int, int], ...]
    """First character of each chunk, and the one behind its last."""
    pages: tuple[int, ...] = ()
    """First character of each page; () for a document without pages."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place in a document that states a triplet."""

    document: str
    chunk: int
    """From 0."""
    start: int
    """First character in the document's plain text."""
    end: int
    """Behind the last character."""
    page: int | None = None
    """From 1; None for a document without pages."""

    def to_json(self) -> dict[str, Any]:
        """As JSON fields; ``page`` only where there are pages."""
        fields = asdict(self)
        if self.page is None:
            del fields["page"]
        return fields

    def __str__(self) -> str:
        page = "" if self.page is None else f", page {self.page}"
        return f"{self.document}{page}, {self.start}-{self.end}"


class Provenance:
    """The sources of a graph's triplets."""

    def __init__(
        self,
        folder: Path,
        keys: UInt64[np.ndarray, "p"],
        rows: Int32[np.ndarray, "p 4"],
        documents: Sequence[Document],
    ):
        self.folder = folder
        self.keys, self.rows, self.documents = keys, rows, documents

    @staticmethod
    def open(graph_folder: Path) -> Provenance | None:
        """The sources of a GRAPH folder; None for a graph that was not ingested.

        Raises:
            UserError: the file is damaged.
        """
        folder = graph_folder / FOLDER
        file = folder / FILE
        if not file.exists():
            return None
        try:
            data = read_arrays(file, ("keys", "rows", "documents"))
            keys, rows = data["keys"], data["rows"]
            listed = json.loads(data["documents"].tobytes())
        except (*NPZ_DAMAGE, RecursionError) as error:
            raise UserError(f"{file}: damaged ({error})") from None
        if keys.shape != (len(rows),) or rows.shape[1:] != (4,):
            raise UserError(f"{file}: damaged, {keys.shape} keys for {rows.shape} rows")
        documents = as_record(listed, tuple[Document, ...], f"{file}: damaged")
        chunks = np.array([len(each.chunks) for each in documents], np.int64)
        number, chunk, start, end = rows.T
        known = (number >= 0) & (number < len(documents))
        if (
            not known.all()
            or not (
                (chunk >= 0) & (chunk < chunks[number]) & (start >= 0) & (start <= end)
            ).all()
        ):
            raise UserError(f"{file}: damaged, places that no document has")
        return Provenance(folder, keys, rows, documents)

    def of(self, triplet: Triplet) -> tuple[Source, ...]:
        """Every place that states a triplet, in the order of the documents."""
        key = np.uint64(triplet_key(triplet))
        first, end = (int(np.searchsorted(self.keys, key, side)) for side in SIDES)
        return tuple(self._source(*row) for row in self.rows[first:end].tolist())

    def _source(self, document: int, chunk: int, start: int, end: int) -> Source:
        of = self.documents[document]
        page = bisect.bisect_right(of.pages, start) if of.pages else None
        return Source(of.name, chunk, start, end, page)

    @cached_property
    def _by_name(self) -> dict[str, Document]:
        return {document.name: document for document in self.documents}

    def text(self, document: str) -> str:
        """The plain text of a document.

        Raises:
            UserError: it is not there, or damaged.
        """
        text = self._texts.get(document)
        if text is None:
            text = read_text(self.folder, self._by_name[document].text)
            if len(self._texts) >= MAX_TEXTS:
                self._texts.clear()
            self._texts[document] = text
        return text

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The texts read last."""
        return {}

    def quote(self, source: Source) -> str:
        """The words of a source."""
        return display_name(self.text(source.document)[source.start : source.end])

    def chunk_text(self, source: Source) -> str:
        """The chunk of a source."""
        start, end = self._by_name[source.document].chunks[source.chunk]
        return self.text(source.document)[start:end]


SIDES = ("left", "right")


def text_file(text: str) -> str:
    """The file of a document's plain text, below ``ingest/``: named by its checksum."""
    return f"texts/{hashlib.sha256(text.encode()).hexdigest()}.txt"


def read_text(folder: Path, file: str) -> str:
    """The text in a file that ``text_file`` named.

    Raises:
        UserError: it is not there, or another text.
    """
    path = folder / file
    try:
        # universal newlines would shift the ranges
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError:
        text = None
    if text is None or text_file(text) != file:
        raise UserError(f"{path}: damaged; kgscout ingest with the documents mends it")
    return text


def triplet_key(triplet: Triplet) -> int:
    """64 bits that identify a triplet; spellings of one entity have one."""
    head, relation, tail = triplet
    text = "\n".join((entity_key(head), display_name(relation), entity_key(tail)))
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def write_provenance(
    graph_folder: Path,
    documents: Sequence[Document],
    sources: Mapping[Triplet, Iterable[tuple[int, int, int, int]]],
) -> None:
    """Write the sources of the triplets; the same input gives the same bytes.

    Args:
        graph_folder: the GRAPH folder.
        documents: all documents.
        sources: triplet -> (document, chunk, start, end) of each place.
    """
    rows = sorted(
        {
            (triplet_key(triplet), *place)
            for triplet, places in sources.items()
            for place in places
        }
    )
    listed = json.dumps([asdict(each) for each in documents], ensure_ascii=False)
    arrays = {
        "keys": np.array([row[0] for row in rows], np.uint64),
        "rows": np.array([row[1:] for row in rows], np.int32).reshape(-1, 4),
        "documents": np.frombuffer(listed.encode(), np.uint8),
    }
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    with whole_file(graph_folder / FOLDER / FILE, "wb") as handle:
        handle.write(buffer.getvalue())
