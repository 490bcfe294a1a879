"""Whose triplets a batch reads: the retrievers it names, and files of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.answers.evidence import (
    Kept,
    closed_book,
    kept_triplets,
    nothing,
)
from kgscout_jax.evaluate.retrieval.evaluation import free_name
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.retrieve.baselines import PPR, Cosine
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.protocol import Rankings, Retriever

if TYPE_CHECKING:
    from kgscout_jax.learn.trained_policy import TrainedPolicy

NONE = "none"


def load(settings: AnswerSettings, shards: Shards) -> TrainedPolicy | None:
    """The trained policy, where the retriever scout is asked for."""
    if "scout" not in settings.retrievers or settings.run is None:
        return None
    from kgscout_jax.export.write import load_trained
    from kgscout_jax.learn.trained_policy import check_encoder

    trained = load_trained(settings.run, step=settings.step)
    check_encoder(trained.about, shards, settings.run)
    return trained


def retrieve(
    settings: AnswerSettings,
    shards: Shards,
    split: Split,
    trained: TrainedPolicy | None,
    k: int,
) -> list[tuple[str, Rankings, list[Kept]]]:
    """(name, rankings, what was kept) by each retriever, in the order of the table."""
    # Files of others first: if one is malformed, it is said before anything is ranked.
    others = []
    taken: set[str] = set(settings.retrievers)
    for path in settings.against:
        other = External(path)
        name = free_name(other, taken)
        taken.add(name)
        rankings = other.rank(shards, split, k)
        others.append((name, rankings, kept_triplets(shards, split, rankings)))
    found = []
    for name in settings.retrievers:
        if name == NONE:
            found.append((name, nothing(split), closed_book(split)))
            continue
        rankings = _retriever(name, trained).rank(shards, split, k)
        found.append((name, rankings, kept_triplets(shards, split, rankings)))
    return found + others


def _retriever(name: str, trained: TrainedPolicy | None) -> Retriever:
    if name == "cosine":
        return Cosine()
    if name == "ppr":
        return PPR()
    from kgscout_jax.retrieve.kgscout import KGScout

    assert trained is not None
    return KGScout(trained.policy, name=name)
