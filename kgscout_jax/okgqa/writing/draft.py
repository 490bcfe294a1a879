"""Questions from OKGQA's ten templates (table 1), written by a language model.

Each is about one or two entities of the graph, with text about them in the prompt. A
pair shares a triplet's relation and other end, or a triplet. Replies that cannot be
used are counted by reason, and other entities are tried.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import json_repair
import numpy as np

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.okgqa.judges.protocol import JUDGED, text_of
from kgscout_jax.okgqa.passages import Passage, sentence
from kgscout_jax.okgqa.prompts import data, fill
from kgscout_jax.okgqa.writing.entity_order import kinds_of, varied_order
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import prompt_name, prompt_text
from kgscout_jax.types import display_name

LEAST, MOST = 3, 400
"""Triplets of an entity that a question may be about."""
SENTENCES = 12
"""Of the graph, as text about an entity."""
WORDS = 120
"""Of documents, as text about an entity."""
ROUNDS = 5
"""Attempts at as many questions as are missing."""
OWN_ROUNDS = 3
"""Those by the template itself; further ones by the other of its type."""
LONGEST = 400
"""Characters of a question."""
LONGEST_REPLY = 10_000
"""Characters of an object in a reply; the time to repair one grows with their square.
"""
REPLY_TOKENS = 250


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What one request asks for."""

    template: Mapping[str, Any]
    entities: tuple[str, ...]
    context: str


@dataclass
class Written:
    """The questions, and what was not taken."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    """Replies that were not taken, by reason."""


def write_questions(
    graph: KnowledgeGraph, documents: Sequence[Passage], model: Model, n: int, seed: int
) -> Written:
    """At most ``n`` questions, the ten templates in turn.

    A template that failed ``OWN_ROUNDS`` times is replaced by the other of its type.

    Args:
        graph: what they are about.
        documents: text about its entities, by title; () for the graph's own triplets.
        model: what writes them.
        n: how many.
        seed: of the choice of entities.
    """
    written, chooser = Written(), EntityChooser(graph, documents, seed)
    templates = data("questions")["templates"]
    wanted = [templates[i % len(templates)] for i in range(n)]
    texts: set[str] = set()
    for attempt in range(ROUNDS):
        drafts = [chooser.draft(template) for template in wanted]
        drafts = [draft for draft in drafts if draft is not None]
        replies = model.ask(
            "questions", [_prompt(draft) for draft in drafts], max_tokens=REPLY_TOKENS
        )
        missing = []
        for draft, (reply,) in zip(drafts, replies, strict=True):
            text, outcome = text_of(reply)
            row, problem = (
                read_reply(text, draft) if outcome == JUDGED else ({}, outcome)
            )
            if not problem and row["question"].lower() in texts:
                problem = "written twice"
            if problem:
                written.refused[problem] += 1
                missing.append(draft.template)
                continue
            texts.add(row["question"].lower())
            written.rows.append({"id": f"open-{len(written.rows):04d}", **row})
        wanted = missing
        if attempt + 1 >= OWN_ROUNDS:
            wanted = [other_template(one, templates) for one in missing]
        if not wanted:
            break
    return written


def other_template(
    template: Mapping[str, Any], templates: Sequence[Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Another template of the same type; itself where there is none."""
    others = (
        one for one in templates
        if one["type"] == template["type"] and one is not template
    )  # fmt: skip
    return next(others, template)


class EntityChooser:
    """Chooses entities with a few triplets, each once, of all kinds."""

    def __init__(
        self, graph: KnowledgeGraph, documents: Sequence[Passage], seed: int
    ) -> None:
        self.graph, self.rng = graph, random.Random(seed)
        self.texts: dict[str, str] = {}
        for one in documents:
            self.texts.setdefault(one.title.lower(), one.text)
        triplets = np.asarray(graph.triplets)
        size = len(graph.entities)
        degree = np.bincount(triplets[:, [0, 2]].ravel(), minlength=size)
        fit = np.flatnonzero((degree >= LEAST) & (degree <= MOST) & ~graph.unnamed_mask)
        self.pool = [int(i) for i in fit if self._is_name(graph.entities[int(i)])]
        if documents:
            told = [i for i in self.pool if graph.entities[i].lower() in self.texts]
            self.pool = told or self.pool
        kinds = kinds_of(triplets, size)[self.pool]
        order = varied_order(kinds, seed).tolist()
        self.pool = [self.pool[i] for i in reversed(order)]  # taken from its end

    @staticmethod
    def _is_name(name: str) -> bool:
        return 2 < len(name) <= 60 and sum(c.isalpha() for c in name) > len(name) / 2

    def draft(self, template: Mapping[str, Any]) -> Draft | None:
        """The next draft of a template; None where there is no entity left."""
        while self.pool:
            first = self.pool.pop()
            ids = [first]
            if template["entities"] == 2:
                other = self._partner(first)
                if other is None:
                    continue
                ids.append(other)
            names = tuple(display_name(self.graph.entities[i]) for i in ids)
            context = "\n".join(self._text(i) for i in ids)
            return Draft(template=template, entities=names, context=context)
        return None

    def _triplets(self, entity: int, *, heads: bool = True) -> list[list[int]]:
        """Head, relation and tail of an entity's triplets; or of those it ends."""
        graph, one = self.graph, np.array([entity], np.int32)
        ids = graph.by_tail.rows(one)[1]
        if heads:
            ids = np.concatenate([graph.by_head.rows(one)[1], ids])
        return np.asarray(graph.triplets[ids[:MOST]]).tolist()

    def _partner(self, entity: int) -> int | None:
        """An entity with the same relation to the same other one, else a neighbour."""
        alike: set[int] = set()
        near: set[int] = set()
        for head, relation, tail in self._triplets(entity):
            if head == entity:
                same = self._triplets(tail, heads=False)
                alike |= {h for h, r, _ in same if r == relation}
            near.add(tail if head == entity else head)
        for found in (alike, near):
            names = sorted(
                i for i in found - {entity} if self._is_name(self.graph.entities[i])
            )
            if names:
                return self.rng.choice(names)
        return None

    def _text(self, entity: int) -> str:
        name = self.graph.entities[entity]
        if (text := self.texts.get(name.lower())) is not None:
            return (
                f"- {prompt_name(name)}: {' '.join(prompt_text(text).split()[:WORDS])}"
            )
        rows = self._triplets(entity)
        rows = self.rng.sample(rows, min(SENTENCES, len(rows)))
        names, relations = self.graph.entities, self.graph.relations
        said = [sentence((names[h], relations[r], names[t])) for h, r, t in rows]
        return f"- {prompt_name(name)}: {' '.join(said)}"


def _prompt(draft: Draft) -> Any:
    return fill(
        "write_question",
        sub_type=draft.template["sub_type"],
        template=draft.template["template"],
        example=draft.template["example"],
        entities=" and ".join(f'"{prompt_name(name)}"' for name in draft.entities),
        context=draft.context,
        placeholders=json.dumps(dict.fromkeys(placeholders_of(draft), "...")),
    )


def placeholders_of(draft: Draft) -> list[str]:
    """What stands in brackets in a draft's template."""
    return re.findall(r"\[([^]]+)\]", draft.template["template"])


def read_object(text: str) -> dict[str, Any]:
    """The JSON object in a reply, repaired where possible; {} without one."""
    start, end = text.find("{"), text.rfind("}")
    segment = text[start : end + 1 if end > start else None]
    if start < 0 or len(segment) > LONGEST_REPLY:
        return {}
    try:
        found = json_repair.loads(segment)
    except (ValueError, RecursionError):  # nested too deeply
        return {}
    return found if isinstance(found, dict) else {}


def read_reply(text: str, draft: Draft) -> tuple[dict[str, Any], str]:
    """(the question's fields, why it is not taken or "")."""
    found = read_object(text)
    question = found.get("question")
    if not isinstance(question, str) or not question.strip():
        return {}, "unreadable"
    question = display_name(question)
    if len(question) > LONGEST:
        return {}, "too long"
    if "[" in question:
        return {}, "a placeholder in it"
    if any(name.lower() not in question.lower() for name in draft.entities):
        return {}, "an entity is missing"
    placeholders = found.get("placeholders")
    replaced = {
        name: value
        for name in placeholders_of(draft)
        if isinstance(placeholders, dict)
        and isinstance(value := placeholders.get(name), str)
        and value.strip(". ")
    }
    grades = {
        name: value if isinstance(value := found.get(name), str) else None
        for name in ("naturalness", "difficulty")
    }
    if grades["naturalness"] == "unnatural":
        return {}, "unnatural by its own word"
    return {
        "question": question,
        "type": draft.template["type"],
        "sub_type": draft.template["sub_type"],
        "entities": list(draft.entities),
        "placeholders": replaced,
        **grades,
        "context": draft.context,
    }, ""
