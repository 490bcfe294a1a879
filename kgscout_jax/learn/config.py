"""What a training run is asked to do; saved in the run as ``config.json``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kgscout_jax.errors import UserError

BY_ESTIMATOR: dict[str, dict[str, float]] = {
    "closed_form": {"learning_rate": 1e-3, "entropy_weight": 0.0},
    "reinforce": {"learning_rate": 5e-4, "entropy_weight": 1.0},
}
"""Defaults that depend on the estimator (measured, see recipes/README.md)."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Train the policy on a folder of shards; the same command resumes a killed run.

    Example: python train.py --shards shards/ --run runs/first --epochs 6
    """

    shards: Path
    """Folder of shards; its train split is learned, its dev split measured."""
    run: Path
    """Folder of the run: config.json, metrics.jsonl, checkpoints/."""
    init: Path | None = None
    """Start from this run's best parameters."""
    estimator: Literal["closed_form", "reinforce"] = "closed_form"
    """How the policy gradient is estimated."""
    k: int = 100
    """Triplets kept: the largest budget of closed_form, the only one of reinforce."""
    k_low: int = 2
    """Smallest budget of closed_form; each step draws one, log-uniformly, up to k."""
    reward_direction: Literal["directed", "both"] = "directed"
    """Kept triplets connect from head to tail only (the thesis), or both ways."""
    reward: Literal["host", "device"] = "host"
    """reinforce: where subsets are scored; device: each step is one jitted call."""
    presence_weight: float = 2.0
    """closed_form: weight of the expected share of answers kept."""
    hit_weight: float = 2.0
    """closed_form: weight of the probability that any answer is kept."""
    path_direction: Literal["directed", "both"] = "both"
    """closed_form: how edges of the shortest paths it wants kept may be walked."""
    path_weight: float = 3.0
    """closed_form: weight of the expected share of shortest-path triplets kept."""
    baseline: Literal["greedy", "moving_average", "leave_one_out"] = "leave_one_out"
    """reinforce: what is subtracted from the reward."""
    samples: int = 128
    """reinforce: subsets sampled per question and step; the network runs once."""
    normalise_advantage: bool = True
    """reinforce: divide advantages by their standard deviation over the batch."""
    entropy_weight: float | None = None
    """Weight of the policy's entropy in the objective; reinforce 1, closed_form 0."""
    epochs: int = 8
    """Passes over the training questions."""
    batch_size: int = 16
    """Questions per update."""
    questions_per_epoch: int | None = None
    """Draw this many training questions anew for each epoch; None for all."""
    learning_rate: float | None = None
    """Peak, then lowered on a cosine to a tenth; reinforce 5e-4, closed_form 1e-3."""
    warmup_steps: int = 50
    """Steps of linear warm-up; at most a tenth of all steps."""
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    """Bound on the gradient's global norm."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Of the matmuls; sums are float32."""
    tower_hidden: tuple[int, ...] = (256, 64)
    gate_hidden: int = 128
    combiner_hidden: int = 16
    heads: int = 4
    dev_questions: int = 500
    """Measure on at most this many dev questions after each epoch, always the same."""
    save_every: int = 200
    """Steps between saves; each epoch's end is saved too."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in BY_ESTIMATOR[self.estimator].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name in ("k", "k_low", "samples", "epochs", "batch_size", "save_every"):
            self._check(name, getattr(self, name) >= 1, "at least 1")
        for name in ("warmup_steps", "weight_decay", "entropy_weight", "dev_questions"):
            self._check(name, getattr(self, name) >= 0, "at least 0")
        for name in ("learning_rate", "clip_norm"):
            self._check(name, getattr(self, name) > 0, "above 0")
        if self.questions_per_epoch is not None:
            self._check("questions_per_epoch", self.questions_per_epoch >= 1, "above 0")
        if self.baseline == "leave_one_out" and self.estimator == "reinforce":
            self._check("samples", self.samples >= 2, "at least 2 with leave_one_out")

    def _check(self, name: str, good: bool, expected: str) -> None:
        if not good:
            flag = name.replace("_", "-")
            found = getattr(self, name)
            raise UserError(f"--{flag}: found {found}, expected {expected}")

    @property
    def budgets(self) -> tuple[int, ...]:
        """Budgets at which dev reward is measured; their mean picks the best step."""
        if self.estimator == "reinforce":
            return (self.k,)
        return tuple(sorted({min(k, self.k) for k in (10, 30, 100, self.k)}))

    def to_dict(self) -> dict[str, Any]:
        """Every field as JSON knows it."""
        out = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Path):
                value = str(value)
            out[field.name] = list(value) if isinstance(value, tuple) else value
        return out
