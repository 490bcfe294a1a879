"""Whether a graph has a relation that a question says, near its topic or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.stated_relation import (
    answer_ends,
    is_simple_clause,
    noun_of_topic,
)

RELATED = "~"
"""Begins a form that stands for a group of related words, which is no name."""


class RelationIndex:
    """The relations of a graph by the forms of their words."""

    def __init__(self, relations: Sequence[str]) -> None:
        self.relations: dict[str, list[str]] = defaultdict(list)
        for relation in relations:
            for form in relation_forms(relation):
                if form[0] != RELATED:
                    self.relations[form].append(relation)

    def says(self, words: Sequence[str]) -> bool:
        """Whether a relation is what a question of one noun or one verb asks for.

        Args:
            words: of the question, ``TOPIC`` for those of its topic's name.

        >>> from kgscout_jax.text.asked_kind import TOPIC
        >>> index = RelationIndex(["born_in", "taught_by"])
        >>> index.says(["who", "taught", TOPIC]), index.says(["who", "knows", TOPIC])
        (True, False)
        """
        if noun := noun_of_topic(words):
            return any(self._named(noun))
        return is_simple_clause(words) and any(
            answer_ends(words, relation) for relation in self._named(words)
        )

    def _named(self, words: Sequence[str]) -> set[str]:
        """The relations that share a word with ``words``."""
        forms = frozenset[str]().union(*map(word_forms, words))
        return {each for form in forms for each in self.relations.get(form, ())}
