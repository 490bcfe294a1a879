"""Questions with misspelt words and idioms, which are asked as they are meant."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.query import Linking
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.topics import Topics, topic_names
from kgscout_jax.text.idioms import idioms
from kgscout_jax.text.question_forms import question_forms
from kgscout_jax.text.spelling import (
    Correction,
    corrected,
    corrections,
    doubtful_words,
    original_place,
)
from kgscout_jax.text.words import name_span


@dataclass(frozen=True, kw_only=True)
class SpelledQuestion:
    """A question, and how it is read."""

    text: str
    corrections: Sequence[Correction] = ()

    @property
    def right(self) -> str:
        """The question with its words read right."""
        return corrected(self.text, self.corrections)

    def result(self, found: RetrievalResult) -> RetrievalResult:
        """The result of the question as it was asked, from that of the right one."""
        if not self.corrections:
            return found
        links = tuple(
            dataclasses.replace(
                link,
                start=original_place(link.start, self.corrections),
                stop=original_place(link.stop, self.corrections),
            )
            for link in found.links
        )
        return dataclasses.replace(
            found, question=self.text, read_as=self.right, links=links
        )


def spelled_question(
    text: str, graph: object, topics: Topics, link: Linking
) -> SpelledQuestion:
    """How a question is read; no word of a topic's name is read as another.

    Args:
        text: the question.
        graph: where its topics are; of a store questions are read as they are.
        topics: names of entities; None: topics are linked.
        link: links the words of a question to entities.
    """
    if not isinstance(graph, KnowledgeGraph) or not len(graph):
        return SpelledQuestion(text=text)
    said = question_forms(text, graph.relation_index.relations.__contains__)
    said = said or idioms(text)
    if not doubtful_words(text):
        return SpelledQuestion(text=text, corrections=said)
    spans = [(each.start, each.stop) for each in link(text, graph)]
    for name in () if topics is None else topic_names(topics):
        spans += [place] if (place := name_span(text, name)) else []
    spans += [(start, start + len(word)) for start, word, _ in said]
    spelled = corrections(text, spans, graph.relation_names)
    return SpelledQuestion(text=text, corrections=sorted([*said, *spelled]))
