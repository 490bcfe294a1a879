"""The retrievers beside the policy itself, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from kgscout_jax.policy.module import Policy
from kgscout_jax.retrieve.baselines import PPR, Ceiling, Cosine
from kgscout_jax.retrieve.bm25 import BM25
from kgscout_jax.retrieve.prizes.retrievers import (
    FORMS,
    PrizeBasis,
    PrizeRetriever,
    cosine_source,
    policy_source,
)
from kgscout_jax.retrieve.protocol import Retriever
from kgscout_jax.utils.engine import HERE, Engine

RETRIEVERS: Mapping[str, Callable[[], Retriever]] = {
    "cosine": Cosine,
    "bm25": BM25,
    "ppr": PPR,
    "ceiling": Ceiling,
}
"""Those without training: name -> the retriever with its default settings."""


def prize_retrievers(
    policy: Policy, prizes: PrizeBasis = "kgscout", engine: Engine = HERE
) -> Mapping[str, Callable[[], Retriever]]:
    """prize_triplets, prize_paths and prize_subgraph, by name.

    Args:
        policy: its logits and answers are the relevance of ``kgscout``.
        prizes: what the prizes come from.
        engine: what calls the policy and orders triplets.
    """
    source = policy_source(policy, engine) if prizes == "kgscout" else cosine_source
    return {
        name: partial(PrizeRetriever, name, source, engine=engine) for name in FORMS
    }
