"""Questions for all of a kind that one topic has, and that say no more.

"Which countries are in X", "songs on X", "how many clubs does X have". Whatever joins
them with the topic is meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import singular_form
from kgscout_jax.text.words import FUNCTION_WORDS

_ASKING = frozenset("who whom whose where when why how".split())
_NOTHING_MORE = (
    FUNCTION_WORDS.union(
        "there many every each different show find got s ? ! , . ;".split(),
        "belong belongs belonged belonging contain contains contained".split(),
        "containing include includes included including feature features".split(),
        "featured exist exists found listed located situated based".split(),
    )
    - _ASKING
    - {"not", "or", "than"}
)
"""Words that do not say how what is asked for is joined with the topic."""


def members_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun of what is asked for, in plural; () for other questions.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> members_noun(["which", "countries", "are", "in", TOPIC])
    ('countries',)
    >>> members_noun(["how", "many", "music", "albums", "does", TOPIC, "have"])
    ('music', 'albums')
    >>> members_noun([TOPIC, "countries"]), members_noun(["songs", "by", TOPIC])
    (('countries',), ('songs',))
    >>> members_noun(["which", "countries", "are", "not", "in", TOPIC])
    ()
    >>> members_noun(["which", "countries", "border", TOPIC])
    ()
    """
    noun = only_noun(words)
    is_plural = noun != () and singular_form(noun[-1]) != noun[-1]
    return noun if is_plural and all(map(str.isalpha, noun)) else ()


def only_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun of a question that says nothing else of what it asks for; () for others.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> only_noun(["to", "what", "order", "does", TOPIC, "belong"])
    ('order',)
    """
    if words[:2] == ["how", "many"]:
        words = words[2:]
    said = [i for i, w in enumerate(words) if w != TOPIC and w not in _NOTHING_MORE]
    if TOPIC not in words or not 0 < len(said) < 3 or said[-1] - said[0] >= len(said):
        return ()
    if words[said[0]] in _ASKING:
        return ()
    return (*words[said[0] : said[-1] + 1],)
