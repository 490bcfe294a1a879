"""Whether a graph has a relation that a question says, near its topic or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kgscout_jax.text.question_clause import is_simple_clause
from kgscout_jax.text.question_noun import content_words, noun_of_topic
from kgscout_jax.text.relation_phrases import (
    has_words,
    own_forms,
    relation_forms,
    word_forms,
)
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.stated_relation import answer_ends


class RelationIndex:
    """The relations of a graph by the forms of their words."""

    def __init__(self, relations: Sequence[str]) -> None:
        self.relations: dict[str, list[str]] = defaultdict(list)
        for relation in relations:
            for form in own_forms(relation_forms(relation)):
                self.relations[form].append(relation)

    def says(self, words: Sequence[str]) -> bool:
        """Whether a relation is what a question of one noun or one verb asks for.

        Args:
            words: of the question, ``TOPIC`` for those of its topic's name.

        >>> from kgscout_jax.text.asked_kind import TOPIC
        >>> index = RelationIndex(["born_in", "taught_by", "state"])
        >>> index.says(["who", "taught", TOPIC]), index.says(["who", "knows", TOPIC])
        (True, False)
        >>> index.says(["who", "is", "the", "head", "of", "state", "of", TOPIC])
        False
        """
        noun = content_words(noun_of_topic(words))
        if not noun and not is_simple_clause(words):
            return False
        return any(
            answer_ends(words, relation) or (noun and has_words(relation, noun))
            for relation in self._named(noun or words)
        )

    def has_name(self, words: Sequence[str]) -> bool:
        """Whether a relation is called so, word by word.

        >>> RelationIndex(["end_date"]).has_name(["end", "date"])
        True
        """
        named = self._named(words)
        return any(relation_words(relation) == [*words] for relation in named)

    def _named(self, words: Sequence[str]) -> set[str]:
        """The relations that share a word with ``words``."""
        forms = frozenset[str]().union(*map(word_forms, words))
        return {each for form in forms for each in self.relations.get(form, ())}
