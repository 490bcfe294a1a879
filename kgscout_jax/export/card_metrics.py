"""The ``metrics.json`` whose figures a model card shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.manifest import as_record
from kgscout_jax.utils.metric_names import MAIN_METRICS

if TYPE_CHECKING:
    from kgscout_jax.learn.trained_policy import TrainedPolicy

POLICY = "kgscout"
"""The policy's own row."""
Number = Annotated[float, Meta(ge=-1e300, le=1e300)]


class CardFigure(Struct):
    """A figure of the card; without a value it is a dash."""

    n: int
    value: Number | None
    low: Number | None
    high: Number | None


class CardContext(Struct):
    """What was measured."""

    measured_on: str


class CardReport(Struct):
    """What the card reads beside the figures."""

    split: str
    retrievers: list[str]
    ks: Annotated[list[Annotated[int, Meta(ge=1)]], Meta(min_length=1)]
    definitions: dict[str, str]
    context: CardContext


def read_metrics(path: Path, trained: TrainedPolicy) -> dict[str, Any]:
    """``metrics.json`` of an evaluation of this policy, with all that the card reads.

    Raises:
        UserError: it is of another command, of another checkpoint or without a row of
            the policy, or a field is missing or of another type.
    """
    content = read_json(path)
    told = content if isinstance(content, dict) else {}
    context, words = told.get("context"), told.get("definitions")
    known = isinstance(words, dict) and words.keys() >= set(MAIN_METRICS)
    if not isinstance(context, dict) or not known:
        raise UserError(f"{path}: not the metrics.json of kgscout eval retrieval")
    for key, mine in (
        ("step", trained.step),
        ("trained_on", trained.metadata["shards"]["source"]),
    ):
        if context.get(key) != mine:
            raise UserError(
                f"{path}: {key} is {context.get(key)}, expected {mine} as in the run"
            )
    report = as_record(told, CardReport, str(path))
    if POLICY not in report.retrievers:
        rows = ", ".join(report.retrievers) or "none"
        raise UserError(
            f"{path}: retrievers: found {rows}, expected {POLICY} among them"
        )
    for name in report.retrievers:
        for metric in MAIN_METRICS:
            for k in report.ks:
                _check_figure(told, [name, metric, str(k)], path)
    return told


def _check_figure(value: Any, keys: list[str], path: Path) -> None:
    """Raise UserError unless a figure stands there."""
    place = f"{path}: {'.'.join(keys)}"
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    figure = as_record(value, CardFigure, place)
    ends = figure.low, figure.high
    if figure.value is not None and None in ends:
        raise UserError(f"{place}: a value without low and high, expected both")
