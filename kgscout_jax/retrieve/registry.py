"""The retrievers without training, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kgscout_jax.retrieve.baselines import PPR, Ceiling, Cosine
from kgscout_jax.retrieve.bm25 import BM25
from kgscout_jax.retrieve.protocol import Retriever

RETRIEVERS: Mapping[str, Callable[[], Retriever]] = {
    "cosine": Cosine,
    "bm25": BM25,
    "ppr": PPR,
    "ceiling": Ceiling,
}
"""Name -> the retriever with its default settings."""
