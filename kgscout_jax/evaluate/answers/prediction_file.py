"""Reading ``predictions.jsonl`` as RoG and GNN-RAG publish it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json_lines


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """What one system answered to one question."""

    id: str
    question: str
    given: tuple[str, ...]
    """The answers, in order; the lines of a prediction that was a string."""
    gold: tuple[str, ...]
    line: int
    """Where it stands in its file, from 1."""
    was_list: bool = True
    """Whether the prediction was a list of strings."""


def read_predictions(path: Path) -> list[Prediction]:
    """The predictions in a file, in its order.

    One JSON object a line with ``prediction`` (a list of strings, or a string),
    ``ground_truth`` (a list of strings, or one string) and, both optional, ``id`` and
    ``question``; other fields are ignored. Ids need not be unique: RoG's script does
    not look at them.

    Raises:
        UserError: a line is not such an object, or there is none.
    """
    predictions = []
    for number, record in read_json_lines(path):
        where = f"{path}:{number}"
        given, gold = (
            _field(record, "prediction", where),
            _field(record, "ground_truth", where),
        )
        identity = record.get("id", number)
        if isinstance(identity, bool) or not isinstance(identity, str | int):
            raise UserError(
                f"{where}: id: expected a string or a number, got {_kind(identity)}"
            )
        question = record.get("question", "")
        if not isinstance(question, str):
            raise UserError(
                f"{where}: question: expected a string, got {_kind(question)}"
            )
        predictions.append(
            Prediction(
                id=str(identity),
                question=question,
                given=tuple(split_prediction(given)),
                gold=(gold,) if isinstance(gold, str) else tuple(gold),
                line=number,
                was_list=not isinstance(given, str),
            )
        )
    if not predictions:
        raise UserError(
            f"{path}: no predictions in it, expected one JSON object a line"
        )
    return predictions


def split_prediction(prediction: str | list[str]) -> list[str]:
    """The answers in a prediction: a list as it is, a string stripped, line by line.

    Only line feeds end a line, an empty line counts, and an empty string is one empty
    prediction: so do the scripts of RoG and GNN-RAG.
    """
    if isinstance(prediction, str):
        return prediction.strip().split("\n")
    return list(prediction)


def repeated_ids(predictions: list[Prediction]) -> dict[str, int]:
    """Ids that occur more than once, and how often."""
    counts = Counter(prediction.id for prediction in predictions)
    return {name: count for name, count in counts.items() if count > 1}


def _field(record: dict[str, Any], name: str, where: str) -> str | list[str]:
    if name not in record:
        raise UserError(
            f"{where}: no field {name!r}, expected id, question, prediction and "
            f"ground_truth, found {', '.join(map(repr, record)) or 'none'}"
        )
    value = record[name]
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise UserError(
            f"{where}: {name}: expected a string or a list of strings, got "
            f"{_kind(value)}"
        )
    for i, item in enumerate(value):
        if not isinstance(item, str):
            raise UserError(
                f"{where}: {name}[{i}]: expected a string, got {_kind(item)}"
            )
    return value


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
