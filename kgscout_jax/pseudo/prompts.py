"""The prompts of PG&AKV, and how replies are read.

The paper's prompts are not published. These ask a small model for short plain replies;
in the edit it names facts by their numbers, so that a verified graph holds nothing but
facts of the graphs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kgscout_jax.pseudo.settings import DraftForm
from kgscout_jax.reason.prompts import Message, prompt_name, prompt_phrase, prompt_text
from kgscout_jax.types import Triplet, display_name

Verdict = Literal["kept", "corrected", "removed", "unsupported"]

CYPHER = """\
You write down, as a small graph in Cypher, the facts that an answer to a question \
needs. Write what you know, and your best guess where you do not know. Use CREATE \
only. Give every node a name and every relationship a type. Reply with one code block \
and nothing else."""
TRIPLETS = """\
You write down, as a list, the facts that an answer to a question needs. Write what \
you know, and your best guess where you do not know. Write one fact a line as \
subject | relation | object, and nothing else."""
EXAMPLES: tuple[tuple[str, str, str], ...] = (
    (
        "What is the capital of the country where the Rhine rises?",
        """\
CREATE (rhine:River {name: "Rhine"})
CREATE (switzerland:Country {name: "Switzerland"})
CREATE (bern:City {name: "Bern"})
CREATE (rhine)-[:RISES_IN]->(switzerland)
CREATE (switzerland)-[:HAS_CAPITAL]->(bern)""",
        "Rhine | rises in | Switzerland\nSwitzerland | has capital | Bern",
    ),
    (
        "what is basalt used for",
        """\
CREATE (basalt:Rock {name: "Basalt"})
CREATE (road:Use {name: "road construction"})
CREATE (statue:Use {name: "statues"})
CREATE (basalt)-[:USED_FOR]->(road)
CREATE (basalt)-[:USED_FOR]->(statue)""",
        "Basalt | used for | road construction\nBasalt | used for | statues",
    ),
)
REPAIR_CYPHER = """\
This does not run: {message}. Write the whole code block again: CREATE only, no \
functions, a name for every node, a type for every relationship."""
REPAIR_TRIPLETS = """\
That is not in the form that was asked for. Write lines "subject | relation | object" \
only."""
EDIT = """\
Somebody wrote a draft of facts from memory; it may be wrong. The facts of the graph \
are right. Compare each draft fact with the graph and write one line for it:
P1: KEEP F2 (fact F2 says the same)
P1: CORRECT F3, F4 (facts F3 and F4 say what is right instead)
P1: REMOVE (the graph shows that it is wrong, or the question does not need it)
P1: UNSUPPORTED (no fact of the graph tells)
End with one line of further facts that the answer needs:
ADD: F5 (or ADD: none)"""
EDIT_TASK = """\
Question: {question}
Draft:
{draft}
Graph:
{facts}"""
EDIT_EXAMPLE = (
    """\
Question: Who wrote Dracula, and when was it published?
Draft:
P1. Dracula | written by | Bram Stoker
P2. Dracula | published in | 1899
P3. Dracula | genre | romance
P4. Bram Stoker | lived in | Whitby
Graph:
F1. Dracula | author | Bram Stoker
F2. Dracula | publication year | 1897
F3. Dracula | genre | Gothic fiction
F4. Bram Stoker | place of birth | Dublin""",
    """\
P1: KEEP F1
P2: CORRECT F2
P3: REMOVE
P4: UNSUPPORTED
ADD: none""",
)
REPAIR_EDIT = """\
That is not in the form that was asked for. Write one line for each draft fact, such \
as "P1: KEEP F2", and the line "ADD: none"."""
ANSWER = """\
Facts:
{facts}
Question: {question}
Answer from these facts alone, not from what you know, with their names. Reply with \
JSON and nothing else: {{"ans": ["answer 1", "answer 2"]}}, or {{"ans": ["answer not \
available"]}} if the facts do not tell."""

_LINE = re.compile(r"^[\s\-*•]*(?:\d+[.)]\s+)?(.+?)\s*$")
_EDIT = re.compile(
    r"^\W*P?(\d+)\W+(keep|kept|correct|remove|unsupported)\w*\b(.*)$", re.IGNORECASE
)
_ADD = re.compile(r"^\W*add\b(.*)$", re.IGNORECASE)
_FACT = re.compile(r"\bF(\d{1,4})\b", re.IGNORECASE)
_VERDICTS: dict[str, Verdict] = {
    "keep": "kept",
    "kept": "kept",
    "correct": "corrected",
    "remove": "removed",
    "unsupported": "unsupported",
}


def draft_messages(question: str, form: DraftForm) -> tuple[Message, ...]:
    """The request for a pseudo-graph."""
    cypher = form == "cypher"
    messages: list[Message] = [("system", CYPHER if cypher else TRIPLETS)]
    for asked, code, lines in EXAMPLES:
        reply = f"```cypher\n{code}\n```" if cypher else lines
        messages += [("user", f"Question: {asked}"), ("assistant", reply)]
    return (*messages, ("user", f"Question: {prompt_text(question)}"))


def edit_messages(
    question: str, draft: Sequence[Triplet], facts: Sequence[Triplet]
) -> tuple[Message, ...]:
    """The request for an edit of a pseudo-graph against facts of the graphs."""
    task = EDIT_TASK.format(
        question=prompt_text(question),
        draft=numbered("P", draft),
        facts=numbered("F", facts),
    )
    asked, reply = EDIT_EXAMPLE
    return (
        ("system", EDIT), ("user", asked), ("assistant", reply), ("user", task)
    )  # fmt: skip


def numbered(letter: str, triplets: Sequence[Triplet]) -> str:
    """Triplets as lines with numbers."""
    return "\n".join(
        f"{letter}{i}. {prompt_name(h)} | {prompt_phrase(r)} | {prompt_name(t)}"
        for i, (h, r, t) in enumerate(triplets, start=1)
    )


def read_triplets(reply: str) -> tuple[list[Triplet], int]:
    """(the triplets of a reply's lines, number of lines that are none)."""
    triplets: dict[Triplet, None] = {}
    others = 0
    for line in reply.splitlines():
        match = _LINE.match(line)
        if match is None or match[1].startswith("```"):
            continue
        text = match[1].strip("()[]") if match[1][:1] in "([" else match[1]
        parts = text.split("|") if "|" in text else text.split(", ")
        names = [display_name(part.strip(" \"'`*")) for part in parts]
        head, relation, tail = names if len(names) == 3 else ("", "", "")
        if head and relation and tail:
            triplets[head, relation, tail] = None
        else:
            others += 1
    return list(triplets), others


@dataclass(frozen=True, kw_only=True)
class Edit:
    """What a model's edit says."""

    verdicts: dict[int, tuple[Verdict, tuple[int, ...]]]
    """Pseudo-triplet -> verdict and the facts that it names, both from 0."""
    added: tuple[int, ...]
    """Further facts."""


def read_edit(reply: str, drafts: int, facts: int) -> Edit | None:
    """The edit in a reply; None without a line about any of the pseudo-triplets.

    Numbers that stand for nothing are passed over; of two lines on one pseudo-triplet
    the first counts.
    """
    verdicts: dict[int, tuple[Verdict, tuple[int, ...]]] = {}
    added: tuple[int, ...] = ()
    for line in reply.splitlines():
        if match := _EDIT.match(line):
            number = int(match[1]) - 1
            if 0 <= number < drafts:
                verdict = _VERDICTS[match[2].lower()]
                verdicts.setdefault(number, (verdict, _facts(match[3], facts)))
        elif match := _ADD.match(line):
            added = tuple(dict.fromkeys((*added, *_facts(match[1], facts))))
    return Edit(verdicts=verdicts, added=added) if verdicts else None


def _facts(text: str, n: int) -> tuple[int, ...]:
    numbers = (int(number) - 1 for number in _FACT.findall(text))
    return tuple(dict.fromkeys(i for i in numbers if 0 <= i < n))
