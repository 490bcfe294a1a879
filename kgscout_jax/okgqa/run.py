"""``eval.py open``: retrieve, answer in every way, judge, report.

Every reply is stored as it comes: a run that was stopped continues with the same
command and repeats no request. Files are written after every cell.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.okgqa.cells import Cell
from kgscout_jax.okgqa.evidence import (
    SCOUT,
    check_retrievers,
    evidence_of,
    policy_of,
    question_split,
)
from kgscout_jax.okgqa.judges.factscore import FActScore
from kgscout_jax.okgqa.judges.geval import GEval
from kgscout_jax.okgqa.judges.protocol import Item, Judge, Judgement
from kgscout_jax.okgqa.judges.safe import SAFE
from kgscout_jax.okgqa.ladder import answer, ways
from kgscout_jax.okgqa.passages import (
    PassageIndex,
    candidate_triplets,
    read_documents,
    triplet_passages,
)
from kgscout_jax.okgqa.questions import OpenQuestion, read_questions
from kgscout_jax.okgqa.report import (
    console,
    facts,
    markdown,
    open_report,
    page,
    question_lines,
    warnings,
)
from kgscout_jax.okgqa.settings import ModelSettings, OpenSettings
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.reason.endpoint_options import endpoint_options
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.utils.interrupts import sigterm_interrupts
from kgscout_jax.utils.io import read_json, write_json, write_lines, write_text
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.table_files import write_tables

CONFIG = "open.json"
FORMAT = "kgscout-open"


def evaluate_open(settings: OpenSettings) -> int:
    """0, or 1 where answers or judgements are missing; files are written.

    Raises:
        UserError: settings that do not fit together, files that cannot be read, a
            folder of something else, a server that refuses the key or the model.
    """
    check_retrievers(settings.retrievers)
    questions = read_questions(settings.questions, settings.limit)
    model = model_of(settings)
    judge_model = judge_of(settings, model)
    with locked(settings.out, "evaluation"), sigterm_interrupts():
        check_folder(settings.out)
        trained = policy_of(settings.run)
        shards, split, linked = question_split(settings, questions, trained)
        encoder = SentenceEncoder(
            shards.manifest["encoder"]["name"],
            backend=shards.manifest["encoder"].get("backend", "torch"),
        )
        documents = (
            read_documents(settings.documents)
            if settings.documents
            else triplet_passages(candidate_triplets(shards, split))
        )
        if not documents and {"factscore", "safe"} & set(settings.judges):
            raise UserError(
                f"{settings.questions}: no question is linked to the graph, so there "
                "is nothing to verify answers against; name --documents"
            )
        index = PassageIndex(documents, encoder, by=settings.search)
        evidence = {
            name: evidence_of(name, shards, split, trained, settings.k)
            for name in settings.retrievers
        }
        context = index.search([one.text for one in questions], settings.passages)
        judges = make_judges(settings, judge_model, index)
        about = {
            "questions": str(settings.questions),
            "linked": linked,
            "passages": len(documents),
            "documents": str(settings.documents or "the graph's triplets"),
            "policy": f"{settings.run.name}, step {trained.step}"
            if SCOUT in settings.retrievers
            else None,
        }
        cells: list[Cell] = []
        report: dict[str, Any] = {}
        for way in ways(settings):
            answers = answer(
                way, questions, evidence.get(way.retriever or ""), model, encoder,
                settings,
            )  # fmt: skip
            items = [
                Item(
                    question=question.text,
                    answer=each.text,
                    subject=question.subject,
                    context=context[i],
                )
                for i, (question, each) in enumerate(
                    zip(questions, answers, strict=True)
                )
            ]
            cells.append(Cell(way, answers, judgements_of(judges, items)))
            spending = {"answers": model, "judges": judge_model}
            report = write(settings, questions, cells, judges, spending, about)
    console(report)
    for line in facts(report):
        print(line)
    print(f"wrote {settings.out}")
    for line in warnings(report):
        print(f"warning: {line}", file=sys.stderr)
    return 1 if report["missing"] else 0


def judgements_of(
    judges: Sequence[Judge], items: Sequence[Item]
) -> list[dict[str, Judgement]]:
    """Per item the judgements of all judges."""
    out: list[dict[str, Judgement]] = [{} for _ in items]
    for judge in judges:
        for row, judgements in zip(out, judge.judge(items), strict=True):
            row.update(judgements)
    return out


def make_judges(
    settings: OpenSettings, model: Model, index: PassageIndex
) -> list[Judge]:
    """The judges that ``--judges`` names, in that order."""
    known: dict[str, Judge] = {
        "geval": GEval(model, settings.geval_weights, settings.geval_samples),
        "factscore": FActScore(model, index.search, settings.passages),
        "safe": SAFE(
            model, index.search, settings.passages, settings.safe_searches
        ),
    }  # fmt: skip
    return [known[name] for name in settings.judges]


def model_of(settings: ModelSettings) -> Model:
    """The model that answers; raises UserError for --extra that is no JSON object."""
    out: Path = settings.out  # type: ignore[attr-defined]
    endpoint = EndpointSettings(
        url=settings.llm, model=settings.model, **endpoint_options(settings, out)
    )
    return Model(endpoint, (settings.input_price, settings.output_price))


def judge_of(settings: OpenSettings, model: Model) -> Model:
    """The model that judges: that of the answers unless another is named."""
    prices = (
        settings.input_price
        if settings.judge_input_price is None
        else settings.judge_input_price,
        settings.output_price
        if settings.judge_output_price is None
        else settings.judge_output_price,
    )
    endpoint = replace(
        model.settings,
        url=settings.judge_llm or settings.llm,
        model=settings.judge_model or settings.model,
    )
    return Model(endpoint, prices)


def check_folder(folder: Path) -> None:
    """Raises UserError where ``--out`` holds something else than such an evaluation."""
    path = folder / CONFIG
    if path.exists():
        found = read_json(path)
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise UserError(f"{path}: not of open questions, expected another --out")
    elif (folder / "metrics.json").exists():
        raise UserError(f"{folder}: holds another evaluation, expected another --out")
    write_json(path, {"format": FORMAT})


def write(
    settings: OpenSettings,
    questions: Sequence[OpenQuestion],
    cells: Sequence[Cell],
    judges: Sequence[Judge],
    models: Mapping[str, Model],
    context: Mapping[str, Any],
) -> dict[str, Any]:
    """The report on the cells so far, after writing it in every form."""
    report = open_report(
        questions,
        cells,
        metrics={
            name: label for judge in judges for name, label in judge.metrics.items()
        },
        spending={
            who: {stage: asdict(one) for stage, one in model.spending.items()}
            for who, model in models.items()
        },
        settings=settings,
        context=context,
        weights=next((j.weights for j in judges if isinstance(j, GEval)), None),
    )
    write_json(settings.out / "metrics.json", report)
    write_tables(settings.out, markdown(report))
    write_lines(settings.out / "questions.jsonl", question_lines(questions, cells))
    write_text(settings.out / "report.html", page(report, questions, cells))
    return report
