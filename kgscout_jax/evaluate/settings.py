"""Settings of the evaluation of retrieval and of answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from kgscout_jax.errors import UserError
from kgscout_jax.pseudo.settings import DraftForm
from kgscout_jax.reason.endpoint_options import EndpointOptions
from kgscout_jax.reason.selection import PromptSettings, check_token_budget
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.engine_settings import EngineSettings

REPORT_KEYS = (
    "by_hop", "definitions", "paired", "counts", "seconds", "retrievers", "reference",
    "ks", "split", "seed", "resamples", "level", "context", "tokens", "seeds",
)  # fmt: skip
"""Keys beside the retrievers in ``metrics.json``: no retriever may have these names."""

RetrieverName = Literal[
    "kgscout",
    "cosine",
    "bm25",
    "ppr",
    "ceiling",
    "prize_triplets",
    "prize_paths",
    "prize_subgraph",
]

VERIFIED = "verified"
PSEUDO_ROWS = ("pseudo", VERIFIED, "verified_scout", "scout_pseudo")
"""Rows of answers that begin with a pseudo-graph of the model (PG&AKV)."""


def also_paths(also: Sequence[str], taken: Sequence[str]) -> dict[str, Path]:
    """The runs of ``--also``, each ``NAME=PATH``, by their names.

    Raises:
        UserError: there is no name or no path, or the name is that of another row or
            of a key of ``metrics.json``.
    """
    paths: dict[str, Path] = {}
    for text in also:
        name, _, path = text.partition("=")
        if not (name and path):
            raise UserError(f"--also: found {text!r}, expected NAME=PATH of a run")
        if name in (*taken, *paths, *REPORT_KEYS):
            raise UserError(f"--also: the name {name!r} is taken, choose another")
        paths[name] = Path(path)
    return paths


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(EngineSettings):
    """Measure KG-Scout, cosine, BM25, PPR and the ceiling on a split of some shards.

    Example: python eval.py retrieval --run runs/first --shards shards/ --split test
    --k 10 30 50 100 150 --out results/
    """

    run: Path
    """The trained run, or an export of one."""
    shards: Path
    """Shards to measure on: the run's own, or another data set's."""
    out: Path
    """Folder for metrics.json, questions.jsonl, retrieved.jsonl, table.md and plots."""
    split: str = "test"
    """The split to measure on."""
    limit: int | None = None
    """At most so many questions: a sample by the seed, stratified by hops."""
    k: tuple[int, ...] = (10, 30, 50, 100, 150)
    """Numbers of triplets to select."""
    against: tuple[Path, ...] = ()
    """retrieved.jsonl files of other systems, to add to the table."""
    retrievers: tuple[RetrieverName, ...] = (
        "kgscout",
        "cosine",
        "bm25",
        "ppr",
        "ceiling",
    )
    """Rows of the table; token counts and plots cover the first. Further ones:
    prize_triplets, prize_paths, prize_subgraph (OKGQA)."""
    prizes: Literal["kgscout", "cosine"] = "kgscout"
    """What the prizes of prize_* come from: the run's logits and answers, or cosine."""
    also: tuple[str, ...] = ()
    """Further runs, or exports, to measure beside --run, as NAME=PATH: mlp=runs/mlp."""
    seeds: tuple[Path, ...] = ()
    """Further runs, or exports, of --run's configuration with other seeds: one table
    has their mean, their standard deviation and intervals."""
    reference: str = "cosine"
    """Retriever that the others are compared with, question by question."""
    forms: tuple[Literal["lines", "paths"], ...] = ("lines", "paths")
    """Forms of triplets in the prompts whose tokens are counted."""
    token_budget: tuple[int, ...] = ()
    """Also count the triplets in prompts of at most so many tokens."""
    target: tuple[float, ...] = ()
    """Also select, per question, the fewest triplets that hold an answer with this
    calibrated probability; at most the largest --k."""
    calibrate_on: str | None = None
    """--target: the split of the shards to calibrate on; the measured split calibrates
    each half on the other. Default: the export's own calibration, else dev."""
    step: int | None = None
    """Checkpoint to use; default the best by dev reward."""
    seed: int = 0
    """Seed of the sample and of the bootstrap."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_at_least(1, limit=self.limit)
        for name in ("retrievers", "forms"):
            values = getattr(self, name)
            if not values or len(set(values)) < len(values):
                names = " ".join(values) or "nothing"
                raise UserError(f"--{name}: {names}, expected each name at most once")
        names = [*self.retrievers, *also_paths(self.also, taken=self.retrievers)]
        if self.reference not in names and self.reference != "cosine":
            raise UserError(
                f"--reference: found {self.reference!r}, expected one of "
                f"{', '.join(names)}"
            )
        for budget in self.token_budget:
            check_at_least(1, token_budget=budget)
            check_token_budget(budget, PromptSettings())
        for target in self.target:
            if not 0 < target < 1:
                raise UserError(
                    f"--target: {target}, expected a number between 0 and 1"
                )
        if self.seeds and self.retrievers[0] != "kgscout":
            raise UserError(
                f"--seeds: {self.retrievers[0]} is the first of --retrievers, expected "
                "kgscout: it is what was trained"
            )
        if self.target and self.retrievers[0] != "kgscout":
            raise UserError(
                f"--target: {self.retrievers[0]} is the first of --retrievers, "
                "expected kgscout: its chances are calibrated"
            )


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(EndpointOptions, EngineSettings):
    """Judge the answers in a file of predictions, or those of a batch of questions.

    A file: python eval.py answers --predictions predictions.jsonl --rules rog

    A batch, from the graph itself: python eval.py answers --run runs/first
    --shards shards/ --split test --k 30 --out answers/

    A batch, with a language model: python eval.py answers --run runs/first
    --shards shards/ --split test --k 30 100 --llm http://127.0.0.1:8080/v1 --model NAME
    --retrievers none cosine scout --out answers/

    The same command resumes an interrupted batch and repeats no request.
    """

    groups: ClassVar[dict[str, str]] = {
        "what is judged": "predictions rules intervals seed out",
        "a batch": "run step shards split limit reader retrievers k against",
        "pseudo-graphs": "pseudo threshold entities facts sources",
        "prompts": "prompt form scores token_budget likely_answers route_below "
        "show_prompt",
        "language model": "llm model samples temperature max_tokens llm_seed extra "
        "key_env concurrency timeout retries backoff cache",
        "prices": "input_price output_price",
        "processes": "engine workers ray_address",
    }
    predictions: Path | None = None
    """One JSON a line: id, question, prediction, ground_truth (plain or .gz)."""
    rules: Literal["rog", "rog_script", "kgscout", "kg_rag", "pg_akv"] = "rog"
    """Rules: rog (RoG, GNN-RAG), rog_script (the same, without duplicates in lists),
    kgscout (equal entities), kg_rag (EM, token F1, hallucination), pg_akv (ROUGE-L).
    A batch uses one of the first three."""
    out: Path | None = None
    """Folder for metrics.json and questions.jsonl; default: only printed. A batch
    requires it, and adds table.md, report.html, plots and the replies."""
    intervals: bool = False
    """Print the 95% bootstrap intervals too; metrics.json always has them."""
    seed: int = 0
    """Seed of the bootstrap and of the sample that --limit draws."""

    run: Path | None = None
    """Batch: the trained run, or an export of one, behind the retriever scout and the
    answers from the graph itself."""
    reader: Literal["graph", "llm", "route"] | None = None
    """What answers: graph, the policy's answer head; llm, a language model; route, the
    model where the graph's answer is least probable. Default: llm with --llm, else
    graph."""
    shards: Path | None = None
    """Batch: the shards with the questions, the run's own or another data set's."""
    split: str = "test"
    """The split to answer."""
    step: int | None = None
    """Checkpoint to use; default the best by dev reward."""
    k: tuple[int, ...] = (100,)
    """Numbers of triplets to select; each is a column of the sweep."""
    retrievers: tuple[
        Literal[
            "none",
            "cosine",
            "ppr",
            "scout",
            "pseudo",
            "verified",
            "verified_scout",
            "scout_pseudo",
        ],
        ...,
    ] = ("none", "cosine", "scout")
    """Retrievers whose triplets are read; none: the question alone, which only a model
    can answer. The first that is not none is the reference of differences. With
    --reader graph, scout is answered from all candidates of a question, the others from
    their K triplets. With a pseudo-graph of the model (PG&AKV): pseudo, its guesses
    alone; verified, by cosine; verified_scout, by KG-Scout; scout_pseudo, scout with
    the guesses as extra queries."""
    pseudo: DraftForm = "cypher"
    """What the model writes as a pseudo-graph: Cypher, or plain triplets."""
    threshold: tuple[float, ...] = (0.7,)
    """verified: the least mean cosine of an entity's facts; each further value is one
    more row."""
    entities: tuple[int, ...] = (10,)
    """verified: the entities with most facts found, the paper's k; each further value
    is one more row."""
    facts: int = 30
    """Facts that a pseudo-graph is compared with, at most."""
    sources: tuple[Path, ...] = ()
    """verified: graphs to verify in, each a GRAPH folder or a triplet file. Default:
    the triplets of the shards."""
    against: tuple[Path, ...] = ()
    """retrieved.jsonl files of other systems, read as well."""
    limit: tuple[int, ...] = ()
    """At most so many questions, or one number per K in the order of --k: a sample by
    the seed, stratified by hops; a smaller sample is a subset of a larger one."""

    llm: str | None = None
    """Base URL of an OpenAI-compatible server, with the version:
    http://127.0.0.1:8080/v1. Default: answers from the graph itself, offline."""
    model: str | None = None
    """The model's name on the server."""
    prompt: str = "one_shot"
    """Prompt template: a name, or the path of your own file."""
    form: Literal["lines", "paths"] = "lines"
    """Triplets one a line, or joined into paths from topics to entities."""
    scores: bool = False
    """Write each triplet's score into the prompt."""
    token_budget: int | None = None
    """Maximum tokens of a prompt; it holds the best triplets that fit."""
    likely_answers: int = 0
    """Read each row a second time, as NAME + answers, with so many answers of the graph
    itself and their probabilities in the prompt."""
    route_below: float | None = None
    """--reader route: ask the model only where the probability of the graph's answer is
    below this; choose it on dev. Default: ask it everything, for the whole curve."""
    samples: int = 1
    """Replies per question; answers in at least half of them count."""
    show_prompt: bool = False
    """Print the prompt of the first question, by the last retriever, and stop."""

    @property
    def pseudo_rows(self) -> tuple[str, ...]:
        """The retrievers that begin with a pseudo-graph."""
        return tuple(name for name in self.retrievers if name in PSEUDO_ROWS)

    @property
    def needs_policy(self) -> bool:
        """Whether a retriever ranks by the policy of --run."""
        names = {"scout", "verified_scout", "scout_pseudo"}
        return bool(names.intersection(self.retrievers))

    @property
    def asks_graph(self) -> bool:
        """Whether the policy's answer head reads the questions."""
        reader = self.reader or ("llm" if self.llm else "graph")
        return reader != "llm" and not self.show_prompt

    @property
    def asks_model(self) -> bool:
        """Whether a language model reads them."""
        return self.llm is not None and self.reader != "graph"

    @property
    def rows(self) -> tuple[str, ...]:
        """The retrievers that are read: without none where the graph reads."""
        return tuple(x for x in self.retrievers if x != "none" or not self.asks_graph)
