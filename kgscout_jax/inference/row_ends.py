"""Which end of a row a question means: what X paid is not what was paid to X."""

from __future__ import annotations

from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.stems import stem
from kgscout_jax.text.words import WORD

_SOURCES = frozenset(
    "from source sender payer seller lender donor giver exporter".split()
)
_TARGETS = frozenset("to target recipient buyer borrower importer receiver".split())
"""Words of relations of rows to the end that something comes from, and goes to."""
_ANY_END = frozenset("from to source target".split())
"""Those of any row."""
_DOES = frozenset("did does do has have will".split())
_RECEIVE = frozenset(
    map(stem, "receive get got collect obtain buy bought borrow import".split())
)
_SEND = frozenset(
    map(
        stem,
        "send sent pay paid give gave given transfer wire lend lent sell sold".split(),
    )
)
"""What the end does that something goes to, and comes from."""


END_VERBS = _RECEIVE | _SEND
"""What only one of the ends does."""


def verbs_of_end(relation: str) -> frozenset[str]:
    """Stems of what the end does that a relation of rows leads to."""
    words = {*relation_words(relation)} - _ANY_END
    received = _RECEIVE if words & _TARGETS else frozenset[str]()
    return received | _SEND if words & _SOURCES else received


def may_mean_end(text: str, name: str, relation: str) -> bool:
    """Whether a question may name what a relation of rows leads to.

    "From" and "by" stand before what something comes from, "to" before what it goes to.
    Who does something is no end that it goes to, unless that is what the verb says.

    Args:
        text: the question.
        name: what it calls a topic.
        relation: from a row to the topic.

    >>> text = "How much did Acme pay to Bo?"
    >>> [may_mean_end(text, "Bo", name) for name in ("sender", "recipient", "company")]
    [False, True, True]
    >>> may_mean_end(text, "Acme", "sender"), may_mean_end(text, "Acme", "recipient")
    (True, False)
    """
    words = {*relation_words(relation)}
    is_source, is_target = bool(words & _SOURCES), bool(words & _TARGETS)
    if is_source == is_target:
        return True
    before, _, behind = text.casefold().partition(name.casefold())
    last = before.split()[-1:]
    is_subject = not _DOES.isdisjoint(last)
    verb = stem(next(iter(WORD.findall(behind)), ""))
    goes_to = last == ["to"] or (is_subject and verb in _RECEIVE)
    comes_from = last in (["from"], ["by"]) or (is_subject and not goes_to)
    return not ((goes_to and is_source) or (comes_from and is_target))
