"""A scout as a LlamaIndex retriever (``pip install 'kgscout-jax[llama-index]'``).

retriever = KGScoutRetriever(scout=scout, graph=graph, k=30)
nodes = retriever.retrieve("who directed Alien?")
"""

from __future__ import annotations

import asyncio
from typing import Any, get_args

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import Graphs
from kgscout_jax.inference.arguments import checked_k
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import DEFAULT_K
from kgscout_jax.integrations.texts import Form, joint_text, triplet_id, triplet_texts
from kgscout_jax.utils.extras import with_install_line

try:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ModuleNotFoundError as error:
    raise with_install_line(error) from None


class KGScoutRetriever(BaseRetriever):
    """Nodes of the triplets that a question needs, best first, with the logit as score.

    A node's metadata are ``head``, ``relation``, ``tail`` and ``rank`` (from 1); they
    are not shown to models, for the text says it all. Of one node for all triplets,
    ``question``, ``topics`` and ``triplets``. Where the policy answers from the graph,
    ``answers`` are those with a path over the triplet, or all: name, probability and
    path.
    """

    def __init__(
        self,
        *,
        scout: Scout,
        graph: KnowledgeGraph | Graphs,
        k: int = DEFAULT_K,
        topics: list[str] | None = None,
        form: Form = "triplets",
        **settings: Any,
    ) -> None:
        """
        Args:
            scout: what retrieves; many threads may share it.
            graph: what is searched, or several graphs, asked as one;
                ``graph.embed(scout.encoder)`` first makes it fast.
            k: the most triplets.
            topics: the entities that questions are about; None: they are linked.
            form: a node for each of the triplets; or one for all, a triplet a line
                ("text") or a path a line ("paths").
            settings: those of ``BaseRetriever``: callback_manager, verbose, ...

        Raises:
            UserError: ``k`` or ``form`` cannot be.
        """
        super().__init__(**settings)
        if form not in get_args(Form):
            known = ", ".join(get_args(Form))
            raise UserError(f"form: found {form!r}, expected one of {known}")
        self.scout, self.graph = scout, graph
        self.k, self.topics = checked_k(k), topics
        self.form: Form = form

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        result = self.scout.retrieve(
            query_bundle.query_str, self.graph, self.k, topics=self.topics
        )
        return nodes_of(result, self.form)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # the library's own would hold up the event loop
        return await asyncio.to_thread(self._retrieve, query_bundle)


def nodes_of(result: RetrievalResult, form: Form = "triplets") -> list[NodeWithScore]:
    """The triplets as nodes; no triplets are no node, in every form."""
    if form != "triplets":
        return [
            NodeWithScore(node=_node(text, metadata))
            for text, metadata in joint_text(result, form)
        ]
    nodes = []
    for text, metadata in triplet_texts(result):
        score = metadata.pop("score")
        node = _node(text, metadata, id_=triplet_id(metadata))
        nodes.append(NodeWithScore(node=node, score=score))
    return nodes


def _node(text: str, metadata: dict[str, Any], **more: Any) -> TextNode:
    hidden = list(metadata)
    return TextNode(
        text=text,
        metadata=metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=hidden,
        **more,
    )
