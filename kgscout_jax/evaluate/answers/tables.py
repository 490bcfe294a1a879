"""The tables of answers in Markdown, for a paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kgscout_jax.evaluate.answers.cells import METRICS
from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.answers.pseudo_report import pseudo_parts
from kgscout_jax.learn.shard_sets import source_names
from kgscout_jax.utils.tables import figure, markdown_table

SHARES = (0, 10, 25, 50, 75, 100)
"""Percent of questions sent to the model: columns of ``routing_table``."""
MAIN = ("hit", "macro_f1")
"""Metrics with an interval in every table, and a sweep over K."""

percent = partial(figure, digits=1)
"""``80.7 [78.5, 82.9]``, or a dash where nothing counts."""


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
        spending = report["spending"][name][str(k)]
        each = spending["per_question"]
        rows.append(
            [
                name,
                str(report["n"][str(k)]),
                *(percent(figures[m], interval=m in MAIN) for m in METRICS),
                str(spending["missing"] + spending["unread"]),
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
        [name, *(percent(by_k[str(k)][metric]) for k in ks)]
        for name, by_k in report["metrics"].items()
    ]
    rows += [
        [
            f"{name} − {report['reference']}",
            *(percent(by_k[str(k)][metric], sign="+") for k in ks),
        ]
        for name, by_k in report["paired"].items()
    ]
    return header, rows


def failure_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: how many are wrong, and the share of each cause."""
    header = ["K", "retriever", "n", "wrong", *FAILURES.values()]
    rows = []
    for k in map(str, report["ks"]):
        for name in report["retrievers"]:
            counts = report["failures"][name][k]
            causes = counts["causes"].values()
            rows.append(
                [k, name, str(counts["n"]), str(counts["wrong"])]
                + [
                    "–"
                    if cause["share"] is None
                    else f"{100 * cause['share']:.0f}% ({cause['count']})"
                    for cause in causes
                ]
            )
    return header, rows


def by_hop_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: figures by number of hops, at the largest K."""
    k = str(max(report["ks"]))
    names = {m: METRICS[m] for m in ("hit", "hits@1", "macro_f1", "em")}
    rows = []
    for hop, by_row in report["by_hop"].items():
        for i, name in enumerate(report["retrievers"]):
            figures = by_row[name][k]
            n = str(figures["hit"]["n"])
            label = [hop, n] if i == 0 else ["", ""]
            cells = [percent(figures[m], interval=m in MAIN) for m in names]
            rows.append([*label, name, *cells])
    return ["hops", "n", "retriever", *names.values()], rows


def confidence_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: abstention and calibration of the graph's own answers."""
    header = [
        "K", "retriever", "n", "answered", "Hits@1 of these", "Macro-F1 of these",
        "Hits@1 of all", "area", "ECE, best", "ECE, listed",
    ]  # fmt: skip
    rows = []
    for k in map(str, report["ks"]):
        for name, by_k in report["confidence"].items():
            one, n = by_k[k], report["n"][k]
            held, error = one["abstention"], one["calibration_error"]
            rows.append(
                [
                    k,
                    name,
                    str(n),
                    f"{held['answered']} ({held['coverage']:.1f}%)",
                    percent(held["hits@1"]),
                    percent(held["macro_f1"], interval=False),
                    percent(report["metrics"][name][k]["hits@1"], interval=False),
                    f"{one['area']:.1f}",
                    f"{error['best']:.3f}",
                    f"{error['listed']:.3f}",
                ]
            )
    return header, rows


def confidence_note(report: Mapping[str, Any]) -> str:
    """What the columns of ``confidence_table`` mean."""
    below = {
        f"{threshold:.2f}"
        for by_k in report["confidence"].values()
        for one in by_k.values()
        for threshold in one["abstention"]["below"]
    }
    return (
        f"Answered: the best answer's probability is at least {' or '.join(below)}; "
        "other questions count as unanswered here, and in no other table. Area: mean "
        "Hits@1 over every share of questions answered, the most probable first. ECE: "
        "expected calibration error in 15 bins, of the best node and of the ten best."
    )


def routing_table(report: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Header and rows: Hits@1 where so many questions go to the model."""
    header = ["K", "retriever", "asked", *(f"{share}%" for share in SHARES)]
    rows = []
    for k in map(str, report["ks"]):
        for name, by_k in report["routing"].items():
            one = by_k[k]
            points = list(zip(one["share"], one["hits@1"], one["up_to"], strict=True))
            cells = []
            for share in SHARES:
                _, hits, up_to = [p for p in points if p[0] <= share + 1e-9][-1]
                beyond = share > points[-1][0] + 1e-9
                at = f" (≤ {up_to:.2f})" if share and up_to >= 0 else ""
                cells.append("–" if beyond else f"{hits:.1f}{at}")
            rows.append([k, name, str(one["asked"]), *cells])
    return header, rows


ROUTING_NOTE = (
    "Hits@1 of all questions where so many are sent to the model, those with the least "
    "probable answers; in brackets the largest probability among them, where a "
    "threshold for --route-below lies."
)


def title(report: Mapping[str, Any]) -> str:
    """One line: what was measured."""
    context = report["context"]
    subject = "Cross-dataset answers" if context.get("cross_dataset") else "Answers"
    return f"{subject} on {context['split']} of {context['measured_on']}"


def facts(report: Mapping[str, Any]) -> list[str]:
    """Sentences on how the figures came about."""
    context = report["context"]
    counts = ", ".join(f"{report['n'][str(k)]} at K = {k}" for k in report["ks"])
    if len(set(report["n"].values())) == 1:
        counts = str(report["n"][str(report["ks"][0])])
    of = f"{counts}, of {context['questions']} in the split"
    if counts == str(context["questions"]):
        of = f"all {counts} of the split"
    sentences = [
        f"Reader: {context['reader']}.",
        f"Questions: {of}" + (f"; {context['draw']}." if context.get("draw") else "."),
        f"Right or wrong, Hits@1 and Macro-F1: rules {report['rules']} "
        f"({report['source']}).",
        f"Figures are percentages; in brackets: {report['level']:.0%} bootstrap "
        f"intervals over questions ({report['resamples']} resamples, seed "
        f"{report['seed']}).",
    ]
    if report["confidence"]:
        sentences.insert(
            1,
            "Answers from the graph: row scout from all candidates of a question, "
            "which then all count as kept; other rows from their K triplets.",
        )
    if context.get("probabilities"):
        sentences.insert(
            1,
            f"Probabilities: {context['probabilities']}. Nodes from "
            f"{context['answers_from']} on are answers, and the best one always is.",
        )
    if context.get("run"):
        sentences.insert(
            0,
            f"Retriever scout: run {context['run']}, step {context['step']}, trained "
            f"on {source_names(context['trained_on'])}.",
        )
    if report["paired"]:
        sentences.append(
            f"Differences: from {report['reference']}, paired by question."
        )
    return sentences


def warnings(report: Mapping[str, Any]) -> list[str]:
    """What must be known before a figure is quoted."""
    missing = report["missing"]
    if not missing:
        return []
    reasons = dict.fromkeys(reply["error"] for reply in missing)
    first = "; ".join(list(reasons)[:3])
    count = "1 reply is" if len(missing) == 1 else f"{len(missing)} replies are"
    return [
        f"{count} missing, counted as wrong: {first}. The same command asks for what "
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
    if len(report["by_hop"]) > 1:
        k = max(report["ks"])
        parts += [f"## By hop, K = {k}", markdown_table(*by_hop_table(report))]
    if report["confidence"]:
        parts += [
            "## Confidence",
            confidence_note(report),
            markdown_table(*confidence_table(report)),
        ]
    if report["routing"]:
        parts += [
            "## Routing",
            ROUTING_NOTE,
            markdown_table(*routing_table(report)),
        ]
    parts += pseudo_parts(report)
    parts += [
        "## Where wrong answers come from",
        "Shares of the wrong answers, their number in brackets.",
        markdown_table(*failure_table(report)),
        *_examples(report),
        "## Definitions",
        "\n".join(f"- {name}: {text}" for name, text in named_definitions(report)),
    ]
    return "\n\n".join(parts) + "\n"


def named_definitions(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every metric and failure, as tables write it, with its definition."""
    return [
        *((METRICS[name], text) for name, text in report["definitions"].items()),
        *(
            (FAILURES[name], text)
            for name, text in report["failure_definitions"].items()
        ),
    ]


def _examples(report: Mapping[str, Any]) -> list[str]:
    lines = [
        f'- {FAILURES[failure]}: "{one["question"]}" ({one["id"]}; '
        f"{one['retriever']}, K = {one['k']}): given "
        f"{listed(one['given']) or 'nothing'}; gold {listed(one['gold']) or 'none'}"
        for failure, some in report["examples"].items()
        for one in some
    ]
    if not lines:
        return []
    return ["### Examples", "\n".join(" ".join(line.split()) for line in lines)]


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names with commas, the first few of them."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
