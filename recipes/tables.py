"""The tables of the pages, written from the figures of their runs.

    python recipes/tables.py collect RESULTS ... --into recipes/figures/NAME.json
    python recipes/tables.py write PAGE.md ...
    python recipes/tables.py check PAGE.md ...

``collect`` reads the metrics.json of one data set's results, a seed each (or, with
``--folds 5``, five folds each, whose questions are pooled), and writes the small
extract that is committed; ``--append`` adds them to the seeds that are there.
``write`` rewrites the marked regions of pages, ``check`` fails where that would
change one:

    <!-- table: NAME[,NAME ...] VIEW KEY=VALUE ... -->
    <!-- end -->

VIEW is one of

    metrics     rows: metric and retriever; columns: K (the default for retrieval)
    sets        rows: data set and retriever; one metric
    hops        rows: number of hops and retriever; one metric
    answers     rows: data set and hops; columns: Hits@1, Macro-F1, ... (for answers)
    open        rows: triplets in the prompt and prompt; columns: judgements
    judges      rows: judges of open answers (of okgqa_judge.py)
    kinds       rows: policy, set and hops; columns: penalties (of answer_kinds.py)
    fits        rows: set and metric; columns: base, fitted, gain (of fit_gains.py)
    grid        rows: settings; columns: dev score, epoch (of mlp_grid.py)
    values      rows: shape; columns: right, said (of value_questions.py)
    silence     rows: sets; columns: right, said (of written_ and plain_*.py)
    scale       rows: set; columns: probabilities and answers (of base_scale.py)
    failures    rows: K and row; columns: causes of wrong answers (for answers)
    robustness  rows: kind of mistake and retriever; columns: levels; one metric
    commands    the commands that trained and measured
    parameters  the networks' numbers of parameters, from the code; needs no NAME

and the keys are metrics, rows, ks (lists with commas), paired (the rows whose
difference from the reference is shown, or that of a reference in the first row from
them), low=yes (the lowest lower end of the seeds'
intervals behind each mean).
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from extracts import Figures, appended, extract, extract_text
from network_sizes import parameters
from open_views import judges, open_answers
from view import LABELS, Mean, View, Views, counts, facts

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.robustness.report import NAMES
from kgscout_jax.utils.io import read_json, write_text
from kgscout_jax.utils.tables import markdown_table

FIGURES = Path(__file__).resolve().parent / "figures"
REGION = re.compile(
    r"^(?P<mark><!-- table: (?P<words>[^\n]+?) -->)\n(?P<body>.*?)^<!-- end -->$",
    re.MULTILINE | re.DOTALL,
)
MAIN = ("answer_hit", "answer_recall", "path_hit", "path_hit_undirected")
MAIN = (*MAIN, "path_triplet_recall")


def metrics(view: View) -> str:
    """Metric and retriever against K, with differences from the reference below."""
    (one,) = view.extracts
    ks = view.chosen("ks", one["ks"])
    names, seeds = view.rows(one), [seed["figures"] for seed in one["seeds"]]
    paired = [seed["paired"] for seed in one["seeds"]]
    compared, reference = view.chosen("paired", names[:1]), one["reference"]
    cells = []
    for metric in view.chosen("metrics", MAIN):
        label = metric
        for name in names:
            means = [Mean(seeds, name, metric, k) for k in ks]
            known = means[0].seeds
            some = f" ({known})" if 0 < known < len(seeds) else ""
            cells.append([label, name + some, *(m.text(low=view.low) for m in means)])
            label = ""
        for name in names:
            means = [Mean(paired, name, metric, k) for k in ks]
            if any(mean.seeds for mean in means) and name in compared:
                title = f"{name} − {reference}"
                if reference == names[0]:
                    title = f"{reference} − {name}"
                    means = [mean.negated() for mean in means]
                texts = [mean.text(low=True, sign="+") for mean in means]
                cells.append(["", title, *texts])
    header = ["metric", "retriever", *(f"K = {k}" for k in ks)]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def sets(view: View) -> str:
    """One metric of several data sets."""
    (metric,) = view.chosen("metrics", ["answer_hit"])
    ks = view.chosen("ks", view.extracts[0]["ks"])
    cells = []
    for one in view.extracts:
        label = f"{one['source']}, {one['questions']:,} {one['split']}"
        seeds = [seed["figures"] for seed in one["seeds"]]
        for name in view.rows(one):
            means = [Mean(seeds, name, metric, k) for k in ks]
            cells.append([label, name, *(mean.text(low=view.low) for mean in means)])
            label = ""
    header = ["measured on", metric, *(f"K = {k}" for k in ks)]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def hops(view: View) -> str:
    """One metric by the number of hops."""
    (one,) = view.extracts
    (metric,) = view.chosen("metrics", ["answer_hit"])
    ks = view.chosen("ks", one["ks"])
    cells = []
    for hop in one["seeds"][0]["by_hop"]:
        seeds = [seed["by_hop"].get(hop, {}) for seed in one["seeds"]]
        label = hop
        for name in view.rows(one):
            means = [Mean(seeds, name, metric, k) for k in ks]
            n = counts(means) if label else ""
            cells.append([label, n, name, *(mean.text(low=view.low) for mean in means)])
            label = ""
    header = ["hops", "n", metric, *(f"K = {k}" for k in ks)]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def answers(view: View) -> str:
    """Figures of answers: a row for each data set, row, K and number of hops."""
    names = view.chosen("metrics", ["hits@1", "macro_f1", "ece_best", "ece_listed"])
    several = any(len(view.rows(one)) * len(one["ks"]) > 1 for one in view.extracts)
    cells = []
    for one in view.extracts:
        for row, k in itertools.product(view.rows(one), view.chosen("ks", one["ks"])):
            parts: Iterator[tuple[str, list[Figures]]] = itertools.chain(
                (
                    (
                        f"{hop} hop{'s' * (hop != '1')}",
                        [seed["by_hop"].get(hop, {}) for seed in one["seeds"]],
                    )
                    for hop in one["seeds"][0]["by_hop"]
                    if len(one["seeds"][0]["by_hop"]) > 1
                ),
                [("all", [seed["figures"] for seed in one["seeds"]])],
            )
            for label, seeds in parts:
                means = [Mean(seeds, row, metric, k) for metric in names]
                if not any(mean.seeds for mean in means):
                    continue
                texts = [mean.text(low=view.low) for mean in means]
                start = [f"{one['source']}, {label}"]
                start += [row, k] if several else []
                cells.append([*start, counts(means), *texts])
    splits = {one["split"] for one in view.extracts}
    header = [f"{splits.pop()} split" if len(splits) == 1 else "measured on"]
    header += ["answered by", "K"] if several else []
    header += ["questions", *(LABELS.get(name, name) for name in names)]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def failures(view: View) -> str:
    """Why answers are wrong: a row for each K and row of one seed."""
    (one,) = view.extracts
    (seed,) = one["seeds"]
    cells = []
    for k, row in itertools.product(view.chosen("ks", one["ks"]), view.rows(one)):
        found = seed["failures"][row][k]
        causes = (str(found[cause]) for cause in FAILURES)
        cells.append([k, row, str(found["n"]), str(found["wrong"]), *causes])
    header = ["K", "triplets of", "questions", "wrong", *FAILURES.values()]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def robustness(view: View) -> str:
    """One metric against the share of triplets with a mistake, by kind of mistake.

    The rows of several extracts, of the same mistakes, follow each other.
    """
    first = view.extracts[0]
    (metric,) = view.chosen("metrics", ["answer_hit"])
    levels: dict[str, list[str]] = {}
    for point in first["ks"]:
        method, level = point.split()
        levels.setdefault(method, []).append(level)
    rows = [(one, name) for one in view.extracts for name in view.rows(one)]
    cells = []
    for method, shares in levels.items():
        label = NAMES[method]
        for one, name in rows:
            figures = [seed["figures"] for seed in one["seeds"]]
            paired = [seed["paired"] for seed in one["seeds"]]
            means = [Mean(figures, name, metric, f"{method} {x}") for x in shares]
            change = Mean(paired, name, metric, f"{method} {shares[-1]}")
            texts = [mean.text(low=view.low) for mean in means]
            cells.append([label, name, *texts, change.text(low=True, sign="+")])
            label = ""
        for one, name in rows:
            if name not in view.chosen("paired", []):
                continue
            (seed,) = one["seeds"]
            means = [
                Mean([seed["against"]], name, metric, f"{method} {x}") for x in shares
            ]
            texts = [mean.text(low=True, sign="+") for mean in means]
            cells.append(["", f"{name} − {seed['compared_with']}", *texts, ""])
    shares = next(iter(levels.values()))
    last = f"{shares[-1]} − {shares[0]}"
    header = [LABELS.get(metric, metric), first["reference"], *shares, last]
    return f"{facts(view)}\n\n{markdown_table(header, cells)}"


def kinds(view: View) -> str:
    """Hits@1 by what nodes of another kind than asked for lose."""
    cells, penalties = [], []
    for one in view.extracts[0]["measured"]:
        for group, values in one["hits@1"].items():
            penalties = list(values)
            hops = f"{group} hop{'s' * (group != '1')}" if group.isdigit() else group
            cells.append(
                [
                    f"{one['policy']}, {one['set']}, {hops}",
                    f"{one['questions'][group]:,}",
                    *(f"{value:.3f}" for value in values.values()),
                ]
            )
    header = ["Hits@1 of", "questions", *(f"-{penalty}" for penalty in penalties)]
    return markdown_table(header, cells)


def values(view: View) -> str:
    """What became of questions that compare values, with and without the test."""
    cells = []
    for one in view.extracts[0]["measured"]:
        n, said = one["questions"], one["said"]
        cells.append(
            [
                one["shape"],
                f"{one['values']} values",
                f"{n:,}",
                f"{one['right'] / n:.3f}",
                f"{one['mean_probability']:.3f}",
                f"{said / n:.0%}",
                f"{one['said_right'] / said:.0%}" if said else "–",
            ]
        )
    header = ["shape", "answered", "questions", "first answer right", "mean P(best)"]
    return markdown_table([*header, "said", "right where said"], cells)


def scale(view: View) -> str:
    """Set against what probabilities mean on a graph that no fit has seen."""
    return scale_table(view.extracts[0]["rows"])


def scale_table(measured: Sequence[dict[str, Any]]) -> str:
    """The rows of ``base_scale.left_out_rows``."""
    rows = []
    for each in measured:
        said = f"{each['said'] / each['questions']:.0%}"
        right = f"{each['right'] / each['said']:.0%}" if each["said"] else "–"
        figures = (each["hits@1"], each["probability"], each["ece"])
        cells = [f"{figure:.3f}" for figure in figures]
        rows.append([each["set"], str(each["questions"]), *cells, said, right])
    columns = ["Hits@1", "mean P(best)", "ECE", "said", "right where said"]
    return markdown_table(["set", "questions", *columns], rows)


def grid(view: View) -> str:
    """The best dev score of each run of a grid (of mlp_grid.py)."""
    rows = [
        [
            f"{one['learning_rate']:g}",
            str(one["batch_size"]),
            f"{one['positive_weight']:g}",
            f"{one['dev']:.3f}",
            f"{one['best']} of {one['epochs']}",
        ]
        for one in view.extracts[0]["runs"]
    ]
    header = ["learning rate", "questions an update", "weight of positives"]
    return markdown_table([*header, "triplet recall on dev", "epoch"], rows)


def fits(view: View) -> str:
    """Base and fitted policy, and how far towards one trained on such questions."""
    cells = []
    for one in view.extracts[0]["measured"]:
        label = f"{one['set']}, {one['questions']:,}"
        for row in one["rows"]:
            metric = LABELS.get(row["metric"], row["metric"])
            gain, trained = row["difference"], row["trained"]
            way = trained - row["base"] if trained is not None else 0.0
            cells.append(
                [
                    label,
                    metric if row["k"] is None else f"{metric}@{row['k']}",
                    f"{row['base']:.3f}",
                    f"{row['fitted']:.3f}",
                    f"{gain:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]",
                    "–" if trained is None else f"{trained:.3f}",
                    f"{gain / way:.0%}" if way > 0 else "–",
                ]
            )
            label = ""
    header = ["questions", "", "base", "fitted", "gain [95%]", "trained", "of the way"]
    return markdown_table(header, cells)


def invented(view: View) -> str:
    """What a policy makes of graphs of invented facts."""
    rows = []
    measured = view.extracts[0]["measured"]
    columns = ["kgscout@10", "cosine@10", "bm25@10", "ppr@10", "kgscout@30"]
    for each in measured:
        values = [each["answer_hit"][column] for column in columns]
        values += [each["hits@1"], each["macro_f1"]]
        cells = [f"{value:.3f}" for value in values]
        rows.append([each["set"], str(each["questions"]), *cells])
    header = ["graph", "questions", *columns, "Hits@1", "Macro-F1"]
    return markdown_table(header, rows)


def silence(view: View) -> str:
    """Right, said and needless answers, where some questions have none, by set."""
    measured = view.extracts[0]["measured"]
    counts = [key for key, value in measured[0].items() if type(value) is int]
    total = {key: sum(each[key] for each in measured) for key in counts}
    read = "errors_read" in measured[0]
    shown = {"kept@10": "kept at K = 10", "right": "first answer right"}
    shown |= {"exact": "all answers right"}
    shown = {key: name for key, name in shown.items() if key in total}
    rows = []
    for each in [*measured, {"set": "all"} | total]:
        answerable, absent = each["answerable"], each["absent"]
        row = [each["set"], *(f"{each[key]} of {answerable}" for key in shown)]
        if read:
            row.insert(1, {True: "yes", False: "no"}.get(each.get("errors_read"), ""))
        row.append(f"{each['said_right']} + {each['said_wrong']}")
        rows.append([*row, f"{each['absent_said']} of {absent}" if absent else "–"])
    header = ["set", *(["errors read"] if read else []), *shown.values()]
    return markdown_table([*header, "said right + wrong", "said of none"], rows)


def commands(view: View) -> str:
    """The commands behind the extracts, as a block of code."""
    lines = dict.fromkeys(line for one in view.extracts for line in one["commands"])
    return "```\n" + "\n".join(lines) + "\n```"


VIEWS: Views = {
    "metrics": metrics,
    "sets": sets,
    "hops": hops,
    "answers": answers,
    "failures": failures,
    "robustness": robustness,
    "open": open_answers,
    "judges": judges,
    "kinds": kinds,
    "values": values,
    "fits": fits,
    "grid": grid,
    "invented": invented,
    "silence": silence,
    "scale": scale,
    "commands": commands,
    "parameters": parameters,
}


def rewritten(text: str, figures: Path | None = None) -> str:
    """A page with its marked regions written again."""

    def region(found: re.Match[str]) -> str:
        view = View(found["words"], figures or FIGURES, VIEWS)
        return f"{found['mark']}\n{view.function(view)}\n<!-- end -->"

    return REGION.sub(region, text)


def main(args: Sequence[str] | None = None) -> int:
    """Collect, write or check; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("command", choices=("collect", "write", "check"))
    parser.add_argument("paths", nargs="+", type=Path, metavar="RESULTS or PAGE")
    parser.add_argument("--into", type=Path, help="collect: the extract to write")
    parser.add_argument("--folds", type=int, default=1, help="collect: folds a seed")
    parser.add_argument(
        "--append", action="store_true", help="collect: keep the extract's seeds"
    )
    parser.add_argument(
        "--names", nargs="*", default=[], help="collect: NAME=OTHER, names of rows"
    )
    given = parser.parse_args(args)
    try:
        if given.command == "collect":
            if given.into is None:
                raise UserError("--into: none, expected the extract to write")
            pairs = dict(pair.split("=", 1) for pair in given.names)
            value = extract(given.paths, folds=given.folds, names=pairs)
            if given.append:
                value = appended(read_json(given.into), value)
            write_text(given.into, extract_text(value))
            print(f"{given.into}: {len(value['seeds'])} seeds of {value['source']}")
            return 0
        stale = [path for path in given.paths if write(path, given.command == "check")]
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in stale:
        print(f"{path}: {'written' if given.command == 'write' else 'is not current'}")
    return 1 if stale and given.command == "check" else 0


def write(path: Path, only_check: bool) -> bool:
    """Write a page's tables again; whether they differ."""
    before = path.read_text("utf-8")
    after = rewritten(before)
    if before != after and not only_check:
        write_text(path, after)
    return before != after


if __name__ == "__main__":
    sys.exit(main())
