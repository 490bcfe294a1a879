"""Settings of ``eval.py open`` and of ``kgscout questions``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import FILE_OPTIONS, GraphFileSettings
from kgscout_jax.reason.endpoint_options import EndpointOptions
from kgscout_jax.utils.checks import check_at_least

Strategy = Literal["zero_shot", "4_shot", "cot", "cot_sc"]
Form = Literal["triplets", "paths", "subgraph"]
JudgeName = Literal["geval", "factscore", "safe"]
OWN_FORM: dict[str, Form] = {
    "prize_triplets": "triplets",
    "prize_paths": "paths",
    "prize_subgraph": "subgraph",
}
"""Retrievers whose triplets have one form by their nature (OKGQA, table 2)."""


@dataclass(frozen=True, kw_only=True)
class ModelSettings(EndpointOptions, GraphFileSettings):
    """A language model behind a URL, and what it costs."""

    llm: str
    """Base URL of an OpenAI-compatible server, with the version:
    http://127.0.0.1:8080/v1."""
    model: str
    """The model's name on the server."""
    temperature: float = 0.0
    """Temperature of answers, questions and judgements; samples use their own."""
    max_tokens: int = 400
    """Maximum tokens of an answer."""
    llm_seed: int | None = 0
    """Seed of sampling, if the server supports one."""
    documents: Path | None = None
    """Text about the entities: a folder of .txt or .md files (title = name of the
    file), or JSON lines with title and text. Default: the graph's own triplets as
    sentences."""
    seed: int = 0
    """Seed of samples and of the bootstrap."""


@dataclass(frozen=True, kw_only=True)
class OpenSettings(ModelSettings):
    """Answer open questions in several ways, and judge the answers (OKGQA, table 2).

    Example: python eval.py open --questions FILE --kg GRAPH
    --retrievers kgscout cosine prize_subgraph --ladder zero_shot 4_shot cot cot_sc
    --judges geval factscore safe --llm http://127.0.0.1:8080/v1 --model NAME --out DIR

    The same command resumes an interrupted evaluation and repeats no request.
    """

    groups: ClassVar[dict[str, str]] = {
        "questions, graph and result": "questions kg documents out limit seed",
        "answers": "retrievers ladder forms closed_book run k sc_samples "
        "sc_temperature temperature max_tokens",
        "judges": "judges judge_llm judge_model geval_weights geval_samples passages "
        "safe_searches search",
        "language model": "llm model llm_seed extra key_env concurrency timeout "
        "retries backoff cache",
        "prices": "input_price output_price judge_input_price judge_output_price",
        "how files are read": FILE_OPTIONS,
        "processes": "workers",
    }
    questions: Path
    """OKGQA's CSV, or JSON lines with id and question; optional type, entities."""
    kg: tuple[Path, ...]
    """Triplet files of the graph, or one GRAPH folder."""
    out: Path
    """Folder for metrics.json, table.md, report.html and questions.jsonl."""
    retrievers: tuple[str, ...] = ("kgscout", "cosine")
    """Retrievers whose triplets are read: kgscout, cosine, bm25, ppr, prize_*."""
    ladder: tuple[Strategy, ...] = ("zero_shot", "4_shot", "cot", "cot_sc")
    """Ways to prompt: each alone, and with the triplets of each retriever."""
    forms: tuple[Form, ...] = ("triplets", "paths", "subgraph")
    """Forms of the triplets; prize_triplets, prize_paths and prize_subgraph have their
    own form only."""
    judges: tuple[JudgeName, ...] = ("geval", "factscore", "safe")
    """Judges of the answers."""
    closed_book: bool = True
    """Also answer without any triplet."""
    run: Path = Path("kgscout-base")
    """The run, or the export, behind kgscout."""
    k: int = 20
    """Triplets per question."""
    limit: int | None = None
    """At most so many questions: the first ones of each type, in turn."""
    sc_samples: int = 5
    """cot_sc: replies per question."""
    sc_temperature: float = 0.7
    """cot_sc: temperature."""
    judge_llm: str | None = None
    """Base URL of the judge's server; default --llm."""
    judge_model: str | None = None
    """The judge; default --model."""
    judge_input_price: float | None = None
    """Dollars per million prompt tokens of the judge; default --input-price."""
    judge_output_price: float | None = None
    """Dollars per million tokens of its replies; default --output-price."""
    geval_weights: Literal["auto", "logprobs", "samples"] = "auto"
    """Probabilities of scores: of the token, or of samples; auto: tokens where the
    server returns log-probabilities."""
    geval_samples: int = 20
    """Samples per score, where there are no log-probabilities."""
    passages: int = 5
    """Passages that judges read at a time."""
    safe_searches: int = 5
    """SAFE: searches per fact at most."""
    search: Literal["both", "bm25", "embeddings"] = "both"
    """What finds passages."""
    workers: int | None = None
    """Worker processes of the retrieval; default: one per CPU."""

    def __post_init__(self) -> None:
        check_at_least(
            1, k=self.k, limit=self.limit, sc_samples=self.sc_samples,
            geval_samples=self.geval_samples, passages=self.passages,
            safe_searches=self.safe_searches,
        )  # fmt: skip
        for name in ("retrievers", "ladder", "forms", "judges"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                found = " ".join(values)
                raise UserError(f"--{name}: {found}, expected each name at most once")
        if not self.ladder:
            raise UserError("--ladder: nothing, expected at least one way to prompt")
        if not self.closed_book and not self.retrievers:
            raise UserError("--retrievers: nothing, and --no-closed-book: no answers")
        for retriever in self.retrievers:
            if not self.forms_of(retriever):
                raise UserError(
                    f"--forms: {' '.join(self.forms)}, expected {OWN_FORM[retriever]} "
                    f"among them for {retriever}"
                    if retriever in OWN_FORM
                    else "--forms: nothing, expected at least one"
                )

    def forms_of(self, retriever: str) -> tuple[Form, ...]:
        """The forms in which a retriever's triplets are read."""
        own = OWN_FORM.get(retriever)
        return tuple(form for form in self.forms if own in (None, form))


@dataclass(frozen=True, kw_only=True)
class QuestionSettings(ModelSettings):
    """Write open questions about a graph's entities, score them, compare with people.

    New questions: kgscout questions --kg GRAPH --n 40 --llm URL --model NAME --out DIR

    Scores of existing ones, tuned to those of people: kgscout questions
    --questions FILE --human scores.csv --rounds 4 --llm URL --model NAME --out DIR
    """

    out: Path
    """Folder for questions.jsonl, report.json and table.md."""
    kg: tuple[Path, ...] = ()
    """Triplet files of the graph, or one GRAPH folder: questions are written."""
    n: int = 40
    """Questions to write, the ten templates in turn."""
    questions: Path | None = None
    """Questions to score instead of new ones: OKGQA's CSV, or JSON lines."""
    human: Path | None = None
    """CSV with columns id, evaluator, naturalness, relevance, specificity, novelty,
    actionability: scores of people from 1 to 10."""
    rounds: int = 1
    """Rounds of scoring; between two of them the instruction is tuned (needs --human).
    """

    def __post_init__(self) -> None:
        check_at_least(1, n=self.n, rounds=self.rounds)
        if bool(self.kg) == (self.questions is not None):
            raise UserError("--kg or --questions: expected exactly one of the two")
        if self.rounds > 1 and self.human is None:
            raise UserError("--rounds: more than 1 needs --human, scores of people")
