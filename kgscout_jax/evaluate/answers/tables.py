"""A batch's tables: Markdown for a paper, a short one for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kgscout_jax.evaluate.answers.cells import METRICS
from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.retrieval.tables import markdown_table

if TYPE_CHECKING:
    from rich.table import Table

MAIN = ("hit", "macro_f1")
"""Metrics with an interval in every table, and a sweep over K."""
SHORT = {"hallucination": "Halluc.", "groundedness": "Ground."}


def percent(entry: Mapping[str, Any], *, interval: bool = False, sign: str = "") -> str:
    """``80.7 [78.5, 82.9]``, or a dash where nothing counts."""
    value = entry.get("value", entry.get("difference"))
    if value is None:
        return "–"
    text = f"{value:{sign}.1f}"
    if not interval:
        return text
    return f"{text} [{entry['low']:{sign}.1f}, {entry['high']:{sign}.1f}]"


def amount(value: float | None, form: str) -> str:
    """A number in a format, or a dash."""
    return "–" if value is None else format(value, form)


COLUMNS = (
    "Failed: questions without a reply, or with one that nothing could be read from. "
    "Tokens, seconds and cost are means per question."
)
"""What the last columns of the main table mean."""


def main_table(report: Mapping[str, Any], k: int) -> tuple[list[str], list[list[str]]]:
    """Header and rows of the table at one K."""
    header = [
        "retriever", "n", *METRICS.values(),
        "failed", "prompt tokens", "reply tokens", "seconds", "cost, $",
    ]  # fmt: skip
    rows = []
    for name in report["retrievers"]:
        figures = report["metrics"][name][str(k)]
        spent = report["spending"][name][str(k)]
        each = spent["per_question"]
        rows.append(
            [
                name,
                str(report["n"][str(k)]),
                *(percent(figures[m], interval=m in MAIN) for m in METRICS),
                str(spent["missing"] + spent["unread"]),
                amount(each["prompt_tokens"], ".0f"),
                amount(each["reply_tokens"], ".0f"),
                amount(each["seconds"], ".2f"),
                amount(each["cost"], ".5f") if each["cost"] else "–",
            ]
        )
    return header, rows


def sweep_table(
    report: Mapping[str, Any], metric: str
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of one metric against K, then the paired differences."""
    ks = report["ks"]
    header = ["retriever", *(f"K = {k} (n = {report['n'][str(k)]})" for k in ks)]
    rows = [
        [
            name,
            *(
                percent(report["metrics"][name][str(k)][metric], interval=True)
                for k in ks
            ),
        ]
        for name in report["retrievers"]
    ]
    for name, by_k in report["paired"].items():
        entries = [by_k[str(k)][metric] for k in ks]
        cells = [percent(entry, interval=True, sign="+") for entry in entries]
        rows.append([f"{name} − {report['reference']}", *cells])
    return header, rows


def failure_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: how many are wrong, and the share of each cause."""
    header = ["K", "retriever", "n", "wrong", *FAILURES.values()]
    rows = []
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            found = report["failures"][name][k]
            rows.append(
                [
                    k,
                    name,
                    str(found["n"]),
                    str(found["wrong"]),
                    *(
                        "–"
                        if cause["share"] is None
                        else f"{100 * cause['share']:.0f}% ({cause['count']})"
                        for cause in found["causes"].values()
                    ),
                ]
            )
    return header, rows


def title(report: Mapping[str, Any]) -> str:
    """One line: what was measured."""
    context = report["context"]
    kind = "Cross-dataset answers" if context.get("cross_dataset") else "Answers"
    return f"{kind} on {context['split']} of {context['measured_on']}"


def facts(report: Mapping[str, Any]) -> list[str]:
    """Sentences on how the figures came about."""
    context = report["context"]
    counts = ", ".join(f"{report['n'][str(k)]} at K = {k}" for k in report["ks"])
    if len(set(report["n"].values())) == 1:
        counts = str(report["n"][str(report["ks"][0])])
    of = f"{counts}, of {context['questions']} in the split"
    if counts == str(context["questions"]):
        of = f"all {counts} of the split"
    told = [
        f"Reader: {context['reader']}.",
        f"Questions: {of}" + (f"; {context['draw']}." if context.get("draw") else "."),
        f"Right or wrong, Hits@1 and Macro-F1: rules {report['rules']} "
        f"({report['source']}).",
        f"Figures are percentages; in brackets: {report['level']:.0%} bootstrap "
        f"intervals over questions ({report['resamples']} resamples, seed "
        f"{report['seed']}).",
    ]
    if context.get("run"):
        told.insert(
            0,
            f"Retriever scout: run {context['run']}, step {context['step']}, trained "
            f"on {context['trained_on']}.",
        )
    if report["paired"]:
        told.append(f"Differences: from {report['reference']}, paired by question.")
    return told


def warnings(report: Mapping[str, Any]) -> list[str]:
    """What must be known before a figure is quoted."""
    missing = report["missing"]
    if not missing:
        return []
    reasons = dict.fromkeys(entry["error"] for entry in missing)
    shown = "; ".join(list(reasons)[:3])
    count = "1 reply is" if len(missing) == 1 else f"{len(missing)} replies are"
    return [
        f"{count} missing, counted as wrong: {shown}. The same command asks for what "
        "is missing only."
    ]


def answers_markdown(report: Mapping[str, Any]) -> str:
    """The whole of ``table.md``."""
    parts = [f"# {title(report)}", " ".join(facts(report))]
    parts += [f"**{warning}**" for warning in warnings(report)]
    for k in report["ks"]:
        parts += [
            f"## K = {k}",
            COLUMNS,
            markdown_table(*main_table(report, k)),
        ]
    for metric in MAIN:
        parts += [
            f"## {METRICS[metric]} against K",
            markdown_table(*sweep_table(report, metric)),
        ]
    parts += [
        "## Where wrong answers come from",
        "Shares of the wrong answers, their number in brackets.",
        markdown_table(*failure_table(report)),
        *_examples(report),
        "## Definitions",
        "\n".join(
            [f"- {METRICS[m]}: {said}" for m, said in report["definitions"].items()]
            + [
                f"- {FAILURES[name]}: {said}"
                for name, said in report["failure_definitions"].items()
            ]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _examples(report: Mapping[str, Any]) -> list[str]:
    if not report["examples"]:
        return []
    lines = []
    for failure, few in report["examples"].items():
        for one in few:
            given = listed(one["given"]) or "nothing"
            where = f"{one['retriever']}, K = {one['k']}"
            lines.append(
                f'- {FAILURES[failure]}: "{one["question"]}" ({one["id"]}; {where}): '
                f"given {given}; gold {listed(one['gold']) or 'none'}"
            )
    return ["### Examples", "\n".join(" ".join(line.split()) for line in lines)]


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, the first few of them."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def answers_console(report: Mapping[str, Any]) -> Table:
    """A table for the terminal: rows are K and retriever."""
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title(report), title_justify="left")
    spent = [cell for by_k in report["spending"].values() for cell in by_k.values()]
    asked = any(cell["prompt_tokens"] for cell in spent)
    paid = any(cell["cost"] for cell in spent)
    shown = {"hit": "Hit", "hits@1": "Hits@1", "macro_f1": "Macro-F1", **SHORT}
    names = [*shown.values(), *["tokens", "s"] * asked, *["$"] * paid]
    for name in ("K", "n"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("retriever", no_wrap=True)
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    for k in map(str, report["ks"]):
        for i, name in enumerate(report["retrievers"]):
            figures = report["metrics"][name][k]
            each = report["spending"][name][k]["per_question"]
            tokens = each["prompt_tokens"]
            if tokens is not None:
                tokens += each["reply_tokens"]
            table.add_row(
                k if i == 0 else "",
                str(report["n"][k]) if i == 0 else "",
                Text(name),
                percent(figures["hit"], interval=True),
                percent(figures["hits@1"]),
                percent(figures["macro_f1"], interval=True),
                *(percent(figures[metric]) for metric in SHORT),
                *[amount(tokens, ".0f"), amount(each["seconds"], ".2f")] * asked,
                *[amount(each["cost"], ".5f")] * paid,
            )
        for name, by_k in report["paired"].items():
            table.add_row(
                "",
                "",
                Text(f"{name} − {report['reference']}"),
                percent(by_k[k]["hit"], interval=True, sign="+"),
                "",
                percent(by_k[k]["macro_f1"], interval=True, sign="+"),
                style="dim",
            )
        table.add_section()
    return table
