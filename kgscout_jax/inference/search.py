"""The search of each question: its graph, topics, vectors and candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float16, Int32

from kgscout_jax.graph.embeddings import Embeddings, embeddings_of
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Link
from kgscout_jax.inference.definitions import definition_word
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.entity_sets import entity_set
from kgscout_jax.inference.inputs import Candidates, QuestionVectors, find_candidates
from kgscout_jax.inference.question_encoder import QuestionEncoder
from kgscout_jax.inference.topics import NOWHERE, SearchStart, Topics, search_start
from kgscout_jax.inference.value_start import value_start
from kgscout_jax.retrieve.candidates import CutSettings
from kgscout_jax.retrieve.hypotheses import with_hypotheses
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.utils.turns import native_work


@dataclass(frozen=True, kw_only=True)
class Search:
    """A question with all that its scores depend on."""

    text: str
    graph: KnowledgeGraph
    start: SearchStart
    table: Embeddings
    """Of the graph."""
    vectors: QuestionVectors
    candidates: Candidates | None
    """None if the question has none."""
    compared: ValueQuestion | None = None
    """What it wants of values, with entities for its topics; None: nothing."""
    entity_set: EntitySet | None = None
    """Its answer, if it is found over the whole graph; None: a walk finds it."""

    @property
    def finds_nothing(self) -> bool:
        """Whether nothing of the graph is a topic, or is chosen by its value."""
        started = len(self.start.ids) > 0 or self.candidates is not None
        return not started and len(self.graph) > 0


def _roots(
    start: SearchStart, asked: ValueQuestion | None, found: EntitySet | None
) -> Int32[np.ndarray, "t"]:
    """The entities around which candidates are found."""
    if found is not None:
        return found.roots
    if len(start.ids) or asked is None:
        return start.ids
    named = [*asked.choice, *([] if asked.rival is None else [asked.rival])]
    return np.unique(np.array(named, np.int32))


@dataclass(frozen=True, kw_only=True)
class Searcher:
    """Finds the candidates of questions."""

    questions: QuestionEncoder
    cut: CutSettings
    cache: Path | None
    """Folder for embeddings of graphs that are not embedded."""
    needs_words: bool
    """Whether the policy reads the words of questions."""
    compares_values: bool
    """Whether questions may be answered by values: the policy has an answer head."""

    def searches(
        self,
        texts: Sequence[str],
        sources: Sequence[GraphOrStore],
        topics: Sequence[Topics],
        hypotheses: Sequence[Sequence[str]] | None,
        link: Callable[[str, KnowledgeGraph], list[Link]],
    ) -> list[Search]:
        """The search of each question.

        Args:
            texts: the questions.
            sources: per question a graph, or a store.
            topics: per question names of its entities; None: they are linked.
            hypotheses: per question guesses at its answer; None: none.
            link: links the words of a question to entities of a graph.

        Raises:
            UserError: ``topics`` are not text, or embeddings are damaged.
        """
        embeddings = self._embeddings(texts, hypotheses)
        graphs = [
            self._in_memory(*each)
            for each in zip(sources, texts, embeddings, topics, strict=True)
        ]
        starts = [
            search_start(*each, link)
            for each in zip(texts, graphs, topics, strict=True)
        ]
        compared: list[ValueQuestion | None] = [None] * len(texts)
        entity_sets: list[EntitySet | None] = [None] * len(texts)
        walked = [
            start.walked or text for text, start in zip(texts, starts, strict=True)
        ]
        for i, (text, graph, start) in enumerate(
            zip(texts, graphs, starts, strict=True)
        ):
            if not self.compares_values:
                continue
            values = value_start(text, graph, start)
            chosen = values and values.compared and values.compared.choice
            named = bool(chosen) and not graph.unnamed_mask[[*chosen]].any()
            whole = graph is sources[i]  # no part of a store
            if whole and not named and (found := entity_set(text, graph, start)):
                starts[i], entity_sets[i] = NOWHERE, found
            elif values is not None:
                starts[i], walked[i], compared[i] = values
        changed = [i for i, text in enumerate(walked) if text != texts[i]]
        if changed:
            embeddings = np.array(embeddings)
            embeddings[changed] = self._embeddings(
                [walked[i] for i in changed],
                hypotheses and [hypotheses[i] for i in changed],
            )
        tables = {
            key: embeddings_of(graph, self.questions.encoder, cache=self.cache)
            for key, graph in {id(graph): graph for graph in graphs}.items()
        }
        candidates = [
            find_candidates(
                graph,
                tables[id(graph)],
                embeddings[i : i + 1],
                _roots(start, compared[i], entity_sets[i]),
                self.cut,
            )
            for i, (graph, start) in enumerate(zip(graphs, starts, strict=True))
        ]
        vectors = [QuestionVectors(whole=row) for row in embeddings]
        if self.needs_words:
            names = [
                start.names(text, graph)
                for text, start, graph in zip(texts, starts, graphs, strict=True)
            ]
            vectors = self.questions.with_words(
                vectors,
                walked,
                names,
                lambda i: definition_word(texts[i], graphs[i], candidates[i]),
            )
        return [
            Search(
                text=texts[i],
                graph=graph,
                start=starts[i],
                table=tables[id(graph)],
                vectors=vectors[i],
                candidates=candidates[i],
                compared=compared[i],
                entity_set=entity_sets[i],
            )
            for i, graph in enumerate(graphs)
        ]

    def _embeddings(
        self, texts: Sequence[str], hypotheses: Sequence[Sequence[str]] | None
    ) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, with the guesses at the answer of each."""
        embeddings = self.questions.encode(texts)
        if hypotheses is None or not any(hypotheses):
            return embeddings
        guesses = [self.questions.encode(each) for each in hypotheses]
        return with_hypotheses(embeddings, guesses)

    def _in_memory(
        self,
        source: GraphOrStore,
        question: str,
        embedding: Float16[np.ndarray, "d"],
        topics: Topics,
    ) -> KnowledgeGraph:
        """The graph, or the part of a store that the question needs."""
        if isinstance(source, KnowledgeGraph):
            return source
        from kgscout_jax.inference.store_graph import store_graph

        cache = EmbeddingCache(self.questions.encoder, self.cache)
        with native_work(), self.questions.encoder.lock:
            return store_graph(
                source, question, embedding, topics, cache.embed, self.cut.hops
            )
