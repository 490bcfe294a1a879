"""A batch's settings: checked, made into a reader's, and recorded in its files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.cells import HEADLINE
from kgscout_jax.evaluate.commands import commands_of
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.export.bundled import identity_of
from kgscout_jax.learn.shard_sets import is_trained_on
from kgscout_jax.pseudo.settings import check_threshold
from kgscout_jax.reason.selection import PromptSettings
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.engine_settings import ENGINE_FIELDS
from kgscout_jax.utils.io import json_value, read_json, write_json

if TYPE_CHECKING:
    from kgscout_jax.evaluate.answers.graph_reader import GraphReader
    from kgscout_jax.learn.trained_policy import TrainedPolicy

FORMAT = "kgscout-answers"
CONFIG = "batch.json"


def check_settings(settings: AnswerSettings) -> None:
    """Raises UserError where settings of a batch are missing or contradict."""
    if settings.predictions is not None:
        raise UserError(
            "--predictions: a file to judge, and --run or --shards: a batch; expected "
            "one of the two"
        )
    if settings.shards is None:
        raise UserError("--shards: none, expected the folder with the questions")
    if settings.out is None and not settings.show_prompt:
        raise UserError("--out: none, expected a folder for the batch")
    if settings.rules not in HEADLINE:
        raise UserError(
            f"--rules: {settings.rules}, expected {', '.join(HEADLINE)}: they say what "
            "is right; the metrics of kg_rag and pg_akv are in every table"
        )
    if not settings.retrievers:
        raise UserError("--retrievers: none given, expected at least one")
    if len(set(settings.retrievers)) < len(settings.retrievers):
        raise UserError(
            f"--retrievers: {' '.join(settings.retrievers)}, expected each once"
        )
    if settings.needs_policy and settings.run is None:
        raise UserError("--run: none, expected a trained run for the retriever scout")
    _check_pseudo(settings)
    if (settings.llm is None) != (settings.model is None):
        present, absent = ("llm", "model") if settings.llm else ("model", "llm")
        raise UserError(f"--{present} without --{absent}: expected both, or neither")
    _check_reader(settings)
    check_at_least(
        0, input_price=settings.input_price, output_price=settings.output_price
    )


def _check_pseudo(settings: AnswerSettings) -> None:
    """Raises UserError where pseudo-graphs lack what they need."""
    names = " ".join(settings.pseudo_rows)
    if names and (settings.asks_graph or not settings.asks_model):
        raise UserError(f"--llm: none, expected a model that reads the rows {names}")
    if names and settings.show_prompt:
        raise UserError(f"--show-prompt: expected --retrievers without {names}")
    for name in ("threshold", "entities"):
        values = getattr(settings, name)
        if not values or len(set(values)) < len(values):
            found = " ".join(map(str, values)) or "nothing"
            raise UserError(f"--{name}: {found}, expected each value once")
    for value in settings.threshold:
        check_threshold(value)
    for number in settings.entities:
        check_at_least(1, entities=number)
    check_at_least(1, facts=settings.facts)
    stems = [path.stem for path in settings.sources]
    if len(set(stems)) < len(stems):
        raise UserError(f"--sources: {' '.join(stems)}, expected each name once")


def _check_reader(settings: AnswerSettings) -> None:
    """Raises UserError where the reader lacks what it needs."""
    reader, below = settings.reader, settings.route_below
    if reader in ("llm", "route") and settings.llm is None:
        raise UserError(f"--llm: none, expected a server for --reader {reader}")
    if below is not None and reader != "route":
        raise UserError(f"--route-below: {below}, expected --reader route with it")
    if below is not None and not 0 <= below <= 1:
        raise UserError(f"--route-below: {below}, expected a probability")
    check_at_least(0, likely_answers=settings.likely_answers)
    if settings.likely_answers and not (settings.asks_model or settings.show_prompt):
        raise UserError(
            f"--likely-answers: {settings.likely_answers}, expected --llm and --model: "
            "they go into a model's prompts"
        )
    what = "the graph reader (or --llm and --model)" if settings.asks_graph else ""
    if settings.likely_answers:
        what = "--likely-answers"
    if what and settings.run is None:
        raise UserError(f"--run: none, expected a trained run for {what}")
    if not settings.rows and not settings.against:
        raise UserError(
            "--retrievers: none, expected another one: without triplets only a "
            "language model answers"
        )


def prompt_settings(settings: AnswerSettings) -> PromptSettings:
    """How questions are put to the model."""
    names = (
        "prompt", "form", "scores", "token_budget", "likely_answers", "samples"
    )  # fmt: skip
    return PromptSettings(**{name: getattr(settings, name) for name in names})


def settings_json(settings: AnswerSettings) -> dict[str, Any]:
    """The settings of a batch as they stand in a result."""
    names = vars(settings).keys() - {"predictions", "intervals", "show_prompt"}
    names -= ENGINE_FIELDS
    return {name: json_value(v) for name, v in vars(settings).items() if name in names}


def batch_config(
    settings: AnswerSettings,
    shards: Shards,
    trained: TrainedPolicy | None,
    prompt: PromptSettings,
    endpoint: Mapping[str, Any],
) -> dict[str, Any]:
    """What must not change in a folder: all that changes a reply or a question.

    K, retrievers, limits, rules and prices may differ from one command to the next:
    the cache holds the replies whatever they are used for.
    """
    config: dict[str, Any] = {
        "shards": shards.manifest["fingerprint"],
        "split": settings.split,
        "seed": settings.seed,
        "model": settings.model if settings.asks_model else None,
    }
    if trained is not None and settings.run is not None:
        config |= {"run": identity_of(settings.run), "step": trained.step}
    if endpoint:
        words = prompt.template().messages, prompt.empty_template().messages
        words_around = asdict(prompt)
        if not prompt.likely_answers:
            # prompts are as without the setting: it may be added later
            del words_around["likely_answers"]
        config |= {
            **words_around,
            "words": hashlib.sha256(json.dumps(words).encode()).hexdigest()[:16],
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "llm_seed": settings.llm_seed,
            "extra": endpoint["extra"],
        }
    return config


def write_or_check_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Writes a batch's config, or checks that the folder's batch has the same.

    A field that one command has and another leaves out, such as the run that only one
    of them needs, may be added.

    Raises:
        UserError: the folder holds a batch with other settings, or something else.
    """
    path = folder / CONFIG
    ours = json.loads(json.dumps({"format": FORMAT, **config}))
    theirs: Any = read_json(path) if path.exists() else {"format": FORMAT}
    if not isinstance(theirs, dict) or theirs.get("format") != FORMAT:
        raise UserError(f"{path}: not of a batch of answers, expected another --out")
    if "run" in theirs:
        theirs["run"] = identity_of(str(theirs["run"]))
    for name in (name for name in ours if name in theirs):
        if ours[name] != theirs[name]:
            raise UserError(
                f"{folder}: holds a batch with {name} {theirs[name]!r}, expected "
                f"{ours[name]!r} as asked for; take another --out"
            )
    write_json(path, theirs | ours)


def report_context(
    settings: AnswerSettings,
    shards: Shards,
    whole: Split,
    trained: TrainedPolicy | None,
    graph: GraphReader | None,
) -> dict[str, Any]:
    """How the figures came about: data, reader, draw and run."""
    readers = []
    if settings.asks_graph:
        readers.append("the answer head of the policy")
    if settings.asks_model:
        readers.append(
            f"{settings.model}, prompt {settings.prompt} in {settings.form}, "
            f"temperature {settings.temperature:g}, at most {settings.max_tokens} "
            "tokens a reply"
            + (f", {settings.samples} samples" if settings.samples > 1 else "")
        )
    context: dict[str, Any] = {
        "measured_on": shards.manifest["source"],
        "split": settings.split,
        "questions": len(whole),
        "reader": "; ".join(readers),
    }
    if graph is not None:
        context |= graph.context
    if settings.limit:
        context["draw"] = (
            f"drawn with seed {settings.seed}, every number of hops in proportion"
        )
    runs = {}
    if trained is not None and settings.run is not None:
        fingerprint = shards.manifest["fingerprint"]
        context |= {
            "run": settings.run.name,
            "step": trained.step,
            "trained_on": trained.metadata["shards"]["source"],
            "cross_dataset": not is_trained_on(trained.metadata, fingerprint),
        }
        runs[settings.run] = trained.metadata
    context["commands"] = commands_of(settings, "kgscout eval answers", runs)
    return context
