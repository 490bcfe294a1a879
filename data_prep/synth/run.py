"""``kgscout synth``: questions with answers from a graph alone."""

from __future__ import annotations

import hashlib
import logging
from typing import Any

import numpy as np

from data_prep.synth.frames import SPLITS
from data_prep.synth.generation import generate
from data_prep.synth.model_wordings import (
    ModelNotes,
    endpoint_of,
    judge,
    with_model_wordings,
)
from data_prep.synth.question import SynthQuestion
from data_prep.synth.report import markdown, report
from data_prep.synth.settings import SynthSettings
from kgscout_jax.errors import UserError
from kgscout_jax.graph.fingerprint import name_fingerprints
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.utils.io import read_json, write_json, write_lines, write_text
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.manifest import (
    FileEntry,
    as_record,
    check_files,
    file_entry,
    fingerprint,
)

logger = logging.getLogger("kgscout.synth")

FORMAT = 2
"""Version of the folder; a change of the templates is a new one."""
MANIFEST = "manifest.json"
FILES = (*(f"{split}.jsonl" for split in SPLITS), "report.json", "report.md")


def synth(settings: SynthSettings) -> None:
    """Write the questions, and print where they lie and a few of them.

    Raises:
        UserError: as ``write_questions``.
    """
    values, is_new = write_questions(settings)
    print(f"{settings.out}" + ("" if is_new else ": complete already"))
    print(summary(values))


def write_questions(settings: SynthSettings) -> tuple[dict[str, Any], bool]:
    """The report of the questions, written unless they exist; whether they are new.

    Raises:
        UserError: the graph cannot be read or gives no questions, the folder holds
            other questions, or the language model does not answer.
    """
    graph = open_graph(settings.graph, options=settings.read_options)
    identity = fingerprint(
        {
            "format": FORMAT,
            "graph": graph_fingerprint(graph),
            "settings": settings.to_manifest(),
        }
    )
    with locked(settings.out, "kgscout synth"):
        if is_complete(settings, identity):
            return read_json(settings.out / "report.json"), False
        return _write(settings, graph, identity), True


def is_complete(settings: SynthSettings, identity: str) -> bool:
    """Whether the folder holds the questions of these settings and of this graph.

    Raises:
        UserError: it holds others, or files that are not of this command.
    """
    out = settings.out
    present = [name for name in (MANIFEST, *FILES) if (out / name).exists()]
    if settings.overwrite or not present:
        return False
    if MANIFEST not in present:
        raise UserError(
            f"{out / present[0]}: not written by kgscout synth; choose another --out, "
            "or --overwrite"
        )
    manifest = read_json(out / MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("identity") != identity:
        raise UserError(
            f"{out}: holds questions of another graph or of other settings; choose "
            "another --out, or --overwrite"
        )
    files = as_record(
        manifest.get("files"), dict[str, FileEntry], f"{out / MANIFEST}: files"
    )
    if missing := sorted(set(FILES) - set(files)):
        raise UserError(f"{out / MANIFEST}: files: damaged, no {missing[0]}")
    check_files(out, files, verify=True)
    return True


def _write(
    settings: SynthSettings, graph: KnowledgeGraph, identity: str
) -> dict[str, Any]:
    """Generate and write everything, the manifest last; returns the report."""
    made = generate(graph, settings)
    questions, notes = made.questions, None
    if not any(questions.values()):
        raise UserError(
            f"{', '.join(map(str, settings.graph))}: no question can be asked of this "
            f"graph; its relations have no names that people use, or its entities none"
        )
    if settings.llm is not None:
        notes, endpoint = ModelNotes(), endpoint_of(settings)
        questions = with_model_wordings(questions, graph, endpoint, notes)
        judge(_sample(questions, settings), endpoint, notes)
    out = settings.out
    (out / MANIFEST).unlink(missing_ok=True)
    for split in SPLITS:
        lines = (question.line(graph) for question in questions[split])
        write_lines(out / f"{split}.jsonl", lines)
    values = report(graph, made, questions, settings.questions, notes)
    write_json(out / "report.json", values)
    write_text(out / "report.md", markdown(values))
    write_json(
        out / MANIFEST,
        {
            "format": FORMAT,
            "identity": identity,
            "settings": settings.to_manifest(),
            "files": {name: file_entry(out / name) for name in FILES},
        },
    )
    return values


def _sample(
    questions: dict[str, list[SynthQuestion]], settings: SynthSettings
) -> list[SynthQuestion]:
    """The questions that are judged: spread over all of them."""
    every = [question for split in SPLITS for question in questions[split]]
    size = min(settings.limit_judge, len(every))
    rows = np.random.default_rng([settings.seed, 16]).choice(
        len(every), size, replace=False
    )
    return [every[i] for i in sorted(rows)]


def graph_fingerprint(graph: KnowledgeGraph) -> str:
    """The fingerprint of a graph's names and triplets."""
    digest = hashlib.sha256(np.ascontiguousarray(graph.triplets).data)
    unnamed = hashlib.sha256(np.packbits(graph.unnamed_mask).tobytes())
    return fingerprint(
        {
            "names": name_fingerprints(graph),
            "triplets": digest.hexdigest(),
            "unnamed": unnamed.hexdigest(),
        }
    )


def summary(values: dict[str, Any]) -> str:
    """A few lines about a report."""
    counts = ", ".join(f"{split} {n:,}" for split, n in values["questions"].items())
    relations = values["relations"]
    lines = [
        f"  {sum(values['questions'].values()):,} questions ({counts})",
        f"  {relations['used']:,} of {relations['in_graph']:,} relations, "
        f"{values['paths']:,} paths, {values['topics']:,} topics, "
        f"{values['frames']:,} frames",
    ]
    missing = values["asked_for"] - sum(values["questions"].values())
    if missing:
        lines.append(f"  {missing:,} fewer than asked for: the graph gives no more")
    if (model := values.get("model")) and model["judged"]:
        lines.append(
            f"  natural by the model's judgement: {model['natural_share']:.1%}"
        )
    examples = [group[0] for group in values["examples"].values() if group]
    lines += [f"    {each['question']}" for each in examples[:6]]
    return "\n".join([*lines, "  report.md says more"])
