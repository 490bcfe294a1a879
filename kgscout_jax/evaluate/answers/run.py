"""``eval.py answers --run RUN --shards SHARDS``: retrieve, read, judge, report.

Every retriever ranks once, at the largest K; smaller K are beginnings of that ranking.
The row "none" is read once and stands beside every K. Replies are kept on disk as they
come, so a batch that was stopped goes on with the same command; after each K the files
are written for what there is so far.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.cells import Cell, read_cell, server_is_gone
from kgscout_jax.evaluate.answers.evidence import Kept
from kgscout_jax.evaluate.answers.failures import failure_causes
from kgscout_jax.evaluate.answers.files import claim, stopped_by_signal, write_questions
from kgscout_jax.evaluate.answers.plot import answers_against_k
from kgscout_jax.evaluate.answers.questions import (
    draw_order,
    limits_by_k,
    take_questions,
)
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.evaluate.answers.report_page import report_html
from kgscout_jax.evaluate.answers.retrieval import NONE, load, retrieve
from kgscout_jax.evaluate.answers.setup import (
    check,
    claimed,
    context_of,
    endpoint_options,
    prompt_settings,
    told,
)
from kgscout_jax.evaluate.answers.tables import (
    answers_console,
    answers_markdown,
    facts,
    warnings,
)
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.reason.readers.protocol import Reader
from kgscout_jax.reason.selection import prompt_for
from kgscout_jax.retrieve.protocol import Rankings
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
    check(settings)
    limits = limits_by_k(settings.k, settings.limit)
    prompt = prompt_settings(settings)
    endpoint = endpoint_options(settings)
    shards = Shards.open(settings.shards or "")
    whole = shards.split(settings.split)
    if len(whole) == 0:
        raise UserError(f"{shards.path}: split {settings.split!r} has no questions")
    trained = load(settings, shards)
    counts = {k: min(n or len(whole), len(whole)) for k, n in limits.items()}
    most = max(counts.values())
    rows = np.arange(len(whole))
    if settings.limit:
        rows = draw_order(whole, settings.seed)[:most]
    if settings.show_prompt:
        split = take_questions(whole, rows[:1])
        kept = retrieve(settings, shards, split, trained, max(counts))[-1][2]
        first = kept[0].evidence(split.questions[0], max(counts))
        print(prompt_for(first, prompt).show())
        return 0
    assert settings.out is not None
    reader = make_reader(settings.llm, settings.model, prompt, **endpoint)
    with locked(settings.out, "evaluation"), stopped_by_signal():
        claim(settings.out, claimed(settings, shards, trained, prompt, endpoint))
        split = take_questions(whole, rows)
        impatient = None
        if settings.llm is not None:
            options = {**endpoint, "retries": 0}
            impatient = make_reader(settings.llm, settings.model, prompt, **options)
        batch = _Batch(settings, reader, impatient, shards, split, counts)
        batch.context = context_of(settings, shards, whole, trained, reader)
        report = batch.run(retrieve(settings, shards, split, trained, max(counts)))
    _show(settings, report)
    return 1 if report["missing"] else 0


class _Batch:
    """What the cells of one batch share."""

    context: dict[str, Any]

    def __init__(
        self,
        settings: AnswerSettings,
        reader: Reader,
        impatient: Reader | None,
        shards: Shards,
        split: Split,
        counts: dict[int, int],
    ) -> None:
        assert settings.out is not None
        self.settings, self.out = settings, settings.out
        self.reader, self.shards, self.split = reader, shards, split
        self.impatient = impatient
        """Takes over when the server is gone: one attempt each, and the cache."""
        self.counts = counts
        """K, ascending -> number of questions."""
        self.cells: dict[tuple[str, int], Cell] = {}

    def run(self, retrieved: Sequence[tuple[str, Rankings, list[Kept]]]) -> Any:
        """The report, after reading every cell; files are written after each K."""
        causes = {
            name: failure_causes(self.shards, self.split, rankings, list(self.counts))
            for name, rankings, _ in retrieved
        }
        closed: Cell | None = None
        report: dict[str, Any] = {}
        for k, n in self.counts.items():
            for name, _, kept in retrieved:
                if name == NONE:
                    if closed is None:
                        closed = self.read(name, 0, len(self.split), kept, causes, k)
                    self.cells[name, k] = closed.first(n)
                else:
                    self.cells[name, k] = self.read(name, k, n, kept, causes, k)
            # with a model the next K may be hours away
            if self.settings.llm is not None or k == max(self.counts):
                report = self.write()
        return report

    def read(
        self,
        name: str,
        k: int,
        n: int,
        kept: Sequence[Kept],
        causes: dict[str, dict[int, list[str]]],
        column: int,
    ) -> Cell:
        """A cell over the first ``n`` questions, its lines written."""
        logger.info("reading: %s%s, %d questions", name, f" at K = {k}" * bool(k), n)
        cell = read_cell(
            self.reader,
            name,
            k,
            self.split.questions[:n],
            kept[:n],
            causes[name][column][:n],
        )
        if self.impatient is not None and server_is_gone(cell):
            logger.warning("the server is gone: from here on, what is in the cache")
            self.reader, self.impatient = self.impatient, None
        write_questions(self.out, cell, cell.columns(self.settings.rules))
        return cell

    def write(self) -> dict[str, Any]:
        """The report on the cells so far, after writing it in every form."""
        settings = self.settings
        report = answer_report(
            self.cells,
            rules=settings.rules,
            settings=told(settings),
            context=self.context,
            prices=(settings.input_price, settings.output_price),
            seed=settings.seed,
        )
        write_json(self.out / "metrics.json", report)
        write_text(self.out / "table.md", answers_markdown(report))
        plot = answers_against_k(report, self.out / "answers_against_k.png")
        page = report_html(report, self.cells, plot=plot, scripts=report_scripts())
        write_text(self.out / "report.html", page)
        return report


def _show(settings: AnswerSettings, report: dict[str, Any]) -> None:
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
