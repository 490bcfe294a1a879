"""Words of kinship, as steps between parents, children, couples and siblings.

"Who are the aunts of Ann" names no relation of a graph that holds fathers, mothers and
genders; it asks for the sisters of a parent.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple

from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, question_words

Gender = Literal["male", "female"]


@dataclass(frozen=True)
class Kin:
    """Relatives of somebody."""

    steps: str
    """From one to the next: p to parents, c to children, s to spouses, b to brothers
    and sisters."""
    gender: Gender | None = None
    """Of the relatives that are asked for; None: either."""
    side: Gender | None = None
    """Of the parent of the first step; None: either."""


def _words(steps: str, **words: str) -> dict[str, Kin]:
    """Words by gender: ``either``, ``male``, ``female``."""
    out = {}
    for gender, names in words.items():
        kin = Kin(steps, None if gender == "either" else gender)  # type: ignore[arg-type]
        out |= dict.fromkeys(names.split(), kin)
    return out


_KIN = {
    **_words(
        "p",
        either="parent parents",
        male="father fathers dad papa",
        female="mother mothers mum mom mama",
    ),
    **_words(
        "c",
        either="child children kid kids offspring",
        male="son sons",
        female="daughter daughters",
    ),
    **_words(
        "s",
        either="spouse spouses",
        male="husband husbands",
        female="wife wives",
    ),
    **_words(
        "b",
        either="sibling siblings",
        male="brother brothers",
        female="sister sisters",
    ),
    **_words(
        "pp",
        either="grandparent grandparents",
        male="grandfather grandfathers grandpa granddad",
        female="grandmother grandmothers grandma granny",
    ),
    **_words(
        "cc",
        either="grandchild grandchildren grandkid grandkids",
        male="grandson grandsons",
        female="granddaughter granddaughters",
    ),
    **_words("pb", male="uncle uncles", female="aunt aunts"),
    **_words("bc", male="nephew nephews", female="niece nieces"),
    **_words("pbc", either="cousin cousins"),
}
_IN_LAW = {"p": ("sp",), "c": ("cs",), "b": ("sb", "bs")}
"""Steps of "father in law", "son in law", "brother in law"."""
_SIDES: dict[str, Gender] = {"paternal": "male", "maternal": "female"}
_SIDE = re.compile(
    r"\b(?:on|from|by) (?:his|her|their|the) "
    r"(father|dad|mother|mum|mom)(?:'s|s)? side\b"
)
_ASKS_WORK = re.compile(r"\bdo(?:es|ing)?(?: for a living)?\W*$")
"""What Ann's father does."""
_LEFT = FUNCTION_WORDS | frozenset(
    "called family full known list many name named names people person persons "
    "relative relatives there together".split()
)
"""Words that may stand beside a word of kinship."""
_FILLERS = frozenset("has have is was of to with the a s person".split())
_GENDERS: dict[str, Gender] = {
    **dict.fromkeys("male m man boy masculine".split(), "male"),
    **dict.fromkeys("female f woman girl feminine".split(), "female"),
}


class KinRelation(NamedTuple):
    """A relation of one step of kinship."""

    step: str
    """See ``Kin``; of "parent", heads are children and tails parents."""
    gender: Gender | None
    """Of those that the word names."""
    names_head: bool
    """Whether the word names heads: "parent of"."""


def asked_kin(question: str, topics: Sequence[str]) -> list[Kin]:
    """The relatives of the topic that a question asks for, and for nothing else.

    More than one where a word says several ("brother-in-law").

    >>> asked_kin("Who are the aunts of Ann?", ["Ann"])
    [Kin(steps='pb', gender='female', side=None)]
    >>> [kin.steps for kin in asked_kin("Who was Ann's brother-in-law?", ["Ann"])]
    ['sb', 'bs']
    >>> asked_kin("Where was the mother of Ann born?", ["Ann"])
    []
    """
    text = question.casefold().replace("’", "'")
    if _ASKS_WORK.search(text):
        return []
    side = None
    if match := _SIDE.search(text):
        side = _KIN[match[1]].gender
        text = text[: match.start()] + text[match.end() :]
    words = question_words(text, topics)
    in_law = " in law" in " ".join(WORD.findall(text))
    found: list[Kin] = []
    greats = grands = 0
    for word in words:
        if word.text in _SIDES:
            side = _SIDES[word.text]
        elif word.text == "great":
            greats += 1
        elif word.text == "grand":
            grands += 1
        elif word.text in _KIN:
            found.append(_KIN[word.text])
            if found[1:] and not re.search(rf"\b(?:and|or) {word.text}\b", text):
                return []  # "the son of Ann's sister"
        elif word.text not in _LEFT and not (word.text == "law" and in_law):
            return []
    if len({kin.steps for kin in found}) != 1:
        return []
    kin = Kin(found[0].steps) if found[1:] else found[0]  # "nieces and nephews"
    if in_law:
        return [replace(kin, steps=steps) for steps in _IN_LAW.get(kin.steps, ())]
    further = greats + grands
    if further and (kin.steps[0] not in "pc" or (grands and len(kin.steps) > 1)):
        return []
    kin = replace(kin, steps=kin.steps[0] * further + kin.steps, side=side)
    return [kin] if side is None or kin.steps[0] == "p" else []


def one_word_kin(word: str) -> Kin | None:
    """The relatives that a word calls so; None for other words."""
    return _KIN.get(word)


@lru_cache(maxsize=1 << 14)
def kin_relation(relation: str) -> KinRelation | None:
    """The step that a relation is; None where it says anything else.

    >>> kin_relation("hasChild"), kin_relation("father_of")
    (KinRelation(step='c', gender=None, names_head=False), \
KinRelation(step='p', gender='male', names_head=True))
    >>> kin_relation("parent_company"), kin_relation("married_in")
    (None, None)
    """
    words = relation_words(relation)
    core = [word for word in words if word not in _FILLERS]
    if core in (["married"], ["marriage"], ["partner"]):
        return KinRelation("s", None, False)
    kin = _KIN.get(core[0]) if len(core) == 1 else None
    if kin is None or len(kin.steps) > 1:
        return None
    return KinRelation(kin.steps, kin.gender, words[-1] == "of")


def says_kin(relation: str, kin: Kin) -> bool:
    """Whether a relation's name has a word for relatives of just these steps."""
    return any(
        word in _KIN and _KIN[word].steps == kin.steps
        for word in relation_words(relation)
    )


def is_gender_relation(relation: str) -> bool:
    """Whether its tails are genders of its heads."""
    words = relation_words(relation)
    return words[-1:] in (["gender"], ["sex"])


def gender_of(name: str) -> Gender | None:
    """The gender that a name says."""
    return _GENDERS.get(name.casefold())
