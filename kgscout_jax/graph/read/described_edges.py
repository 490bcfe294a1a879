"""Edges that a sentence describes, as graphs have them that language models make.

GraphRAG and LightRAG write what joins two entities as text: "Tidewrack Stout is brewed
by Saltmarsh Brewing". What stands there without the two names is the relation, from the
one that is named first to the other, whatever the direction of the edge.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgscout_jax.types import Triplet

JOINT = "<SEP>"
"""What stands between the descriptions of several texts (LightRAG)."""
_PARTS = re.compile(rf"{JOINT}|\n+")
_END = re.compile(r"(?<=[a-z0-9)]{3}[.!?])\s+(?=[A-Z])")
_LEAST_WORD = 3
"""Letters of a word that may stand for a name: Finn."""
_ARTICLES = frozenset("the a an its his her their".split())
_BOTH = re.compile(r"(is|was|are|were) (.+?) and (.+) (of|for|at|in)")
"""That somebody is two things."""
_MARKS = " ,;:.!?\u2013-"


def described_triplets(head: str, text: str, tail: str) -> Iterator[Triplet]:
    """The triplets of an edge: of each sentence what stands between the names, and with
    what stands behind both.

    Args:
        head: name of one end.
        text: what is said of both.
        tail: name of the other end.

    >>> [*described_triplets("ANN LEE", "Acme employs Ann Lee as a cook.", "ACME")]
    [('ACME', 'employs', 'ANN LEE'), ('ACME', 'employs as a cook', 'ANN LEE')]
    """
    for sentence in _sentences(text, head, tail):
        spans = _span(sentence, head), _span(sentence, tail)
        first, last = sorted(spans)
        if first[0] < 0 or first[1] > last[0]:
            yield head, sentence, tail
            continue
        between, rest = sentence[first[1] : last[0]], sentence[last[1] :]
        ends = (head, tail) if first == spans[0] else (tail, head)
        whole = " ".join(f"{between}{rest}".split()).strip(_MARKS)
        for relation in dict.fromkeys([*_names(between), whole or sentence]):
            yield ends[0], relation, ends[1]


def _names(said: str) -> list[str]:
    """The relations that words between two names say, without articles.

    >>> _names(" is the owner and chief executive of ")
    ['is owner of', 'is chief executive of']
    """
    words = [word for word in said.strip(_MARKS).split() if word not in _ARTICLES]
    text = " ".join(words)
    if found := _BOTH.fullmatch(text):
        return [f"{found[1]} {each} {found[4]}" for each in (found[2], found[3])]
    return [text] if text else []


def _sentences(text: str, head: str, tail: str) -> list[str]:
    """The sentences of a text; one that names neither end belongs to that before."""
    out: list[str] = []
    for part in filter(None, map(str.strip, _PARTS.split(text))):
        before = len(out)
        for sentence in _END.split(part):
            named = any(_span(sentence, name)[0] >= 0 for name in (head, tail))
            if named or len(out) == before:
                out.append(sentence)
            else:
                out[-1] = f"{out[-1]} {sentence}"
    return list(dict.fromkeys(each.strip(_MARKS) for each in out if each.strip(_MARKS)))


def _span(sentence: str, name: str) -> tuple[int, int]:
    """Where a name stands, or the end of it: "Finn" of "CAPTAIN ALISTAIR FINN".

    (-1, -1) where it does not.
    """
    words = name.split()
    for first in range(len(words)):
        said = " ".join(words[first:])
        if first and len(said) < _LEAST_WORD:
            break
        pattern = rf"\b(?:the )?{re.escape(said)}(?:'s|')?(?!\w)"
        if found := re.search(pattern, sentence, re.IGNORECASE):
            return found.span()
    return -1, -1
