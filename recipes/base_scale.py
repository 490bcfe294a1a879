"""Probabilities of answers on graphs that a policy has not seen.

    python recipes/base_scale.py RUN=SHARDS ... --into SCALE.json [--figures FILE]

Each RUN was trained without SHARDS and the other sets of their graph. The scale is
fitted on the dev questions of all SHARDS together, each as its RUN answers them, at
most ``QUESTIONS`` of a set: what a probability of the bundled policy means on somebody
else's graph. Also prints how far a scale is wrong on each set that was fitted without
the set and without ``synth-`` questions over its graph.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tables import scale_table

from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.retrieve.answer_scale import (
    AnswerScale,
    expected_calibration_error,
    fit_answer_scale,
)
from kgscout_jax.retrieve.readings import MARGIN
from kgscout_jax.retrieve.split_answers import split_answers
from kgscout_jax.utils.io import write_json

QUESTIONS = 300
SPLIT = "dev of sets not trained on"
NODES = 50
"""The best nodes of each question that are kept."""


Answers = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Logits, margins, doubts, sets and gold answers [q, NODES], and numbers of gold
[q]."""


def answers_of(run: Path, folder: Path) -> Answers:
    """The answers to dev questions.

    Raises:
        UserError: as ``load_policy``, ``Shards.open``.
    """
    shards = Shards.open(folder)
    dev = shards.split("dev")
    rows = sample_rows(np.arange(len(dev)), QUESTIONS)
    found = split_answers(load_policy(run).policy, shards, dev, rows)
    logits = np.full((len(rows), NODES), -np.inf, np.float32)
    margins = np.full((len(rows), NODES), -MARGIN, np.float32)
    doubts = np.zeros((len(rows), NODES), np.float32)
    of_set = np.zeros((len(rows), NODES), bool)
    is_answer = np.zeros((len(rows), NODES), bool)
    width = min(NODES, found.logits.shape[1])
    logits[:, :width] = found.logits[:, :width]
    margins[:, :width] = found.margins[:, :width]
    doubts[:, :width] = found.doubts[:, :width]
    of_set[:, :width] = found.of_set[:, :width]
    is_answer[:, :width] = found.is_answer[:, :width]
    counts = np.array([len(dev.questions[row].answers) for row in rows], float)
    return logits, margins, doubts, of_set, is_answer, counts


def main(words: Sequence[str] | None = None) -> int:
    """Fit, print, write; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="RUN=SHARDS")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--figures", type=Path, help="for a table of tables.py")
    args = parser.parse_args(words)
    try:
        pairs = [pair.partition("=") for pair in args.pairs]
        sets = {folder: answers_of(Path(run), Path(folder)) for run, _, folder in pairs}
        scale = scale_of(sets)
        rows = left_out_rows(sets)
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    print(scale_table(rows))
    write_json(args.into, scale.to_dict())
    if args.figures is not None:
        write_json(args.figures, {"kind": "scale", "rows": rows})
    return 0


def scale_of(sets: dict[str, Answers]) -> AnswerScale:
    """The common scale of sets; UserError where no answer is found."""
    logits, margins, doubts, of_set, is_answer, counts = (
        np.concatenate(parts) for parts in zip(*sets.values(), strict=True)
    )
    return fit_answer_scale(
        logits,
        margins,
        is_answer,
        counts,
        split=SPLIT,
        doubts=doubts,
        of_set=of_set,
    )


def left_out_rows(sets: dict[str, Answers]) -> list[dict[str, Any]]:
    """Of each set by the scale of the other graphs' sets: the best answer's mean
    probability, how far it is wrong, and what is said.

    Raises:
        UserError: all sets are of one graph.
    """
    rows = []
    for folder, (logits, margins, doubts, _, is_answer, _) in sets.items():
        others = {k: v for k, v in sets.items() if _graph(k) != _graph(folder)}
        if not others:
            raise UserError("all SHARDS are of one graph, expected two graphs or more")
        scale, right = scale_of(others), is_answer[:, 0]
        best = scale.probability(logits[:, 0], margins[:, 0], doubts[:, 0])
        said = best >= scale.abstention
        rows.append({
            "set": Path(folder).name,
            "questions": len(right),
            "hits@1": float(right.mean()),
            "probability": float(best.mean()),
            "ece": expected_calibration_error(best, right),
            "said": int(said.sum()),
            "right": int(right[said].sum()),
        })  # fmt: skip
    return rows


def _graph(folder: str) -> str:
    return Path(folder).name.removeprefix("synth-")


if __name__ == "__main__":
    raise SystemExit(main())
