"""The six ways to answer with a model that ``kg_rag.py`` measures.

Questions are taken in one fixed random order, each in all ways before the next, so that
a run that was stopped, or given less time, has measured the first of them. Replies are
stored; the same command goes on.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from kg_rag_corpus import Question

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.bootstrap import Estimate, bootstrap_means
from kgscout_jax.evaluate.span_scores import span_score
from kgscout_jax.explore.make import explorer
from kgscout_jax.explore.settings import Exploration
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.reason.completions import EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import write_lines
from kgscout_jax.utils.progress import ProgressBar

NO_RAG = "Reply with the exact, short and correct answer to the following query."
RAG = """\
Context information is below.
---------------------
{context}
---------------------
Given the context information and not prior knowledge, answer the query. Reply with \
the answer alone, or "I don't know".
Query: {question}"""
HEADER = (
    "| | Hit | EM | F1 | accuracy | hallucination | literally | calls | tokens |",
    "| :-- | :-- | :-- | :-- | --: | --: | --: | --: | --: |",
)


class Evidence(Protocol):
    """The texts that answers may use, by the number of the question."""

    graph: KnowledgeGraph

    def chunk_text(self, i: int) -> str:
        """The nearest chunks."""
        ...

    def triplets(self, i: int) -> str:
        """The triplets of KG-Scout."""
        ...

    def with_chunks(self, i: int) -> str:
        """Those triplets, and the chunks of the first ones."""
        ...


@dataclass(frozen=True)
class Reply:
    """An answer and what it cost."""

    text: str
    calls: int = 1
    tokens: int = 0
    exploration: Exploration | None = None


def holds(text: str, question: Question) -> bool:
    """Whether a text names an answer."""
    return any(entity_key(answer) in entity_key(text) for answer in question.answers)


def question_order(n: int) -> list[int]:
    """The numbers of ``n`` questions in a fixed random order."""
    return random.Random(0).sample(range(n), n)


class Ways:
    """The ways to answer, over one endpoint."""

    def __init__(self, evidence: Evidence, scout: Scout, endpoint: EndpointSettings):
        self.server = Endpoint(endpoint)
        chains = {
            name: explorer(evidence.graph, scout, endpoint, ranking)
            for name, ranking in (("50 by vector", "vector"),
                                  ("5 by KG-Scout", "kgscout"))
        }  # fmt: skip
        self.of: dict[str, Callable[[int, str], Reply]] = {
            "no retrieval": lambda _, text: self.ask(f"{NO_RAG}\n{text}"),
            "embedding RAG, 20 chunks": self.rag(evidence.chunk_text),
            "KG-Scout, 20 triplets": self.rag(evidence.triplets),
            "KG-Scout's triplets with their chunks": self.rag(evidence.with_chunks),
        }
        for name, chain in chains.items():
            self.of[f"CoE, {name}"] = lambda _, text, chain=chain: reply_of(
                chain.explore(text)
            )

    def ask(self, prompt: str) -> Reply:
        """The reply to one prompt.

        Raises:
            UserError: there is none.
        """
        reply = self.server.ask(Request(messages=(("user", prompt),)))
        if reply.text is None:
            raise missing_reply(reply.error)
        return Reply(reply.text, 1, reply.prompt_tokens + reply.reply_tokens)

    def rag(self, context: Callable[[int], str]) -> Callable[[int, str], Reply]:
        """The way that answers from a text."""
        return lambda i, text: self.ask(RAG.format(context=context(i), question=text))


def missing_reply(error: str | None) -> UserError:
    """A request without a reply: no answer to score, so the measurement stops."""
    return UserError(f"the model gave no reply: {error}; the same command goes on")


def reply_of(found: Exploration) -> Reply:
    """An exploration as a reply.

    Raises:
        UserError: a request of it has none.
    """
    if found.outcome == "error":
        raise missing_reply(found.error)
    tokens = found.prompt_tokens + found.reply_tokens
    return Reply(found.answer, found.calls, tokens, found)


def measure(
    evidence: Evidence,
    questions: Sequence[Question],
    scout: Scout,
    endpoint: EndpointSettings,
    limit: int,
    minutes: float,
    out: Path,
    title: str,
) -> list[str]:
    """Lines of the page: a row for each way, and one exploration as it is logged.

    Args:
        evidence: of all questions.
        questions: all of them.
        scout: ranks the candidates of an exploration.
        endpoint: of the model.
        limit: how many questions, at most.
        minutes: no question is begun after them.
        out: ``explorations.jsonl`` and ``answers.jsonl`` are written here.
        title: what the page calls the model.
    """
    ways = Ways(evidence, scout, endpoint)
    replies: dict[str, list[Reply]] = {name: [] for name in ways.of}
    chosen = question_order(len(questions))[:limit]
    until = time.monotonic() + 60 * minutes
    done = []

    def answer(i: int) -> list[Reply] | None:
        """The replies of all ways; None where there is no time left."""
        if time.monotonic() > until:
            return None
        return [way(i, questions[i].text) for way in ways.of.values()]

    with (
        ProgressBar(len(chosen), "answering in six ways", "questions") as bar,
        ThreadPoolExecutor(endpoint.concurrency) as threads,
    ):
        for i, answers in zip(chosen, threads.map(answer, chosen), strict=True):
            if answers is None:
                break
            for name, reply in zip(replies, answers, strict=True):
                replies[name].append(reply)
            done.append(questions[i])
            bar.update()
            write_replies(out, done, replies)
    if not done:
        return ["Not run with a model: there was no time for a question."]
    return section(title, len(questions), done, replies)


def section(
    title: str,
    total: int,
    questions: Sequence[Question],
    replies: dict[str, list[Reply]],
) -> list[str]:
    """The lines of the page on ``questions`` of ``total``."""
    explored = [r.exploration for some in replies.values() for r in some
                if r.exploration is not None]  # fmt: skip
    ended = Counter(each.outcome for each in explored)
    outcomes = ", ".join(f"{n} {outcome}" for outcome, n in ended.items())
    malformed = sum(each.malformed for each in explored)
    rough = " With so few questions they are rough." * (len(questions) < 30)
    shown = max(explored, key=lambda each: (each.outcome == "answered", -each.tries))
    return [
        f"{title}, n = {len(questions)} of the {total} questions (the first of a "
        "random order), the graph of `syntax`. Brackets: 95 % bootstrap interval."
        f"{rough} Hallucination: words that are not gold, without a word of doubt; and "
        "the paper's sentence read literally. Calls and tokens (prompts and replies) "
        "are means of a question.",
        "",
        *HEADER,
        *(row(name, some, questions) for name, some in replies.items()),
        "",
        f"The explorations ended so: {outcomes}; {malformed} replies were malformed "
        "even after a repair.",
        "",
        "One exploration as it is logged:",
        "",
        "```",
        *shown.log().splitlines(),
        "```",
    ]


def write_replies(
    out: Path, questions: Sequence[Question], replies: dict[str, list[Reply]]
) -> None:
    """Write every answer, and every exploration step by step."""

    def line(name: str, question: Question, reply: Reply, **more: object) -> str:
        record = {"way": name, "question": question.text, "gold": question.answers,
                  "answer": reply.text, "tokens": reply.tokens, **more}  # fmt: skip
        return json.dumps(record, ensure_ascii=False)

    pairs = [
        (name, question, reply)
        for name, some in replies.items()
        for question, reply in zip(questions, some, strict=True)
    ]
    write_lines(out / "answers.jsonl", [line(*pair) for pair in pairs])
    write_lines(
        out / "explorations.jsonl",
        [line(*pair, exploration=pair[2].exploration.to_dict())
         for pair in pairs if pair[2].exploration is not None],
    )  # fmt: skip


def row(name: str, replies: Sequence[Reply], questions: Sequence[Question]) -> str:
    """A row of the table."""
    columns = []
    for reply, question in zip(replies, questions, strict=True):
        score = span_score(reply.text, question.answers)
        columns.append([float(holds(reply.text, question)), *vars(score).values(),
                        reply.calls, reply.tokens])  # fmt: skip
    means = bootstrap_means(np.array(columns, float))
    first = " | ".join(interval(each) for each in means[:3])
    rest = " | ".join(f"{each.value:.2f}" for each in means[3:6])
    calls, tokens = (each.value or 0 for each in means[6:])
    return f"| {name} | {first} | {rest} | {calls:.1f} | {tokens:,.0f} |"


def interval(estimate: Estimate) -> str:
    """A mean with its interval."""
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"
