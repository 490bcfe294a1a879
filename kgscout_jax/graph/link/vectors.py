"""Names by meaning: nearest embeddings, for mentions that share no word with a name.

Needs usearch (``pip install kgscout-jax[link]``). Up to ``EXACT`` names are searched
exhaustively, more through an HNSW graph.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.index import LinkIndex

Encode = Callable[[Sequence[str]], np.ndarray]
"""Texts to one row each; rows need not be unit vectors."""
EXACT = 20_000
BATCH = 4096


class NameVectors:
    """Embeddings of the surfaces of an index, searched by cosine."""

    def __init__(self, searched: Any) -> None:
        self._searched = searched

    def __len__(self) -> int:
        return len(self._searched)

    @staticmethod
    def build(index: LinkIndex, encode: Encode) -> NameVectors:
        """Embeddings of all surfaces: a pass of the encoder over every name."""
        from kgscout_jax.utils.progress import progress

        searched = None
        with progress(len(index), "embedding names", "name") as bar:
            for first in range(0, len(index), BATCH):
                numbers = np.arange(first, min(first + BATCH, len(index)))
                rows = encode([index.text_of(int(i)) for i in numbers])
                searched = searched or _new(rows.shape[1])
                # One thread: the graph then depends on the names alone.
                searched.add(numbers.astype(np.uint64), _half(rows), threads=1)
                bar.update(len(numbers))
        return NameVectors(_new(1) if searched is None else searched)

    def nearest(
        self, vectors: Float[np.ndarray, "q d"], k: int
    ) -> tuple[Int64[np.ndarray, "q k"], Float32[np.ndarray, "q k"]]:
        """Per row the nearest surfaces, best first, and their cosines; -1 beyond."""
        surfaces = np.full((len(vectors), k), -1, np.int64)
        cosines = np.zeros((len(vectors), k), np.float32)
        if len(self) and len(vectors):
            exact = len(self) <= EXACT
            found = self._searched.search(_half(vectors), k, exact=exact, threads=1)
            keys = np.asarray(found.keys).reshape(len(vectors), -1)
            distances = np.asarray(found.distances).reshape(len(vectors), -1)
            counts = np.asarray(getattr(found, "counts", keys.shape[1])).reshape(-1, 1)
            real = np.arange(keys.shape[1]) < counts
            surfaces[:, : keys.shape[1]] = np.where(real, keys.astype(np.int64), -1)
            cosines[:, : keys.shape[1]] = np.where(real, 1 - distances, 0)
        return surfaces, cosines

    def save(self, path: Path) -> None:
        """Write one file, whole or not at all."""
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            self._searched.save(str(aside))
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)

    @staticmethod
    def open(path: Path, index: LinkIndex) -> NameVectors:
        """The vectors in a file, memory-mapped.

        Raises:
            UserError: the file is missing, damaged, or of another index.
        """
        if not path.is_file():
            raise UserError(f"{path}: no such file")
        usearch = _usearch()
        try:
            searched = usearch.Index.restore(str(path), view=True)
        except (RuntimeError, ValueError, OSError) as error:
            raise UserError(f"{path}: not whole name vectors ({error})") from None
        if searched is None:
            raise UserError(f"{path}: not whole name vectors")
        if len(searched) != len(index):
            raise UserError(
                f"{path}: {len(searched)} vectors, the index has {len(index)} names"
            )
        return NameVectors(searched)


def _new(dimension: int) -> Any:
    """An empty index of unit vectors."""
    return _usearch().Index(ndim=dimension, metric="cos", dtype="f16")


def _half(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows, np.float16)


def _usearch() -> Any:
    try:
        from usearch import index
    except ImportError:
        raise UserError(
            "linking by embeddings needs usearch: pip install kgscout-jax[link]"
        ) from None
    return index
