"""Settings of a training run; saved in the run as ``config.json``."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from kgscout_jax.learn.config_checks import check_train_config
from kgscout_jax.utils.presets import check_preset

BY_ESTIMATOR: dict[str, dict[str, float]] = {
    "closed_form": {"learning_rate": 1e-3, "entropy_weight": 0.0},
    "bce": {"learning_rate": 1e-3, "entropy_weight": 0.0},
    "reinforce": {"learning_rate": 5e-4, "entropy_weight": 1.0},
}
"""Defaults that depend on the estimator (measured, see recipes/README.md)."""

PolicyKind = Literal["thesis", "walk", "mlp"]
WALK_NOISE = 0.5
"""Noise on the questions of the walk policy (measured, see recipes/answer_head.md)."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """Train the policy on folders of shards; the same command resumes a killed run.

    Example: python train.py --shards shards/ --run runs/first --epochs 6
    """

    presets: ClassVar[dict[str, type[TrainConfig]]] = {}
    """The settings' classes behind ``--preset``, whose defaults are the preset's."""
    groups: ClassVar[dict[str, str]] = {
        "data and run": "preset shards mix perturb run init seed",
        "objective": "policy estimator k k_low hit_weight presence_weight path_weight "
        "path_direction connectivity_weight bce_weight positive_weight answer_weight "
        "question_noise entropy_weight",
        "reinforce": "reward reward_direction baseline staleness samples "
        "normalise_advantage",
        "optimisation": "epochs patience select batch_size questions_per_epoch "
        "candidates learning_rate warmup_steps weight_decay clip_norm dtype",
        "network": "tower_hidden gate_hidden combiner_hidden heads width walkers "
        "walk_steps question_hidden word_rank answer_width without",
        "measurement, checkpoints, logs": "dev_questions save_every log",
        "devices and processes": "resident_gb steps_per_dispatch batch_per_device "
        "remat devices shard_tables coordinator processes process_id distributed",
    }
    preset: Literal["thesis"] | None = None
    """thesis: REINFORCE as the thesis describes it, value by value; what contradicts it
    is refused. --preset thesis --help names the values and their sources."""
    shards: tuple[Path, ...]
    """Folder of shards: training on its train split, measurement on its dev split.
    Several folders train one network; each step draws its questions from one."""
    mix: tuple[float, ...] = ()
    """Several shards: a weight for each, its share of the steps; default equal."""
    perturb: str | None = None
    """Train on graphs with mistakes, METHOD:LEVEL: rs, rr, er or ed (see kgscout
    perturb) and the share of triplets, such as er:0.3. The shards are written again
    below --run."""
    run: Path
    """Folder of the run: config.json, metrics.jsonl, checkpoints/."""
    init: Path | None = None
    """Start from the best parameters of this run, or from those of an export;
    kgscout-base: the policy that comes with the package."""
    policy: PolicyKind | None = None
    """The network: thesis, its dual tower; walk, learned walks, smaller and better;
    mlp, the baseline of the literature (with --estimator bce). Default: that of --init,
    else thesis."""
    estimator: Literal["closed_form", "reinforce", "bce"] = "closed_form"
    """Estimator of the policy gradient; bce has none, it trains with cross-entropy on
    the triplets of the shortest paths."""
    k: int = 100
    """Triplets selected: the largest budget of closed_form, the budget of reinforce."""
    k_low: int = 2
    """Smallest budget of closed_form; each step draws one, log-uniformly, up to k."""
    reward_direction: Literal["directed", "both"] = "directed"
    """Selected triplets connect from head to tail only (the thesis), or both ways."""
    reward: Literal["host", "scipy", "device"] = "host"
    """reinforce: what scores subsets. host: bits, all subsets at once; scipy: sparse
    shortest paths on the host, one call a batch (the thesis); device: each step is one
    jitted call. The rewards are equal."""
    presence_weight: float = 2.0
    """closed_form: weight of the expected share of answers selected."""
    hit_weight: float = 2.0
    """closed_form: weight of the probability that any answer is selected."""
    path_direction: Literal["directed", "both"] = "both"
    """closed_form, bce: direction in which shortest paths follow edges."""
    path_weight: float = 3.0
    """closed_form: weight of the expected share of shortest-path triplets selected."""
    connectivity_weight: float = 0.0
    """closed_form: weight of the expected connectivity of a topic and an answer, from
    below, in --reward-direction; the reward of the thesis has 4."""
    bce_weight: float = 0.0
    """closed_form: weight of the cross-entropy on shortest-path triplets in the
    objective; 2 to 5 select more paths and slightly fewer answers."""
    positive_weight: float = 1.0
    """Cross-entropy: weight of a triplet on a shortest path; of any other it is 1."""
    baseline: Literal["greedy", "moving_average", "leave_one_out"] = "leave_one_out"
    """reinforce: the baseline subtracted from the reward."""
    staleness: int = 1
    """reinforce, host reward: 1 proposes subsets one update ahead, so that the device
    works while the host scores; 0 proposes them after each update."""
    samples: int = 128
    """reinforce: subsets sampled per question and step; the network runs once."""
    normalise_advantage: bool = True
    """reinforce: divide advantages by their standard deviation over the batch."""
    entropy_weight: float | None = None
    """Weight of the policy's entropy in the objective; reinforce 1, closed_form 0."""
    epochs: int = 8
    """Passes over the training questions; with --patience at most so many."""
    patience: int | None = None
    """Stop after so many epochs without a higher dev score; default: never."""
    select: Literal["reward", "path_triplet_recall", "hits@1"] = "reward"
    """Dev score, which picks the best checkpoint: the mean dev reward (walk: plus
    Hits@1), the mean recall of shortest-path triplets at the same budgets, or Hits@1
    of the policy's own answers."""
    batch_size: int = 16
    """Questions per update, of all devices. For more than 16 multiply the learning rate
    by the square root of how many times more."""
    questions_per_epoch: int | None = None
    """Training questions drawn for each epoch, of all shards together; None for all."""
    candidates: int | None = None
    """Candidates of each training question, its best by cosine and by PageRank; None
    for all. Fewer of them train faster; dev questions keep all of theirs."""
    learning_rate: float | None = None
    """Peak; decays on a cosine to a tenth. Default: reinforce 5e-4, others 1e-3."""
    warmup_steps: int = 50
    """Steps of linear warm-up; at most a tenth of all steps."""
    weight_decay: float = 0.01
    clip_norm: float = 1.0
    """Bound on the gradient's global norm."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Precision of the matmuls; sums are float32."""
    tower_hidden: tuple[int, ...] = (256, 64)
    """thesis: widths of each tower's hidden layers."""
    gate_hidden: int = 128
    """thesis: width of the gate's hidden layer."""
    combiner_hidden: int = 16
    """thesis: width of the combiner's hidden layer."""
    heads: int = 4
    """thesis: heads of each attention."""
    width: int = 128
    """walk: width of the first layer."""
    walkers: int = 8
    """walk: number of walks from the topics; each has its own relation weights."""
    walk_steps: int = 3
    """walk: steps of each walk."""
    question_hidden: int = 64
    """walk: width of a hidden layer between question and walkers; 0: none."""
    word_rank: int = 16
    """walk: rank of the learned likeness of questions' words and relations; 0 for a
    policy that reads questions as a whole only."""
    answer_width: int = 64
    """walk: width of the answer head; 0 for a policy that only ranks triplets."""
    without: tuple[
        Literal["absolute", "walks", "distances", "products", "residual"], ...
    ] = ()
    """walk: parts to leave out, to measure what each is worth; absolute: question,
    relation and triplet each by itself, so that only likenesses are left; residual: the
    cosines' way past all layers."""
    answer_weight: float = 1.0
    """walk: weight of the answers' loss in the objective."""
    question_noise: float | None = None
    """closed_form, bce: length of the noise added to question embeddings, whose own
    length is 1: what is learned holds for other wordings too. Default: walk 0.5, other
    networks 0."""
    dev_questions: int = 500
    """Dev questions of each shards measured after each epoch, at most; always the
    same ones."""
    save_every: int = 200
    """Steps between checkpoints; the end of each epoch is saved too."""
    resident_gb: float | None = None
    """Training questions lie on the device if they take at most so many GB, else they
    are streamed; 0 streams always. Default: a quarter of its memory, 1 on a CPU. The
    results are the same, bit for bit."""
    steps_per_dispatch: int | None = None
    """Resident questions, no reward on the host: steps of one call of the device.
    Default: 10, on a CPU 1. Results of other numbers than 1 differ by rounding."""
    batch_per_device: int | None = None
    """closed_form, bce: questions that each device has in work at once, at most. More
    go in turns whose gradients are added: the same update in less memory. Default:
    1024, on a CPU 128."""
    remat: bool = False
    """Compute the network again for its gradient instead of keeping what it holds:
    less memory, more time."""
    devices: int | None = None
    """Devices of each process; None for all. Results differ by rounding only."""
    shard_tables: bool = False
    """Each device holds a part of the triplet table; for tables too large for one."""
    coordinator: str | None = None
    """Several processes: HOST:PORT at which the first process listens."""
    processes: int | None = None
    """With --coordinator: number of processes."""
    process_id: int | None = None
    """With --coordinator: index of this process, from 0."""
    distributed: bool = False
    """Several processes on a cluster that JAX detects (TPU pod, Slurm, Open MPI)."""
    log: tuple[Literal["tensorboard", "wandb"], ...] = ()
    """Send the rows of metrics.jsonl to these loggers too (extras of these names)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.policy is None and self.init is None:
            object.__setattr__(self, "policy", "thesis")
        if self.preset is not None:
            check_preset(self, self.presets[self.preset])
        for name, value in BY_ESTIMATOR[self.estimator].items():
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)
        if self.question_noise is None and self.policy is not None:
            noise = WALK_NOISE if self.policy == "walk" else 0.0
            object.__setattr__(self, "question_noise", noise)
        if isinstance(self.shards, str | Path):  # one folder, from Python
            object.__setattr__(self, "shards", (Path(self.shards),))
        check_train_config(self)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each of the shards."""
        return self.mix or (1.0,) * len(self.shards)

    @property
    def stale(self) -> bool:
        """Whether subsets are proposed before the previous step's update."""
        return self.samples_on_host and self.staleness > 0

    @property
    def samples_on_host(self) -> bool:
        """Whether each step waits for rewards from the host."""
        return self.estimator == "reinforce" and self.reward != "device"

    @property
    def budgets(self) -> tuple[int, ...]:
        """Budgets at which dev reward is measured; their mean selects the best step."""
        if self.estimator == "reinforce":
            return (self.k,)
        return tuple(sorted({min(k, self.k) for k in (10, 30, 100, self.k)}))

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values; one folder of shards is a string."""
        out = {}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, tuple):
                value = [str(v) if isinstance(v, Path) else v for v in value]
            out[field.name] = str(value) if isinstance(value, Path) else value
        if len(self.shards) == 1:
            (out["shards"],) = out["shards"]
        return out


@dataclass(frozen=True, kw_only=True)
class ThesisTrainConfig(TrainConfig):
    """Train as the thesis does: each value with its source.

    What the thesis does not name (step size, batch, widths, the kind of baseline) is as
    in the other settings, or where our decision says so. Epochs are not part of the
    preset: the thesis has 30 for WebQSP and 50 for CWQ (section 4.2).
    """

    presets: ClassVar[dict[str, type[TrainConfig]]] = TrainConfig.presets
    preset: Literal["thesis"] | None = "thesis"
    policy: PolicyKind | None = "thesis"
    """Section 3.3.4: two towers, attention, a gate, a combiner."""
    estimator: Literal["closed_form", "reinforce", "bce"] = "reinforce"
    """Section 3.3.5: "We train the policy using the REINFORCE algorithm"."""
    k: int = 100
    """Section 4.2: "selects the top-k = 100"."""
    samples: int = 1
    """Section 3.3.5: the update is of one action a drawn from the policy."""
    baseline: Literal["greedy", "moving_average", "leave_one_out"] = "greedy"
    """Section 3.3.5 says "b is the baseline used"; ours is the greedy action's reward
    (self-critic), which one sample leaves possible."""
    normalise_advantage: bool = False
    """Section 3.3.5: the factor is R - b, undivided."""
    entropy_weight: float | None = 0.0
    """Section 3.3.5: the gradient has no entropy term."""
    question_noise: float | None = 0.0
    """Section 4.2: embeddings are the encoder's."""
    staleness: int = 0
    """Section 3.3.5: actions come from the policy that is updated."""
    reward: Literal["host", "scipy", "device"] = "scipy"
    """Section 3.3.3; sparse shortest paths on the host, as in the first code."""
    reward_direction: Literal["directed", "both"] = "directed"
    """Sections 3.3.3 and 4.2: "each triplet adds a directed edge"."""
    select: Literal["reward", "path_triplet_recall", "hits@1"] = "reward"
    """Figures 3.3 and 3.4 follow the validation reward."""


TrainConfig.presets["thesis"] = ThesisTrainConfig
