"""Probabilities of answers on graphs that a policy has not seen.

    python recipes/base_scale.py RUN=SHARDS ... --into SCALE.json

Each RUN was trained without SHARDS and the other sets of their graph. The scale is
fitted on the dev questions of all SHARDS together, each as its RUN answers them, at
most ``QUESTIONS`` of a set: what a probability of the bundled policy means on somebody
else's graph. Also prints the calibration error of each set under the common scale.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.retrieve.answer_scale import (
    AnswerScale,
    expected_calibration_error,
    fit_answer_scale,
)
from kgscout_jax.retrieve.split_answers import split_answers
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.tables import markdown_table

QUESTIONS = 300
NODES = 50
"""The best nodes of each question that are kept."""


def answers_of(run: Path, folder: Path) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Logits and gold answers [q, NODES] of dev questions, and their numbers of gold.

    Raises:
        UserError: as ``load_policy``, ``Shards.open``.
    """
    shards = Shards.open(folder)
    dev = shards.split("dev")
    rows = sample_rows(np.arange(len(dev)), QUESTIONS)
    found = split_answers(load_policy(run).policy, shards, dev, rows)
    logits = np.full((len(rows), NODES), -np.inf, np.float32)
    is_answer = np.zeros((len(rows), NODES), bool)
    width = min(NODES, found.logits.shape[1])
    logits[:, :width] = found.logits[:, :width]
    is_answer[:, :width] = found.is_answer[:, :width]
    counts = np.array([len(dev.questions[row].answers) for row in rows], float)
    return logits, is_answer, counts


def main(words: Sequence[str] | None = None) -> int:
    """Fit, print, write; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="RUN=SHARDS")
    parser.add_argument("--into", type=Path, required=True)
    args = parser.parse_args(words)
    try:
        pairs = [pair.partition("=") for pair in args.pairs]
        sets = {folder: answers_of(Path(run), Path(folder)) for run, _, folder in pairs}
        together = (np.concatenate(parts) for parts in zip(*sets.values(), strict=True))
        scale = fit_answer_scale(*together, split="dev of sets not trained on")
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    print(table(sets, scale))
    write_json(args.into, scale.to_dict())
    return 0


def table(
    sets: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]], scale: AnswerScale
) -> str:
    """Of each set: questions, Hits@1, mean probability of the best answer, error."""
    rows = []
    for folder, (logits, is_answer, _) in sets.items():
        best, right = scale.probability(logits[:, 0]), is_answer[:, 0]
        error = expected_calibration_error(best, right)
        row = [len(right), *(f"{x:.3f}" for x in (right.mean(), best.mean(), error))]
        rows.append([Path(folder).name, *map(str, row)])
    return markdown_table(["set", "questions", "Hits@1", "mean P(best)", "ECE"], rows)


if __name__ == "__main__":
    raise SystemExit(main())
