"""Algorithm 1 of KG-RAG (Sanmartín 2024, section 4.2): Chain of Explorations.

What the paper leaves open, and how it is here:

- a node step makes the selected nodes the current ones, which algorithm 1 does not say;
- a step without any candidate counts as "needs refinement", without asking the model;
- a refined plan starts at its first step;
- after the last step "continue" means "respond": there is nothing left to do;
- where the answer stage says that the facts do not tell, the search goes on;
- a malformed reply is asked for once more; then it is counted, and the first candidate,
  "continue" or the question as its own plan stand in.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import TypeVar

from kgscout_jax.explore import prompts
from kgscout_jax.explore.ranking import Ranker
from kgscout_jax.explore.settings import (
    Chat,
    Exploration,
    ExploreSettings,
    PlanStep,
)
from kgscout_jax.reason.prompts import Message
from kgscout_jax.stores.protocol import Store
from kgscout_jax.types import Triplet, entity_key

T = TypeVar("T")


class _Stop(Exception):
    """A limit was reached, or the model gives no reply."""


class ChainOfExplorations:
    """Answers questions by walking a store with a model."""

    def __init__(
        self,
        store: Store,
        chat: Chat,
        ranker: Ranker,
        settings: ExploreSettings | None = None,
    ):
        self.store, self.chat, self.ranker = store, chat, ranker
        self.settings = settings or ExploreSettings()

    @property
    def name(self) -> str:
        """For tables."""
        return f"CoE, {self.settings.candidates} by {self.ranker.name}"

    def explore(self, question: str) -> Exploration:
        """The answers and the path to them, with every step."""
        found = Exploration(question=question)
        with contextlib.suppress(_Stop):
            _Walk(self, found).run()
        return found


class _Walk:
    """The state of one exploration."""

    def __init__(self, chain: ChainOfExplorations, found: Exploration):
        self.chain, self.found, self.settings = chain, found, chain.settings
        self.store, self.ranker = chain.store, chain.ranker
        self.nodes: list[str] = []

    def run(self) -> None:
        found = self.found
        plan = self.plan([])
        number = 0
        while number < len(plan):
            is_last = number + 1 == len(plan)
            step = plan[number]
            moved = self.node(step, number) if step.kind == "node" else (
                self.relation(step, number)
            )  # fmt: skip
            outcome = self.evaluate(plan[number + 1 :]) if moved else "refine"
            if outcome == "continue" and is_last:
                outcome = "respond"
            found.steps.append({"do": "evaluate", "outcome": outcome})
            if outcome == "respond":
                found.answers = self.answer()
                found.outcome = "answered" if found.answers else "not found"
                if found.answers:
                    return
                outcome = "continue" if not is_last else "refine"
            if outcome == "refine":
                if found.tries >= self.settings.failed_tries:
                    break
                found.tries += 1
                plan, number = self.plan(plan), 0
                self.nodes = []
                found.path.clear()
            else:
                number += 1

    # ---------------------------------------------------------------- model

    def ask(
        self, form: str, messages: Sequence[Message], read: Callable[[str], T | None]
    ) -> T | None:
        """What the model's reply says; None if it is malformed twice."""
        for attempt in range(2):
            spent = self.found.prompt_tokens + self.found.reply_tokens
            if self.found.calls >= self.settings.calls or spent >= self.settings.tokens:
                self.found.outcome = "limit"
                raise _Stop
            reply = self.chain.chat(messages)
            self.found.calls += 1
            self.found.prompt_tokens += reply.prompt_tokens
            self.found.reply_tokens += reply.reply_tokens
            if reply.text is None:
                self.found.outcome, self.found.error = "error", reply.error
                raise _Stop
            if (value := read(reply.text)) is not None:
                return value
            if not attempt:
                repair = prompts.REPAIR.format(form=prompts.FORMS[form])
                messages = [*messages, ("assistant", reply.text), ("user", repair)]
        self.found.malformed += 1
        return None

    def plan(self, failed: Sequence[PlanStep]) -> list[PlanStep]:
        """A plan for the question."""
        question = self.found.question
        messages = prompts.plan_messages(question, failed)
        plan = self.ask("plan", messages, prompts.read_plan)
        if plan is None:
            follow = PlanStep(kind="relation", text=question)
            plan = [PlanStep(kind="node", text=question), follow, follow]
        lines = [f"{step.kind}: {step.text}" for step in plan]
        self.found.steps.append({"do": "plan", "plan": lines})
        return plan

    def select(self, prompt: str, names: Sequence[str]) -> list[int]:
        """Positions of the names that the model selects; one name needs no model."""
        most = self.settings.selected
        if len(names) == 1:
            return [0]

        def read(reply: str) -> list[int] | None:
            return prompts.read_selection(reply, len(names), most)

        chosen = self.ask("select", [("user", prompt)], read)
        return [0] if chosen is None else chosen

    # ---------------------------------------------------------------- steps

    def node(self, step: PlanStep, number: int) -> bool:
        """Choose nodes to start from; whether there are any."""
        question, limit = self.found.question, self.settings.candidates
        names = self.ranker.nodes(question, step.text, limit)
        record = self.record(step, number, len(names))
        if not names:
            return False
        prompt = prompts.SELECT_NODES.format(
            question=question,
            text=step.text,
            options=prompts.options(names),
            most=self.settings.selected,
        )
        self.nodes = [names[i] for i in self.select(prompt, names)]
        record["selected_nodes"] = list(self.nodes)
        return bool(self.nodes)

    def relation(self, step: PlanStep, number: int) -> bool:
        """Follow relations from the current nodes; whether they lead anywhere."""
        steps = self.store.relations(self.nodes)
        ranked = self.ranker.relations(
            self.found.question, step.text, self.nodes, steps
        )[: self.settings.candidates]
        record = self.record(step, number, len(ranked))
        if not ranked:
            return False
        names = prompts.relation_options(ranked)
        prompt = prompts.SELECT_RELATIONS.format(
            question=self.found.question,
            nodes=", ".join(self.nodes[:10]),
            text=step.text,
            options=prompts.options(names),
            most=self.settings.selected,
        )
        chosen = [ranked[i] for i in self.select(prompt, names)]
        triplets = self.store.targets(self.nodes, chosen, self.settings.targets)
        self.nodes = other_ends(triplets, self.nodes)
        self.found.path += [t for t in triplets if t not in self.found.path]
        record["selected_rels"] = [str(each) for each in chosen]
        record["selected_nodes"] = list(self.nodes)
        return bool(triplets)

    def record(self, step: PlanStep, number: int, candidates: int) -> dict:
        """The log entry of a step, which is appended."""
        words = "Start at target entity: " if step.kind == "node" else ""
        record = {
            "do": step.kind,
            "number": number + 1,
            "text": f'{words}"{step.text}"' if words else step.text,
            "candidates": candidates,
        }
        self.found.steps.append(record)
        return record

    def evaluate(self, left: Sequence[PlanStep]) -> str:
        """``respond``, ``continue`` or ``refine``."""
        if not self.found.path:
            return "continue"  # nodes alone hold no answer
        prompt = prompts.EVALUATE.format(
            question=self.found.question,
            path=prompts.path_text(self.found.path),
            left="; ".join(step.text for step in left) or "none",
        )
        reply = self.ask("evaluate", [("user", prompt)], prompts.read_evaluation)
        return reply or "continue"

    def answer(self) -> tuple[str, ...]:
        """The model's answers from the path alone."""
        prompt = prompts.ANSWER.format(
            question=self.found.question, path=prompts.path_text(self.found.path)
        )
        return self.ask("answer", [("user", prompt)], prompts.read_answers) or ()


def other_ends(triplets: Sequence[Triplet], nodes: Sequence[str]) -> list[str]:
    """The nodes that triplets lead to, each once."""
    start = {entity_key(node) for node in nodes}
    ends: dict[str, None] = {}
    for head, _, tail in triplets:
        ends.setdefault(tail if entity_key(head) in start else head)
    return list(ends)
