"""The steps that a question names one after the other, from its topic to its answer.

"What prizes did the children of Pierre Curie win" says children, then prizes;
"Ann's advisor's university" says advisor, then university. Read are questions of one
topic whose words all name steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from kgscout_jax.text.asked_kind import TOPIC, question_tokens
from kgscout_jax.text.kinds import has_participle_ending, is_past, singular_form
from kgscout_jax.text.question_clause import BE, DO, around_topic, leading_verb
from kgscout_jax.text.relation_words import PREPOSITIONS
from kgscout_jax.text.value_words import is_comparing
from kgscout_jax.text.words import FUNCTION_WORDS

_RELATIVE = frozenset("that who whom which where whose".split())
_CLAUSES = [[word] for word in _RELATIVE if word != "whose"]
_ASKING = frozenset("which what many".split())
_SORTS = frozenset("kind kinds type types sort sorts form forms".split())
_VAGUE = frozenset(
    "name names list called named full many there fall falls every each various "
    "several whole entire current present".split()
)
"""Words that name no step."""
_PASSED = FUNCTION_WORDS | _VAGUE | frozenset([",", ";", ":"])


class ChainWord(NamedTuple):
    """A word that names a step, or a part of one."""

    text: str
    joined: bool = False
    """Whether it may name the same step as the one before it: "place of birth"."""
    is_noun: bool = True
    """Whether it stands where a noun does: "the wife of", "Ann's wife"."""
    clause: tuple[str, ...] = ()
    """The clause that it is the verb of, as a question: "what does Ann found"."""


class QuestionChain(NamedTuple):
    """The words of a chain."""

    words: list[ChainWord]
    """Nearest the topic first."""
    kind: str | None
    """The noun after "which" or "what": a last step, or the kind of the answer."""


def question_chain(question: str, topics: Sequence[str]) -> QuestionChain | None:
    """The chain of a question; None where it has several topics or none.

    Relative clauses and possessives are read from the inside out; what is said after
    the topic comes last, unless the topic is within a clause ("the firm that Ann works
    for").

    >>> chain = question_chain("What prizes did the children of Ann win?", ["Ann"])
    >>> [word.text for word in chain.words], chain.kind
    (['children', 'win'], 'prizes')
    >>> chain = question_chain("Ann's first wife's son", ["Ann"])
    >>> [(word.text, word.joined) for word in chain.words]
    [('first', False), ('wife', True), ('son', False)]
    """
    if (parts := around_topic(question_tokens(question, topics))) is None:
        return None
    before, after = map(_without_adverbs, parts)
    kind = None
    for i, (word, following) in enumerate(pairwise(before)):
        if word in _ASKING and i < 2 and following not in _PASSED:
            rest = before[i + 1 :]
            rest = rest[is_comparing(following) and len(rest) > 1 :]
            kind, before = rest[0], rest[1:]
            break
    own, inner = after[:1] == ["s"], _content_places(before)
    clause = bool(before) and before[-1] in _RELATIVE
    if not own and inner[:1] == [len(before) - 1] and before[-2:-1] == ["the"]:
        # "The firm Ann works for", "the film Heat"
        clause, inner = bool(after), inner[1:]
    inner = [i for i in inner if not _is_kind(before[i + 1 : i + 3])]
    between = [before[j + 1 : i] for i, j in pairwise(inner)]
    if kind in _SORTS or ["a"] in between or ["an"] in between:
        return None  # "what kind of ship", "share a border"
    nearest = [
        ChainWord(
            before[i],
            joined=n > 0 and set(before[i + 1 : inner[n - 1]]) <= {"of"},
            is_noun="of" in before[i + 1 : i + 2] or "the" in before[i - 1 : i],
        )
        for n, i in enumerate(inner)
    ]
    places = _content_places(after)[::-1]
    one_phrase = own or not (inner or clause)  # "Ann's pen name", "Ann pen name"
    trailing = [
        ChainWord(after[i], joined=one_phrase and i - 1 in places, is_noun=own)
        for i in places
    ]
    if clause and trailing and not own:
        # "... that Ann works for": what does Ann work for
        verb = ("what", "does", TOPIC, *leading_verb(after))
        trailing[0] = trailing[0]._replace(clause=verb)
    elif nearest and inner[0] and before[inner[0] - 1] in _RELATIVE:
        # "... that owns Acme": which owns Acme
        verb = ("which", "things", *before[inner[0] :], TOPIC)
        nearest[0] = nearest[0]._replace(clause=verb)
    inverted = before[-1:] != [] and before[-1] in BE | DO  # "whose plays has Ann seen"
    if own and nearest and len(trailing) > 1 and is_past(trailing[-1].text):
        # "Was the coach of Ann's club born"
        verb = trailing.pop()._replace(joined=False)
        return QuestionChain([*_joined(trailing, nearest), verb], kind)
    if own or clause or inverted:
        return QuestionChain(_joined(trailing, nearest), kind)
    return QuestionChain(_joined(nearest, trailing), kind)


def _without_adverbs(words: list[str]) -> list[str]:
    """The words but for those that say nothing of a step: "direct reports", "who was
    the first to climb it"."""
    following = [*words[1:], ""]
    return [
        word
        for word, behind in zip(words, following, strict=False)
        if not (word == "direct" and singular_form(behind) != behind)
        and (word, behind) != ("first", "to")
    ]


def _is_kind(following: Sequence[str]) -> bool:
    """Whether a noun before these words says of what kind the nodes of a clause are:
    "the firm that", "films directed by"."""
    return following[:1] in _CLAUSES or (
        len(following) > 1
        and has_participle_ending(following[0])
        and following[1] in PREPOSITIONS
    )


def _content_places(tokens: Sequence[str]) -> list[int]:
    """Places of words that may name steps, the last first."""
    return [i for i in reversed(range(len(tokens))) if tokens[i] not in _PASSED]


def _joined(first: list[ChainWord], then: list[ChainWord]) -> list[ChainWord]:
    """One list; what stands beside the seam may name one step."""
    seam = [word._replace(joined=True) for word in then[:1]] if first else then[:1]
    return [*first, *seam, *then[1:]]
