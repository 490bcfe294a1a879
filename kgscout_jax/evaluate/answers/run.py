"""``eval.py answers --run RUN --shards SHARDS``: retrieve, read, judge, report.

Every retriever ranks once, at the largest K; smaller K are beginnings of that ranking.
The row "none" is read once and stands beside every K. Replies are stored as they come,
so a batch that was stopped continues with the same command; after each K the files are
written for the cells so far.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers import setup
from kgscout_jax.evaluate.answers.cells import METRICS, Cell
from kgscout_jax.evaluate.answers.confidence_plots import (
    risk_coverage_plot,
    routing_plot,
)
from kgscout_jax.evaluate.answers.console import answers_console
from kgscout_jax.evaluate.answers.evidence import NONE, Source, load_policy, retrieve
from kgscout_jax.evaluate.answers.graph_reader import GraphReader, export_scale
from kgscout_jax.evaluate.answers.page import Plot, report_html
from kgscout_jax.evaluate.answers.pseudo_report import sweep_plot
from kgscout_jax.evaluate.answers.pseudo_rows import PseudoRows
from kgscout_jax.evaluate.answers.questions import (
    draw_order,
    limits_by_k,
    take_questions,
)
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.evaluate.answers.rows import ModelRows, Rows
from kgscout_jax.evaluate.answers.tables import (
    MAIN,
    answers_markdown,
    facts,
    title,
    warnings,
)
from kgscout_jax.evaluate.plots import answers_against_k
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.reason.endpoint_options import endpoint_options
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.reason.selection import PromptSettings, prompt_for
from kgscout_jax.retrieve.split_answers import check_answers
from kgscout_jax.show import report_scripts
from kgscout_jax.utils.engine import Engine
from kgscout_jax.utils.interrupts import sigterm_interrupts
from kgscout_jax.utils.io import write_json, write_text
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.table_files import write_tables

if TYPE_CHECKING:
    from kgscout_jax.learn.trained_policy import TrainedPolicy

logger = logging.getLogger("kgscout")


def evaluate_answers(settings: AnswerSettings) -> int:
    """0, or 1 where replies are missing; files are written, the table is printed.

    Raises:
        UserError: settings that do not fit together, no such run, shards or split, a
            policy without an answer head, a folder of another batch, a server that
            refuses the key or the model.
    """
    setup.check_settings(settings)
    limits = limits_by_k(settings.k, settings.limit)
    prompt = setup.prompt_settings(settings)
    options = endpoint_options(settings, settings.out) if settings.asks_model else {}
    shards = Shards.open(settings.shards or "")
    whole = shards.split(settings.split)
    if len(whole) == 0:
        raise UserError(f"{shards.path}: split {settings.split!r} has no questions")
    if len(settings.rows) < len(settings.retrievers):
        logger.info("row none is left out: without triplets only a model answers")
    counts = {k: min(n or len(whole), len(whole)) for k, n in limits.items()}
    with settings.open_engine() as engine:
        return _evaluate(settings, shards, whole, counts, prompt, options, engine)


def _evaluate(
    settings: AnswerSettings,
    shards: Shards,
    whole: Split,
    counts: dict[int, int],
    prompt: PromptSettings,
    options: dict[str, Any],
    engine: Engine,
) -> int:
    """``evaluate_answers`` after its checks; ``counts``: K -> number of questions."""
    trained = load_policy(settings, shards)
    if trained is not None and (settings.asks_graph or settings.likely_answers):
        check_answers(trained.policy)
    rows = np.arange(len(whole))
    if settings.limit:
        rows = draw_order(whole, settings.seed)[: max(counts.values())]
    if settings.show_prompt:
        # probabilities may be fitted on the very questions: then on all of them
        split = take_questions(whole, rows if settings.likely_answers else rows[:1])
        graph = _graph_reader(settings, shards, split, trained, engine)
        ks = list(counts)
        last = retrieve(settings, shards, split, trained, ks, engine=engine)[-1]
        likely = graph.read(last, max(counts), 1)[1][0].best if graph else ()
        evidence = last.rankings[0].evidence(split.questions[0], max(counts), likely)
        print(prompt_for(evidence, prompt).show())
        return 0
    assert settings.out is not None
    model = _model(settings, prompt, options) if settings.asks_model else None
    with locked(settings.out, "evaluation"), sigterm_interrupts():
        split = take_questions(whole, rows)
        config = setup.batch_config(settings, shards, trained, prompt, options)
        setup.write_or_check_config(settings.out, config)
        graph = _graph_reader(settings, shards, split, trained, engine)
        batch = _Batch(
            settings=settings,
            rows=Rows(
                model=model,
                graph=graph,
                shows_graph=settings.asks_graph,
                tells_answers=settings.likely_answers > 0,
                route_below=settings.route_below,
            ),
            split=split,
            counts=counts,
            context=setup.report_context(settings, shards, whole, trained, graph),
        )
        if settings.pseudo_rows:
            batch.pseudo = PseudoRows(
                settings,
                shards,
                split,
                EndpointSettings(
                    url=settings.llm or "", model=settings.model or "", **options
                ),
                trained.policy if trained is not None else None,
            )
        ks = list(counts)
        report = batch.run(
            retrieve(settings, shards, split, trained, ks, batch.pseudo, engine)
        )
    _print(settings, report)
    return 1 if report["missing"] else 0


def _model(
    settings: AnswerSettings, prompt: PromptSettings, options: Mapping[str, Any]
) -> ModelRows:
    """What asks the language model, and what stands in for a server that is gone."""
    assert settings.llm is not None and settings.model is not None
    address = settings.llm, settings.model, prompt
    return ModelRows(
        make_reader(*address, **options),
        make_reader(*address, **{**options, "retries": 0}),
    )


def _graph_reader(
    settings: AnswerSettings,
    shards: Shards,
    split: Split,
    trained: TrainedPolicy | None,
    engine: Engine,
) -> GraphReader | None:
    """The reader of the policy's answer head, where its answers are needed."""
    if not (settings.asks_graph or settings.likely_answers):
        return None
    assert trained is not None and settings.run is not None
    return GraphReader(trained, shards, split, export_scale(settings.run), engine)


@dataclass
class _Batch:
    """The state that the cells of one batch share."""

    settings: AnswerSettings
    rows: Rows
    split: Split
    counts: dict[int, int]
    """K, ascending -> number of questions."""
    context: dict[str, Any]
    cells: dict[tuple[str, int], Cell] = field(default_factory=dict)
    pseudo: PseudoRows | None = None

    def run(self, sources: Sequence[Source]) -> dict[str, Any]:
        """The report, after reading every cell; files are written after each K."""
        settings, out = self.settings, self.settings.out
        assert out is not None
        closed_book: Cell | None = None
        report: dict[str, Any] = {}
        for k, n in self.counts.items():
            for source in sources:
                infos = self.split.questions
                if source.name != NONE:
                    new = list(self.rows.cells(source, k, infos[:n]))
                elif closed_book is None:
                    new = list(self.rows.cells(source, 0, infos))
                    closed_book = new[0]
                else:
                    new = []
                for cell in new:
                    cell.write(out, settings.rules)
                    self.cells[cell.retriever, k] = cell
                if source.name == NONE and closed_book is not None:
                    self.cells[NONE, k] = closed_book.first(n)
            # with a model the next K may be hours away
            if settings.asks_model or k == max(self.counts):
                report = self.write()
        return report

    def write(self) -> dict[str, Any]:
        """The report on the cells so far, after writing it in every form."""
        settings, out = self.settings, self.settings.out
        assert out is not None
        report = answer_report(
            self.cells,
            rules=settings.rules,
            settings=setup.settings_json(settings),
            context=self.context,
            prices=(settings.input_price, settings.output_price),
            seed=settings.seed,
        )
        if self.pseudo is not None:
            report["pseudo"] = self.pseudo.report()
            self.pseudo.write(out)
        write_json(out / "metrics.json", report)
        write_tables(out, answers_markdown(report))
        metrics = {metric: METRICS[metric] for metric in MAIN}
        png = out / "answers_against_k.png"
        plots = [
            Plot(
                "Hit and Macro-F1 against K",
                answers_against_k(report, metrics, title(report), png),
            )
        ]
        if report["confidence"]:
            png = out / "risk_coverage.png"
            plots.append(
                Plot(
                    "accuracy against coverage, and calibration",
                    risk_coverage_plot(report, title(report), png),
                )
            )
        if report["routing"]:
            png = out / "routing.png"
            plots.append(
                Plot(
                    "Hits@1 against the share of questions sent to the model",
                    routing_plot(report, title(report), png),
                )
            )
        if "sweep" in report.get("pseudo", {}):
            png = out / "pruning.png"
            plots.append(Plot("pruning of the facts found", sweep_plot(report, png)))
        page = report_html(report, self.cells, plots=plots, scripts=report_scripts())
        write_text(out / "report.html", page)
        return report


def _print(settings: AnswerSettings, report: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(highlight=False, soft_wrap=True)
    table = answers_console(report)
    wide = console.options.update(width=1000)
    console.width = max(console.width, Measurement.get(console, wide, table).maximum)
    console.print(table)
    for line in facts(report):
        console.print(line, markup=False)
    console.print(f"wrote {settings.out}", markup=False)
    for line in warnings(report):
        print(f"warning: {line}", file=sys.stderr)
