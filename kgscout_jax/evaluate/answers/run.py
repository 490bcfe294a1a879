"""``eval.py answers --run RUN --shards SHARDS``: retrieve, read, judge, report.

Every retriever ranks once, at the largest K; smaller K are beginnings of that ranking.
The row "none" is read once and stands beside every K. Replies are stored as they come,
so a batch that was stopped continues with the same command; after each K the files are
written for the cells so far.
"""

from __future__ import annotations

import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers import setup
from kgscout_jax.evaluate.answers.cells import METRICS, Cell, read_cell, server_is_gone
from kgscout_jax.evaluate.answers.evidence import NONE, Source, load_policy, retrieve
from kgscout_jax.evaluate.answers.page import report_html
from kgscout_jax.evaluate.answers.questions import (
    draw_order,
    limits_by_k,
    take_questions,
)
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.evaluate.answers.tables import (
    MAIN,
    answers_console,
    answers_markdown,
    facts,
    title,
    warnings,
)
from kgscout_jax.evaluate.plots import answers_against_k
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.reason.readers.protocol import Reader
from kgscout_jax.reason.selection import prompt_for
from kgscout_jax.show import report_scripts
from kgscout_jax.utils.io import write_json, write_text
from kgscout_jax.utils.lock import locked

logger = logging.getLogger("kgscout")


def evaluate_answers(settings: AnswerSettings) -> int:
    """0, or 1 where replies are missing; files are written, the table is printed.

    Raises:
        UserError: settings that do not fit together, no such run, shards or split, a
            folder of another batch, a server that refuses the key or the model.
    """
    setup.check_settings(settings)
    limits = limits_by_k(settings.k, settings.limit)
    prompt = setup.prompt_settings(settings)
    options = setup.endpoint_options(settings)
    shards = Shards.open(settings.shards or "")
    whole = shards.split(settings.split)
    if len(whole) == 0:
        raise UserError(f"{shards.path}: split {settings.split!r} has no questions")
    trained = load_policy(settings, shards)
    counts = {k: min(n or len(whole), len(whole)) for k, n in limits.items()}
    rows = np.arange(len(whole))
    if settings.limit:
        rows = draw_order(whole, settings.seed)[: max(counts.values())]
    if settings.show_prompt:
        split = take_questions(whole, rows[:1])
        last = retrieve(settings, shards, split, trained, list(counts))[-1]
        evidence = last.rankings[0].evidence(split.questions[0], max(counts))
        print(prompt_for(evidence, prompt).show())
        return 0
    assert settings.out is not None
    reader = make_reader(settings.llm, settings.model, prompt, **options)
    with locked(settings.out, "evaluation"), _sigterm_interrupts():
        config = setup.batch_config(settings, shards, trained, prompt, options)
        setup.write_or_check_config(settings.out, config)
        split = take_questions(whole, rows)
        batch = _Batch(
            settings=settings,
            reader=reader,
            fallback=make_reader(
                settings.llm, settings.model, prompt, **{**options, "retries": 0}
            )
            if settings.llm
            else None,
            split=split,
            counts=counts,
            context=setup.report_context(settings, shards, whole, trained, reader),
        )
        report = batch.run(retrieve(settings, shards, split, trained, list(counts)))
    _print(settings, report)
    return 1 if report["missing"] else 0


@dataclass
class _Batch:
    """The state that the cells of one batch share."""

    settings: AnswerSettings
    reader: Reader
    fallback: Reader | None
    """Takes over when the server is gone: one attempt each, and the cache."""
    split: Split
    counts: dict[int, int]
    """K, ascending -> number of questions."""
    context: dict[str, Any]
    cells: dict[tuple[str, int], Cell] = field(default_factory=dict)

    def run(self, sources: Sequence[Source]) -> dict[str, Any]:
        """The report, after reading every cell; files are written after each K."""
        closed_book: Cell | None = None
        report: dict[str, Any] = {}
        for k, n in self.counts.items():
            for source in sources:
                if source.name != NONE:
                    cell = self.read(source, k, n, source.causes[k])
                else:
                    closed_book = closed_book or self.read(
                        source, 0, len(self.split), source.causes[k]
                    )
                    cell = closed_book.first(n)
                self.cells[source.name, k] = cell
            # with a model the next K may be hours away
            if self.settings.llm is not None or k == max(self.counts):
                report = self.write()
        return report

    def read(self, source: Source, k: int, n: int, causes: Sequence[str]) -> Cell:
        """A cell over the first ``n`` questions, its lines written."""
        name, settings = source.name, self.settings
        logger.info("reading: %s%s, %d questions", name, f" at K = {k}" * bool(k), n)
        questions = self.split.questions[:n]
        cell = read_cell(
            self.reader, name, k, questions, source.rankings[:n], causes[:n]
        )
        if self.fallback is not None and server_is_gone(cell):
            logger.warning("the server is gone: from here on, what is in the cache")
            self.reader, self.fallback = self.fallback, None
        assert settings.out is not None
        cell.write(settings.out, settings.rules)
        return cell

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
        write_json(out / "metrics.json", report)
        write_text(out / "table.md", answers_markdown(report))
        metrics = {metric: METRICS[metric] for metric in MAIN}
        png = out / "answers_against_k.png"
        plot = answers_against_k(report, metrics, title(report), png)
        page = report_html(report, self.cells, plot=plot, scripts=report_scripts())
        write_text(out / "report.html", page)
        return report


@contextlib.contextmanager
def _sigterm_interrupts() -> Iterator[None]:
    """SIGTERM stops the batch as Ctrl-C does: replies so far are in the cache."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
