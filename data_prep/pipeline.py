"""A data set to a folder of shards, in phases; a killed run goes on where it was.

Order of work: load and link names, embed questions and relation phrases, cut the
subgraphs, embed the triplets that survive, choose candidates, assemble, write.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from data_prep.accounting import survival
from data_prep.assemble import Kept, assemble_split
from data_prep.chunks import Arrays, Linked, choose_chunk, cosines, cut_chunk
from data_prep.settings import PrepSettings
from data_prep.shards import (
    discard,
    write_manifest,
    write_split,
    write_tables,
    written_fingerprint,
)
from data_prep.sources import load_source
from data_prep.sources.base import Loaded
from data_prep.work import Workspace, fingerprint, writing
from kgscout_jax.errors import UserError
from kgscout_jax.files import sha256_file
from kgscout_jax.graph.store import KnowledgeGraph
from kgscout_jax.progress import progress
from kgscout_jax.records import Question, entity_key
from kgscout_jax.shards import SPLITS, Shards
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize, question_text, relation_phrase

logger = logging.getLogger("kgscout")

CHUNK = 32
"""Questions per piece of work: what a killed run may have to do again."""


@dataclass(frozen=True)
class LinkedSplit:
    """The questions of a split that are kept, with their names resolved."""

    questions: list[Question]
    linked: list[Linked]
    notes: dict[str, int]


def prepare(settings: PrepSettings) -> Shards:
    """The shards that ``settings`` asks for, written unless they are already there.

    Raises:
        UserError: bad input, or the folder holds shards of other settings.
    """
    with writing(settings.out):
        return _prepare(settings)


def _prepare(settings: PrepSettings) -> Shards:
    clock = Clock()
    out = settings.out
    loaded = load_source(settings.source, settings.input, settings.kg)
    graph = loaded.graph
    if not len(graph.triplets):
        raise UserError(f"{_input_of(settings)}: the graph is empty, no triplet found")
    encoder = SentenceEncoder(settings.encoder)
    about: dict[str, Any] = {
        "source": settings.source,
        "settings": settings.to_manifest(),
        "encoder": encoder.identity.to_dict(),
        # A list: the order of triplet files decides ids, and two may share a name.
        "sources": [
            *({"file": f.name, "sha256": sha256_file(f)} for f in loaded.files),
            *({"package": k, "version": v} for k, v in loaded.versions.items()),
        ],
    }
    mark = fingerprint(about)
    if (out / "manifest.json").exists() and not settings.overwrite:
        if written_fingerprint(out) == mark:
            shards = Shards.open(out)
            Workspace(out, mark).remove()  # left by a run killed in its last moment
            logger.info("%s: already prepared with these settings", out)
            return shards
        raise UserError(
            f"{out}: holds shards of another source or other settings; "
            "choose another folder or give --overwrite"
        )
    discard(out)
    work = Workspace(out, mark)
    splits = {
        name: link(loaded, name, settings)
        for name in SPLITS
        if name in loaded.questions
    }
    clock.lap("load")

    cache = EmbeddingCache(encoder, settings.cache)
    prefix = encoder.identity
    embedded = {
        name: cache.embed(
            [prefix.query_prefix + question_text(q.text) for q in split.questions],
            what=f"{name} questions",
        )
        for name, split in splits.items()
    }
    clock.lap("embed questions")
    cuts = {
        name: cut_split(name, split, graph, work, settings)
        for name, split in splits.items()
    }
    clock.lap("cut subgraphs")
    table_ids = np.unique(
        np.concatenate(
            [c["triplet_ids"] for chunks in cuts.values() for c in chunks]
            or [np.empty(0, np.int32)]
        )
    )
    texts = [prefix.document_prefix + linearize(graph.triplet(i)) for i in table_ids]
    table = cache.embed(texts, what="triplets")
    clock.lap("embed triplets")
    chosen = {
        name: choose_split(
            name, split, cuts[name], embedded[name], (table_ids, table), graph, work,
            settings,
        )
        for name, split in splits.items()
    }  # fmt: skip
    clock.lap("choose candidates")

    kept = Kept.of(graph, [c for chunks in chosen.values() for c in chunks])
    relations = [graph.relations[int(i)] for i in kept.relations]
    phrases = [prefix.document_prefix + relation_phrase(r) for r in relations]
    write_tables(
        out,
        entities=[graph.entities[int(i)] for i in kept.entities],
        relations=relations,
        triplets=kept.renumbered(graph),
        triplet_embeddings=table[np.searchsorted(table_ids, kept.triplets)],
        relation_embeddings=cache.embed(phrases, what="relations"),
    )
    counts: dict[str, Any] = {}
    for name, split in splits.items():
        # Both have "ppr": that of the candidates wins.
        merged = [{**a, **b} for a, b in zip(cuts[name], chosen[name], strict=True)]
        assembled = assemble_split(
            name, split.questions, split.linked, embedded[name], merged, graph, kept
        )
        write_split(out, assembled)
        counts[name] = {
            "questions": len(assembled),
            **split.notes,
            "candidates": int(assembled.n_real.sum()),
            "width": int(assembled.candidates.shape[1]),
            "survival": survival(assembled),
        }
    clock.lap("write")
    about |= {
        "fingerprint": mark,
        "graph": {
            "entities": len(graph.entities),
            "relations": len(graph.relations),
            "triplets": len(graph.triplets),
            "duplicates_dropped": graph.duplicates,
            **loaded.notes,
        },
        "splits": counts,
        "missing_splits": [name for name in SPLITS if name not in splits],
        "embeddings": {"from_cache": cache.hits, "computed": cache.misses},
        "seconds": clock.laps,
    }
    write_manifest(out, list(splits), about)
    work.remove()
    return Shards.open(out)


def _input_of(settings: PrepSettings) -> str:
    return ", ".join(map(str, settings.kg)) or str(settings.input or settings.source)


def link(loaded: Loaded, name: str, settings: PrepSettings) -> LinkedSplit:
    """The questions of a split with their names resolved; unusable training ones go.

    Training questions without an answer in their graph are dropped and counted (thesis
    4.1); those of other splits never are.
    """
    graph = loaded.graph
    own = loaded.subgraphs[name] if loaded.subgraphs is not None else None
    questions: list[Question] = []
    linked: list[Linked] = []
    notes = {"read": len(loaded.questions[name]), "dropped_without_answer": 0}
    for i, question in enumerate(loaded.questions[name]):
        names = [*question.answers, *(question.answer_entities or ())]
        record = Linked(
            topics=graph.find_all(question.topics),
            answers=graph.find_all(names),
            subgraph=None if own is None else own[i],
        )
        if record.subgraph is not None:
            inside = graph.triplets[record.subgraph][:, [0, 2]]
            record = Linked(
                topics=record.topics[np.isin(record.topics, inside)],
                answers=record.answers[np.isin(record.answers, inside)],
                subgraph=record.subgraph,
            )
        if name == "train" and not len(record.answers):
            notes["dropped_without_answer"] += 1
            continue
        questions.append(question)
        linked.append(record)
    size = settings.train_questions if name == "train" else None
    size = min(filter(None, (size, settings.limit)), default=None)
    if size is not None and size < len(questions):
        seed = [settings.seed, SPLITS.index(name)]
        rows = np.random.default_rng(seed).choice(len(questions), size, replace=False)
        rows.sort()
        questions = [questions[i] for i in rows]
        linked = [linked[i] for i in rows]
    asked = sum(len(set(map(entity_key, q.topics))) for q in questions)
    notes |= {
        "without_topic": sum(not len(record.topics) for record in linked),
        "without_answer_in_graph": sum(not len(record.answers) for record in linked),
        "topics_not_found": asked - sum(len(record.topics) for record in linked),
    }
    return LinkedSplit(questions, linked, notes)


def cut_split(
    name: str,
    split: LinkedSplit,
    graph: KnowledgeGraph,
    work: Workspace,
    settings: PrepSettings,
) -> list[Arrays]:
    """The cut subgraphs of a split, a piece per chunk."""
    pieces = []
    with progress(len(split.linked), f"cutting subgraphs, {name}", "questions") as bar:
        for low in range(0, len(split.linked) or 1, CHUNK):
            part = split.linked[low : low + CHUNK]
            piece = work.piece(
                f"cut-{name}-{low:07d}", lambda p=part: cut_chunk(graph, p, settings)
            )
            pieces.append(piece)
            bar.update(len(part))
    return pieces


def choose_split(
    name: str,
    split: LinkedSplit,
    cuts: Sequence[Arrays],
    embeddings: np.ndarray,
    table: tuple[np.ndarray, np.ndarray],
    graph: KnowledgeGraph,
    work: Workspace,
    settings: PrepSettings,
) -> list[Arrays]:
    """The candidates of a split, a piece per chunk."""
    pieces = []
    with progress(
        len(split.linked), f"choosing candidates, {name}", "questions"
    ) as bar:
        for i, cut in enumerate(cuts):
            here = slice(i * CHUNK, (i + 1) * CHUNK)
            part = split.linked[here]

            def make(cut=cut, part=part, here=here) -> Arrays:
                cosine = cosines(cut, embeddings[here], *table)
                return choose_chunk(graph, part, cut, cosine, settings.candidates)

            pieces.append(work.piece(f"choose-{name}-{i * CHUNK:07d}", make))
            bar.update(len(part))
    return pieces


class Clock:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """The time since the last lap was spent on ``name``."""
        now = time.monotonic()
        self.laps[name] = round(now - self._last, 3)
        self._last = now
