"""A disk cache of embeddings by string.

Each encoder identity and batch size has a folder of segment files, written atomically.
A killed run loses at most the strings since its last segment. The key of a row is the
128-bit blake2b hash of its string. A segment is named after its checksum, which is
compared when it is first read; segments of earlier versions have random names.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float16, Int64, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.text.encoder import BATCH, SentenceEncoder
from kgscout_jax.utils.io import NPY_DAMAGE, NPY_HEADERS, sha256_file, whole_file
from kgscout_jax.utils.progress import ProgressBar

SEGMENT_ROWS = 4096
CHECKSUM = "sha256-"
"""Begins the names of segments that are named after their checksum."""


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
        self._verified: set[Path] = set()
        """Segments whose bytes were compared with their checksum."""

    @property
    def _dtype(self) -> np.dtype:
        """The dtype of a segment's rows."""
        dimension = self.encoder.identity.dimension
        return np.dtype([("key", np.uint64, 2), ("row", np.float16, dimension)])

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
        own = "" if batch_size == BATCH else f"batch-{batch_size}"
        folder = self.folder / own
        keys = string_keys(texts)
        distinct: Any = keys.view("V16").ravel()
        _, first, inverse = np.unique(distinct, return_index=True, return_inverse=True)
        unique = np.empty((len(first), dimension), np.float16)
        missing = self._read(folder, keys[first], unique)
        self.hits += len(first) - len(missing)
        self.misses += len(missing)
        if len(missing):
            new = [texts[int(i)] for i in first[missing]]
            save = partial(self._save, folder, keys[first[missing]], missing, unique)
            self._compute(new, missing, unique, save, what, batch_size)
        out[:] = unique[inverse]
        return out

    def lookup(
        self, texts: Sequence[str]
    ) -> tuple[Float16[np.ndarray, "n d"], Bool[np.ndarray, "n"]]:
        """(embeddings, True where one is cached); nothing is embedded."""
        out = np.zeros((len(texts), self.encoder.identity.dimension), np.float16)
        found = np.ones(len(texts), bool)
        found[self._read(self.folder, string_keys(texts), out)] = False
        return out, found

    def store(self, texts: Sequence[str], rows: Float16[np.ndarray, "n d"]) -> None:
        """Save embeddings that were computed elsewhere, as one segment."""
        everything = np.arange(len(texts))
        self._save(self.folder, string_keys(texts), everything, rows, [everything])

    def _read(
        self,
        folder: Path,
        keys: UInt64[np.ndarray, "n 2"],
        out: Float16[np.ndarray, "n d"],
    ) -> Int64[np.ndarray, "k"]:
        """Fill the rows of ``out`` that are cached; returns positions of the others."""
        missing = np.ones(len(keys), bool)
        for file in sorted(folder.glob("*.npy")):
            segment = self._open(file)
            order = np.argsort(segment["key"][:, 0], kind="stable")
            high = segment["key"][order, 0]
            at = np.minimum(np.searchsorted(high, keys[:, 0]), len(high) - 1)
            rows = order[at]
            is_here = missing & (segment["key"][rows] == keys).all(axis=1)
            out[is_here] = segment["row"][rows[is_here]]
            missing &= ~is_here
        return np.flatnonzero(missing)

    def _open(self, file: Path) -> np.ndarray:
        try:
            if file.name.startswith(CHECKSUM) and file not in self._verified:
                if file.name != _segment_name(sha256_file(file)):
                    raise ValueError("checksum differs from its name")
                self._verified.add(file)
            with NPY_HEADERS:
                segment = np.load(file, mmap_mode="r", allow_pickle=False)
            if segment.dtype != self._dtype:
                raise ValueError(f"rows of {segment.dtype}")
        except NPY_DAMAGE as error:
            raise UserError(
                f"{file}: damaged cache segment ({error}); delete it and run again"
            ) from None
        return segment

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
        self,
        folder: Path,
        keys: UInt64[np.ndarray, "k 2"],
        rows: Int64[np.ndarray, "k"],
        out: Float16[np.ndarray, "n d"],
        positions: Sequence[np.ndarray],
    ) -> None:
        at = np.concatenate(positions)
        segment = np.empty(len(at), self._dtype)
        segment["key"] = keys[at]
        segment["row"] = out[rows[at]]
        stream = io.BytesIO()
        np.save(stream, segment, allow_pickle=False)
        raw = stream.getbuffer()
        name = _segment_name(hashlib.sha256(raw).hexdigest())
        with whole_file(folder / name, "wb", size=len(raw)) as handle:
            handle.write(raw)
        self._verified.add(folder / name)


def _segment_name(sha256: str) -> str:
    return f"{CHECKSUM}{sha256[:32]}.npy"
