"""A disk cache of embeddings by string.

Each encoder identity and batch size has a folder of segments, see ``text.segments``. A
killed run loses at most the strings since its last segment. The key of a row is the
128-bit blake2b hash of its string.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float16, Int64, UInt64

from kgscout_jax.text.encoder import BATCH, SentenceEncoder
from kgscout_jax.text.segments import SEGMENT_ROWS, SegmentFolder
from kgscout_jax.utils.progress import ProgressBar


def default_cache() -> Path:
    """``$KGSCOUT_CACHE``, else ``~/.cache/kgscout``."""
    return Path(os.environ.get("KGSCOUT_CACHE") or Path.home() / ".cache" / "kgscout")


def string_keys(texts: Sequence[str]) -> UInt64[np.ndarray, "n 2"]:
    """128-bit keys of ``texts``."""
    raw = b"".join(
        hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        for text in texts
    )
    return np.frombuffer(raw, np.uint64).reshape(-1, 2)


class EmbeddingCache:
    """Unit embeddings (float16) of strings, computed and stored on a miss."""

    def __init__(self, encoder: SentenceEncoder, root: Path | None = None) -> None:
        self.encoder = encoder
        fingerprint = encoder.identity.version_1.fingerprint
        self.folder = (root or default_cache()) / "embeddings" / fingerprint
        self.hits = 0
        """Strings read from disk so far."""
        self.misses = 0
        """Strings embedded so far."""
        self._folders = dict[str, SegmentFolder]()

    def _segments(self, own: str = "") -> SegmentFolder:
        """The segments of a batch size."""
        if own not in self._folders:
            dimension = self.encoder.identity.dimension
            self._folders[own] = SegmentFolder(self.folder / own, dimension)
        return self._folders[own]

    def embed(
        self,
        texts: Sequence[str],
        *,
        what: str = "strings",
        batch_size: int = BATCH,
    ) -> Float16[np.ndarray, "n d"]:
        """Embeddings of ``texts``, in order; each distinct string at most once.

        Args:
            texts: any strings.
            what: a noun for the progress bar.
            batch_size: of ``SentenceEncoder.stream``; each size has its own folder,
                because bits may differ.
        """
        dimension = self.encoder.identity.dimension
        out = np.empty((len(texts), dimension), np.float16)
        if not len(texts):
            return out
        segments = self._segments("" if batch_size == BATCH else f"batch-{batch_size}")
        keys = string_keys(texts)
        distinct: Any = keys.view("V16").ravel()
        _, first, inverse = np.unique(distinct, return_index=True, return_inverse=True)
        unique = np.empty((len(first), dimension), np.float16)
        missing = segments.read(keys[first], unique)
        self.hits += len(first) - len(missing)
        self.misses += len(missing)
        if len(missing):
            new = [texts[int(i)] for i in first[missing]]
            save = partial(_save, segments, keys[first[missing]], missing, unique)
            self._compute(new, missing, unique, save, what, batch_size)
        out[:] = unique[inverse]
        return out

    def lookup(
        self, texts: Sequence[str]
    ) -> tuple[Float16[np.ndarray, "n d"], Bool[np.ndarray, "n"]]:
        """(embeddings, True where one is cached); nothing is embedded."""
        out = np.zeros((len(texts), self.encoder.identity.dimension), np.float16)
        found = np.ones(len(texts), bool)
        found[self._segments().read(string_keys(texts), out)] = False
        return out, found

    def store(self, texts: Sequence[str], rows: Float16[np.ndarray, "n d"]) -> None:
        """Save embeddings that were computed elsewhere, as one segment."""
        self._segments().save(string_keys(texts), rows)

    def _compute(
        self,
        texts: list[str],
        rows: Int64[np.ndarray, "k"],
        out: Float16[np.ndarray, "n d"],
        save: Callable[[Sequence[np.ndarray]], None],
        what: str,
        batch_size: int,
    ) -> None:
        """Embed ``texts`` into ``out[rows]``; saves segments of about SEGMENT_ROWS."""
        unsaved: list[np.ndarray] = []
        with ProgressBar(len(texts), f"embedding {what}", "strings") as bar:
            for positions, vectors in self.encoder.stream(texts, batch_size=batch_size):
                out[rows[positions]] = vectors
                unsaved.append(positions)
                bar.update(len(positions))
                if sum(map(len, unsaved)) >= SEGMENT_ROWS:
                    save(unsaved)
                    unsaved = []
        if unsaved:
            save(unsaved)


def _save(
    segments: SegmentFolder,
    keys: UInt64[np.ndarray, "k 2"],
    rows: Int64[np.ndarray, "k"],
    out: Float16[np.ndarray, "n d"],
    positions: Sequence[np.ndarray],
) -> None:
    """Save the rows of ``out`` that were computed, as one segment."""
    at = np.concatenate(positions)
    segments.save(keys[at], out[rows[at]])
