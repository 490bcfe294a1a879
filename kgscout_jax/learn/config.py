"""What a training run is asked to do; saved in the run as ``config.json``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from kgscout_jax.errors import UserError

BY_ESTIMATOR: dict[str, dict[str, float]] = {
    "closed_form": {"learning_rate": 1e-3, "entropy_weight": 0.0},
    "bce": {"learning_rate": 1e-3, "entropy_weight": 0.0},
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
    policy: Literal["thesis", "walk", "mlp"] = "thesis"
    """The network: the thesis's towers; learned walks, smaller and better; or the
    baseline of the literature, an MLP over each triplet (with --estimator bce)."""
    estimator: Literal["closed_form", "reinforce", "bce"] = "closed_form"
    """How the policy gradient is estimated; bce: none, but cross-entropy on the
    triplets of the shortest paths."""
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
    """closed_form, bce: how edges of the shortest paths wanted may be walked."""
    path_weight: float = 3.0
    """closed_form: weight of the expected share of shortest-path triplets kept."""
    bce_weight: float = 0.0
    """closed_form: weight of the cross-entropy on shortest-path triplets beside the
    policy's objective; 2 to 5 keep more paths and slightly fewer answers."""
    baseline: Literal["greedy", "moving_average", "leave_one_out"] = "leave_one_out"
    """reinforce: what is subtracted from the reward."""
    staleness: int = 1
    """reinforce, host reward: propose subsets 1 update ahead, so that the device works
    while the host scores; 0: after each update."""
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
    """thesis: widths of each tower's hidden layers."""
    gate_hidden: int = 128
    """thesis: width of the gate's hidden layer."""
    combiner_hidden: int = 16
    """thesis: width of the combiner's hidden layer."""
    heads: int = 4
    """thesis: of each attention."""
    width: int = 128
    """walk: of the first layer."""
    walkers: int = 8
    """walk: walks from the topics, each with relation weights of its own."""
    walk_steps: int = 3
    """walk: steps of each."""
    dev_questions: int = 500
    """Measure on at most this many dev questions after each epoch, always the same."""
    save_every: int = 200
    """Steps between saves; each epoch's end is saved too."""
    devices: int | None = None
    """Devices of each process to train on; None for all. Results differ by rounding."""
    shard_tables: bool = False
    """Each device holds a part of the triplet table; for tables too large for one."""
    coordinator: str | None = None
    """Several processes: HOST:PORT of the first, where the others find it."""
    processes: int | None = None
    """With --coordinator: how many processes there are."""
    process_id: int | None = None
    """With --coordinator: the number of this one, from 0."""
    distributed: bool = False
    """Several processes on a cluster that JAX knows (TPU pod, Slurm, Open MPI)."""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Show what metrics.jsonl holds there too (extras of the same names)."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value in BY_ESTIMATOR[self.estimator].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        for name in ("k", "k_low", "samples", "epochs", "batch_size", "save_every"):
            self._check(name, getattr(self, name) >= 1, "at least 1")
        for name in (
            "warmup_steps",
            "weight_decay",
            "entropy_weight",
            "bce_weight",
            "dev_questions",
        ):
            self._check(name, getattr(self, name) >= 0, "at least 0")
        for name in ("learning_rate", "clip_norm"):
            self._check(name, getattr(self, name) > 0, "above 0")
        if self.questions_per_epoch is not None:
            self._check("questions_per_epoch", self.questions_per_epoch >= 1, "above 0")
        if self.baseline == "leave_one_out" and self.estimator == "reinforce":
            self._check("samples", self.samples >= 2, "at least 2 with leave_one_out")

        self._check("staleness", self.staleness in (0, 1), "0 or 1")

        if self.devices is not None:
            self._check("devices", self.devices >= 1, "at least 1")
        self._check_processes()

    def _check_processes(self) -> None:
        """Raise UserError unless the flags that join processes fit together."""
        numbers = ("processes", "process_id")
        if self.coordinator is None:
            for name in numbers:
                self._check(name, getattr(self, name) is None, "--coordinator as well")
            return
        host, _, port = self.coordinator.rpartition(":")
        good = bool(host) and port.isdigit() and 0 < int(port) < 65536
        self._check("coordinator", good, "HOST:PORT")
        self._check("distributed", not self.distributed, "False beside --coordinator")
        for name in numbers:
            self._check(name, getattr(self, name) is not None, "a number")
        assert self.processes is not None and self.process_id is not None
        self._check("processes", self.processes >= 1, "at least 1")
        in_range = 0 <= self.process_id < self.processes
        self._check("process_id", in_range, f"0 to {self.processes - 1}")

    def _check(self, name: str, good: bool, expected: str) -> None:
        if not good:
            flag = name.replace("_", "-")
            found = getattr(self, name)
            raise UserError(f"--{flag}: found {found}, expected {expected}")

    @property
    def stale(self) -> bool:
        """Whether subsets are proposed before the update of the step before."""
        return self.samples_on_host and self.staleness > 0

    @property
    def samples_on_host(self) -> bool:
        """Whether each step waits for rewards from the host."""
        return self.estimator == "reinforce" and self.reward == "host"

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
