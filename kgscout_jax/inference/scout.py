"""KG-Scout at work: questions and a graph in, the triplets worth reading out.

    scout = Scout.from_pretrained("OUT")
    graph = KnowledgeGraph.open("GRAPH")
    graph.embed(scout.encoder)
    found = scout.retrieve("Who directed Heat?", graph, k=100)

The way from a question to its scores is that of preparation and evaluation: the same
strings are embedded, ``retrieve.candidates`` cuts and chooses, the same network scores.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float16, Float32, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.export.load import Exported, Preparation
from kgscout_jax.graph.embedding_texts import encodable
from kgscout_jax.graph.embeddings import Embeddings, embeddings_of, encoder_lock
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.inputs import Candidates, inputs_of, places_of
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.retrieve.candidates import (
    CutSettings,
    cut_questions,
    relation_cosines,
    select_rows,
    triplet_cosines,
)
from kgscout_jax.retrieve.protocol import top_k
from kgscout_jax.text.encoder import QUESTION_BATCH, SentenceEncoder
from kgscout_jax.text.linearize import question_text
from kgscout_jax.utils.call_coalescing import CallCoalescer

if TYPE_CHECKING:
    from kgscout_jax.graph.link import Link, Linker

BATCH = 16
"""Questions that the network scores together, at most."""
OWN_SUBGRAPHS = ("rog", "nsm")
"""Sources whose questions brought their subgraph: their size is no guide elsewhere."""

BEST_K = SelectionConfig()
"""The k best, best first."""

Topics = str | Sequence[str] | None


@dataclass(frozen=True)
class Start:
    """Where the search for one question starts."""

    ids: Int32[np.ndarray, "t"]
    links: tuple[Link, ...]
    lost: tuple[str, ...]


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
            encoder: None for the one it was trained with.
            cut: how subgraphs and candidates are made; None as in training.
            cache: where embeddings of graphs that are not embedded are kept; default
                $KGSCOUT_CACHE or ~/.cache/kgscout.

        Raises:
            UserError: the encoder is another than the policy's, or cannot be had.
        """
        wanted = exported.encoder
        encoder = encoder or SentenceEncoder(wanted.name, backend=wanted.backend)
        found = encoder.identity
        for name in ("weights_sha256", "dimension", "text_version"):
            if getattr(found, name) != getattr(wanted, name):
                raise UserError(
                    f"encoder {found.name}: {name} is {str(getattr(found, name))[:12]},"
                    f" expected {str(getattr(wanted, name))[:12]} as of {wanted.name}, "
                    f"which {exported.path} was trained with"
                )
        self.exported, self.encoder, self.cache = exported, encoder, cache
        self._embed = CallCoalescer(
            lambda texts: self.encoder.encode(texts, batch_size=QUESTION_BATCH),
            encoder_lock(encoder),
        )
        source = str(exported.about["training"].get("source"))
        self.cut = cut or cut_of(exported.preparation, source)

    @staticmethod
    def from_pretrained(
        name_or_path: Path | str,
        *,
        revision: str | None = None,
        encoder: SentenceEncoder | None = None,
        verify: bool = True,
    ) -> Scout:
        """The scout of an exported policy: a folder, or owner/name on the hub.

        The encoder is loaded too, which takes seconds. Compiled functions are kept in
        JAX's cache on disk (``$KGSCOUT_CACHE/jax``) unless JAX was given another.

        Raises:
            UserError: there is no such export, it is damaged, or its encoder cannot be
                had.
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

    # --- what people call

    def retrieve(
        self,
        question: str,
        graph: KnowledgeGraph,
        k: int = 100,
        *,
        topics: Topics = None,
        selection: SelectionConfig = BEST_K,
    ) -> RetrievalResult:
        """The ``k`` triplets of ``graph`` most worth reading for ``question``.

        Args:
            question: as people ask it.
            graph: in memory or memory-mapped; ``graph.embed(scout.encoder)`` first
                makes this fast.
            k: how many triplets at most.
            topics: the entities it is about, by name; None: they are linked.
            selection: a calibrated budget, paths, a budget of tokens.

        Raises:
            UserError: ``question`` or ``topics`` are no text, k is below 1, or the
                graph's embeddings are damaged.
        """
        return self.retrieve_many(
            [question], graph, k, topics=[topics], selection=selection
        )[0]

    def retrieve_many(
        self,
        questions: Sequence[str],
        graphs: KnowledgeGraph | Sequence[KnowledgeGraph],
        k: int = 100,
        *,
        topics: Sequence[Topics] | None = None,
        selection: SelectionConfig = BEST_K,
    ) -> list[RetrievalResult]:
        """What ``retrieve`` finds for each question, encoded and scored in batches.

        Args:
            questions: as people ask them.
            graphs: one for all, or one for each question.
            k: how many triplets at most.
            topics: for each question its entities, or None; None: all are linked.
            selection: a calibrated budget, paths, a budget of tokens.

        Raises:
            UserError: as ``retrieve``, or the lengths differ.
        """
        if isinstance(questions, str):
            raise UserError("questions: found one string, expected a list of them")
        if isinstance(k, bool) or not isinstance(k, int) or k < 1:
            raise UserError(f"k: found {k!r}, expected a whole number from 1")
        calibration = selection.calibration(self.exported)
        each = (
            [graphs] * len(questions)
            if isinstance(graphs, KnowledgeGraph)
            else list(graphs)
        )
        given = [None] * len(questions) if topics is None else list(topics)
        for name, values in (("graphs", each), ("topics", given)):
            if len(values) != len(questions):
                raise UserError(
                    f"{name}: found {len(values)}, expected {len(questions)}, one for "
                    "each question"
                )
        texts = [checked(question) for question in questions]
        started = [self._start(*args) for args in zip(texts, each, given, strict=True)]
        embeddings = self.encode(texts)
        places: dict[int, list[int]] = {}
        for i, graph in enumerate(each):
            places.setdefault(id(graph), []).append(i)
        candidates: list[Candidates | None] = [None] * len(questions)
        for rows in places.values():
            graph = each[rows[0]]
            source = embeddings_of(graph, self.encoder, cache=self.cache)
            for i in rows:
                candidates[i] = self.candidates(
                    graph, source, embeddings[i : i + 1], started[i].ids
                )
        scored = self._scored(embeddings, each, candidates)
        depth = selection.depth(k)
        best = [
            self._found(texts[i], each[i], started[i], candidates[i], *scored[i], depth)
            for i in range(len(questions))
        ]
        return [
            selection.of(found, k, logits, calibration)
            for found, (logits, _) in zip(best, scored, strict=True)
        ]

    def link(self, question: str, graph: KnowledgeGraph) -> list[Link]:
        """The entities of ``graph`` that ``question`` is about, likeliest first."""
        return linker_of(graph).link(question) if len(graph.entities) else []

    def encode(self, questions: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, as preparation makes them.

        Threads that wait for the encoder are served together.
        """
        identity = self.encoder.identity
        texts = [identity.query_prefix + question_text(text) for text in questions]
        rows = self._embed(texts)
        return np.array(rows, np.float16).reshape(len(texts), identity.dimension)

    # --- steps

    def _start(self, question: str, graph: KnowledgeGraph, topics: Topics) -> Start:
        if topics is None:
            links = tuple(self.link(question, graph))
            ids = np.array([link.entity for link in links], np.int32)
            return Start(ids, links, ())
        names = [topics] if isinstance(topics, str) else list(topics)
        for name in names:
            if not isinstance(name, str):
                raise UserError(f"topics: found {name!r}, expected names of entities")
        lost = [name for name in names if graph.find(name) is None]
        ids = graph.find_all(names) if len(graph.entities) else np.empty(0, np.int32)
        return Start(ids, (), tuple(dict.fromkeys(lost)))

    def candidates(
        self,
        graph: KnowledgeGraph,
        source: Embeddings,
        embedding: Float16[np.ndarray, "1 d"],
        topics: Int32[np.ndarray, "t"],
    ) -> Candidates | None:
        """The candidates of one question, None where there are none."""
        if not len(topics) or not len(graph.triplets):
            return None
        start = time.perf_counter()
        likeness = relation_cosines(embedding, source.relations_float32)
        cut = cut_questions(graph, [topics], likeness, self.cut)
        if not len(cut.triplet_ids):
            return None
        rows = source.rows(cut.triplet_ids)
        cosine = triplet_cosines(cut.blocks, np.arange(len(rows)), embedding, rows)
        if not np.isfinite(cosine).all():  # of a row that is not, neither is its cosine
            source.check_finite()
            raise UserError("the question's embedding is not finite")
        keep = select_rows(
            cut.blocks,
            cut.triplet_ids,
            cosine,
            cut.scores,
            candidates=self.cut.candidates,
            select=self.cut.select,
        )
        ids = cut.triplet_ids[keep]
        chosen = np.asarray(graph.triplets[ids])
        relation = chosen[:, 1]
        nodes, places = places_of(chosen, topics)
        unique, index = np.unique(relation, return_inverse=True)
        return Candidates(
            ids=ids,
            triplets=rows[keep],
            ppr=cut.ppr[keep].astype(np.float32),
            relations=unique,
            relation_index=index,
            nodes=nodes,
            topics=places,
            relation_match=likeness[0, relation],
            seconds=time.perf_counter() - start,
        )

    def _scored(
        self,
        embeddings: Float16[np.ndarray, "b d"],
        graphs: Sequence[KnowledgeGraph],
        candidates: Sequence[Candidates | None],
    ) -> list[tuple[Float32[np.ndarray, "n"], float]]:
        """Logits of each question's candidates, and the seconds they took."""
        out = [(np.empty(0, np.float32), 0.0)] * len(candidates)
        real = [(len(c.ids), i) for i, c in enumerate(candidates) if c is not None]
        order = [i for _, i in sorted(real)]
        for low in range(0, len(order), BATCH):
            rows = order[low : low + BATCH]
            start = time.perf_counter()
            relations = [
                embeddings_of(graphs[i], self.encoder, cache=self.cache).relations
                for i in rows
            ]
            some = [c for i in rows if (c := candidates[i]) is not None]
            inputs = inputs_of(embeddings[rows], some, relations, self.cut.candidates)
            logits = np.asarray(self.exported.logits(inputs))
            spent = (time.perf_counter() - start) / len(rows)
            for i, c, row in zip(rows, some, logits, strict=False):
                out[i] = row[: len(c.ids)], spent + c.seconds
        return out

    def _found(
        self,
        question: str,
        graph: KnowledgeGraph,
        start: Start,
        candidates: Candidates | None,
        logits: Float32[np.ndarray, "n"],
        seconds: float,
        k: int,
    ) -> RetrievalResult:
        entities, relations = graph.entities, graph.relations
        about: dict[str, Any] = {
            "question": question,
            "topics": tuple(dict.fromkeys(entities[int(i)] for i in start.ids)),
            "links": start.links,
            "topics_not_found": start.lost,
        }
        if candidates is None:
            return RetrievalResult(**about, scores=np.empty(0, np.float32))
        ids = candidates.ids
        best, lengths = top_k(logits[None], np.ones((1, len(ids)), bool), ids[None], k)
        order = best[0, : lengths[0]]
        rows = np.asarray(graph.triplets[ids[order]]).tolist()
        names = {i: str(entities[i]) for h, _, t in rows for i in (h, t)}
        return RetrievalResult(
            **about,
            triplets=tuple((names[h], str(relations[r]), names[t]) for h, r, t in rows),
            scores=logits[order],
            relation_match=tuple(candidates.relation_match[order].tolist()),
            n_candidates=len(ids),
            seconds=seconds,
        )


def cut_of(preparation: Preparation, source: str) -> CutSettings:
    """The settings that a policy was trained with, for a graph of one's own.

    Where questions brought their own subgraphs (``source`` is rog or nsm), the defaults
    stand for the radius and the size that these had.
    """
    values = dataclasses.asdict(preparation)
    own = source in OWN_SUBGRAPHS
    if preparation.hops is None:
        values["hops"] = CutSettings.hops
    if preparation.max_triplets is None and own:
        values["max_triplets"] = CutSettings.max_triplets
    return CutSettings(**values)


def linker_of(graph: KnowledgeGraph) -> Linker:
    """The graph's linker, made once."""
    from kgscout_jax.graph.link.graph_index import graph_linker

    return graph.linker.get(lambda: graph_linker(graph))


def checked(question: object) -> str:
    """The question as text that every step can take.

    Raises:
        UserError: it is no string, or has nothing in it.
    """
    if not isinstance(question, str) or not question.strip():
        raise UserError(f"question: found {question!r}, expected some text")
    return encodable(question)
