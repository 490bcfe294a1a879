"""Questions for several things of one topic: "the industry and the country of Acme"."""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.question_clause import around_topic
from kgscout_jax.text.question_noun import OF, noun_of_topic

_JOINTS = frozenset(("and", ",", "&"))


def joined_nouns(words: Sequence[str]) -> list[list[str]]:
    """A question for each of them, as "the noun of the topic"; [] for other questions.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> joined_nouns(["what", "are", "the", "age", "and", "the", "home", "of", TOPIC])
    [['the', 'age', 'of', ''], ['the', 'home', 'of', '']]
    >>> joined_nouns([TOPIC, "s", "age", ",", "home", "and", "wife"])[2]
    ['the', 'wife', 'of', '']
    >>> joined_nouns(["who", "is", "the", "wife", "of", TOPIC])
    []
    """
    if _JOINTS.isdisjoint(words) or (parts := around_topic(words)) is None:
        return []
    before, after = parts
    if not after and before[-1:] == [OF]:
        head, tail = before[:-1], []
    else:
        head, tail = before, after[1:] if after[:1] == ["s"] else after
    phrases: list[list[str]] = [[]]
    for word in [*head, *tail]:
        if word in _JOINTS:
            phrases.append([])
        else:
            phrases[-1].append(word)
    if (head and tail and not _JOINTS.isdisjoint(head)) or not all(phrases[1:]):
        return []
    nouns = [noun_of_topic([*each, OF, TOPIC]) for each in phrases]
    return [["the", *noun, OF, TOPIC] for noun in nouns] if all(nouns) else []
