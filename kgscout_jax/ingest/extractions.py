"""Extractions on disk: one file a document, so that a run goes on where it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.extract.model import require_replies
from kgscout_jax.ingest.extract.protocol import (
    Extraction,
    Extractor,
    NestedTriplet,
    Node,
    TripletSpan,
)
from kgscout_jax.utils.io import read_json, write_json
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.progress import ProgressBar

BATCH = 64
"""Chunks that an extractor gets at once; what they give is then stored."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChunkedText:
    """A document's text and its chunks."""

    name: str
    text: str
    chunks: tuple[tuple[int, int], ...]

    @property
    def parts(self) -> list[str]:
        """The texts of the chunks."""
        return [self.text[start:end] for start, end in self.chunks]


@dataclass
class Spending:
    """What the extraction cost in this run."""

    read: int = 0
    """Documents that were read; the others were stored."""
    requests: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    malformed: int = 0

    def add(self, extraction: Extraction) -> None:
        """Count one extraction."""
        self.requests += extraction.requests
        self.prompt_tokens += extraction.prompt_tokens
        self.reply_tokens += extraction.reply_tokens
        self.malformed += extraction.malformed

    def cost(self, input_price: float, output_price: float) -> float:
        """Dollars, from dollars per million tokens."""
        tokens = self.prompt_tokens * input_price + self.reply_tokens * output_price
        return tokens / 1e6


@dataclass(frozen=True)
class Extractions:
    """A folder of extractions by the fingerprint of text, chunks and extractor."""

    folder: Path
    extractor: Extractor

    def file(self, document: ChunkedText) -> Path:
        """The file of a document."""
        parts = [document.chunks, document.text, self.extractor.fingerprint]
        key = fingerprint(parts)
        return self.folder / key[:2] / f"{key}.json"

    def read(self, document: ChunkedText) -> list[tuple[TripletSpan, ...]]:
        """The triplets of each chunk; ranges count from the chunk's start.

        Raises:
            UserError: they are missing or damaged.
        """
        file = self.file(document)
        value = read_json(file)
        chunks = value.get("chunks") if isinstance(value, dict) else None
        if chunks is None or value.get("checksum") != fingerprint(chunks):
            raise UserError(f"{file}: damaged; the same command extracts it again")
        return [
            tuple(
                TripletSpan(triplet_of_json(node), start, end)
                for node, start, end in chunk
            )
            for chunk in chunks
        ]

    def has(self, document: ChunkedText) -> bool:
        """Whether the triplets of a document are stored, and whole."""
        if not self.file(document).exists():
            return False
        try:
            self.read(document)
        except UserError:
            return False
        return True

    def complete(self, documents: Sequence[ChunkedText]) -> Spending:
        """Extract what is not stored yet.

        Raises:
            UserError: some texts have no reply; what has one is stored.
        """
        spending = Spending()
        missing = [each for each in documents if not self.has(each)]
        with ProgressBar(len(missing), "extraction", "documents") as bar:
            for batch in _batches(missing):
                parts = [part for document in batch for part in document.parts]
                extracted = self.extractor.extract(parts)
                for extraction in extracted:
                    spending.add(extraction)
                rest = iter(extracted)
                failed = []
                for document in batch:
                    own = [next(rest) for _ in document.chunks]
                    failed += [each for each in own if each.error is not None]
                    if not any(each.error for each in own):
                        self._write(document, own)
                        spending.read += 1
                if failed:
                    require_replies(extracted, self.extractor.name)
                bar.update(len(batch))
        return spending

    def _write(self, document: ChunkedText, extracted: Sequence[Extraction]) -> None:
        chunks = [
            [[node_json(span.triplet), span.start, span.end] for span in each.triplets]
            for each in extracted
        ]
        value = {"document": document.name, "chunks": chunks}
        write_json(self.file(document), {**value, "checksum": fingerprint(chunks)})

    def prune(self, documents: Sequence[ChunkedText]) -> None:
        """Delete what belongs to no document any more."""
        used = {self.file(each) for each in documents}
        for file in self.folder.rglob("*.json"):
            if file not in used:
                file.unlink(missing_ok=True)


def _batches(documents: Sequence[ChunkedText]) -> Iterator[list[ChunkedText]]:
    batch: list[ChunkedText] = []
    for document in documents:
        batch.append(document)
        if sum(len(each.chunks) for each in batch) >= BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def node_json(node: Node) -> Any:
    """A node as a name or a list of three."""
    if isinstance(node, str):
        return node
    return [node_json(node.head), node.relation, node_json(node.tail)]


def triplet_of_json(value: Any) -> NestedTriplet:
    head, relation, tail = value
    ends = [
        end if isinstance(end, str) else triplet_of_json(end) for end in (head, tail)
    ]
    return NestedTriplet(ends[0], str(relation), ends[1])
