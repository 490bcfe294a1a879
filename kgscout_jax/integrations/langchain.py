"""A scout as a LangChain retriever (``pip install 'kgscout-jax[langchain]'``).

retriever = KGScoutRetriever(scout=scout, graph=graph, k=30)
documents = retriever.invoke("who directed Alien?")
"""

from __future__ import annotations

from typing import Annotated

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import DEFAULT_K
from kgscout_jax.integrations.texts import Form, joint_text, triplet_id, triplet_texts
from kgscout_jax.utils.extras import with_install_line

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict, Field
    from pydantic_core import CoreSchema, core_schema
except ModuleNotFoundError as error:
    raise with_install_line(error) from None


class _AsItIs:
    """Has pydantic check a field's type and look no further into it."""

    def __get_pydantic_core_schema__(self, source: type, handler: object) -> CoreSchema:
        return core_schema.is_instance_schema(source)


class KGScoutRetriever(BaseRetriever):
    """Documents of the triplets that a question needs, best first.

    A document's metadata are ``head``, ``relation``, ``tail``, ``score`` and ``rank``
    (from 1), and ``sources`` where several graphs are asked; of one document for all,
    ``question``, ``topics`` and ``triplets``. Where the policy answers from the graph,
    ``answers`` are those with a path over the triplet, or all: name, probability and
    path.
    """

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    scout: Annotated[Scout, _AsItIs()] = Field(exclude=True, repr=False)
    """What retrieves; many threads may share it."""
    graph: Annotated[KnowledgeGraph | list | tuple | dict, _AsItIs()] = Field(
        exclude=True, repr=False
    )
    """What is searched, or several graphs, asked as one; ``graph.embed(scout.encoder)``
    first makes it fast."""
    k: int = Field(default=DEFAULT_K, ge=1, strict=True)
    """The most triplets."""
    topics: list[str] | None = None
    """The entities that questions are about; None: they are linked."""
    form: Form = "triplets"
    """A document for each of the triplets; or one for all, a triplet a line ("text") or
    a path a line ("paths")."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        result = self.scout.retrieve(query, self.graph, self.k, topics=self.topics)
        return documents_of(result, self.form)


def documents_of(result: RetrievalResult, form: Form = "triplets") -> list[Document]:
    """The triplets as documents; no triplets are no document, in every form."""
    if form == "triplets":
        return [
            Document(page_content=text, metadata=metadata, id=triplet_id(metadata))
            for text, metadata in triplet_texts(result)
        ]
    return [
        Document(page_content=text, metadata=metadata)
        for text, metadata in joint_text(result, form)
    ]
