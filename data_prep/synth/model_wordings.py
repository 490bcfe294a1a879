"""A language model words questions from their paths, and judges which sound natural.

The model sees the path with names, and the answers as a blank. A wording that names an
answer, leaves a topic out, or asks for something else by the model's own reading is
refused, and the templates' wording stays. Replies are
stored: the same command asks only for what is missing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from data_prep.synth.draft import Draft, Leg
from data_prep.synth.question import SynthQuestion, arc_name
from data_prep.synth.settings import SynthSettings
from data_prep.synth.wordings import mentions
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.reason.completions import Completion, EndpointSettings, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.utils.progress import ProgressBar

WORD = """\
Write one question in plain English, as a person would type it, that asks for ?answer.
{what}
Facts:
{facts}
A template gives: {template}
Keep the meaning exactly. Name {topics} as written. Do not guess or name the answer.
Reply with the question alone, on one line."""

SAME = """\
A: {template}
B: {text}
Do A and B ask for exactly the same thing, in the same direction?
Reply with yes or no."""

JUDGE = """\
Question: {question}
Is this a question that a person could ask in natural English, clear and grammatical?
Reply with yes or no."""

_LONGEST = 300
"""Characters of a question."""


@dataclass
class ModelNotes:
    """What the language model did."""

    requests: int = 0
    from_cache: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    worded: int = 0
    """Questions with the model's wording."""
    refused: Counter[str] = field(default_factory=Counter)
    """Wordings that were not taken, by reason."""
    judged: int = 0
    natural: int = 0
    unclear: int = 0
    """Judgements that are neither yes nor no."""
    unnatural: list[str] = field(default_factory=list)
    """Some questions that were judged not natural."""

    def add(self, completion: Completion) -> None:
        """Count one completion."""
        self.requests += 1
        self.from_cache += completion.cached
        if not completion.cached:
            self.prompt_tokens += completion.prompt_tokens
            self.reply_tokens += completion.reply_tokens


def endpoint_of(settings: SynthSettings) -> Endpoint:
    """The endpoint at ``--llm``, with its replies in the folder of questions."""
    assert settings.llm is not None and settings.model is not None
    return Endpoint(
        EndpointSettings(
            url=settings.llm,
            model=settings.model,
            key_env=settings.key_env,
            temperature=0.7,
            max_tokens=120,
            seed=settings.seed,
            concurrency=settings.concurrency,
            cache=reply_folder(settings.out),
        )
    )


def reply_folder(out: Path) -> Path:
    """Where the replies of the model lie."""
    return out / "replies"


def with_model_wordings(
    questions: dict[str, list[SynthQuestion]],
    graph: KnowledgeGraph,
    endpoint: Endpoint,
    notes: ModelNotes,
) -> dict[str, list[SynthQuestion]]:
    """The questions in the model's words where those are usable.

    Raises:
        UserError: some requests had no reply; those that had one are stored.
    """
    flat = [question for part in questions.values() for question in part]
    requests = [
        Request(messages=(("user", word_prompt(question, graph)),)) for question in flat
    ]
    replies = _ask(endpoint, requests, "model wordings", notes)
    texts = {plain(question.text): question.id for question in flat}
    candidates = []
    for question, reply in zip(flat, replies, strict=True):
        text, problem = usable(reply, question.draft, graph)
        if not problem and texts.setdefault(plain(text), question.id) != question.id:
            problem = "worded like another"
        if problem:
            notes.refused[problem] += 1
        else:
            candidates.append(replace(question, reworded=text))
    requests = [same_request(question) for question in candidates]
    verdicts = _ask(endpoint, requests, "comparisons with the templates", notes)
    worded = {}
    for question, verdict in zip(candidates, verdicts, strict=True):
        if yes_or_no(verdict) == "yes":
            worded[question.id] = question
        else:
            notes.refused["asks for something else"] += 1
    notes.worded = len(worded)
    return {
        split: [worded.get(question.id, question) for question in part]
        for split, part in questions.items()
    }


def judge(
    questions: Sequence[SynthQuestion], endpoint: Endpoint, notes: ModelNotes
) -> None:
    """Count the questions that the model judges natural."""
    requests = [
        Request(messages=(("user", JUDGE.format(question=question.text)),))
        for question in questions
    ]
    replies = _ask(endpoint, requests, "judgements", notes)
    for question, reply in zip(questions, replies, strict=True):
        verdict = yes_or_no(reply)
        notes.judged += 1
        notes.natural += verdict == "yes"
        notes.unclear += verdict is None
        if verdict == "no" and len(notes.unnatural) < 10:
            notes.unnatural.append(question.text)


def same_request(question: SynthQuestion) -> Request:
    """The request whether the model's wording asks what the templates' asks."""
    text = SAME.format(template=question.wording.text, text=question.text)
    return Request(messages=(("user", text),))


def yes_or_no(reply: str) -> str | None:
    """The first "yes" or "no" in a reply; None without either."""
    words = re.findall(r"[a-z]+", reply.lower())
    return next((word for word in words if word in ("yes", "no")), None)


def _ask(
    endpoint: Endpoint, requests: Sequence[Request], label: str, notes: ModelNotes
) -> list[str]:
    """The replies; raises UserError if any is missing."""
    with ProgressBar(len(requests), label, "requests") as bar:

        def done(_: int, __: Completion) -> None:
            return bar.update()

        completions = endpoint.ask_all(requests, on_completion=done)
    for completion in completions:
        notes.add(completion)
    errors = [completion.error for completion in completions if completion.text is None]
    if errors:
        raise UserError(
            f"{endpoint.settings.url}: {len(errors)} of {len(requests)} {label} have "
            f"no reply ({errors[0]}); the same command asks for those alone"
        )
    return [completion.text or "" for completion in completions]


def word_prompt(question: SynthQuestion, graph: KnowledgeGraph) -> str:
    """The request for one wording: the path, without the answers' names."""
    draft = question.draft
    what = {
        "count": "The question asks how many ?answer there are.",
        "superlative": "There are several ?candidate; ?answer is one of them.",
        "comparison": "There are several ?candidate; ?answer are some of them.",
    }.get(draft.shape, "")
    if draft.implied:
        what = f"Say nothing of ?x1{' or how it leads on' * (draft.implied > 1)}."
    last = "?candidate" if draft.value is not None else "?answer"
    facts = []
    for i, leg in enumerate(draft.legs):
        end = last if i == 0 or draft.shape == "pair" else "?value"
        facts += leg_facts(leg, graph, f"?{'xy'[i]}", end)
    if draft.value is not None:
        noun = " ".join(relation_words(graph.relations[draft.value.relation]))
        threshold = draft.value.threshold or "?value"
        facts.append(
            f"?answer: the ?candidate whose {noun} is {draft.value.test}"
            + (f" {threshold}" if draft.shape == "comparison" else "")
        )
    names = [graph.entities[leg.topic] for leg in draft.legs]
    return WORD.format(
        what=what,
        facts="\n".join(facts),
        template=question.wording.text,
        topics=" and ".join(names),
    )


def leg_facts(leg: Leg, graph: KnowledgeGraph, variable: str, end: str) -> list[str]:
    """The steps of a path as lines "source | relation | target"."""
    facts, source = [], graph.entities[leg.topic]
    for i, arc in enumerate(leg.path):
        target = end if i == len(leg.path) - 1 else f"{variable}{i + 1}"
        relation = arc_name(graph, arc)
        if relation.startswith("^"):
            facts.append(f"{target} | {relation[1:]} | {source}")
        else:
            facts.append(f"{source} | {relation} | {target}")
        source = target
    return facts


def usable(reply: str, draft: Draft, graph: KnowledgeGraph) -> tuple[str, str]:
    """(the question in a reply, why it is not usable or "")."""
    lines = [line.strip() for line in reply.splitlines() if line.strip()]
    if not lines:
        return "", "empty"
    text = re.sub(r"^(question|q)\s*:\s*", "", lines[0], flags=re.IGNORECASE)
    text = text.strip().strip('"“”*').strip()
    if not text or len(text) > _LONGEST:
        return text, "too long or empty"
    if "?answer" in text or re.search(r"\?(x|y|candidate|value)", text):
        return text, "a variable in it"
    if not all(mentions(text, graph.entities[leg.topic]) for leg in draft.legs):
        return text, "a topic is missing"
    threshold = draft.value.threshold if draft.value is not None else ""
    if threshold and not mentions(text, threshold):
        return text, "the value is missing"
    answers = [graph.entities[answer] for answer in draft.answers]
    if any(mentions(text, name) for name in answers):
        return text, "names an answer"
    return text, ""


def plain(text: str) -> str:
    """A question without case and end."""
    return text.lower().rstrip("?. ")
