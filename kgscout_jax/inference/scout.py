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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from jaxtyping import Float16

from kgscout_jax.errors import UserError
from kgscout_jax.export.format import Preparation
from kgscout_jax.export.load import Exported
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.asked_relations import without_asked_relations
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.graph.link.languages import with_languages
from kgscout_jax.graph.merge import Graphs
from kgscout_jax.inference.answer_kinds import asks_yes_no
from kgscout_jax.inference.arguments import (
    budgets_of,
    check_lengths,
    check_question,
    check_type,
    checked_graphs,
    checked_hypotheses,
    listed,
)
from kgscout_jax.inference.class_topics import without_own_classes
from kgscout_jax.inference.code_topics import with_code_owners
from kgscout_jax.inference.described_steps import with_descriptions
from kgscout_jax.inference.kept_products import KeptProducts
from kgscout_jax.inference.merged_graphs import MergedGraphs
from kgscout_jax.inference.nearest import nearest_triplets
from kgscout_jax.inference.query import Query
from kgscout_jax.inference.question_encoder import QuestionEncoder
from kgscout_jax.inference.question_result import question_result
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scored_questions import scored_questions
from kgscout_jax.inference.scoring import walkers_of
from kgscout_jax.inference.search import Searcher
from kgscout_jax.inference.selection import SelectionConfig, calibration_graph
from kgscout_jax.inference.settings import DEFAULT_K
from kgscout_jax.inference.sources import with_provenance
from kgscout_jax.inference.spelled_question import SpelledQuestion, spelled_question
from kgscout_jax.inference.topics import Topics
from kgscout_jax.inference.two_steps import in_two_steps
from kgscout_jax.policy.registry import is_general
from kgscout_jax.retrieve.candidates import CutSettings
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.text.encoder import QUESTION_BATCH, SentenceEncoder
from kgscout_jax.text.value_question_parser import offers_choice
from kgscout_jax.types import Answer
from kgscout_jax.utils.sources import OWN_SUBGRAPHS
from kgscout_jax.utils.turns import interpreter_turn

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link

logger = logging.getLogger("kgscout")

BEST_K = SelectionConfig()
"""The k best, best first."""
STEP_BATCH = 32
"""Questions in steps at one time: each has up to a dozen, with a thousand candidates
each."""


class Scout:
    """A trained policy with its encoder; safe to use from many threads at once."""

    def __init__(
        self,
        exported: Exported,
        encoder: SentenceEncoder | None = None,
        *,
        cut: CutSettings | None = None,
        cache: Path | None = None,
        keep_products: bool = False,
        joint_encoding: bool = False,
    ) -> None:
        """
        Args:
            exported: the policy.
            encoder: the policy's encoder; None loads it.
            cut: settings of subgraphs and candidates; None for those of the training.
            cache: folder for embeddings of graphs that are not embedded; default
                $KGSCOUT_CACHE or ~/.cache/kgscout.
            keep_products: keep products of embeddings and weights in memory, 1.5 kB a
                triplet that was a candidate: the network takes a third less time.
            joint_encoding: encode questions that come together, in ``retrieve_many``
                or from several threads, in one pass of up to 16. They take two fifths
                of the encoder's time; embeddings then depend on who else asks, in
                their last bits. On accelerators scores do either way.

        Raises:
            UserError: the encoder differs from the policy's, or cannot be loaded; or
                products are to be kept of a network whose products depend on the
                question (``walk``).
        """
        trained = exported.encoder
        encoder = encoder or SentenceEncoder(
            trained.name, backend=trained.backend, near=False
        )
        if (identity := getattr(encoder, "identity", None)) is None:
            raise UserError(f"encoder: found {encoder!r:.80}, expected an encoder")
        # A policy reads every text version.
        for name in ("weights_sha256", "dimension"):
            found, expected = getattr(identity, name), getattr(trained, name)
            if found != expected:
                raise UserError(
                    f"encoder {identity.name}: {name} is {str(found)[:12]}, expected "
                    f"{str(expected)[:12]} as of {trained.name}, which {exported.path} "
                    "was trained with"
                )
        self._warned_counts: dict[str, int] = {}
        self._warned_budgets: set[int] = set()
        self.exported, self.encoder, self.cache = exported, encoder, cache
        source = str(exported.metadata["training"].get("source"))
        self.cut = cut or cut_of(exported.preparation, source)
        self.products = KeptProducts(exported) if keep_products else None
        self._merged = MergedGraphs(encoder)
        self._searcher = Searcher(
            questions=QuestionEncoder(encoder, joint=joint_encoding),
            cut=self.cut,
            cache=cache,
            needs_words=exported.needs_words,
            compares_values=exported.has_answers,
        )

    def __repr__(self) -> str:
        kind = "answers" if self.exported.has_answers else "evidence only"
        return f"Scout({str(self.exported.path)!r}: {kind}, {self.encoder.name})"

    @property
    def joint_encoding(self) -> bool:
        """Whether questions that come together are encoded in one pass."""
        return self._searcher.questions.joint

    @staticmethod
    def from_pretrained(
        name_or_path: Path | str | None = None,
        *,
        revision: str | None = None,
        encoder: SentenceEncoder | None = None,
        verify: bool = True,
        keep_products: bool = False,
        joint_encoding: bool = False,
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
        scout = Scout(
            exported,
            encoder,
            keep_products=keep_products,
            joint_encoding=joint_encoding,
        )
        with scout.encoder.lock:
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
        questions = listed("questions", questions)
        check_type("selection", selection, SelectionConfig)
        selection.check(self.exported)
        n = len(questions)
        budgets = budgets_of(k, n)
        sources = checked_graphs(self._one_each(graphs), n)
        topics = [None] * n if topics is None else listed("topics", topics)
        if hypotheses is not None:
            hypotheses = checked_hypotheses(hypotheses, n)
        check_lengths(n, graphs=sources, topics=topics, k=budgets)
        texts = [check_question(question) for question in questions]
        with interpreter_turn():
            spelled = self._spelled(texts, sources, topics)
            right = [each.right for each in spelled]
            parts = zip(right, sources, budgets, topics, strict=True)
            queries = [Query(*each) for each in parts]
            results = self._retrieve(queries, hypotheses, selection)
            pairs = zip(spelled, results, strict=True)
            return [each.result(result) for each, result in pairs]

    def _spelled(
        self,
        texts: Sequence[str],
        sources: Sequence[GraphOrStore],
        topics: Sequence[Topics],
    ) -> list[SpelledQuestion]:
        """How each question is read: by a general policy without misspelt words."""
        if not is_general(self.exported.config):
            return [SpelledQuestion(text=text) for text in texts]
        parts = zip(texts, sources, topics, strict=True)
        return [spelled_question(*each, self.link) for each in parts]

    def _retrieve(
        self,
        queries: Sequence[Query],
        hypotheses: Sequence[Sequence[str]] | None,
        selection: SelectionConfig,
    ) -> list[RetrievalResult]:
        """See ``retrieve_many``; arguments are checked, one per question."""
        least = selection.min_probability
        least = self.exported.answer_scale.abstention if least is None else least

        def first(queries: Sequence[Query]) -> list[RetrievalResult]:
            return self._retrieve_each(queries, None, BEST_K)

        def step(queries: Sequence[Query]) -> list[RetrievalResult]:
            starts = range(0, len(queries), STEP_BATCH)
            batches = [queries[i : i + STEP_BATCH] for i in starts]
            return [
                result
                for batch in batches
                for result in self._retrieve_each(batch, None, selection)
            ]

        def last(queries: Sequence[Query]) -> list[RetrievalResult]:
            return self._retrieve_each(queries, hypotheses, selection)

        if not walkers_of(self.exported):
            return last(queries)
        results = in_two_steps(queries, first, last, self.link, least)
        if not is_general(self.exported.config) or not selection.is_joinable:
            return results
        return with_descriptions(queries, results, step, self.link, least)

    def _retrieve_each(
        self,
        queries: Sequence[Query],
        hypotheses: Sequence[Sequence[str]] | None,
        selection: SelectionConfig,
    ) -> list[RetrievalResult]:
        """The results of questions of one step, see ``_retrieve``."""
        texts = [query.text for query in queries]
        sources = [query.graph for query in queries]
        topics = [query.topics for query in queries]
        calibration = selection.calibration(self.exported)
        searches = self._searcher.searches(
            texts, sources, topics, hypotheses, self.link
        )
        scored = scored_questions(
            self.exported,
            searches,
            largest=self.cut.candidates,
            min_probability=selection.min_probability,
            products=self.products,
        )
        walkers = walkers_of(self.exported)
        results = [
            question_result(each, query.budget, selection, calibration, walkers)
            for each, query in zip(scored, queries, strict=True)
        ]
        self._warn_of_budget(results, selection.token_budget)
        for i, (result, search) in enumerate(zip(results, searches, strict=True)):
            if calibration is not None:
                made_on = self._calibration_graph(search.graph)
                noted = {**result.selection, "calibration_graph": made_on}
                results[i] = result = dataclasses.replace(result, selection=noted)
            if topics[i] is None and search.finds_nothing:
                results[i] = nearest_triplets(
                    result, search, queries[i].budget, selection
                )
        return [
            with_provenance(each, graph)
            for each, graph in zip(results, sources, strict=True)
        ]

    def _one_each(self, graphs: Any) -> Any:
        """The graph, or that of each question, with several graphs merged."""
        if isinstance(graphs, Mapping):
            return self.merged(graphs)
        if isinstance(graphs, list | tuple):
            return [self.merged(each) for each in graphs]
        return graphs

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
        return self._merged.get(graphs)

    def link(self, question: str, graph: KnowledgeGraph) -> list[Link]:
        """The topics of ``question`` in ``graph``, likeliest first.

        Raises:
            UserError: ``question`` is not text, or ``graph`` not a graph in memory.
        """
        check_type("question", question, str)
        check_type("graph", graph, KnowledgeGraph)
        if not len(graph.entities):
            return []
        both = asks_yes_no(question) or offers_choice(question)
        links = linker_of(graph).link(question, statement=both)
        links = without_asked_relations(question, links, lambda: graph.relation_index)
        links = without_own_classes(question, links, graph)
        links = with_languages(question, links, graph)
        return with_code_owners(question, links, graph)

    def encode(self, questions: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, or of words, as in preparation.

        Calls of several threads are coalesced.

        Raises:
            UserError: they are no list of strings.
        """
        return self._searcher.questions.encode(listed("questions", questions, str))

    def _warn_of_budget(
        self, results: Sequence[RetrievalResult], budget: int | None
    ) -> None:
        """Warn once of a budget of tokens that does not hold a question's best."""
        if budget is None or budget in self._warned_budgets:
            return
        for each in results:
            if each.n_candidates and not each.triplets:
                self._warned_budgets.add(budget)
                logger.warning(
                    "--token-budget %d: not even the best triplet fits for %r, and "
                    "perhaps others",
                    *(budget, each.question[:80]),
                )
                return

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
