"""The ways to prompt of OKGQA's table 2: one cell per way, retriever and form.

Self-consistency of paragraphs: no two samples are equal, so instead of a majority the
sample that is most like the others is chosen, by the mean cosine of embeddings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from kgscout_jax.okgqa.evidence import Evidence, tuple_text
from kgscout_jax.okgqa.judges.protocol import JUDGED, text_of
from kgscout_jax.okgqa.prompts import data, fill
from kgscout_jax.okgqa.questions import OpenQuestion
from kgscout_jax.okgqa.settings import Form, OpenSettings, Strategy
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.prompts import Message, prompt_text
from kgscout_jax.text.encoder import SentenceEncoder

LABELS = {
    "zero_shot": "zero-shot",
    "4_shot": "4-shot",
    "cot": "CoT",
    "cot_sc": "CoT+SC",
}
FACTS = "Below are the facts that might be relevant to answer the question: "
STEPS = """\
Let's think step by step. First write your reasoning, briefly. Then write the final \
answer, one paragraph that stands alone, after "Answer:" on a line of its own.
Reasoning:"""
_ANSWER = re.compile(r"^[\s*#]*(?:final\s+)?answer[\s*]*:[\s*]*", re.I | re.M)


@dataclass(frozen=True)
class Way:
    """A cell of the table: how to prompt, with whose triplets, in which form."""

    strategy: Strategy
    retriever: str | None = None
    form: Form | None = None

    @property
    def name(self) -> str:
        """The key in files: ``cot``, ``cot/cosine/paths``."""
        return "/".join(x for x in (self.strategy, self.retriever, self.form) if x)


def ways(settings: OpenSettings) -> list[Way]:
    """All cells, those without triplets first, then retriever by retriever."""
    bare = [Way(strategy) for strategy in settings.ladder] * settings.closed_book
    return bare + [
        Way(strategy, retriever, form)
        for retriever in settings.retrievers
        for form in settings.forms_of(retriever)
        for strategy in settings.ladder
    ]


@dataclass(frozen=True, kw_only=True)
class OpenAnswer:
    """A model's paragraph, or why there is none."""

    text: str | None
    outcome: str = JUDGED
    """JUDGED, or the failure."""
    reasoning: str = ""
    marked: bool = True
    """CoT: whether the reply marked its answer; else all of it counts."""
    cut: bool = False
    """Whether the reply reached the maximum of tokens."""
    samples: int = 1
    """Replies that it was chosen from."""


def messages(
    question: OpenQuestion, strategy: Strategy, facts: str, *, with_facts: bool
) -> tuple[Message, ...]:
    """The prompt for one question.

    Args:
        question: the question.
        strategy: zero_shot, 4_shot, cot or cot_sc.
        facts: what is shown of the triplets; "" for none.
        with_facts: whether the row has triplets, which the examples then have too.
    """
    examples = "".join(
        _example(one, with_facts=with_facts)
        for one in data("examples")["examples"]
        if strategy == "4_shot"
    )
    cot = strategy.startswith("cot")
    filled = fill(
        "ladder",
        examples=examples,
        question=prompt_text(question.text),
        facts=f"{FACTS}{facts}\n" if facts else "",
        instruction=STEPS if cot else "",
    )
    if not cot:
        return filled
    *before, (role, words) = filled
    return (*before, (role, words.removesuffix("Answer:").rstrip()))


def _example(example: dict[str, Any], *, with_facts: bool) -> str:
    listed = ", ".join(tuple_text((h, r, t, 0.0)) for h, r, t in example["facts"])
    facts = f"{FACTS}{listed}\n" if with_facts else ""
    return f"Question: {example['question']}\n{facts}Answer: {example['answer']}\n\n"


def split_reply(reply: str) -> tuple[str, str, bool]:
    """(the answer, the reasoning, whether the reply marks where it ends).

    >>> split_reply("It is so.\\n**Answer:** Lima is large.")
    ('Lima is large.', 'It is so.', True)
    >>> split_reply("Lima is large.")
    ('Lima is large.', '', False)
    """
    marks = list(_ANSWER.finditer(reply))
    if marks and reply[marks[-1].end() :].strip(" *\n"):
        last = marks[-1]
        return reply[last.end() :].strip(), reply[: last.start()].strip(), True
    return reply.strip(), "", False


def most_consistent(vectors: Float[np.ndarray, "s d"]) -> int:
    """The row with the largest mean cosine with the others; the first of equals."""
    rows = vectors.astype(np.float64)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    cosine = np.round(rows @ rows.T, 6)
    return int(np.argmax(cosine.sum(axis=1)))


def answer(
    way: Way,
    questions: Sequence[OpenQuestion],
    evidence: Evidence | None,
    model: Model,
    encoder: SentenceEncoder,
    settings: OpenSettings,
) -> list[OpenAnswer]:
    """The answers of one cell, question by question."""
    facts = [""] * len(questions)
    if evidence is not None and way.form is not None:
        facts = [evidence.text(i, way.form) for i in range(len(questions))]
    prompts = [
        messages(question, way.strategy, text, with_facts=evidence is not None)
        for question, text in zip(questions, facts, strict=True)
    ]
    several = way.strategy == "cot_sc"
    sampling = {"temperature": settings.sc_temperature} if several else {}
    replies = model.ask(
        f"answers {way.strategy}",
        prompts,
        samples=settings.sc_samples if several else 1,
        **sampling,
    )
    out = []
    for samples in replies:
        read = [(one, *text_of(one)) for one in samples]
        good = [(one, text) for one, text, outcome in read if outcome == JUDGED]
        if not good:
            out.append(OpenAnswer(text=None, outcome=read[0][2]))
            continue
        split = [
            split_reply(text) if way.strategy.startswith("cot") else (text, "", True)
            for _, text in good
        ]
        best = 0
        if len(split) > 2:
            best = most_consistent(encoder.encode([text for text, _, _ in split]))
        text, reasoning, marked = split[best]
        out.append(
            OpenAnswer(
                text=text,
                reasoning=reasoning,
                marked=marked,
                cut=good[best][0].finish == "length",
                samples=len(good),
            )
        )
    return out
