"""Questions for all of a kind, or how many of it there are: "which genres are there".

The rules are for English.
"""

from __future__ import annotations

import re

from kgscout_jax.text.kinds import singular
from kgscout_jax.text.words import WORD

_NOUN = r"((?:[a-z-]+ ){0,2}?[a-z-]+)"
_WHERE = (
    r"(?: (?:in|on) (?:the|this|my|our|your|that) (?:data|graph|table|list|file|sheet"
    r"|spreadsheet|database|dataset|collection|catalogue|catalog)| in here| on file"
    r"| listed| recorded)?"
)
"""Where everything is."""
OWNER = (
    "(?:company|firm|team|staff|club|practice|organi[sz]ation|band|board|choir|orchestra"
    "|society|association|office|school|group|crew|business|shop|department|hospital"
    "|church|party|zoo|museum|library|shelter|gallery|farm|fleet)"
)
"""What a graph may be about: "who joined the club first"."""
_FORMS = tuple(
    re.compile(rf"^\W*{form}\W*$")
    for form in (
        rf"(?:which|what) (?:different )?{_NOUN} (?:are|is|exist)(?: there| available"
        rf"| used| listed| included)?{_WHERE}",
        rf"(?:which|what) {_NOUN} (?:do|can) (?:you|we|they|i) (?:sell|have|offer|stock"
        rf"|carry|list|know|keep|see){_WHERE}",
        rf"(?:what|who) are (?:all )?the (?:different )?{_NOUN}",
        rf"(?:list|show|name|give|find)(?: me)?(?: all)?(?: of)?(?: the)? {_NOUN}",
        rf"how many (?:different |distinct )?{_NOUN} (?:(?:are|were)(?: there)?|do "
        rf"(?:we|i) have)(?: in (?:total|all))?{_WHERE}",
        rf"how many {_NOUN} (?:does|do) (?:the|our|this) {OWNER} (?:have|own|keep|hold"
        r"|offer|sell)",
        rf"how many {_NOUN} (?:are|were|have been) (?:registered|enrolled|listed"
        rf"|recorded|kept|held|made)(?: (?:with|at|in|by) (?:us|(?:the|our|this) "
        rf"{OWNER}))?{_WHERE}",
    )
)
_NO_NOUN = frozenset("of in at by with one many it this that there".split())


def listing(question: str, *, of_one: bool = False) -> tuple[str, ...]:
    """The noun of what a question asks for, in singular; () for other questions.

    Args:
        question: the question.
        of_one: whether it may ask for one, too: "which package is", less "deprecated".

    >>> listing("Which genres are there?"), listing("How many open tasks are there?")
    (('genre',), ('open', 'task'))
    >>> listing("List all books"), listing("Who are the reporters?")
    (('book',), ('reporter',))
    >>> listing("how many stouts are in my list"), listing("Which laptops do you sell?")
    (('stout',), ('laptop',))
    >>> listing("How many cats are registered with the practice?")
    ('cat',)
    >>> listing("Which genre is it?"), listing("What are the genres of Alien?")
    ((), ())
    """
    text = " ".join(question.casefold().split())
    for form in _FORMS:
        if found := form.match(text):
            words = WORD.findall(found[1])
            several = singular(words) != (*words,) or "all" in text.split()
            if (several or of_one) and _NO_NOUN.isdisjoint(words):
                return singular(words)
    return ()
