"""A chain of explorations of a graph with a model at an endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgscout_jax.explore.chain import ChainOfExplorations
from kgscout_jax.explore.ranking import ScoutRanker, VectorRanker
from kgscout_jax.explore.settings import ExploreSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.reason.prompts import Message
from kgscout_jax.stores.embedded import EmbeddedStore
from kgscout_jax.stores.protocol import GraphOrStore, Store
from kgscout_jax.text.cache import EmbeddingCache

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import Scout

SHOWN = {"vector": 50, "kgscout": 5}
"""Candidates that the model chooses from, by what ranks them."""


def explorer(
    graph: GraphOrStore,
    scout: Scout,
    endpoint: EndpointSettings,
    ranking: str = "vector",
) -> ChainOfExplorations:
    """The chain of explorations of a graph.

    Args:
        graph: in memory, a GRAPH folder, or a store.
        scout: its encoder embeds; with ``kgscout`` it also ranks.
        endpoint: of the model.
        ranking: ``vector`` as the paper does, or ``kgscout``, where the model chooses
            among five instead of fifty.
    """
    server = Endpoint(endpoint)
    embed = EmbeddingCache(scout.encoder, scout.cache).embed
    if isinstance(graph, KnowledgeGraph):
        store: Store = EmbeddedStore(graph, embed)
    else:
        store = graph

    def chat(messages: Sequence[Message]) -> Completion:
        return server.ask(Request(messages=tuple(messages)))

    by_scout = ranking == "kgscout"
    ranker = ScoutRanker(scout, graph) if by_scout else VectorRanker(store, embed)
    settings = ExploreSettings(candidates=SHOWN[ranking])
    return ChainOfExplorations(store, chat, ranker, settings)
