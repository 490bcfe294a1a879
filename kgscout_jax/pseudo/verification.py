"""Atomic knowledge verification: pseudo-graphs edited against facts of graphs.

The model names the facts that stand for each pseudo-triplet. So the verified graph
holds facts of the graphs only, whatever the model writes. A verdict that names no fact
where one is needed, or a pseudo-triplet without a verdict, is kept if a fact joins the
same two entities, else unsupported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kgscout_jax.pseudo.draft import Draft, write_drafts
from kgscout_jax.pseudo.facts import Fact, FactSource, prune
from kgscout_jax.pseudo.prompts import (
    REPAIR_EDIT,
    Edit,
    Verdict,
    edit_messages,
    read_edit,
)
from kgscout_jax.pseudo.settings import PseudoSettings
from kgscout_jax.reason.calls import Model
from kgscout_jax.types import Triplet, entity_key

VERDICTS: tuple[Verdict, ...] = ("kept", "corrected", "removed", "unsupported")
MAX_TOKENS = 300
"""Of an edit."""


@dataclass(frozen=True)
class TripletVerdict:
    """A pseudo-triplet and what became of it."""

    triplet: Triplet
    verdict: Verdict
    facts: tuple[Fact, ...] = ()
    """Of a kept or corrected one: the facts that stand for it."""


@dataclass(frozen=True, kw_only=True)
class VerifiedGraph:
    """The verified graph of one question, and how it came about."""

    question: str
    draft: Draft
    found: tuple[Fact, ...] = ()
    """Facts that the pseudo-triplets found, best first, before they were pruned."""
    facts: tuple[Fact, ...] = ()
    """Those that the model compared the pseudo-graph with."""
    judged: tuple[TripletVerdict, ...] = ()
    added: tuple[Fact, ...] = ()
    """Further facts that the model named."""
    malformed: bool = False
    """Whether the edit was none even after one repair."""
    error: str | None = None
    """Why a reply did not come."""

    @property
    def graph(self) -> tuple[Fact, ...]:
        """The verified graph: facts of the graphs, each once."""
        named = (fact for one in self.judged for fact in one.facts)
        return tuple(dict.fromkeys((*named, *self.added)))

    def log(self) -> str:
        """The verdicts as lines, each with its facts."""
        lines = []
        for one in self.judged:
            lines.append(f"{one.verdict:<11} {' | '.join(one.triplet)}")
            lines += [f"    {' | '.join(fact.triplet)}" for fact in one.facts]
        lines += [f"added       {' | '.join(fact.triplet)}" for fact in self.added]
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "question": self.question,
            "draft": self.draft.to_json(),
            "verdicts": [
                {
                    "triplet": list(one.triplet),
                    "verdict": one.verdict,
                    "facts": [fact_json(fact) for fact in one.facts],
                }
                for one in self.judged
            ],
            "added": [fact_json(fact) for fact in self.added],
            "found": len(self.found),
            "compared_with": [fact_json(fact) for fact in self.facts],
            "malformed": self.malformed,
            "error": self.error,
        }


def fact_json(fact: Fact) -> dict[str, Any]:
    """A fact as JSON values."""
    sources = {"sources": list(fact.sources)} if fact.sources else {}
    return {"triplet": list(fact.triplet), "score": round(fact.score, 4), **sources}


@dataclass(frozen=True)
class PseudoGraphs:
    """PG&AKV up to the answer: pseudo-graphs, verified in some graphs."""

    model: Model
    settings: PseudoSettings = field(default_factory=PseudoSettings)

    def draft(self, questions: Sequence[str]) -> list[Draft]:
        """The pseudo-graph of each question."""
        return write_drafts(self.model, questions, self.settings.form)

    def run(self, questions: Sequence[str], source: FactSource) -> list[VerifiedGraph]:
        """The verified graph of each question."""
        return self.verify(questions, self.draft(questions), source)

    def verify(
        self, questions: Sequence[str], drafts: Sequence[Draft], source: FactSource
    ) -> list[VerifiedGraph]:
        """The verified graphs of pseudo-graphs."""
        triplets = [draft.triplets for draft in drafts]
        found = source.search(questions, triplets, self.settings.matches)
        facts = [self.pruned(each, cosines=source.has_cosines) for each in found]
        asked = [i for i, draft in enumerate(drafts) if draft.triplets and facts[i]]
        edits, errors = self._edits(
            {
                i: (questions[i], triplets[i], [fact.triplet for fact in facts[i]])
                for i in asked
            }
        )
        return [
            VerifiedGraph(
                question=question,
                draft=draft,
                found=tuple(found[i]),
                facts=tuple(facts[i]),
                judged=judge(draft.triplets, facts[i], edits.get(i)),
                added=tuple(facts[i][j] for j in edits[i].added) if i in edits else (),
                malformed=i in asked and i not in edits and i not in errors,
                error=draft.error or errors.get(i),
            )
            for i, (question, draft) in enumerate(zip(questions, drafts, strict=True))
        ]

    def pruned(self, found: Sequence[Fact], *, cosines: bool) -> list[Fact]:
        """The facts that the model sees of what was found."""
        left = prune(
            found,
            entities=self.settings.entities,
            threshold=self.settings.threshold if cosines else float("-inf"),
            ends=self.settings.ends,
        )
        return left[: self.settings.facts]

    def _edits(
        self, tasks: Mapping[int, tuple[str, Sequence[Triplet], Sequence[Triplet]]]
    ) -> tuple[dict[int, Edit], dict[int, str]]:
        """Question -> edit, and question -> why there is no reply."""
        prompts = {i: edit_messages(*task) for i, task in tasks.items()}
        edits: dict[int, Edit] = {}
        errors: dict[int, str] = {}
        for stage in ("edit", "edit, repair"):
            asked = [i for i in prompts if i not in edits and i not in errors]
            if not asked:
                break
            replies = self.model.ask(
                stage, [prompts[i] for i in asked], max_tokens=MAX_TOKENS
            )
            for i, (reply,) in zip(asked, replies, strict=True):
                _, draft, facts = tasks[i]
                if reply.text is None:
                    errors[i] = reply.error or "no reply"
                elif edit := read_edit(reply.text, len(draft), len(facts)):
                    edits[i] = edit
                else:
                    said = ("assistant", reply.text), ("user", REPAIR_EDIT)
                    prompts[i] = (*prompts[i], *said)
        return edits, errors


def judge(
    draft: Sequence[Triplet], facts: Sequence[Fact], edit: Edit | None
) -> tuple[TripletVerdict, ...]:
    """The verdict on each pseudo-triplet; None for the edit if there is none."""
    by_ends: dict[frozenset[str], list[Fact]] = {}
    for fact in facts:
        by_ends.setdefault(_ends(fact.triplet), []).append(fact)
    judged = []
    for i, triplet in enumerate(draft):
        verdict, named = edit.verdicts.get(i, ("kept", ())) if edit else ("kept", ())
        chosen = tuple(facts[j] for j in named)
        if verdict in ("kept", "corrected") and not chosen:
            chosen = tuple(by_ends.get(_ends(triplet), ()))
            verdict = "kept" if chosen else "unsupported"
        elif verdict in ("removed", "unsupported"):
            chosen = ()
        judged.append(TripletVerdict(triplet, verdict, chosen))
    return tuple(judged)


def _ends(triplet: Triplet) -> frozenset[str]:
    return frozenset((entity_key(triplet[0]), entity_key(triplet[2])))
