"""Names resolved: which entities of the graph a question starts from and asks for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from data_prep.question_chunks import Linked
from data_prep.settings import PrepSettings
from data_prep.sources.dataset import Dataset
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.graph_index import graph_linker
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.types import Question, entity_key


@dataclass(frozen=True)
class LinkedSplit:
    """The questions of a split that are kept, with their names resolved."""

    questions: list[Question]
    linked: list[Linked]
    notes: dict[str, int]


class TopicFinder:
    """Finds the topics of questions that name none; the index is built on first use."""

    def __init__(self, loaded: Dataset, settings: PrepSettings) -> None:
        """Raises UserError for a file of aliases that does not exist."""
        self._graph, self._aliases = loaded.graph, settings.aliases
        if self._aliases is not None and not self._aliases.is_file():
            raise UserError(f"{self._aliases}: no such file")

    @cached_property
    def _linker(self) -> Linker:
        return graph_linker(self._graph, aliases=self._aliases)

    def found(self, question: Question) -> Question:
        """``question`` with the names of the entities that its text mentions."""
        links = self._linker.link(question.text)
        return dataclasses.replace(question, topics=tuple(one.name for one in links))


def link(
    loaded: Dataset, name: str, settings: PrepSettings, finder: TopicFinder
) -> LinkedSplit:
    """The questions of a split with their names resolved; unusable training ones go.

    Training questions without an answer in their graph are dropped and counted (thesis
    4.1); those of other splits never are.
    """
    graph = loaded.graph
    own = loaded.subgraphs[name] if loaded.subgraphs is not None else None
    questions: list[Question] = []
    linked: list[Linked] = []
    notes = {"read": len(loaded.questions[name]), "dropped_without_answer": 0}
    asked = loaded.questions[name]
    to_find = sum(question.find_topics for question in asked)
    for i, given in enumerate(asked):
        question = finder.found(given) if given.find_topics else given
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
    named = sum(len(set(map(entity_key, q.topics))) for q in questions)
    notes |= {
        "topics_from_text": to_find,
        "without_topic": sum(not len(record.topics) for record in linked),
        "without_answer_in_graph": sum(not len(record.answers) for record in linked),
        "topics_not_found": named - sum(len(record.topics) for record in linked),
    }
    return LinkedSplit(questions, linked, notes)
