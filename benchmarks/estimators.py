"""The closed-form gradient against the truth, on a trained policy's own logits.

    python benchmarks/estimators.py --run runs/first --shards shards/ --split dev

For questions of the split, and K = 10, 30, 100: the expectations of presence, hit and
path share under Plackett-Luce sampling of K, and the gradient in the logits of what
training maximises (2 presence + 2 hit + 3 path share), three ways:

- exactly, by quadrature (``plackett_luce``);
- by Monte Carlo: sampled subsets, and REINFORCE with leave-one-out over groups of 8 and
  of 128, from ``learn.estimators`` (advantages not normalised);
- in closed form, ``learn.estimators.closed_form``.

Told: how far the closed form is off, the cosine and the ratio of norms of gradients,
and the variance E|g' - g|^2 / |g|^2 of one leave-one-out estimate; gradients of all
questions side by side, as a batch has them. Questions are those
with more than K candidates, an answer, and at most --sets answers and path triplets in
all. Ends with one JSON line. Recipe and figures: recipes/estimators.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from common import last_line, show
from jaxtyping import Array, Bool, Float, Int
from plackett_luce import kept_probability

from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.data.batches import BatchReader
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.export.load_trained import load_trained
from kgscout_jax.learn.estimators import advantages, closed_form, reinforce
from kgscout_jax.policy.sampling import gumbel_top_k
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.protocol import holds_answer
from kgscout_jax.utils.jax_setup import setup_jax
from kgscout_jax.utils.progress import ProgressBar

WEIGHTS = np.array([2.0, 2.0, 3.0], np.float32)
"""Of presence, hit and path share in what training maximises."""
GROUPS = (8, 128)
PARTS = ("presence", "hit", "path")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Measure the gradient estimators on a trained policy's logits."""

    run: Path
    """The trained run, or an export of one."""
    shards: Path
    """Shards with the questions."""
    split: str = "dev"
    """Which split."""
    k: tuple[int, ...] = (10, 30, 100)
    """Budgets."""
    questions: int = 12
    """How many questions, spread over the split."""
    temperature: float = 1.0
    """Divide the logits by this: above 1, a policy less sure, as early in training."""
    samples: int = 8192
    """Subsets drawn of each question and K; a multiple of 128."""
    sets: int = 16
    """Most answers and path triplets of a question: each costs a quadrature."""
    seed: int = 0
    """Of the samples."""

    def __post_init__(self) -> None:
        if self.samples < GROUPS[-1] or self.samples % GROUPS[-1]:
            expected = f"a multiple of {GROUPS[-1]}"
            raise UserError(f"--samples: {self.samples}, expected {expected}")
        if min((*self.k, self.questions, self.sets), default=0) < 1:
            raise UserError("--k, --questions, --sets: expected at least 1")
        if not self.temperature > 0:
            raise UserError(f"--temperature: {self.temperature}, expected above 0")


class Asked(NamedTuple):
    """One question: logits, and what closed_form is given."""

    logits: Float[Array, "n"]
    mask: Bool[Array, "n"]
    nodes: Int[Array, "n 2"]
    answers: Int[Array, "a"]
    on_path: Bool[Array, "n"]
    sets: Bool[Array, "m n"]
    """Holders of each answer, then of any, then each path triplet; empty as padding."""
    weights: Float[Array, "3 m"]
    """What each set counts in presence, hit and path share."""


def chosen(settings: Settings, shards: Shards, split: Split) -> list[int]:
    """Rows of the questions that are measured."""
    reader = BatchReader(shards, split)
    fitting = []
    for row in np.flatnonzero(split.n_real > max(settings.k)).tolist():
        answers = int((split.answers[row] >= 0).sum())
        holds = holds_answer(split, np.array([row])).any()
        on_path = int(np.asarray(reader.read(np.array([row])).on_path).sum())
        if holds and answers + on_path <= settings.sets:
            fitting.append(row)
    if not fitting:
        raise UserError(
            f"{shards.path}: no question of {split.name} with more than "
            f"{max(settings.k)} candidates, an answer among them and at most "
            f"{settings.sets} answers and path triplets"
        )
    step = max(1, len(fitting) // settings.questions)
    return fitting[::step][: settings.questions]


def asked(
    settings: Settings, reader: BatchReader, row: int, scores: np.ndarray
) -> Asked:
    """A question as arrays of one shape for all."""
    batch = reader.read(np.array([row]))
    width = reader.width
    n = batch.mask.shape[1]

    def wide(array: Any) -> np.ndarray:
        array = np.asarray(array)[0]
        return np.pad(array, [(0, width - n), *[(0, 0)] * (array.ndim - 1)])

    mask, nodes, on_path = wide(batch.mask), wide(batch.nodes), wide(batch.on_path)
    answers = np.asarray(batch.answers)[0]
    gold = answers[answers >= 0]
    holders = [(nodes == a).any(axis=1) & mask for a in gold]
    path = [np.arange(width) == i for i in np.flatnonzero(on_path)]
    sets = np.zeros((settings.sets + 1, width), bool)
    weights = np.zeros((3, settings.sets + 1), np.float32)
    members = [*holders, np.any(holders, axis=0), *path]
    sets[: len(members)] = members
    weights[0, : len(gold)] = 1 / len(gold)
    weights[1, len(gold)] = 1.0
    if path:
        weights[2, len(gold) + 1 : len(members)] = 1 / len(path)
    logits = np.where(mask, scores / settings.temperature, 0.0).astype(np.float32)
    return Asked(
        *map(jnp.asarray, (logits, mask, nodes, answers, on_path, sets, weights))
    )


@partial(jax.jit, static_argnames=("k", "n_nodes"))
def measured(question: Asked, k: int, n_nodes: int) -> tuple[Array, ...]:
    """Parts and gradient, exactly and in closed form."""

    def exact(logits: Array) -> tuple[Array, Array]:
        kept = kept_probability(logits, question.mask, question.sets, k)
        parts = question.weights @ kept
        return jnp.asarray(WEIGHTS) @ parts, parts

    def closed(logits: Array) -> tuple[Array, Array]:
        found = closed_form(logits, *question[1:5], jnp.float32(k), n_nodes)
        parts = jnp.stack([found.presence, found.hit, found.path])
        return jnp.asarray(WEIGHTS) @ parts, parts

    out: list[Array] = []
    for function in (exact, closed):
        (_, parts), slope = jax.value_and_grad(function, has_aux=True)(question.logits)
        out += [parts, slope]
    return tuple(out)


@partial(jax.jit, static_argnames=("k", "n"))
def sampled(question: Asked, key: Array, k: int, n: int) -> tuple[Array, ...]:
    """The parts of ``n`` subsets, and one estimate of the gradient per group size."""
    draw = jax.vmap(gumbel_top_k, in_axes=(0, None, None, None))
    keys = jax.random.split(key, n)
    indices, real = draw(keys, question.logits, question.mask, k)
    kept = question.sets[:, indices].any(axis=2)
    parts = kept.T.astype(jnp.float32) @ question.weights.T
    rewards = parts @ jnp.asarray(WEIGHTS)

    def slope(rows: Array, there: Array, advantage: Array) -> Array:
        given = question.logits, question.mask, rows, there, advantage
        return jax.grad(reinforce)(*given)

    out: list[Array] = [parts]
    for g in GROUPS:
        grouped = rewards.reshape(-1, g)
        ones = jnp.ones(len(grouped))
        advantage = advantages(grouped, ones, baseline="leave_one_out", normalise=False)
        groups = indices.reshape(-1, g, k), real.reshape(-1, g, k), advantage
        out.append(jax.vmap(slope)(*groups))
    return tuple(out)


def compare(
    question: Asked, k: int, n_nodes: int, n: int, key: Array
) -> dict[str, Any]:
    """All figures of one question and one budget."""
    exact, g, closed, g_closed = map(np.asarray, measured(question, k, n_nodes))
    rounds = [
        [np.asarray(x) for x in sampled(question, each, k, GROUPS[-1])]
        for each in jax.random.split(key, n // GROUPS[-1])
    ]
    parts = np.concatenate([each[0] for each in rounds])
    squared = {}
    for i, group in enumerate(GROUPS, start=1):
        estimates = np.concatenate([each[i] for each in rounds])
        squared[group] = float(((estimates - g) ** 2).sum(axis=1).mean())
    return {
        "exact": exact,
        "closed": closed,
        "sampled": parts.mean(axis=0),
        "error": parts.std(axis=0) / np.sqrt(len(parts)),
        "gradients": {
            "exact": g,
            "closed": g_closed,
            "sampled": np.mean([each[2].mean(axis=0) for each in rounds], axis=0),
        },
        "squared_error": squared,
    }


def cosine(x: np.ndarray, y: np.ndarray) -> float:
    """Cosine of two gradients; nan where one is 0."""
    size = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float((x * y).sum()) / size if size else float("nan")


def measure(settings: Settings) -> dict[str, Any]:
    """K -> figures over the questions; prints the tables."""
    shards = Shards.open(settings.shards)
    split = shards.split(settings.split)
    scout = KGScout(load_trained(settings.run).policy)
    rows = np.array(chosen(settings, shards, split))
    scores, _ = scout.logits(shards, split, rows)
    reader = BatchReader(shards, split)
    found: dict[int, list[dict[str, Any]]] = {k: [] for k in settings.k}
    keys = jax.random.split(jax.random.key(settings.seed), len(rows))
    with ProgressBar(len(rows) * len(settings.k), "measuring", "budgets") as bar:
        for row, score, key in zip(rows.tolist(), scores, keys, strict=True):
            question = asked(settings, reader, row, score)
            for k in settings.k:
                key_k = jax.random.fold_in(key, k)
                figures = compare(question, k, reader.n_nodes, settings.samples, key_k)
                found[k].append(figures)
                bar.update()
    return {str(k): tell(k, each) for k, each in found.items()}


def tell(k: int, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The summary of one budget; prints it."""
    columns = {
        name: np.array([each[name] for each in found])
        for name in ("exact", "closed", "sampled", "error")
    }
    off = np.abs(columns["closed"] - columns["exact"])
    check = np.abs(columns["sampled"] - columns["exact"])
    show(
        f"K = {k}, {len(found)} questions",
        ["", "exact, mean", "closed form off, mean", "at most", "sampling off, mean",
         "its standard error"],
        [
            [name, *(f"{column[i]:.4f}" for column in (
                columns["exact"].mean(axis=0), off.mean(axis=0), off.max(axis=0),
                check.mean(axis=0), columns["error"].mean(axis=0)))]
            for i, name in enumerate(PARTS)
        ],
    )  # fmt: skip
    summary: dict[str, Any] = {
        "questions": len(found),
        "off": dict(zip(PARTS, off.mean(axis=0).tolist(), strict=True)),
        "off_at_most": dict(zip(PARTS, off.max(axis=0).tolist(), strict=True)),
    }
    # All questions' gradients side by side, as one batch has them: a question that is
    # solved has none, and ratios of its own say nothing.
    exact, closed, sampled = (
        np.stack([each["gradients"][name] for each in found])
        for name in ("exact", "closed", "sampled")
    )
    sizes = (exact**2).sum(axis=1)
    felt = np.sqrt(sizes) > 0.1 * np.sqrt(sizes.max())
    each_cosine = [cosine(x, y) for x, y in zip(closed[felt], exact[felt], strict=True)]
    summary |= {
        "cosine": cosine(closed, exact),
        "cosine_at_least": min(each_cosine),
        "norm": float(np.linalg.norm(closed) / np.linalg.norm(exact)),
        "sampled_cosine": cosine(sampled, exact),
        "closed_to_sampled": cosine(closed, sampled),
    }
    for group in GROUPS:
        error = sum(each["squared_error"][group] for each in found)
        summary[f"variance_{group}"] = error / float(sizes.sum())
    rows = [[title, f"{summary[name]:.4f}"] for name, title in TITLES.items()]
    show("gradients of all questions together", ["", ""], rows)
    return summary


TITLES = {
    "cosine": "cosine of closed form and exact",
    "cosine_at_least": "the least of a question with a tenth of the largest gradient",
    "norm": "norm of closed form / of exact",
    "sampled_cosine": "cosine of the mean of all samples and exact",
    "closed_to_sampled": "cosine of closed form and the mean of all samples",
    "variance_8": "variance of leave-one-out, 8 samples / squared norm",
    "variance_128": "variance of leave-one-out, 128 samples / squared norm",
}


def main(args: Sequence[str]) -> int:
    """Print tables and one JSON line; returns the exit code."""

    def work() -> None:
        settings = parse(Settings, args, "benchmarks/estimators.py")
        setup_jax()
        last_line("estimators", k=measure(settings))

    return guarded(work)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
