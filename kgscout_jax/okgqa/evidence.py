"""The triplets that answers may build on: of any retriever, in any form.

The questions become a split of shards over the graph, so that every retriever of the
project ranks for them as it does in its evaluation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data_prep.driver import prepare
from data_prep.settings import PrepSettings
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.fit.stages import PREPARATION
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.okgqa.questions import OpenQuestion
from kgscout_jax.okgqa.settings import Form, OpenSettings
from kgscout_jax.reason.path_text import path_lines
from kgscout_jax.reason.prompts import Scored, triplet_words
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.prizes.retrievers import FORMS
from kgscout_jax.retrieve.protocol import Retriever
from kgscout_jax.retrieve.registry import RETRIEVERS, prize_retrievers
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import write_lines

SCOUT = "kgscout"
SPLIT = "test"


def check_retrievers(names: Sequence[str]) -> None:
    """Raises UserError where a name is no retriever's."""
    known = [SCOUT, *(name for name in RETRIEVERS if name != "ceiling"), *FORMS]
    for name in names:
        if name not in known:
            raise UserError(
                f"--retrievers: found {name!r}, expected some of {', '.join(known)}"
            )


@dataclass(frozen=True)
class Evidence:
    """The best triplets of every question by one retriever."""

    retriever: str
    triplets: list[list[Scored]]
    """Per question, best first."""
    topics: list[tuple[str, ...]]

    def text(self, i: int, form: Form) -> str:
        """What a prompt shows of question ``i``; "" without any triplet."""
        triplets, topics = self.triplets[i], self.topics[i]
        if not triplets:
            return ""
        if form == "paths":
            return "\n" + "\n".join(path_lines(triplets, topics))
        if form == "subgraph":
            return "\n" + subgraph_text(triplets, topics)
        return ", ".join(map(tuple_text, triplets))


def tuple_text(triplet: Scored) -> str:
    """A triplet as the paper's prompts show it (A.1.1).

    >>> tuple_text(("Lima", "location.capital_of", "Peru", 1.0))
    "('Lima', 'location capital of', 'Peru')"
    """
    words = (f"'{word}'" for word in triplet_words(triplet))
    return f"({', '.join(words)})"


def subgraph_text(triplets: Sequence[Scored], topics: Sequence[str]) -> str:
    """The connected part of some triplets around the topics, entity by entity.

    Triplets that no others connect with a topic are left out; where none is connected,
    all of them stay.

    >>> text = subgraph_text([("a", "r", "b", 1.0), ("x", "r", "y", 0.9),
    ...                       ("b", "s", "c", 0.5), ("a", "r", "d", 0.1)], ["A"])
    >>> print(text)
    - a: r b; r d
    - b: s c
    """
    reached = {entity_key(topic) for topic in topics}
    ends = [(entity_key(head), entity_key(tail)) for head, _, tail, _ in triplets]
    inside: set[int] = set()
    while True:
        new = {
            i for i, pair in enumerate(ends) if i not in inside and reached & {*pair}
        }
        if not new:
            break
        inside |= new
        reached |= {key for i in new for key in ends[i]}
    entities: dict[str, list[str]] = {}
    for i, triplet in enumerate(triplets):
        if i in inside or not inside:
            head, relation, tail = triplet_words(triplet)
            entities.setdefault(head, []).append(f"{relation} {tail}")
    return "\n".join(f"- {head}: {'; '.join(ties)}" for head, ties in entities.items())


def question_split(
    settings: OpenSettings, questions: Sequence[OpenQuestion], trained: TrainedPolicy
) -> tuple[Shards, Split, dict[str, int]]:
    """The questions as a split over the graph, and counts of linked entities.

    Entities are found by the first of their names in the graph; a question without any
    is linked by its text.

    Raises:
        UserError: the graph cannot be read.
    """
    graph = open_graph(settings.kg, {}, settings.read_options)
    folder = settings.out / "input"
    lines, counts = [], {"by_name": 0, "by_text": 0}
    for question in questions:
        topics = topics_in(graph, question)
        counts["by_name" if topics else "by_text"] += 1
        row = {"id": question.id, "question": question.text}
        lines.append(json.dumps(row | ({"q_entity": topics} if topics else {})))
    path = folder / f"{SPLIT}.jsonl"
    if not path.exists() or path.read_text(encoding="utf-8") != "\n".join(lines) + "\n":
        write_lines(path, lines)
    shards = prepare(prep_settings(settings, folder, trained))
    split = shards.split(SPLIT)
    counts["without_triplets"] = int((split.n_real == 0).sum())
    return shards, split, counts


def topics_in(graph: KnowledgeGraph, question: OpenQuestion) -> list[str]:
    """The question's entities as the graph spells them; those it lacks are left out."""
    found = []
    for names in question.names:
        ids = (graph.find(name) for name in names)
        best = next((id for id in ids if id is not None), None)
        if best is not None:
            found.append(graph.entities[best])
    return list(dict.fromkeys(found))


def prep_settings(
    settings: OpenSettings, folder: Path, trained: TrainedPolicy
) -> PrepSettings:
    """The preparation of the policy's training, over these questions."""
    before = trained.metadata["shards"]["settings"]
    known = {name: before[name] for name in PREPARATION if before.get(name) is not None}
    encoder = trained.metadata["encoder"]
    return PrepSettings(
        source="kg",
        kg=settings.kg,
        input=folder,
        out=settings.out / "shards",
        hops=2,
        encoder=encoder["name"],
        encoder_backend=encoder.get("backend", "torch"),
        workers=settings.workers,
        columns=settings.columns,
        properties=settings.properties,
        language=settings.language,
        overwrite=True,
        **known,
    )


def policy_of(run: Path) -> TrainedPolicy:
    """The policy behind kgscout, whose preparation is that of all retrievers."""
    return load_trained(run)


def evidence_of(
    name: str, shards: Shards, split: Split, trained: TrainedPolicy, k: int
) -> Evidence:
    """The ``k`` best triplets of every question by the retriever ``name``."""
    retriever: Retriever
    if name == SCOUT:
        retriever = KGScout(trained.policy)
    else:
        retriever = {**RETRIEVERS, **prize_retrievers(trained.policy)}[name]()
    records = retrieved_records(shards, split, retriever.rank(shards, split, k))
    return Evidence(
        name,
        [list(record.triplets)[:k] for record in records],
        [question.topics for question in split.questions],
    )
