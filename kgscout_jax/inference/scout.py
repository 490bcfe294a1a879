"""Retrieval with a trained policy: questions and a graph in, ranked triplets out.

    scout = Scout.from_pretrained()  # or the folder of an exported policy
    graph = KnowledgeGraph.open("GRAPH")
    graph.embed(scout.encoder)
    result = scout.retrieve("Who directed Heat?", graph, k=100)

Questions take the same steps as in preparation and evaluation: the encoder embeds the
same strings, ``retrieve.candidates`` cuts and selects, the same network scores.
"""

from __future__ import annotations

import dataclasses
import logging
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np
from jaxtyping import Float16

from kgscout_jax.errors import UserError
from kgscout_jax.export.format import Preparation
from kgscout_jax.export.load import Exported
from kgscout_jax.graph.embeddings import embeddings_of, encoder_lock
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import Graphs, graph_names, merge_graphs
from kgscout_jax.inference.inputs import Candidates, QuestionVectors, find_candidates
from kgscout_jax.inference.nearest import nearest_triplets
from kgscout_jax.inference.question_result import (
    ScoredQuestion,
    SearchStart,
    with_answers,
)
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scoring import Scores, score_questions
from kgscout_jax.inference.selection import SelectionConfig, calibration_graph
from kgscout_jax.inference.settings import DEFAULT_K
from kgscout_jax.inference.sources import with_provenance
from kgscout_jax.inference.word_vectors import WordVectors
from kgscout_jax.policy.walk import WalkConfig
from kgscout_jax.retrieve.candidates import CutSettings
from kgscout_jax.retrieve.hypotheses import with_hypotheses
from kgscout_jax.stores.protocol import GraphOrStore, Store
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import QUESTION_BATCH, SentenceEncoder
from kgscout_jax.text.linearize import question_text
from kgscout_jax.types import Answer, replace_surrogates
from kgscout_jax.utils.call_coalescing import CallCoalescer

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link, Linker
    from kgscout_jax.stores.protocol import NodeMatch

logger = logging.getLogger("kgscout")

OWN_SUBGRAPHS = ("rog", "nsm")
"""Sources whose questions have their own subgraphs: their size is no default."""
MERGED = 4
"""Merged graphs that a scout holds."""
BEST_K = SelectionConfig()
"""The k best, best first."""

Topics = str | Sequence[str] | None


class Scout:
    """A trained policy with its encoder; safe to use from many threads at once."""

    def __init__(
        self,
        exported: Exported,
        encoder: SentenceEncoder | None = None,
        *,
        cut: CutSettings | None = None,
        cache: Path | None = None,
    ) -> None:
        """
        Args:
            exported: the policy.
            encoder: the policy's encoder; None loads it.
            cut: settings of subgraphs and candidates; None for those of the training.
            cache: folder for embeddings of graphs that are not embedded; default
                $KGSCOUT_CACHE or ~/.cache/kgscout.

        Raises:
            UserError: the encoder differs from the policy's, or cannot be loaded.
        """
        trained = exported.encoder
        encoder = encoder or SentenceEncoder(
            trained.name, backend=trained.backend, near=False
        )
        identity = encoder.identity
        for name in ("weights_sha256", "dimension", "text_version"):
            found, expected = getattr(identity, name), getattr(trained, name)
            if found != expected:
                raise UserError(
                    f"encoder {identity.name}: {name} is {str(found)[:12]}, expected "
                    f"{str(expected)[:12]} as of {trained.name}, which {exported.path} "
                    "was trained with"
                )
        self._warned_counts: dict[str, int] = {}
        self._merged: dict[tuple[tuple[str, int], ...], KnowledgeGraph] = {}
        self._merging = threading.Lock()
        self.exported, self.encoder, self.cache = exported, encoder, cache
        self._embed = CallCoalescer(
            lambda texts: self.encoder.encode(texts, batch_size=QUESTION_BATCH),
            encoder_lock(encoder),
        )
        self._word_vectors = WordVectors(self.encode)
        source = str(exported.metadata["training"].get("source"))
        self.cut = cut or cut_of(exported.preparation, source)

    def __repr__(self) -> str:
        kind = "answers" if self.exported.has_answers else "evidence only"
        return f"Scout({str(self.exported.path)!r}: {kind}, {self.encoder.name})"

    @staticmethod
    def from_pretrained(
        name_or_path: Path | str | None = None,
        *,
        revision: str | None = None,
        encoder: SentenceEncoder | None = None,
        verify: bool = True,
    ) -> Scout:
        """The scout of an exported policy: a folder, or owner/name on the hub.

        Without a name that of the bundled policy, kgscout-base.

        Also loads the encoder, which takes seconds. JAX caches compiled functions on
        disk (``$KGSCOUT_CACHE/jax`` unless JAX has another cache).

        Raises:
            UserError: there is no such export, it is damaged, or its encoder cannot be
                loaded.
        """
        import jax

        from kgscout_jax.export.hub import from_pretrained
        from kgscout_jax.utils.jax_setup import setup_jax

        if not getattr(jax.config, "jax_compilation_cache_dir", None):
            setup_jax()
        exported = from_pretrained(name_or_path, revision=revision, verify=verify)
        scout = Scout(exported, encoder)
        with encoder_lock(scout.encoder):
            scout.encoder.encode(["ready?"], batch_size=QUESTION_BATCH)
        return scout

    def retrieve(
        self,
        question: str,
        graph: GraphOrStore | Graphs,
        k: int = DEFAULT_K,
        *,
        topics: Topics = None,
        selection: SelectionConfig = BEST_K,
        hypotheses: Sequence[str] = (),
    ) -> RetrievalResult:
        """The ``k`` triplets of ``graph`` most worth reading for ``question``.

        Args:
            question: the question in natural language.
            graph: in memory or memory-mapped; ``graph.embed(scout.encoder)`` first
                makes this fast. Or a store, of which only what is around the topics
                is read. Several graphs, in a list or by name, are asked as one, see
                ``merged``; ``sources`` of the result name those of each triplet.
            k: maximum number of triplets.
            topics: names of the question's entities; None: topics are linked.
            selection: a calibrated budget, paths, a budget of tokens.
            hypotheses: guesses at the answer, as sentences: extra queries (HyDE).

        Raises:
            UserError: ``question`` or ``topics`` are not text, k is below 1, or the
                graph's embeddings are damaged.
        """
        return self.retrieve_many(
            [question],
            self.merged(graph),
            k,
            topics=[topics],
            selection=selection,
            hypotheses=[hypotheses],
        )[0]

    def answer(
        self,
        question: str,
        graph: GraphOrStore | Graphs,
        k: int = DEFAULT_K,
        *,
        topics: Topics = None,
        min_probability: float | None = None,
    ) -> tuple[Answer, ...]:
        """The answers from ``graph``, most probable first, each with its path.

        () where none is probable enough: ``retrieve`` has best guesses and evidence.

        Args:
            question: the question in natural language.
            graph: in memory, memory-mapped, or a store; several are asked as one.
            k: maximum number of triplets, among which the paths are.
            topics: names of the question's entities; None: topics are linked.
            min_probability: of the best answer; None: as the policy was calibrated.

        Raises:
            UserError: as ``retrieve``, or the policy has no answer head.
        """
        selection = SelectionConfig(form="answers", min_probability=min_probability)
        found = self.retrieve(question, graph, k, topics=topics, selection=selection)
        return found.answers

    def retrieve_many(
        self,
        questions: Sequence[str],
        graphs: GraphOrStore
        | Mapping[str, KnowledgeGraph]
        | Sequence[GraphOrStore | Graphs],
        k: int | Sequence[int] = DEFAULT_K,
        *,
        topics: Sequence[Topics] | None = None,
        selection: SelectionConfig = BEST_K,
        hypotheses: Sequence[Sequence[str]] | None = None,
    ) -> list[RetrievalResult]:
        """The results of ``retrieve``, with questions encoded and scored in batches.

        Args:
            questions: the questions in natural language.
            graphs: one graph or store for all, or one per question; several by name,
                or a list of them for a question, are asked as one.
            k: maximum number of triplets; one for all, or one per question.
            topics: per question its entities, or None; None: all are linked.
            selection: a calibrated budget, paths, a budget of tokens.
            hypotheses: per question guesses at its answer: extra queries (HyDE).

        Raises:
            UserError: as ``retrieve``, or the lengths differ.
        """
        if isinstance(questions, str):
            raise UserError("questions: found one string, expected a list of them")
        selection.check(self.exported)
        calibration = selection.calibration(self.exported)
        n = len(questions)
        ks = budgets_of(k, n)
        asked: Any = graphs
        if isinstance(asked, Mapping):
            asked = self.merged(asked)
        elif isinstance(asked, list | tuple):
            asked = [self.merged(each) for each in asked]
        sources = checked_graphs(asked, n)
        topics = [None] * n if topics is None else list(topics)
        for name, values in (("graphs", sources), ("topics", topics), ("k", ks)):
            if len(values) != n:
                raise UserError(
                    f"{name}: found {len(values)}, expected {n}, one for each question"
                )
        texts = [check_question(question) for question in questions]
        embeddings = self.encode(texts)
        if hypotheses is not None and any(hypotheses):
            guesses = [self.encode(each) for each in hypotheses]
            embeddings = with_hypotheses(embeddings, guesses)
        graphs = [
            source if isinstance(source, KnowledgeGraph) else
            self._store_graph(source, text, embedding, named)
            for source, text, embedding, named in zip(
                sources, texts, embeddings, topics, strict=True
            )
        ]  # fmt: skip
        starts = [
            self._start(*each) for each in zip(texts, graphs, topics, strict=True)
        ]
        tables = {
            key: embeddings_of(graph, self.encoder, cache=self.cache)
            for key, graph in {id(graph): graph for graph in graphs}.items()
        }
        embedded = [tables[id(graph)] for graph in graphs]
        candidates = [
            find_candidates(
                graphs[i], embedded[i], embeddings[i : i + 1], starts[i].ids, self.cut
            )
            for i in range(n)
        ]
        vectors = [QuestionVectors(whole=row) for row in embeddings]
        if self.exported.needs_words:
            names = [
                start.names(text, graph)
                for text, start, graph in zip(texts, starts, graphs, strict=True)
            ]
            vectors = self._word_vectors.beside(vectors, texts, names)
        relations = [table.relations for table in embedded]

        def score(
            rows: Sequence[int], of_rows: Sequence[Candidates | None]
        ) -> list[Scores]:
            tables = [relations[i] for i in rows]
            largest = self.cut.candidates
            picked = [vectors[i] for i in rows]
            return score_questions(self.exported, picked, of_rows, tables, largest)

        scored = [
            ScoredQuestion(
                text=texts[i],
                graph=graphs[i],
                start=starts[i],
                candidates=candidates[i],
                scores=scores,
            )
            for i, scores in enumerate(score(range(n), candidates))
        ]
        walkers = walkers_of(self.exported)
        if walkers:
            scale, least = self.exported.answer_scale, selection.min_probability
            scored = with_answers(scored, score, scale, least)
        results = [
            each.result(budget, selection, calibration, walkers)
            for each, budget in zip(scored, ks, strict=True)
        ]
        for i, result in enumerate(results):
            if calibration is not None:
                made_on = self._calibration_graph(graphs[i])
                noted = {**result.selection, "calibration_graph": made_on}
                results[i] = result = dataclasses.replace(result, selection=noted)
            if topics[i] is None and not len(starts[i].ids) and len(graphs[i]):
                results[i] = nearest_triplets(
                    *(result, graphs[i], linker_of(graphs[i]), embedded[i]),
                    *(embeddings[i], ks[i], selection),
                )
        return [
            with_provenance(each, graph)
            for each, graph in zip(results, sources, strict=True)
        ]

    @overload
    def merged(self, graphs: KnowledgeGraph | Graphs) -> KnowledgeGraph: ...
    @overload
    def merged(self, graphs: GraphOrStore | Graphs) -> GraphOrStore: ...
    def merged(self, graphs: GraphOrStore | Graphs) -> GraphOrStore:
        """Several graphs as one, see ``graph.merge``; one graph, or store, as it is.

        The graphs that were last asked together are merged but once.

        Raises:
            UserError: there is no graph, or something else is among them.
        """
        if not isinstance(graphs, Mapping | list | tuple):
            return cast(GraphOrStore, graphs)  # checked where it is used
        key = tuple((name, id(graph)) for name, graph in graph_names(graphs))
        with self._merging:
            if key not in self._merged:
                if len(self._merged) >= MERGED:
                    self._merged.pop(next(iter(self._merged)))
                self._merged[key] = merge_graphs(graphs, self.encoder)
            return self._merged[key]

    def link(self, question: str, graph: KnowledgeGraph) -> list[Link]:
        """The topics of ``question`` in ``graph``, likeliest first."""
        return linker_of(graph).link(question) if len(graph.entities) else []

    def encode(self, questions: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, or of words, as in preparation.

        Calls of several threads are coalesced.
        """
        identity = self.encoder.identity
        texts = [identity.query_prefix + question_text(text) for text in questions]
        rows = self._embed(texts)
        return np.array(rows, np.float16).reshape(len(texts), identity.dimension)

    def _store_graph(
        self,
        store: Store,
        question: str,
        embedding: Float16[np.ndarray, "d"],
        topics: Topics,
    ) -> KnowledgeGraph:
        """The part of a store that the question needs."""
        from kgscout_jax.inference.store_graph import store_graph

        cache = EmbeddingCache(self.encoder, self.cache)
        with encoder_lock(self.encoder):
            return store_graph(
                store, question, embedding, topics, cache.embed, self.cut.hops
            )

    def _calibration_graph(self, graph: KnowledgeGraph) -> str:
        """Whether the calibration was made on this graph; warns once if it was not."""
        counts = {
            "entities": len(graph.entities),
            "relations": len(graph.relations),
            "triplets": len(graph),
        }
        found = calibration_graph(self.exported, counts)
        if found != "same" and counts != self._warned_counts:
            self._warned_counts = counts
            logger.warning(
                "--target: %s was calibrated on %s graph; here the probability that an "
                "answer is among the triplets may differ",
                *(
                    self.exported.path,
                    "another" if found == "another" else "an unnamed",
                ),
            )
        return found

    def _start(
        self, question: str, graph: KnowledgeGraph, topics: Topics
    ) -> SearchStart:
        if topics is None:
            links = tuple(self.link(question, graph))
            ids = np.array([link.entity for link in links], np.int32)
            return SearchStart(ids, links, ())
        names = [topics] if isinstance(topics, str) else list(topics)
        for name in names:
            if not isinstance(name, str):
                raise UserError(f"topics: found {name!r}, expected names of entities")
        unknown = [name for name in names if graph.find(name) is None]
        ids = graph.find_all(names) if len(graph.entities) else np.empty(0, np.int32)
        return SearchStart(ids, (), tuple(dict.fromkeys(unknown)))


def cut_of(preparation: Preparation, source: str) -> CutSettings:
    """The settings of the cut for a policy: those of its training.

    If training questions had their own subgraphs (``source`` is rog or nsm), radius and
    size are the defaults.
    """
    values = dataclasses.asdict(preparation)
    if preparation.hops is None:
        values["hops"] = CutSettings.hops
    if preparation.max_triplets is None and source in OWN_SUBGRAPHS:
        values["max_triplets"] = CutSettings.max_triplets
    return CutSettings(**values)


def checked_graphs(
    graphs: GraphOrStore | Iterable[GraphOrStore], n: int
) -> list[GraphOrStore]:
    """A graph for each of ``n`` questions; raises UserError for anything else."""
    if isinstance(graphs, KnowledgeGraph | Store):
        return [graphs] * n
    path = isinstance(graphs, str | os.PathLike) or not isinstance(graphs, Iterable)
    listed: list[Any] = [graphs] if path else list(graphs)
    for each in listed:
        if not isinstance(each, KnowledgeGraph | Store):
            raise UserError(
                f"graph: expected a KnowledgeGraph, found {each!r:.80}; "
                "KnowledgeGraph.open(path) opens a folder or file"
            )
    return listed


def walkers_of(exported: Exported) -> int:
    """The number of walkers of a policy with an answer head, else 0."""
    config = exported.config
    return config.walkers if isinstance(config, WalkConfig) and config.answers else 0


def linker_of(graph: KnowledgeGraph) -> Linker:
    """The graph's linker, created once."""
    from kgscout_jax.graph.link.graph_index import graph_linker

    return graph.linker.get(lambda: graph_linker(graph))


def check_topics(graph: GraphOrStore, topics: Sequence[str]) -> None:
    """Raise UserError, with similar names, if a topic is not in the graph."""
    for name in topics:
        near: Sequence[Link | NodeMatch] = ()
        if not isinstance(graph, KnowledgeGraph):
            if graph.relations([name]):
                continue
            near = graph.nodes_by_text(name, 3)
        elif graph.find(name) is not None:
            continue
        elif len(graph.entities):
            near = linker_of(graph).ranking(name, 3)
        names = ", ".join(repr(each.name[:80]) for each in near)
        raise UserError(
            f"--topic: no entity of the graph is called {name[:80]!r}; "
            + (f"similar: {names}" if names else "none is similar")
        )


def budgets_of(k: int | Sequence[int], n: int) -> list[int]:
    """The budget of each of ``n`` questions.

    Raises:
        UserError: one is no whole number from 1.
    """
    if isinstance(k, Sequence) and not isinstance(k, str):
        each: list[int] = list(k)
        for budget in each:
            check_k(budget)
        return each
    check_k(k)
    return [cast(int, k)] * n


def check_k(k: object) -> None:
    """Raise UserError unless ``k`` is a whole number from 1."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise UserError(f"k: found {k!r}, expected a whole number from 1")


def check_question(question: object) -> str:
    """The question as text that can be encoded.

    Raises:
        UserError: it is not a string, or is empty.
    """
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"question: found {question!r}, expected some text")
    return replace_surrogates(question)
