"""Words of a question for women and men, which a relation ``gender`` tells apart."""

from __future__ import annotations

import re
from typing import NamedTuple

from kgscout_jax.text.kin_words import Gender

_NOUNS: dict[str, tuple[Gender, str]] = {
    "woman": ("female", "person"), "women": ("female", "people"),
    "girl": ("female", "person"), "girls": ("female", "people"),
    "lady": ("female", "person"), "ladies": ("female", "people"),
    "man": ("male", "person"), "men": ("male", "people"),
    "boy": ("male", "person"), "boys": ("male", "people"),
    "females": ("female", "people"), "males": ("male", "people"),
}  # fmt: skip
"""Of each noun the gender, and a noun without one."""
_WORD = re.compile(rf"\b(?:{'|'.join(_NOUNS)})\b|\b(?:fe)?male (?=[a-z])")
"""Names are written with capitals: "who won the Women's Cup"."""


class GenderQuestion(NamedTuple):
    """A question that asks for women, or for men."""

    gender: Gender
    rest: str
    """The question for people."""


def gender_question(question: str) -> GenderQuestion | None:
    """The gender that a question asks for; None where it says none, or both.

    >>> gender_question("Which women live in Rome?")
    GenderQuestion(gender='female', rest='Which people live in Rome?')
    >>> gender_question("How many male employees are there?").rest
    'How many employees are there?'
    >>> gender_question("Are there more men than women?")
    """
    found = [each[0].strip() for each in _WORD.finditer(question)]
    genders = {_NOUNS[word][0] if word in _NOUNS else word for word in found}
    if len(genders) != 1:
        return None
    gender: Gender = "female" if "female" in genders else "male"

    def without(match: re.Match[str]) -> str:
        noun = _NOUNS.get(match[0])
        return "" if noun is None else noun[1]

    return GenderQuestion(gender, _WORD.sub(without, question))
