"""Resolves the names of topics and answers to entities of the graph."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from data_prep.question_chunks import QuestionEntities
from data_prep.settings import PrepSettings
from data_prep.sources.dataset import Dataset
from kgscout_jax.data.shards import SPLITS
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import graph_linker
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.types import Question, entity_key


@dataclass(frozen=True)
class SplitQuestions:
    """The questions of a split that are prepared."""

    questions: list[Question]
    entities: list[QuestionEntities]
    notes: dict[str, int]


class TopicLinker:
    """Links questions without topics; the index is built on first use."""

    def __init__(self, dataset: Dataset, settings: PrepSettings) -> None:
        """Raises UserError for a file of aliases that does not exist."""
        self._graph, self._aliases = dataset.graph, settings.aliases
        if self._aliases is not None and not self._aliases.is_file():
            raise UserError(f"{self._aliases}: no such file")

    @cached_property
    def _linker(self) -> Linker:
        return graph_linker(self._graph, aliases=self._aliases)

    def with_topics(self, question: Question) -> Question:
        """``question`` with the names of the entities that its text mentions."""
        links = self._linker.link(question.text)
        return dataclasses.replace(question, topics=tuple(link.name for link in links))


def split_questions(
    dataset: Dataset, name: str, settings: PrepSettings, linker: TopicLinker
) -> SplitQuestions:
    """The usable questions of a split, with resolved names.

    Training questions without an answer in their graph are dropped and counted (thesis
    4.1); questions of other splits are never dropped.
    """
    questions: list[Question] = []
    entities: list[QuestionEntities] = []
    for i, question in enumerate(dataset.questions[name]):
        own = None if dataset.subgraphs is None else dataset.subgraphs[name][i]
        if question.find_topics:
            question = linker.with_topics(question)
        resolved = question_entities(dataset.graph, question, own)
        if name != "train" or len(resolved.answers):
            questions.append(question)
            entities.append(resolved)
    read = dataset.questions[name]
    notes = {"read": len(read), "dropped_without_answer": len(read) - len(questions)}
    size = settings.train_questions if name == "train" else None
    size = min(filter(None, (size, settings.limit)), default=None)
    if size is not None and size < len(questions):
        seed = [settings.seed, SPLITS.index(name)]
        rows = np.random.default_rng(seed).choice(len(questions), size, replace=False)
        rows.sort()
        questions = [questions[i] for i in rows]
        entities = [entities[i] for i in rows]
    topics = sum(len(set(map(entity_key, q.topics))) for q in questions)
    notes |= {
        "topics_from_text": sum(question.find_topics for question in read),
        "without_topic": sum(not len(record.topics) for record in entities),
        "without_answer_in_graph": sum(not len(record.answers) for record in entities),
        "topics_not_found": topics - sum(len(record.topics) for record in entities),
    }
    return SplitQuestions(questions, entities, notes)


def question_entities(
    graph: KnowledgeGraph, question: Question, subgraph: np.ndarray | None
) -> QuestionEntities:
    """A question's topics and answers as ids, within its own subgraph if it has one."""
    names = [*question.answers, *(question.answer_entities or ())]
    topics, answers = graph.find_all(question.topics), graph.find_all(names)
    if subgraph is not None:
        inside = graph.triplets[subgraph][:, [0, 2]]
        topics = topics[np.isin(topics, inside)]
        answers = answers[np.isin(answers, inside)]
    return QuestionEntities(topics=topics, answers=answers, subgraph=subgraph)
