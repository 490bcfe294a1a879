"""One table of a page: its extracts, its options, means over seeds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from extracts import Figures

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json

LABELS = {
    "hits@1": "Hits@1",
    "macro_f1": "Macro-F1",
    "hit": "Hit",
    "em": "EM",
    "ece_best": "ECE, best answer",
    "ece_listed": "ECE, ten best",
    "context_relevance": "context relevance",
    "factscore": "FActScore",
    "safe": "SAFE",
}


class Mean:
    """The mean of a figure over seeds, and the lowest end of its intervals."""

    def __init__(self, seeds: Sequence[Figures], row: str, metric: str, k: str) -> None:
        found = [
            one[row][metric][k]
            for one in seeds
            if k in one.get(row, {}).get(metric, {})
        ]
        cells: Any = [one for one in found if one[0] is not None]
        self.seeds = len(cells)
        self.n: set[int] = {int(one[3] or 0) for one in found}
        self.value = sum(one[0] for one in cells) / len(cells) if cells else None
        lows = [one[1] for one in cells if one[1] is not None]
        highs = [one[2] for one in cells if one[2] is not None]
        self.low, self.high = min(lows, default=None), max(highs, default=None)

    def negated(self) -> Mean:
        """The same difference the other way round."""
        other = copy.copy(self)
        # 0.0 - x, for -x would print zeros as -0.000
        other.value = None if self.value is None else 0.0 - self.value
        other.low = None if self.high is None else 0.0 - self.high
        other.high = None if self.low is None else 0.0 - self.low
        return other

    def text(self, *, low: bool = False, sign: str = "") -> str:
        """``0.918``, ``+0.095, low +0.035`` or a dash."""
        if self.value is None:
            return "–"
        text = format(self.value, f"{sign}.3f")
        if low and self.low is not None:
            text += f", low {format(self.low, f'{sign}.3f')}"
        return text


class View:
    """One table: the extracts it is made of, and its options."""

    def __init__(self, words: str, figures: Path, views: Views) -> None:
        """
        Args:
            words: those of the mark, behind ``table:``.
            figures: folder of the extracts.
            views: name -> the function that writes the table.
        """
        first, *rest = words.split()
        self.names = [] if first == "parameters" else first.split(",")
        self.extracts = [read_json(figures / f"{name}.json") for name in self.names]
        kind = self.extracts[0]["kind"] if self.extracts else ""
        name = {"": "parameters", "retrieval": "metrics", "answers": "answers"}.get(
            kind, kind
        )
        if rest and "=" not in rest[0]:
            name = rest.pop(0)
        if name not in views:
            raise UserError(
                f"table {words!r}: view {name!r}, expected one of {', '.join(views)}"
            )
        self.options: dict[str, str] = {}
        for word in rest:
            key, equals, value = word.partition("=")
            if not equals or key not in ("metrics", "rows", "ks", "paired", "low"):
                raise UserError(
                    f"table {words!r}: {word!r}, expected metrics=, rows=, ks=, "
                    "paired= or low=yes"
                )
            self.options[key] = value
        self.function: Callable[[View], str] = views[name]
        self.low = self.options.get("low") == "yes"

    def chosen(self, key: str, default: Sequence[Any]) -> list[str]:
        """The list that an option names, else the default."""
        given = self.options.get(key)
        return given.split(",") if given else [str(each) for each in default]

    def rows(self, one: dict[str, Any]) -> list[str]:
        """The rows of an extract, in the order asked for."""
        return [row for row in self.chosen("rows", one["rows"]) if row in one["rows"]]


Views = Mapping[str, Callable[[View], str]]


def facts(view: View) -> str:
    """The line above a table: sets, questions, seeds."""
    parts = []
    for one in view.extracts:
        seeds = len(one["seeds"])
        text = f"`{one['source']}` {one['split']}, {one['questions']:,} questions"
        text += f", {seeds} seed{'s' * (seeds > 1)}"
        if one["folds"] > 1:
            text += f", {one['folds']} folds pooled"
        parts.append(text)
    end = "; ".join(dict.fromkeys(parts)) + "."
    if any(len(one["seeds"]) > 1 for one in view.extracts):
        end += (
            " Means over seeds; low: the lowest lower end of the seeds' 95% intervals."
        )
    elif view.low:
        end += " low: the lower end of the 95% interval over questions."
    return end


def counts(means: Sequence[Mean]) -> str:
    """The number of questions behind a row."""
    known = {n for mean in means for n in mean.n}
    return " to ".join(f"{n:,}" for n in sorted({min(known), max(known)})) or "–"
