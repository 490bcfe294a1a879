"""Questions for yes or no, or for some and which, in other forms than the usual ones.

"Am I right that Bern is in France", "Acme owned by Bo?", "is anyone there, and if so
who".
"""

from __future__ import annotations

import re

from kgscout_jax.text.kinds import base_noun, is_past
from kgscout_jax.text.question_clause import BE, HAVE
from kgscout_jax.text.spelling import Correction
from kgscout_jax.text.value_words import is_comparing
from kgscout_jax.text.words import FUNCTION_WORDS

ASKS = re.compile(
    r"^\W*(?:(?:since|until|till|from|in|on|at|to|for|by|with|of) )?"
    r"(?:who|whom|whose|what|which|where|when|why|how)\b",
    re.I,
)
"""A question word at the beginning, or behind a preposition there."""
_TRUE = (
    r"(?:am i|are we) (?:right|correct) (?:that|in (?:thinking|assuming) that|to think"
    r" that)|is it (?:true|right|correct|so|a fact) that|(?:can|could) it be that"
    r"|(?:do|would) you (?:say|think)(?: that)?"
    r"|(?:i|we) (?:heard|believe|think|guess|suppose|assume)(?: that)?"
)
_CLAIM = re.compile(rf"^\W*(?:{_TRUE}) (?P<claim>.+)$", re.I)
_TRULY = re.compile(
    r"(?:\s*[,;:(]\s*|\s)(?:yes or no|true or false)\W*$"
    r"|\s*[,;:]\s*(?:is(?:n['’]t)? (?:that|this|it)(?: (?:so|right|true|correct))?"
    r"|right|correct)\W*$",
    re.I,
)
"""What makes a sentence a question for yes or no, at its end."""
_VERB = re.compile(
    r"^.+? (?P<verb>is|are|was|were|has|have|had|can|could|will)\b.+$", re.I
)
_MODAL = "could|might|may|would|will|shall|should|must"
_BEGINNING = f"is|are|was|were|do|does|did|has|have|had|can|{_MODAL}"
_AUXILIARY = re.compile(
    rf"^\W*(?:(?:{_BEGINNING})(?:n['’]t)?"
    r"|(?:ca|wo)n['’]t)\b",
    re.I,
)
_OPENING = re.compile(
    rf"^\W*(?P<verb>{_BEGINNING}|ca|wo)"
    r"(?P<no>n['’]t)? (?!(?:you|i|we|there|it|they|any\w*|some\w*)\b|\d)",
    re.I,
)
_PASSIVE = re.compile(r" be (?=\w)", re.I)
_PERFECT = re.compile(r" have (?=(?P<done>\w+))", re.I)
_NAMES = frozenset(("will", "may"))
"""Modal verbs that begin names, too: Will Smith, May 2020."""
_WHICH = "(?:who|which|what|whom)"
_IF_SO = re.compile(
    r"^\W*(?P<be>is|are|was|were|has|have|had|do|does|did|can)(?: there)? "
    r"(?:(?P<body>any(?:one|body)|some(?:one|body))|(?:any|some)thing"
    r"|(?:any|a|an|some) (?P<thing>\w+)) (?P<rest>.+?)"
    rf"(?P<so>[\s,;:]*\b(?:(?:and )?if (?:so|yes),? {_WHICH}\b[\w\s]*|and {_WHICH}"
    r"(?: ones?)?(?: (?:is|are|was|were) (?:it|they|he|she)(?: called)?)?))\W*$",
    re.I,
)
"""Whether there is one, and which."""
_ANY = re.compile(r"\s*[,;:-] ?any\W*$", re.I)
_SOME = re.compile(r"any (?=[^,;]+\?\W*$)", re.I)
_BARE = re.compile(
    r"^(?P<who>[A-Z][^,;?]*?) "
    r"(?:\w+ed|born|made|built|written|native|indigenous|endemic|part) "
    r"(?:by|in|to|of|from|on|at|with) (?:the )?[A-Z][^,;?]*\?\W*$"
)
"""A statement of two names with a question mark, and no verb: "Acme owned by Bo?"."""


def claim_forms(question: str) -> list[Correction]:
    """What stands in a question for yes or no for its usual form; [] for others.

    >>> from kgscout_jax.text.spelling import corrected
    >>> corrected(text := "Acme owned by Bo?", claim_forms(text))
    'is Acme owned by Bo?'
    """
    return _some(question) or _polar(question) or _claim(question)


def _some(question: str) -> list[Correction]:
    """Corrections of a question for some, and which: "is anyone there, and if so who",
    and of one for yes or no that has no verb: "Acme shops in Bern, any?"."""
    if match := _IF_SO.match(question):
        stop = match.start("so")
        asked, helper = match["thing"], match["be"].casefold()
        being = f"{helper} " if helper in BE | HAVE else ""
        which = f"which {asked}" if asked else "who" if match["body"] else "what"
        return [
            Correction(0, question[: match.start("rest")], f"{which} {being}"),
            Correction(stop, question[stop:], "?"),
        ]
    is_title = not ASKS.match(question) and not _AUXILIARY.match(question)
    if is_title and (match := _ANY.search(question)):
        start = match.start()
        return [
            Correction(0, "", "are there any "),
            Correction(start, question[start:], "?"),
        ]
    if (match := _SOME.match(question)) and not any(
        map(is_comparing, question.split())
    ):
        return [Correction(0, match[0], f"are there {match[0].casefold()}")]
    if is_title and (match := _BARE.match(question)) and _is_name(match["who"]):
        return [Correction(0, "", "is ")]
    return []


def _is_name(text: str) -> bool:
    """Whether words at the beginning of a question name one: no "Films" or "People".

    >>> [_is_name(text) for text in ("Acme", "Sea of Sand 2", "Films", "Old films")]
    [True, True, False, False]
    """
    words = text.split()
    if len(words) == 1:
        return base_noun(text.casefold()) == text.casefold()
    return all(w[0].isupper() or w[0].isdigit() or w in FUNCTION_WORDS for w in words)


def _polar(question: str) -> list[Correction]:
    """Corrections of a question for yes or no that begins with a modal verb, "had" or a
    negated verb: "would X be owned by Y", "isn't X in Y"."""
    match = _OPENING.match(question)
    if match is None:
        return []
    verb, opening = match["verb"].casefold(), question[: match.end() - 1]
    if verb not in _MODAL.split("|") and verb != "wo":
        plain = {"had": "has", "ca": "can"}.get(verb, verb)
        return [Correction(0, opening, plain)] if match["no"] or verb == "had" else []
    if be := _PASSIVE.search(question, match.end()):
        return [Correction(0, opening, "is"), Correction(be.start(), be[0], " ")]
    have = _PERFECT.search(question, match.end())
    if have and is_past(have["done"].casefold()):
        return [Correction(0, opening, "has"), Correction(have.start(), have[0], " ")]
    return [] if verb in _NAMES else [Correction(0, opening, "does")]


def _claim(question: str) -> list[Correction]:
    """Corrections of a question for yes or no."""
    begin, found = 0, [*_TRULY.finditer(question)]
    stop = found[-1].start() if found else len(question)
    if match := _CLAIM.match(question):
        begin = match.start("claim")
    elif not found:
        return []
    claim = question[begin:stop]
    if ASKS.match(claim):
        return []
    tail = [Correction(stop, question[stop:], "")] if stop < len(question) else []
    if _AUXILIARY.match(claim) or not claim.strip():
        return [Correction(0, question[:begin], ""), *tail] if begin else tail
    if match := _VERB.match(claim):
        at = begin + match.start("verb")
        verb = match["verb"]
        return [
            Correction(0, question[:begin], f"{verb.casefold()} "),
            Correction(at, f"{verb} ", ""),
            *tail,
        ]
    helper = "does " if begin else "is "
    return [Correction(0, question[:begin], helper), *tail]
