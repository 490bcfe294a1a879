"""SAFE (Wei et al. 2024): an agent that searches for evidence of every fact.

Facts are split off sentence by sentence, made self-contained, and dropped where they
have nothing to do with the question. For each remaining one the model asks for searches
in turn, each with what was found before, then says whether the findings support it. The
value is supported / (supported + not supported), as OKGQA reports it.

Different from the publication: any search function serves (the local index by default,
Google there), relevance is decided by a word instead of a symbol, and a query that
repeats an earlier one ends the search.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from kgscout_jax.okgqa.judges.facts import Facts, atomic_facts
from kgscout_jax.okgqa.judges.protocol import (
    JUDGED,
    NO_FACTS,
    UNREADABLE,
    Item,
    Judgement,
    context_text,
    text_of,
)
from kgscout_jax.okgqa.passages import Passage, Search
from kgscout_jax.okgqa.prompts import fill
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import prompt_text

LINE_TOKENS = 80
WORD_TOKENS = 8
RATE_TOKENS = 160
_RATING = re.compile(r"\[?\b(not[\s-]+supported|supported)\b\]?", re.IGNORECASE)
_RELEVANCE = re.compile(r"\b(related|foreign)\b", re.IGNORECASE)


@dataclass
class _Fact:
    """A fact on its way through the agent."""

    item: Item
    text: str
    relevant: bool = True
    queries: list[str] = field(default_factory=list)
    knowledge: list[Passage] = field(default_factory=list)
    searching: bool = True
    supported: bool | None = None
    outcome: str = JUDGED

    def known(self) -> str:
        return context_text(self.knowledge) if self.knowledge else "(nothing yet)"


@dataclass
class SAFE:
    """The factual precision of answers by an agent's searches."""

    model: Model
    search: Search
    passages: int = 3
    """Passages per search."""
    searches: int = 5
    """Searches per fact at most."""

    @property
    def metrics(self) -> Mapping[str, str]:
        """Metric -> how tables write it."""
        return {"safe": "SAFE"}

    def judge(self, items: Sequence[Item]) -> list[dict[str, Judgement]]:
        """Per item, metric -> judgement."""
        split = atomic_facts(self.model, items)
        facts = [[_Fact(item, text) for text in one.texts]
                 for item, one in zip(items, split, strict=True)]  # fmt: skip
        every = [fact for each in facts for fact in each]
        self._revise(every)
        self._drop_foreign(every)
        relevant = [fact for fact in every if fact.relevant]
        for _ in range(self.searches):
            self._search([fact for fact in relevant if fact.searching])
        self._rate(relevant)
        return [
            {"safe": precision(one, each)}
            for one, each in zip(split, facts, strict=True)
        ]

    def _revise(self, facts: Sequence[_Fact]) -> None:
        """Make facts self-contained; one that cannot be stays as it is."""
        prompts = [
            fill(
                "safe_revise",
                answer=prompt_text(fact.item.answer or ""),
                fact=prompt_text(fact.text),
            )
            for fact in facts
        ]
        replies = self.model.ask("safe revision", prompts, max_tokens=LINE_TOKENS)
        for fact, (reply,) in zip(facts, replies, strict=True):
            fact.text = first_line(text_of(reply)[0]) or fact.text

    def _drop_foreign(self, facts: Sequence[_Fact]) -> None:
        """Mark facts that have nothing to do with the question; in doubt none."""
        prompts = [
            fill(
                "safe_relevant",
                question=prompt_text(fact.item.question),
                fact=prompt_text(fact.text),
            )
            for fact in facts
        ]
        replies = self.model.ask("safe relevance", prompts, max_tokens=WORD_TOKENS)
        for fact, (reply,) in zip(facts, replies, strict=True):
            match = _RELEVANCE.search(text_of(reply)[0])
            fact.relevant = match is None or match[1].lower() == "related"

    def _search(self, facts: Sequence[_Fact]) -> None:
        """One more search for each fact; the fact itself where the first is empty."""
        prompts = [
            fill("safe_search", knowledge=fact.known(), fact=prompt_text(fact.text))
            for fact in facts
        ]
        replies = self.model.ask("safe search", prompts, max_tokens=LINE_TOKENS)
        new = []
        for fact, (reply,) in zip(facts, replies, strict=True):
            query = first_line(text_of(reply)[0]).strip('"“”')
            query = query or ("" if fact.queries else fact.text)
            if query and query.lower() not in map(str.lower, fact.queries):
                fact.queries.append(query)
                new.append(fact)
            else:
                fact.searching = False
        found = self.search([fact.queries[-1] for fact in new], self.passages)
        for fact, passages in zip(new, found, strict=True):
            fact.knowledge += [one for one in passages if one not in fact.knowledge]

    def _rate(self, facts: Sequence[_Fact]) -> None:
        prompts = [
            fill("safe_rate", knowledge=fact.known(), fact=prompt_text(fact.text))
            for fact in facts
        ]
        replies = self.model.ask("safe rating", prompts, max_tokens=RATE_TOKENS)
        for fact, (reply,) in zip(facts, replies, strict=True):
            text, fact.outcome = text_of(reply)
            found = _RATING.findall(text)
            if found:
                fact.supported = found[-1].lower() == "supported"
            elif fact.outcome == JUDGED:
                fact.outcome = UNREADABLE


def first_line(text: str) -> str:
    """The first line of a reply with a letter, without a label before it.

    >>> first_line("\\nRevised statement: Lima is in Peru.\\nI changed nothing.")
    'Lima is in Peru.'
    """
    for line in text.splitlines():
        if any(c.isalnum() for c in line):
            label = r"^(?:revised statement|statement|query|search query)\s*:\s*"
            return re.sub(label, "", line.strip(), flags=re.IGNORECASE).strip()
    return ""


def precision(split: Facts, facts: Sequence[_Fact]) -> Judgement:
    """The share of supported facts, of the relevant ones with a rating."""
    relevant = [fact for fact in facts if fact.relevant]
    details = {
        "facts": [[fact.text, fact.supported, fact.queries] for fact in relevant],
        "foreign": len(facts) - len(relevant),
        "failed_sentences": split.failed,
        "invented_facts": split.invented,
        "failed_facts": sum(fact.supported is None for fact in relevant),
    }
    if split.outcome != JUDGED:
        return Judgement(outcome=split.outcome, details=details)
    if not relevant:
        return Judgement(outcome=NO_FACTS, details=details)
    known = [fact.supported for fact in relevant if fact.supported is not None]
    if not known:
        failures = Counter(fact.outcome for fact in relevant)
        return Judgement(outcome=failures.most_common(1)[0][0], details=details)
    return Judgement(value=sum(known) / len(known), details=details)
