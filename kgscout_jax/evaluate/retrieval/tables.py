"""Comparison tables: Markdown for a paper or a recipe, a short one for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS, VARIANT
from kgscout_jax.evaluate.retrieval.seeds import seeds_markdown
from kgscout_jax.learn.shard_sets import source_names
from kgscout_jax.utils.metric_names import MAIN_METRICS
from kgscout_jax.utils.tables import console_grid, figure, markdown_table

if TYPE_CHECKING:
    from rich.table import Table

Figures = Mapping[str, Any]
"""K -> {"value", "low", "high", "n"}."""


def gain(value: float | None) -> str:
    """A relative gain as the thesis prints it: ``↑ 15.7%``."""
    if value is None:
        return "–"
    return f"{'↑' if value >= 0 else '↓'} {abs(value):.1%}"


def report_markdown(report: Mapping[str, Any]) -> str:
    """The whole of ``table.md`` from the content of ``metrics.json``."""
    names, ks = report["retrievers"], report["ks"]
    parts = [_title(report), _context(report)]
    for metric in DEFINITIONS:
        rows = [[name, *_cells(report[name][metric], ks)] for name in names]
        rows += _paired_rows(report, metric)
        parts += [
            f"## {metric}",
            f"{DEFINITIONS[metric]} n = {_n_of(report[names[0]][metric], ks)}.",
            markdown_table(["retriever", *(f"K = {k}" for k in ks)], rows),
        ]
    if "tokens" in report:
        parts += _tokens(report["tokens"])
    parts += seeds_markdown(report) + _by_hop(report) + _variants(report)
    parts.append(_notes(report))
    return "\n\n".join(part for part in parts if part) + "\n"


def console_table(
    report: Mapping[str, Any], metrics: Sequence[str] = MAIN_METRICS
) -> Table:
    """A table for the terminal: rows are metric and retriever, columns are K."""
    from rich.text import Text

    names, ks = report["retrievers"], report["ks"]
    title = f"{report['split']} split, {report['counts']['questions']} questions"
    if report["paired"]:
        title += f"; gain: relative to {report['reference']}"
    header = ["metric", "retriever", *(f"K = {k}" for k in ks)]
    table = console_grid(title, header, left=(0, 1))
    for metric in metrics:
        if report[names[0]][metric][str(ks[0])]["n"] == 0:
            continue
        for i, name in enumerate(names):
            cells = _cells(report[name][metric], ks, interval=False)
            style = "bold" if i == 0 else "dim" if name == "ceiling" else ""
            label = metric if i == 0 else ""
            table.add_row(label, Text(name), *cells, style=style)
        if paired := report["paired"].get(names[0]):
            gains = [gain(paired[metric][str(k)]["relative_gain"]) for k in ks]
            table.add_row("", "gain", *gains)
        table.add_section()
    return table


def _cells(figures: Figures, ks: Sequence[int], *, interval: bool = True) -> list[str]:
    return [figure(figures[str(k)], interval=interval) for k in ks]


def _n_of(figures: Figures, ks: Sequence[int]) -> str:
    counts = [figures[str(k)]["n"] for k in ks]
    if len(set(counts)) == 1:
        return str(counts[0])
    return ", ".join(f"{n} (K = {k})" for k, n in zip(ks, counts, strict=True))


def _title(report: Mapping[str, Any]) -> str:
    context = report["context"]
    measured = context.get("measured_on")
    where = f"`{report['split']}`" + (f" of {measured}" if measured else "")
    subject = "Cross-dataset retrieval" if is_cross_dataset(context) else "Retrieval"
    return f"# {subject} on {where}"


def is_cross_dataset(context: Mapping[str, Any]) -> bool:
    """Whether what is measured was trained on another data set."""
    if "cross_dataset" in context:
        return bool(context["cross_dataset"])
    trained, measured = context.get("trained_on"), context.get("measured_on")
    return trained is not None and measured is not None and trained != measured


def _context(report: Mapping[str, Any]) -> str:
    context, counts = report["context"], report["counts"]
    facts = [f"{counts['questions']} questions"]
    if context.get("run"):
        facts.append(f"run {context['run']}")
    if context.get("trained_on"):
        facts.append(f"trained on {source_names(context['trained_on'])}")
    text = ", ".join(facts) + (
        f". In brackets: {report['level']:.0%} bootstrap intervals over questions "
        f"({report['resamples']} resamples, seed {report['seed']})."
    )
    if report["paired"]:
        text += (
            f" Differences and relative gains: against {report['reference']}, paired "
            "by question."
        )
    if is_cross_dataset(context):
        trained = context.get("trained_on")
        text += (
            "\n\n**Cross-dataset** (thesis, tables 4.5 and 4.6): trained on "
            f"{source_names(trained) if trained else 'another data set'}, measured on "
            f"{context.get('measured_on') or 'this one'}, other shards than those of "
            "its training."
        )
    return text


def _paired_rows(report: Mapping[str, Any], metric: str) -> list[list[str]]:
    rows = []
    for name, paired in report["paired"].items():
        entries = [paired[metric][str(k)] for k in report["ks"]]
        label = f"{name} − {report['reference']}"
        rows.append([label, *(figure(entry, sign="+") for entry in entries)])
        gains = [gain(entry["relative_gain"]) for entry in entries]
        rows.append([f"{name}, relative gain", *gains])
    return rows


TOKEN_HEADER = (
    "selection", "form", "triplets", "tokens", "answer_hit", "answer_recall",
    "path_hit_undirected", "path_triplet_recall", "answers / 1,000",
    "path triplets / 1,000",
)  # fmt: skip


def token_cells(block: Mapping[str, Any]) -> list[list[str]]:
    """The rows under ``TOKEN_HEADER`` of the block ``tokens``."""
    return [
        [
            row["selection"],
            row["form"],
            f"{row['triplets']:.1f}",
            f"{row['tokens']:.0f}",
            *(figure(row[name], interval=False) for name in TOKEN_HEADER[4:8]),
            *(
                "–" if value is None else f"{value:.3f}"
                for value in row["per_1000_tokens"].values()
            ),
        ]
        for row in block["rows"]
    ]


def target_cells(block: Mapping[str, Any]) -> list[list[str]]:
    """A row per target: promised, reached, and K."""
    return [
        [
            f"{row['target']:g}",
            f"{row['expected']:.3f}",
            figure(row["answer_hit"]),
            *(f"{row['k'][name]:.1f}" for name in ("mean", "p50", "p90")),
            f"{row['short_of_target']:.1%}",
        ]
        for row in block["rows"]
        if "target" in row and row["form"] == "lines"
    ]


TARGET_HEADER = (
    "target", "expected", "reached", "mean K", "median K", "K of 90%", "short of it"
)  # fmt: skip


def _tokens(block: Mapping[str, Any]) -> list[str]:
    """The tables of prompts' tokens and of calibrated budgets."""
    parts = [
        "## Recall and tokens",
        f"Triplets of {block['retriever']}, {block['questions']} questions; tokens of "
        "the whole prompt, words and question included, by the package's estimate. "
        "lines: the K best. paths: those with what joins them to a topic, K in all, as "
        "chains. / 1,000: mean recall / mean tokens * 1,000.",
        markdown_table(TOKEN_HEADER, token_cells(block)),
    ]
    if rows := target_cells(block):
        parts += [
            "## Calibrated budgets",
            "The fewest triplets whose calibrated chance of holding an answer reaches "
            f"the target ({block['calibration']}). expected: mean chance at the K "
            "chosen; reached: answer_hit there; short of it: questions that get the "
            "largest K because no K reaches the target.",
            markdown_table(TARGET_HEADER, rows),
        ]
    return parts


def token_console_tables(block: Mapping[str, Any]) -> list[Table]:
    """The same for the terminal, a few columns less."""
    short = [0, 1, 3, 4, 5, 7, 8, 9]
    header = [TOKEN_HEADER[i] for i in short]
    rows = [[row[i] for i in short] for row in token_cells(block)]
    tables = []
    for title, names, cells in (
        ("recall and tokens of prompts", header, rows),
        ("calibrated budgets", TARGET_HEADER, target_cells(block)),
    ):
        if cells:
            table = console_grid(title, [name.replace("_", " ") for name in names])
            for column in table.columns[1:]:
                column.no_wrap = False
            for row in cells:
                table.add_row(*row)
            tables.append(table)
    return tables


def _by_hop(report: Mapping[str, Any]) -> list[str]:
    if len(report["by_hop"]) < 2:
        return []
    names, ks = report["retrievers"], report["ks"]
    parts = ["## By hop"]
    for metric in DEFINITIONS:
        rows = []
        for hop, figures in report["by_hop"].items():
            n = _n_of(figures[names[0]][metric], ks)
            for i, name in enumerate(names):
                label = [hop, n] if i == 0 else ["", ""]
                rows.append([*label, name, *_cells(figures[name][metric], ks)])
        header = ["hops", "n", "retriever", *(f"K = {k}" for k in ks)]
        parts += [f"### {metric}, by hop", markdown_table(header, rows)]
    return parts


def _variants(report: Mapping[str, Any]) -> list[str]:
    names, ks = report["retrievers"], report["ks"]
    parts = [
        "## Questions with more than K candidates",
        "The same metrics where there is something to choose: with K candidates or "
        "fewer, every ranking keeps everything.",
    ]
    for metric in DEFINITIONS:
        key = metric + VARIANT
        rows = [[name, *_cells(report[name][key], ks)] for name in names]
        rows.append(["n", *(str(report[names[0]][key][str(k)]["n"]) for k in ks)])
        header = ["retriever", *(f"K = {k}" for k in ks)]
        parts += [f"### {metric}, n_real > K", markdown_table(header, rows)]
    return parts


NOTES = {
    "missing": "questions without a line in its file, scored 0",
    "unknown": "lines whose id is not in the split, ignored",
    "repeated": "triplets that occur again in one list, dropped",
    "tuned_on": "training questions chose these settings",
}


def _notes(report: Mapping[str, Any]) -> str:
    counts = report["counts"]
    lines = [
        f"- {counts['without_answers']} questions without a gold answer (they count as "
        "misses in answer_hit and path_hit), "
        f"{counts['without_candidates']} without a candidate."
    ]
    for name, notes in counts["retrievers"].items():
        texts = [
            f"{value} {NOTES[key]}" if key in NOTES else f"{key} = {value}"
            for key, value in notes.items()
        ]
        if texts:
            lines.append(f"- {name}: {'; '.join(texts)}.")
    for name, seconds in report["seconds"].items():
        if seconds["mean"] is not None:
            lines.append(
                f"- {name}: {1000 * seconds['mean']:.2f} ms a question to rank (mean), "
                "encoding excluded."
            )
    return "## Notes\n\n" + "\n".join(lines)
