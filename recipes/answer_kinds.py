"""What it is worth to answer by nodes of the kind that a question asks for.

    python recipes/answer_kinds.py GROUP:RUN=SHARDS ... --into FIGURES.json

Hits@1 of each policy's answer head on dev questions of the shards, at most
``QUESTIONS``, by the logits that a node of another kind loses
(``retrieve.kind_mask.PENALTY``; 0: none). GROUP is what the policy's row is called.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.data.question_sampling import sample_rows
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.retrieve import kind_mask
from kgscout_jax.retrieve.split_answers import split_answers
from kgscout_jax.utils.io import write_json

PENALTIES = (0.0, 4.0, 8.0, 10.0, 12.0)
QUESTIONS = 400


def hits_at_1(run: Path, folder: Path) -> dict[str, Any]:
    """Hits@1 by penalty, of all questions and of each number of hops.

    Raises:
        UserError: as ``load_trained``, ``Shards.open``.
    """
    shards, policy = Shards.open(folder), load_trained(run).policy
    split = shards.split("dev")
    rows = np.sort(sample_rows(np.arange(len(split)), QUESTIONS))
    hops = np.array([split.questions[row].hop or 0 for row in rows])
    groups = {"all": np.ones(len(rows), bool)}
    groups |= {str(hop): hops == hop for hop in sorted({*hops.tolist()}) if hop}
    default = kind_mask.PENALTY
    results: dict[str, dict[str, float]] = {group: {} for group in groups}
    try:
        for penalty in PENALTIES:
            kind_mask.PENALTY = penalty
            right = split_answers(policy, shards, split, rows).is_answer[:, 0]
            for group, of_group in groups.items():
                value = round(float(right[of_group].mean()), 4)
                results[group][f"{penalty:g}"] = value
    finally:
        kind_mask.PENALTY = default
    counts = {group: int(of_group.sum()) for group, of_group in groups.items()}
    return {"questions": counts, "hits@1": results}


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="GROUP:RUN=SHARDS")
    parser.add_argument("--into", type=Path, required=True)
    args = parser.parse_args(words)
    measured = []
    try:
        for pair in args.pairs:
            group, _, paths = pair.partition(":")
            run, _, folder = paths.partition("=")
            found = hits_at_1(Path(run), Path(folder))
            measured.append({"set": Path(folder).name, "policy": group, **found})
            print(measured[-1])
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    write_json(args.into, {"kind": "kinds", "split": "dev", "measured": measured})
    return 0


if __name__ == "__main__":
    sys.exit(main())
