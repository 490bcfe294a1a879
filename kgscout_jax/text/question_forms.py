"""Other forms of questions for a number, or for yes or no, and the usual ones.

"Acme headcount" asks how many people are in Acme, and "am I right that Bern is in
France" whether it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kgscout_jax.text.spelling import Correction

_TRUE = (
    r"(?:am i|are we) (?:right|correct) (?:that|in (?:thinking|assuming) that|to think"
    r" that)|is it (?:true|right|correct|so|a fact) that|(?:can|could) it be that"
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
_AUXILIARY = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would)\b", re.I
)
_ASKS = re.compile(r"^\W*(?:who|whom|whose|what|which|where|when|why|how)\b", re.I)
_COULD = re.compile(
    r"^(?P<could>could|might|may|would|will) (?!(?:you|i|we|there|it)\b)(?P<who>.+?)"
    r" be (?=an? |the )",
    re.I,
)
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
_TIMES = re.compile(
    r"^(?P<often>how (?:often|many times)) (?:ha[sd]|have|did|do|does|is|are|was|were) "
    r"(?P<rest>.+?) (?:an?|any) (?P<noun>[a-z]+)\b",
    re.I,
)
"""How often something was done to one of them: how many of them."""
_BEING = frozenset("is are was were has have had".split())
"""Verbs that stay before what they say of which ones."""
_GROUPS = (
    "team squad crew staff board panel committee department group unit band class "
    "faculty roster lineup membership workforce cast"
).split()
_GROUP = "|".join(_GROUPS)
_DETERMINERS = frozenset(
    "Average Total Maximum Minimum Typical Largest Smallest".split()
)
"""Words before a size or a number that name nothing."""
_BIG = re.compile(
    rf"^how (?:big|large) (?:is|was|are) (?=the .+ (?:{_GROUP})\W*$)", re.I
)
_SIZE = re.compile(rf"^(?P<who>.+?) (?:{_GROUP}) (?P<size>size)\W*$", re.I)
_HEADCOUNT = re.compile(r"^(?P<who>.+?) (?P<size>head ?count)\W*$", re.I)
_NUMBER = re.compile(
    r"^(?P<who>.+?)(?P<number>(?: total)? number of (?P<what>[a-z]+s(?: [a-z]+){0,3}))"
    r"\W*$",
    re.I,
)


def question_forms(
    question: str, says: Callable[[str], bool] = lambda _: False
) -> list[Correction]:
    """What stands in a question for its usual form, in the order of places.

    Args:
        question: the question.
        says: whether a relation of the graph is called by a word.

    >>> from kgscout_jax.text.spelling import corrected
    >>> def usual(text):
    ...     return corrected(text, question_forms(text))
    >>> usual("Am I right that Bern is in France?")
    'is Bern in France?'
    >>> usual("Bern in France, yes or no"), usual("I heard Ann employs Bo, is that so?")
    ('is Bern in France', 'does Ann employs Bo')
    >>> usual("Acme number of sales"), usual("Rapid squad size")
    ('how many sales does Acme have', 'how many members does Rapid have')
    >>> usual("How often did Ann win a prize in Bern?")
    'how many prizes did Ann win in Bern?'
    >>> usual("Does any firm in Bern sell kites, and if so which?")
    'which firm in Bern sell kites?'
    >>> usual("Could nausea be a side effect of Halovir?")
    'is nausea a side effect of Halovir?'
    """
    return _any(question) or _claim(question) or _count(question, says)


def _any(question: str) -> list[Correction]:
    """Corrections of a question for some, and which: "is anyone there, and if so who",
    or for some in the manner of a title: "Acme shops in Bern, any?"."""
    if match := _IF_SO.match(question):
        stop = match.start("so")
        asked, helper = match["thing"], match["be"].casefold()
        being = f"{helper} " if helper in _BEING else ""
        which = f"which {asked}" if asked else "who" if match["body"] else "what"
        return [
            Correction(0, question[: match.start("rest")], f"{which} {being}"),
            Correction(stop, question[stop:], "?"),
        ]
    if (match := _ANY.search(question)) and not _ASKS.match(question):
        start = match.start()
        return [
            Correction(0, "", "are there any "),
            Correction(start, question[start:], "?"),
        ]
    return []


def _claim(question: str) -> list[Correction]:
    """Corrections of a question for yes or no."""
    if match := _COULD.match(question):
        end = match.end("who")
        return [
            Correction(0, match["could"], "is"),
            Correction(end, question[end : match.end()], " "),
        ]
    begin, found = 0, [*_TRULY.finditer(question)]
    stop = found[-1].start() if found else len(question)
    if match := _CLAIM.match(question):
        begin = match.start("claim")
    elif not found:
        return []
    claim = question[begin:stop]
    if _ASKS.match(claim):
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


def _count(question: str, says: Callable[[str], bool]) -> list[Correction]:
    """Corrections of a question for a number."""
    if times := [] if says("frequency") else _times(question):
        return times
    if (match := _BIG.match(question)) and not says("size"):
        return [Correction(0, match[0], "how many people are on ")]
    for form in (_SIZE, _HEADCOUNT):
        match = form.match(question)
        if match and _is_name(match["who"]) and not says(match["size"].casefold()):
            end = match.end("who")
            return [
                Correction(0, "", "how many members does "),
                Correction(end, question[end:], " have"),
            ]
    match = _NUMBER.match(question)
    if match and _is_name(match["who"]) and not says("number"):
        begin = match.start("number")
        return [
            Correction(0, "", f"how many {match['what']} does "),
            Correction(begin, question[begin:], " have"),
        ]
    return []


def _times(question: str) -> list[Correction]:
    """Corrections of a question how often something happened."""
    if (match := _TIMES.match(question)) is None:
        return []
    from lemminflect import getInflection  # takes long to load

    noun, end = match["noun"], match.end("rest")
    noun = (getInflection(noun.casefold(), "NNS") or (f"{noun}s",))[0]
    return [
        Correction(0, match["often"], f"how many {noun}"),
        Correction(end, question[end : match.end("noun")], ""),
    ]


def _is_name(text: str) -> bool:
    """Whether words at the beginning of a question may be a name: "Data Ops".

    Not "average" or "the director with the highest", and no question word.
    """
    last = text.split()[-1:]
    capital = bool(last) and (last[0][0].isupper() or any(map(str.isdigit, last[0])))
    return capital and not (_ASKS.match(text) or text.split()[0] in _DETERMINERS)
