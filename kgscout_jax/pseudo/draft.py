"""Pseudo-graphs: what a model guesses that an answer needs (PG&AKV, first phase).

A reply that does not run is sent back once with what the engine says. If the second one
does not run either, its patterns are read tolerantly. Every outcome is counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from kgscout_jax.pseudo.cypher import read_cypher
from kgscout_jax.pseudo.prompts import (
    REPAIR_CYPHER,
    REPAIR_TRIPLETS,
    draft_messages,
    read_triplets,
)
from kgscout_jax.pseudo.settings import DraftForm
from kgscout_jax.reason.calls import Model
from kgscout_jax.types import Triplet
from kgscout_jax.utils.progress import ProgressBar

MAX_TRIPLETS = 20
"""Pseudo-triplets of a question, at most: the first ones."""
MAX_TOKENS = 400
"""Of a reply."""
DraftOutcome = Literal["ran", "repaired", "patterns", "nothing", "error"]
OUTCOMES: dict[DraftOutcome, str] = {
    "ran": "ran at once",
    "repaired": "ran after the repair",
    "patterns": "read tolerantly",
    "nothing": "no fact could be read",
    "error": "no reply",
}
"""Outcome -> how tables write it. Plain triplets run if each line is one."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The pseudo-graph of one question."""

    triplets: tuple[Triplet, ...] = ()
    outcome: DraftOutcome
    causes: tuple[str, ...] = ()
    """Why the replies did not run, in order."""
    replies: tuple[str, ...] = ()
    """As they came, the repaired one last."""
    error: str | None = None
    """Why there is no reply."""
    message: str = ""
    """What the reader of the last reply said."""

    def to_json(self) -> dict[str, Any]:
        """Outcome, cause, triplets and replies as JSON values."""
        return {
            "outcome": self.outcome,
            "causes": list(self.causes),
            "triplets": [list(triplet) for triplet in self.triplets],
            "replies": list(self.replies),
            "error": self.error,
        }


def write_drafts(
    model: Model, questions: Sequence[str], form: DraftForm
) -> list[Draft]:
    """A pseudo-graph for each question.

    Raises:
        UserError: the engine is not installed, or the server refuses every request.
    """
    prompts = [draft_messages(question, form) for question in questions]
    first = model.ask("pseudo-graph", prompts, max_tokens=MAX_TOKENS)
    drafts = read_all(
        [one.text for (one,) in first], [one.error for (one,) in first], form
    )
    broken = [
        i for i, one in enumerate(drafts) if one.outcome in ("patterns", "nothing")
    ]
    if not broken:
        return drafts
    repair = REPAIR_CYPHER if form == "cypher" else REPAIR_TRIPLETS
    again = [
        (
            *prompts[i],
            ("assistant", drafts[i].replies[0]),
            ("user", repair.format(message=drafts[i].message or "it holds no fact")),
        )
        for i in broken
    ]
    second = model.ask("repair", again, max_tokens=MAX_TOKENS)
    repaired = read_all(
        [one.text for (one,) in second], [one.error for (one,) in second], form
    )
    for i, new in zip(broken, repaired, strict=True):
        drafts[i] = _joined(drafts[i], new)
    return drafts


def read_all(
    texts: Sequence[str | None], errors: Sequence[str | None], form: DraftForm
) -> list[Draft]:
    """The drafts in replies; None stands for a reply that did not come."""
    drafts = []
    with ProgressBar(len(texts), "reading pseudo-graphs", "replies") as bar:
        for text, error in zip(texts, errors, strict=True):
            if text is None:
                drafts.append(Draft(outcome="error", error=error or "no reply"))
            else:
                drafts.append(read_draft(text, form))
            bar.update()
    return drafts


def read_draft(reply: str, form: DraftForm) -> Draft:
    """The draft in one reply."""
    if form == "cypher":
        graph = read_cypher(reply)
        triplets, cause, message = graph.triplets, graph.cause, graph.message
        outcome: DraftOutcome = graph.outcome
    else:
        lines, others = read_triplets(reply)
        triplets, message = tuple(lines), ""
        cause = "" if lines and not others else "syntax" if lines else "no facts"
        outcome = "nothing" if not lines else "patterns" if others else "ran"
    return Draft(
        triplets=triplets[:MAX_TRIPLETS],
        outcome=outcome,
        causes=(cause,) if cause else (),
        replies=(reply,),
        message=message,
    )


def _joined(old: Draft, new: Draft) -> Draft:
    """The draft after the repair: the new reply's, or the old one's if it has none."""
    best = new if new.outcome == "ran" or new.triplets else old
    return replace(
        best,
        outcome="repaired" if new.outcome == "ran" else best.outcome,
        causes=(*old.causes, *new.causes),
        replies=(*old.replies, *new.replies),
    )
