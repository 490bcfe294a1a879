"""Yes or no by a flag of the one entity that a question names: "is X vegetarian"."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Sequence

import numpy as np

from kgscout_jax.graph.flag_relations import TRUE, are_flags
from kgscout_jax.inference.answer_kinds import asks_yes_no
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import NodeAnswers
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.yes_no import STATED
from kgscout_jax.retrieve.flag_nodes import flags_said, without_flag
from kgscout_jax.retrieve.node_classes import class_noun
from kgscout_jax.text.asked_kind import noun_synonyms
from kgscout_jax.text.kinds import base_noun, names_same
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import is_class_relation
from kgscout_jax.text.words import question_words

_FOR_MORE = re.compile(
    r"\W*(?:(?:can|could|do|did|have|has) (?:you|we|i|anyone|anybody|somebody)"
    r"|(?:is|are|was|were) there"
    r"|(?:do|does|did) .*\bhave (?:an?|any|some)|(?:has|have) .*\b(?:an?|any|some))\b"
    r"|.*\b(?:who|whom|which|what|where|when)\b",
    re.IGNORECASE,
)
"""A question for more than yes or no: "does X have a brother", "and who is it"."""


def read_flag(
    question: str,
    topics: Sequence[str],
    found: Candidates,
    scores: Scores,
    relations: Sequence[str],
    nodes: Sequence[str],
    least: float,
) -> NodeAnswers | None:
    """Yes or no by the flag that a question names; None where it names none.

    None too for a question of two entities, and one that says more than the flag, but
    for what the entity is: "is Tejo a leased plane".

    Args:
        question: the question.
        topics: the names that it has for its entities.
        found: its candidates.
        scores: of its candidates.
        relations: names of the candidates' relations.
        nodes: names of their nodes.
        least: the probability below which there is no answer.
    """
    if len(found.topics) != 1 or scores.follow is None or not asks_yes_no(question):
        return None
    heads, tails = found.nodes.T
    of_class = np.array([is_class_relation(each) for each in relations], bool)
    # What is flagged may be a row of the topic: "has Ann a greenhouse on her plot".
    rows = np.append(heads[tails == found.topics[0]], found.topics[0])
    is_own_class = of_class[found.relation_index] & np.isin(heads, rows)
    classes = [class_noun(nodes[int(i)]) for i in tails[is_own_class]]

    def says_class(word: str) -> bool:
        nouns = frozenset([base_noun(word)])
        return any(names_same(each, nouns | noun_synonyms(nouns)) for each in classes)

    for index, wanted in flags_said(question, relations):
        slots = np.flatnonzero(found.relation_index == index)
        values = [nodes[int(i)].casefold() for i in tails[slots]]
        own = slots[heads[slots] == found.topics[0]]
        own = own if len(own) else slots[np.isin(heads[slots], rows)]
        said = {nodes[int(i)].casefold() for i in tails[own]}
        rest = without_flag(question, relations[index])
        forms = relation_forms(relations[index])
        more = any(
            forms.isdisjoint(word_forms(word.text)) and not says_class(word.text)
            for word in question_words(rest, topics)
        )
        if len(said) != 1 or not are_flags(values) or more:
            continue
        flag = np.unique(tails[own])[:1]
        return NodeAnswers(
            nodes=flag,
            probabilities=np.array([STATED]),
            abstained=least > STATED,
            topics=found.topics,
            follow=scores.follow,
            kind="yes_no",
            value="yes" if said <= wanted else "no",
            probability=STATED,
            evidence={int(flag[0]): tuple(own.tolist())},
        )
    return None


def as_yes_no(
    question: str,
    answers: NodeAnswers | None,
    found: Candidates,
    name_of: Callable[[int], str],
    least: float,
) -> NodeAnswers | None:
    """Yes or no where the best answer to a question for it is a flag: "do you have to
    pay a toll" by ``toll, False``. Other answers to it are doubted; those to other
    questions, such as "can you tell me who leads X", stay as they are.

    Args:
        question: the question.
        answers: to it.
        found: its candidates.
        name_of: the name of an entity.
        least: P(answer) below which there is no answer.
    """
    if answers is None or answers.kind != "set" or not asks_yes_no(question):
        return answers
    names = [name_of(int(found.entities[i])).casefold() for i in answers.nodes[:1]]
    if not names or not are_flags(names):
        return answers if _FOR_MORE.match(question) else answers.doubted(least)
    return dataclasses.replace(
        answers,
        nodes=answers.nodes[:1],
        probabilities=answers.probabilities[:1],
        kind="yes_no",
        value="yes" if names[0] in TRUE else "no",
        probability=float(answers.probabilities[0]),
    )
