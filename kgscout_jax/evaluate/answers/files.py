"""The folder of a batch: whose it is, what stands in it, and when a run stops."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.cells import Cell
from kgscout_jax.evaluate.answers.report import question_records
from kgscout_jax.utils.io import read_json, write_json, write_lines

FORMAT = "kgscout-answers"
SETTINGS = "batch.json"
REPLIES = "replies"


def claim(folder: Path, settings: Mapping[str, Any]) -> None:
    """Make a folder this batch's, or go on with the batch that it is of.

    What one command says and another leaves open, such as the run that only one of
    them needs, does not part them.

    Raises:
        UserError: the folder holds a batch with other settings, or something else.
    """
    path = folder / SETTINGS
    mine = json.loads(json.dumps({"format": FORMAT, **settings}))
    theirs: Any = read_json(path) if path.exists() else {"format": FORMAT}
    if not isinstance(theirs, dict) or theirs.get("format") != FORMAT:
        raise UserError(f"{path}: not of a batch of answers, expected another --out")
    for name in (name for name in mine if name in theirs):
        if mine[name] != theirs[name]:
            raise UserError(
                f"{folder}: holds a batch with {name} {theirs[name]!r}, expected "
                f"{mine[name]!r} as asked for; take another --out"
            )
    write_json(path, theirs | mine)


def questions_file(cell: Cell) -> str:
    """The name of the file with a JSON line per question of a cell."""
    name = re.sub(r"[^\w.-]+", "_", cell.retriever)
    return f"questions-{name}-k{cell.k}.jsonl" if cell.k else f"questions-{name}.jsonl"


def write_questions(
    folder: Path, cell: Cell, columns: Mapping[str, np.ndarray]
) -> Path:
    """The file written: everything about each question of a cell, whole or not."""
    path = folder / questions_file(cell)
    records = question_records(cell, columns)
    write_lines(path, (json.dumps(record, ensure_ascii=False) for record in records))
    return path


@contextlib.contextmanager
def stopped_by_signal() -> Iterator[None]:
    """Let SIGTERM stop the work inside as Ctrl-C does: replies so far are kept."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
