"""Cross-validation where a data set has no test split: shards for each fold.

    python recipes/folds.py SHARDS --out FOLDS [--folds 5] [--seed 0]

Writes shards FOLDS/0, FOLDS/1, ... of the questions of all splits of SHARDS: fold i
is the test split, a tenth of the others is dev, which picks the checkpoint, and
the rest is train. So every question is measured once, by a policy that has never seen
it. A preparation cuts and embeds each question by itself, so nothing is computed again.
Then, for each fold, train.py and eval.py, and

    python recipes/tables.py collect RESULTS/0 RESULTS/1 ... --folds 5 --into ...
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np

from data_prep.accounting import survival
from data_prep.write_shards import discard, write_manifest, write_split
from kgscout_jax.data.shards import TABLES, Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.ragged import Ragged

DEV_SHARE = 10
"""One in so many of the questions outside a fold is dev."""
HEAD = ("format", "version", "files")
"""Fields of a manifest that the writer gives."""


def write_folds(shards: Shards, out: Path, folds: int, seed: int) -> None:
    """Write the shards of each fold below ``out``."""
    splits = [shards.split(name) for name in shards.splits]
    places = [(s, i) for s, split in enumerate(splits) for i in range(len(split))]
    entities = set(shards.entities)
    fields = {k: v for k, v in shards.manifest.items() if k not in HEAD}
    for fold, parts in enumerate(fold_rows(len(places), folds, seed)):
        folder = out / str(fold)
        folder.mkdir(parents=True, exist_ok=True)
        discard(folder)
        for name in TABLES:
            if (shards.path / name).exists():
                shutil.copy(shards.path / name, folder / name)
        counts = {}
        for name, rows in parts.items():
            split = chosen(splits, [places[row] for row in rows], name)
            write_split(folder, split)
            counts[name] = {
                "questions": len(split),
                "read": len(split),
                "dropped_without_answer": 0,
                "topics_not_found": sum(
                    topic not in entities
                    for question in split.questions
                    for topic in question.topics
                ),
                "candidates": int(split.n_real.sum()),
                "width": split.candidates.shape[1],
                "survival": survival(split),
            }
        how = {"fold": fold, "folds": folds, "seed": seed}
        fields |= {
            "fingerprint": fingerprint(
                {"shards": shards.manifest["fingerprint"], **how}
            ),
            "splits": counts,
            "missing_splits": [],
            "cross_validation": how,
        }
        write_manifest(folder, list(parts), fields)


def fold_rows(n: int, folds: int, seed: int) -> list[dict[str, np.ndarray]]:
    """Rows of ``n`` questions by fold and split; the test splits partition them."""
    order = np.random.default_rng(seed).permutation(n)
    out = []
    for fold in range(folds):
        test = order[fold::folds]
        rest = np.setdiff1d(order, test)
        rest = np.random.default_rng([seed, fold]).permutation(rest)
        dev, train = rest[: len(rest) // DEV_SHARE], rest[len(rest) // DEV_SHARE :]
        out.append({"train": train, "dev": dev, "test": test})
    return out


def chosen(splits: list[Split], places: list[tuple[int, int]], name: str) -> Split:
    """One split of the questions at ``places``, each a split and a row of it."""

    def padded(key: str, fill: int) -> np.ndarray:
        rows = [getattr(splits[s], key)[i] for s, i in places]
        width = max(len(row) for row in rows)
        out = np.full((len(rows), width, *rows[0].shape[1:]), fill, rows[0].dtype)
        for place, row in zip(out, rows, strict=True):
            place[: len(row)] = row
        return out

    def joined(parts: list[Ragged]) -> Ragged:
        rows = [parts[s][i] for s, i in places]
        return Ragged.of_counts(np.concatenate(rows), np.array([len(r) for r in rows]))

    def both(key: str) -> dict[str, Ragged]:
        parts = [getattr(split, key) for split in splits]
        return {way: joined([part[way] for part in parts]) for way in parts[0]}

    embeddings = [splits[s].question_embeddings[i] for s, i in places]
    return Split(
        name=name,
        questions=[splits[s].questions[i] for s, i in places],
        question_embeddings=np.stack(embeddings),
        candidates=padded("candidates", -1),
        node_ppr=joined([split.node_ppr for split in splits]),
        nodes=padded("nodes", 0),
        topics=padded("topics", -1),
        answers=padded("answers", -1),
        n_nodes=np.array([splits[s].n_nodes[i] for s, i in places], np.int32),
        path_edges=both("path_edges"),
        path_triplets=both("path_triplets"),
    )


def main() -> int:
    """Write the folds; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("shards", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        write_folds(Shards.open(args.shards), args.out, args.folds, args.seed)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
