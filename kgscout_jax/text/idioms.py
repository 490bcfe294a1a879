"""Idioms that are read in plain words: who "works under" somebody reports to them."""

from __future__ import annotations

import re

from kgscout_jax.text.kinds import noun_kind
from kgscout_jax.text.listing import OWNER
from kgscout_jax.text.spelling import Correction

_SEAT = "(?:its|their) (?:headquarters|head office|seat|base)"
_CROWD = "(?:people|spectators|fans|guests|visitors)"
_WAS_FIRST = r"\b(?:was|were|became) (?:the )?(first|last) to"
_AT_TIME = r"(?= (?:in|on|since|after|before|during|between|from)\b[^,]*\d)"
_PHRASES = [
    (re.compile(pattern, re.I), plain)
    for pattern, plain in (
        (r"\bworks? (?:directly |straight )?(?:under|below)\b", "reports to"),
        (r"\bworking (?:directly |straight )?(?:under|below)\b", "who report to"),
        (r"\b(?:are|is) (?:directly |straight )under\b", "reports to"),
        (r"\b(?:people|those|everyone|employees|staff) (?:directly |straight )?under\b",
         "people who report to"),
        (r"\b(?:direct|immediate) subordinates?\b", "direct reports"),
        (r"\bsubordinates\b", "reports"),
        (r"\b(?:makes?|earns?) (?:the )?most(?: money)?\b", "has the highest salary"),
        (r"\b(?:makes?|earns?) more(?: money)?(?=,)", "has a higher salary"),
        (r"\bearning (?=(?:more|less|over|under)\b)", "who earn "),
        (r"\bcosts? (?:the )?most\b", "is the most expensive"),
        (r"\bcosts? more(?=,)", "is more expensive"),
        (r"\bput on(?=\W*$)", "staged"),
        (r"\b(?:lost (?:his|her|their) li(?:fe|ves)|passed away)\b", "died"),
        (r"\bpass away\b", "die"),
        (r"\bhails? from\b", "come from"),
        (r"\bcame out\b(?! of\b| on top\b)", "released"),
        (r"\bcome out\b(?! of\b| on top\b)", "release"),
        (r"\btied the knot with\b", "married"),
        (rf"\b(?:(?:that|which|who) (?:has|have)|with) {_SEAT} (?=in\b)", "based "),
        (rf"\b(?:has|have) {_SEAT} (?=in\b)", "is based "),
        (r"\b(?:came|comes?) up with\b", "created"),
        (r"\b(?:put|brought) out by\b", "released by"),
        (r"\btakes care of\b", "looks after"),
        (r" at (?:the|a) (?:minimum|maximum|most|least)(?=\W*$)", ""),
        (r"\bpieces? of (?=(?:equipment|furniture|software|hardware|clothing|luggage|"
         r"jewell?e?ry|kit|gear|land)\b)", ""),
        (r"\b(?:took|taken) out\b(?! of\b)", "borrowed"),
        (r"\bcomes? with (?=.+ as (?:one of )?(?:its|their|an?)\b)", "have "),
        (r"(?<= as) one of (?:its|their)\b", " a"),
        (r" on (?:its|their|his|her) books?(?=\W*$)", ""),
        (r"(?<=['’]s) own\b", ""),
        (r"(?<=^how many )(\w+) (?:is|are) (.+) divided into(?=\W*$)",
         r"\1 are in \2"),
        (r"\bfirst (?=(?:described|discovered|spotted|seen|observed|isolated|named"
         r"|identified|recorded|published|proposed|synthesi[sz]ed) by\b)", ""),
        (r"^how (?:long|many years) (?:does|do|did|can|will) (.+) live(?=\W*$)",
         r"what is the lifespan of \1"),
        (r"\bwhat (?:does |do |did )?(.+?) (?:do|does|did) for (?:a|his|her|their) "
         r"living\b", r"what is the occupation of \1"),
        (r"\b(?:first )?(?:went|goes) on sale\b", "released"),
        (r"\b(?:first )?go on sale\b", "release"),
        (rf"^how many {_CROWD} (?:can|could|does|do|will) (.+) (?:hold|seat|fit"
         r"|accommodate)(?=\W*$)", r"what is the capacity of \1"),
        (rf"^how many {_CROWD} (?:fit|can sit|can be seated) (?:into|in|inside) "
         r"(.+?)(?=\W*$)", r"what is the capacity of \1"),
        (r"\btook over\b(?! from\b| as\b)", "acquired"),
        (r"\btaken over by\b", "acquired by"),
        (r"\b(?:lift|blast) off\b", "launch"),
        (r"\b(?:lifted|blasted) off\b", "launched"),
        (r"\btouch down\b", "land"),
        (r"\btouched down\b", "landed"),
        (r"^which (city|town|country) is home to (.+?)(?=\W*$)",
         r"in which \1 is \2 based"),
        (r"^(?:the )?(?:main|typical|usual) (?=\w+s (?:of|for|in)\b)", ""),
        (r"^where (?:does|did) (.+) lie buried\b", r"where is \1 buried"),
        (r"\blies buried\b", "is buried"),
        (r"\blaid to rest\b", "buried"),
        (r"\b(?:stood|stands|acted|acts|served|serves) as (?=(?:god(?:parent|father|"
         r"mother)|guardian|witness|tutor|mentor|regent) (?:to|for|of)\b)",
         "is the "),
        (r"^how (?:big|large|great) (?:is|are|was|were) (?=the (?:endowment|budget"
         r"|capacity|staff|workforce|fleet|population|enrolment|enrollment)\b)",
         "what is "),
        (r"\b(?:wrote|did|made) the (?:score|music|soundtrack)(?= (?:of|for|to)\b)",
         "composed the music"),
        (r"\b(supervised|advised|guided|oversaw) (.+)['’]s (?:phd|doctorate|(?:doctoral"
         r" |phd )?(?:thesis|dissertation|work|studies))(?=\W*$)", r"\1 \2"),
        (r"\b(?:has|have) (.+) put money into\b", r"did \1 invest in"),
        (r"\bput money into\b", "invested in"),
        (r"\b(?:has|have) been (?:here|(?:with|at|in|on|working (?:at|for)) (?:us|the "
         rf"{OWNER}))"
         r"(?: for)?(?: the)? longest(?: time)?(?=\W*$)", "joined first"),
        (r"\b(?:has|have) ((?:held|had|rented|owned|worked|served|been (?!the\b))\b.+?)"
         r",?(?: for)?(?: the)? longest(?: time)?(?=\W*$)",
         r"\1 from the earliest date"),
        (rf"\bjoined (?:us|(?:the|our) {OWNER}) (first|last)(?=\W*$)", r"joined \1"),
        (rf"\b(join|joined) (?:us|(?:the|our) {OWNER}){_AT_TIME}", r"\1"),
        (rf"\b(hired|employed|recruited|appointed) by (?:us|(?:the|our) {OWNER})"
         rf"{_AT_TIME}", r"\1"),
        (r"\blongest[- ]serving (\w+)", r"\1 who joined first"),
        (rf"{_WAS_FIRST} be (\w+)(?=\W*$)", r"was \2 \1"),
        (rf"{_WAS_FIRST} (?:get|win|gain|receive|obtain|secure) (\w+)(?=\W*$)",
         r"had \2 \1"),
        (rf"{_WAS_FIRST} (\w+)(?=\W*$)", r"did \2 \1"),
        (r"^(?:for )?how long (?=(?:has|have) )", "since when "),
        (r"^(who|which \w+) (?:was|were) (?:the )?(first|last) (?:one )?to "
         r"(?!be\b)(\w+ .+?)(?=\W*$)", r"\1 did \3 \2"),
        (r"\bprior to\b", "before"),
        (r"\b(?:subsequent to|in the (?:years?|months?|time) (?:following|after))\b",
         "after"),
        (r"\b(?:is|are) in charge of\b(?! \w+ing\b)", "leads"),
        (r"\bwas in charge of\b(?! \w+ing\b)", "led"),
        (r"\b(?:lies|sits|stands|rises|is located)(?= the (?:high|low)est\b)", "is"),
        (r" above (?:the )?sea level\b", ""),
        (r"\b(?:portions|helpings)\b", "servings"),
        (r"^how (?:threatened|endangered) (?:is|are)\b",
         "what is the conservation status of"),
        (r"^how (?:bad|severe|serious) (?:is|was)\b", "what is the severity of"),
        (r"^where (?:does|do|did|will) (.+?) take place\b",
         r"what is the location of \1"),
        (r"^who do you play as in\b", "who is the protagonist of"),
        (r"\b(?:penned|wrote|writes) the (?:words|text|lyrics)(?= (?:of|for|to)\b)",
         "wrote the libretto"),
        (r"^what (?:is|are) (?=.+ good at\W*$)", "what skills has "),
        (r" good at(?=\W*$)", ""),
        (r"^who(?= (?:did|does|do|has) .+ play(?:ed)? in )", "what role"),
    )
]  # fmt: skip
_DOES = re.compile(
    r"what (?P<does>do|does|did) (?P<who>the (?P<noun>\w+) of .+|.+?['’]s (?P<own>\w+))"
    r"(?P<do> do(?: for (?:a|his|her|their) living| for work)?)\W*$",
    re.I,
)
"""What somebody's husband does."""


def idioms(question: str) -> list[Correction]:
    """The idioms of a question, in their order, and what they mean.

    >>> [each[1:] for each in idioms("who works directly under Ann")]
    [('works directly under', 'reports to')]
    >>> [each[1:] for each in idioms("What does Ann's husband do?")]
    [('does', 'is the occupation of'), (' do', '')]
    >>> [each[2] for each in idioms("Who has been with the firm the longest?")]
    ['joined first']
    >>> [each[2] for each in idioms("Which tenant has held a plot for the longest?")]
    ['held a plot from the earliest date']
    >>> idioms("What does Ann do?"), idioms("What does Ann's firm do?")
    ([], [])
    """
    if match := _DOES.match(question):
        noun = match["noun"] or match["own"]
        if noun_kind(noun.casefold()) == "person":
            is_what = "was" if match["does"].casefold() == "did" else "is"
            return [
                Correction(
                    match.start("does"), match["does"], f"{is_what} the occupation of"
                ),
                Correction(match.start("do"), match["do"], ""),
            ]
    found: list[Correction] = []
    for pattern, plain in _PHRASES:
        for match in pattern.finditer(question):
            start, stop = match.span()
            if all(stop <= c.start or c.start + len(c.word) <= start for c in found):
                found.append(Correction(start, match[0], match.expand(plain)))
    return sorted(found)
