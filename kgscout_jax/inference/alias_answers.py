"""Entities that a question asks for by what they go by: "which listing is at 1 Elm St".

The words are a name of the listing, from which the walk starts; it is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgscout_jax.graph.link import Link
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import NodeAnswers
from kgscout_jax.inference.scoring import Scores
from kgscout_jax.inference.yes_no import STATED
from kgscout_jax.retrieve.kind_mask import kind_of_class
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import base_noun
from kgscout_jax.text.relation_words import leads_to_class
from kgscout_jax.text.words import question_words

_SAYING = frozenset(
    "called named known titled located situated found address title label subject "
    "headline also".split()
)
"""Words that say no more of an entity than its other name."""
_NAMING = frozenset(
    "called named nicknamed nickname known synonym alias name abbreviation acronym "
    "title pseudonym abbreviated dubbed hide short stand go real full".split()
)
"""Those that say that it is one: no class need be known."""
_STANDING = frozenset(("stand", "short"))
"""Those behind the name: "what does X stand for"."""
_ANYTHING = frozenset(
    "behind actual actually firm company organization person people somebody "
    "someone".split()
)
"""Words beside them for what goes by that name."""


def read_alias(
    question: str,
    links: Sequence[Link],
    names: Sequence[str],
    found: Candidates,
    scores: Scores,
    relations: Sequence[str],
    nodes: Sequence[str],
    least: float,
) -> NodeAnswers | None:
    """The entity that a question calls by another name and asks for by its class.

    None for other questions.

    Args:
        question: the question.
        links: its topics.
        names: those of the topics, and what the question calls them.
        found: its candidates.
        scores: of its candidates.
        relations: names of the candidates' relations.
        nodes: names of their nodes.
        least: the probability below which there is no answer.
    """
    aliased = {link.entity for link in links if link.how == "alias"}
    if len(aliased) != 1 or scores.follow is None:
        return None
    asked = asked_kind(question, names) or kind_of_class(question, names)
    text = question.casefold()
    said = {base_noun(word.text) for word in question_words(question, names)}
    last = max(link.stop for link in links) == len(question.rstrip(" ?."))
    is_named = not (_NAMING if last else _STANDING).isdisjoint(said)
    if (asked is None and not is_named) or (asked is not None and asked.number):
        return None
    nouns = frozenset[str]() if asked is None else asked.nouns
    (node,) = np.flatnonzero(np.isin(found.entities, [*aliased])).tolist() or (-1,)
    is_class = np.array([leads_to_class(each) for each in relations], bool)
    own = is_class[found.relation_index] & (found.nodes[:, 0] == node)
    classes = {
        base_noun(str(nodes[i]).casefold()) for i in found.nodes[own, 1].tolist()
    }
    is_of_class = not classes.isdisjoint(nouns) or is_named
    beside = _ANYTHING if is_named else frozenset()
    if not is_of_class or said - nouns - _SAYING - _NAMING - beside:
        return None
    named = [str(nodes[i]).casefold() in text for i in found.nodes[:, 1].tolist()]
    evidence = np.flatnonzero(np.array(named, bool) & (found.nodes[:, 0] == node))
    return NodeAnswers(
        nodes=np.array([node]),
        probabilities=np.array([STATED]),
        abstained=least > STATED,
        topics=found.topics,
        follow=scores.follow,
        evidence={node: tuple(evidence[:1].tolist())},
    )
