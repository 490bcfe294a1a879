"""A retriever that reads the ``retrieved.jsonl`` of any system.

Each line is a JSON object with ``id`` and ``triplets``: a ranked list of
[head, relation, tail] or [head, relation, tail, score]. The order in the file is the
ranking. Names match case-insensitively with white space collapsed. A text in ``trace``
says how they were found; reports show it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.named_rankings import NamedRankings
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.utils.io import read_json_lines

FLOAT32_MAX = float(np.finfo(np.float32).max)


class External:
    """The triplets in a ``retrieved.jsonl``."""

    def __init__(self, path: Path | str, name: str | None = None) -> None:
        """Set the file, which ``rank`` reads.

        Args:
            path: the file, plain or .gz.
            name: of the system; None for ``retriever`` in the file's first line, else
                the name of the file.

        Raises:
            UserError: there is no such file, or its first line is no JSON object.
        """
        self.path = Path(path)
        if name is None:
            first = next(read_json_lines(self.path), (0, {}))[1].get("retriever")
            name = first if isinstance(first, str) and first.strip() else None
        self.name = name or self.path.name.removesuffix(".gz").removesuffix(".jsonl")

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """The first ``k`` triplets of each question in the file.

        ``notes`` counts: ``missing`` (questions of the split that the file lacks),
        ``unknown`` (ids that the split lacks), ``repeated`` (dropped repetitions of a
        triplet in one list).

        Raises:
            UserError: a line is malformed or an id occurs twice (names file and line);
                no line has an id of the split.
        """
        b = len(split)
        rows = {info.id: i for i, info in enumerate(split.questions)}
        found = NamedRankings(shards, b, k)
        lines: dict[str, int] = {}
        unknown = repeated = 0
        for number, record in read_json_lines(self.path):
            where = f"{self.path}:{number}"
            question_id = _question_id(record, where)
            if question_id in lines:
                raise UserError(
                    f"{where}: id {question_id!r} occurs twice, first on line "
                    f"{lines[question_id]}"
                )
            lines[question_id] = number
            triplets = _triplets(record, where)
            i = rows.get(question_id)
            if i is None:
                unknown += 1
                continue
            spent = record.get("seconds", np.nan)
            seconds = float(spent) if _is_number(spent) else np.nan
            trace = record.get("trace")
            trace = trace if isinstance(trace, str) else ""
            repeated += found.put(i, triplets, seconds, trace)
        missing = b - (len(lines) - unknown)
        if b and missing == b:
            raise UserError(
                f"{self.path}: found {len(lines)} ids, none of split {split.name!r}; "
                f"expected ids such as {split.questions[0].id!r}"
            )
        notes = {"missing": missing, "unknown": unknown, "repeated": repeated}
        return found.rankings(self.name, notes)


def _is_number(value: Any) -> bool:
    """Whether a JSON value is a number that float32 can hold."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return abs(value) <= FLOAT32_MAX


def _question_id(record: dict[str, Any], where: str) -> str:
    """The id of a line; numbers become text."""
    value = record.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise UserError(f"{where}: 'id' is {value!r}, expected a question id")
    return value


def _triplets(record: dict[str, Any], where: str) -> list[tuple[str, str, str, float]]:
    """The triplets of a line, checked; a missing score is 0."""
    values = record.get("triplets")
    if not isinstance(values, list):
        actual = "missing" if values is None else type(values).__name__
        raise UserError(
            f"{where}: 'triplets' is {actual}, expected a list of "
            "[head, relation, tail, score]"
        )
    triplets = []
    for rank, value in enumerate(values, start=1):
        if not isinstance(value, list) or len(value) not in (3, 4):
            raise UserError(
                f"{where}: triplet {rank} is {_short(value)}, expected "
                "[head, relation, tail] or [head, relation, tail, score]"
            )
        for name in value[:3]:
            if not isinstance(name, str) or not name.strip():
                raise UserError(
                    f"{where}: triplet {rank} is {_short(value)}, expected three "
                    "names that are not empty"
                )
        score = value[3] if len(value) == 4 else None
        if score is not None and not _is_number(score):
            raise UserError(
                f"{where}: triplet {rank} has score {_short(score)}, expected a number"
            )
        triplets.append((*value[:3], score or 0))
    return triplets


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
