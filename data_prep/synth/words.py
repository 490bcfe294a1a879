"""Words of relation names, and their inflected forms in English (lemminflect)."""

from __future__ import annotations

import re
from functools import cache

from kgscout_jax.text.relation_words import PREPOSITIONS, head_noun


@cache
def lemmas(word: str, kind: str) -> tuple[str, ...]:
    """Base forms of a word as a "NOUN", "VERB" or "ADJ"; empty where it is none."""
    import lemminflect

    return lemminflect.getAllLemmas(word, upos=kind).get(kind, ())


@cache
def verb_form(lemma: str, tag: str) -> str:
    """A form of a verb: VBZ makes, VBD made, VBN made, VBG making."""
    import lemminflect

    if lemma == "be":
        return {"VBZ": "is", "VBD": "was", "VBN": "been", "VBG": "being"}[tag]
    forms = lemminflect.getInflection(lemma, tag=tag)
    return forms[0] if forms else lemma


def is_participle(word: str) -> str | None:
    """The lemma of a past participle; None for another word."""
    for lemma in lemmas(word, "VERB"):
        if lemma != word and word in (verb_form(lemma, "VBN"), verb_form(lemma, "VBD")):
            return lemma
    return {"born": "bear", "set": "set", "made": "make"}.get(word)


def is_third_person(word: str) -> str | None:
    """The lemma of a verb in the third person; None for another word."""
    for lemma in lemmas(word, "VERB"):
        if lemma != word and word == verb_form(lemma, "VBZ"):
            return lemma
    return None


@cache
def singular(noun: str) -> str:
    """The singular of one noun."""
    if noun in _IRREGULAR.values():
        return next(one for one, many in _IRREGULAR.items() if many == noun)
    if noun.endswith(("ss", "us", "is", "ics", "series", "species")) or len(noun) < 4:
        return noun
    found = lemmas(noun, "NOUN")
    if noun in found or not found:
        return noun
    return found[0]


@cache
def plural(noun: str) -> str:
    """The plural of one noun."""
    import lemminflect

    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if singular(noun) != noun or noun.endswith(("series", "species", "ics")):
        return noun
    if not noun.isascii() or not noun.isalpha() or noun[0].isupper():
        return noun  # of another language
    forms = lemminflect.getInflection(noun, tag="NNS")
    return forms[0] if forms else noun + "s"


_IRREGULAR = {
    "person": "people",
    "cast": "cast",
    "crew": "crew",
    "staff": "staff",
    "music": "music",
    "software": "software",
    "dead": "dead",
    "people": "people",
}


def in_number(phrase: str, many: bool) -> str:
    """A noun phrase in singular or plural.

    >>> in_number("place of birth", True), in_number("children", False)
    ('places of birth', 'child')
    """
    if " or " in phrase:
        return " or ".join(in_number(part, many) for part in phrase.split(" or "))
    words = phrase.split()
    if not words or words[-1] in PREPOSITIONS:  # the second of another language
        return phrase
    at = head_noun(words)
    words[at] = plural(singular(words[at])) if many else singular(words[at])
    return " ".join(words)


def with_article(phrase: str) -> str:
    """A noun phrase behind "a" or "an".

    >>> with_article("actor"), with_article("university")
    ('an actor', 'a university')
    """
    vowel = phrase[:1] in "aeiou" and not re.match(r"uni|us[aeu]|eu|one\b", phrase)
    return f"{'an' if vowel else 'a'} {phrase}"
