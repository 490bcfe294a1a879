"""Questions per second of training on accelerators: predicted, and what bounds them.

    python benchmarks/accelerator.py
    python benchmarks/accelerator.py --candidates 1000 --dimensions 384 --policy thesis

FLOPs, bytes and the number of kernels come from the compiled step (XLA's cost analysis
of the program for a CPU), the host's processor time (of the thread that trains; the
device's is in others), dispatches and bytes to and from the device from running ten
steps here. Peaks, bandwidths and links are datasheet figures. A step on
a device takes at least

    max(FLOPs / peak, bytes / memory bandwidth)          roofline
    max(roofline, kernels * 3 us)                         with launches

Host and device work at the same time; the slower one decides. The devices' own
questions per second stand beside, and how long the host may take for one before they
wait: the host here is not the host there. Eight devices: one process that streams to
them, eight times the batch, gradients summed over the links between devices.

Every figure says whether it is measured (here) or predicted. Where JAX has an
accelerator, FLOPs, bytes and kernels are those of the program for it, and training is
timed on it, with the batches of ``--timed-batches``.

Leaves out: congestion, compilation and, where JAX has the CPU only, what a compiler for
the accelerator would fuse otherwise. The last line is JSON.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.accelerator_model import CHIPS, Step, predict, scaled
from benchmarks.common import last_line, show
from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.progress import ProgressBar

if TYPE_CHECKING:
    from benchmarks.accelerator_runs import Run


@dataclass(frozen=True, kw_only=True)
class AcceleratorBenchmark:
    """Predict training's speed on accelerators from the compiled step.

    Example: python benchmarks/accelerator.py --candidates 1000 --dimensions 384
    """

    candidates: tuple[int, ...] = (1000, 2000)
    """Of each generated question."""
    dimensions: tuple[int, ...] = (384, 1024)
    """Of generated embeddings."""
    devices: tuple[int, ...] = (1, 8)
    """In one process."""
    batch_size: int = 16
    """Questions per update and device."""
    policy: Literal["thesis", "walk", "mlp"] = "walk"
    """The network."""
    timed_batches: tuple[int, ...] = (16, 128, 1024)
    """Questions per update of the runs that are timed where JAX has an accelerator."""
    seed: int = 0
    """Of generated questions."""

    def __post_init__(self) -> None:
        check_at_least(1, batch_size=self.batch_size)
        for name in ("candidates", "dimensions", "devices", "timed_batches"):
            for value in getattr(self, name):
                check_at_least(1, **{name: value})


def steps_of(settings: AcceleratorBenchmark) -> list[Step]:
    """The measured figures of a step for each size and mode."""
    from benchmarks.accelerator_steps import measured_steps

    sizes = list(itertools.product(settings.candidates, settings.dimensions))
    steps: list[Step] = []
    with ProgressBar(len(sizes), "measuring", "sizes") as bar:
        for candidates, dimension in sizes:
            steps += measured_steps(
                candidates,
                dimension,
                batch_size=settings.batch_size,
                policy=settings.policy,
                seed=settings.seed,
            )
            bar.update(1)
    return steps


def timed_runs(settings: AcceleratorBenchmark) -> list[Run]:
    """Training on the accelerator at hand: each size, batch and mode."""
    from benchmarks.accelerator_runs import TIMED, timed_run
    from benchmarks.train_world import generated_world

    sizes = list(itertools.product(settings.candidates, settings.dimensions))
    count = len(sizes) * len(settings.timed_batches) * len(TIMED)
    runs: list[Run] = []
    with ProgressBar(count, "timing", "runs") as bar:
        for candidates, dimension in sizes:
            world = generated_world(
                max(settings.timed_batches),
                candidates,
                d=dimension,
                table=20_000,
                seed=settings.seed,
            )
            for batch_size, mode in itertools.product(settings.timed_batches, TIMED):
                runs.append(
                    timed_run(
                        world,
                        mode,
                        policy=settings.policy,
                        batch_size=batch_size,
                        k=min(100, candidates - 1),
                    )
                )
                bar.update(1)
    return runs


def show_runs(kind: str, runs: Sequence[Run], steps: Sequence[Step]) -> None:
    """Print what was timed, and what the datasheet predicts for the same chip."""
    from benchmarks.accelerator_runs import datasheet

    chip = datasheet(kind)
    by_size = {(step.mode, step.candidates, step.dimension): step for step in steps}
    table = []
    for one in runs:
        step, guess = by_size.get((one.mode, one.candidates, one.dimension)), None
        if chip and step:
            step = scaled(step, one.batch_size)
            guess = predict(step, chip, 1)["questions_per_second"]
        table.append(
            [
                one.mode,
                *(str(n) for n in (one.candidates, one.dimension, one.batch_size)),
                "–" if guess is None else f"{guess:,.0f}",
                f"{one.questions_per_second:,.0f}",
                f"{one.device_us:,.1f}",
                f"{one.device_wait_share:.2f}",
                f"{one.host_us:,.1f}",
            ]
        )
    header = ["mode", "N", "d", "questions a step", "predicted, questions/s"]
    header += ["measured, questions/s", "device, us", "device waits", "host, us"]
    show(f"Measured on {kind}; us of a question", header, table)


def run(settings: AcceleratorBenchmark) -> None:
    """Measure, predict and print."""
    steps = steps_of(settings)
    table = [
        [
            step.mode,
            *(str(n) for n in (step.candidates, step.dimension)),
            f"{step.flops / 1e9:.3g}",
            f"{step.bytes / 1e6:.4g}",
            *(str(n) for n in (step.kernels, step.gathers, step.scatters)),
            f"{step.bytes_in:.4g}",
            f"{step.bytes_out:.4g}",
            f"{1e6 * step.host_seconds:.4g}",
        ]
        for step in steps
    ]
    header = ["mode", "N", "d", "GFLOP", "MB", "kernels"]
    header += ["gathers", "scatters", "bytes in", "bytes out", "host, us"]
    title = f"Measured: a step of {settings.batch_size} questions, bytes of a question"
    show(title, header, table)
    found: list[dict[str, Any]] = []
    rows = []
    for chip in CHIPS:
        for step in steps:
            for devices in settings.devices:
                if step.resident and devices > 1:
                    continue  # several devices are sent their shares
                got = predict(step, chip, devices)
                found.append(got)
                rows.append(
                    [
                        chip.name,
                        step.mode,
                        str(step.candidates),
                        str(step.dimension),
                        str(devices),
                        f"{got['roofline_questions_per_second']:,.0f}",
                        f"{got['device_questions_per_second']:,.0f}",
                        f"{got['host_us_allowed']:,.0f}",
                        f"{got['questions_per_second']:,.0f}",
                        got["bound"],
                        f"{got['device_wait_share']:.2f}",
                    ]
                )
    header = ["chip", "mode", "N", "d", "devices", "device alone, roofline"]
    header += ["with launches", "host may take, us", "with the host"]
    header += ["bound by", "device waits"]
    show("Predicted", header, rows)
    print()
    for chip in CHIPS:
        print(f"{chip.name}: {chip.source}")
    from benchmarks.accelerator_runs import accelerator

    kind, runs = accelerator(), []
    if kind is not None:
        runs = timed_runs(settings)
        show_runs(kind, runs, steps)
    last_line(
        "accelerator",
        measured=[step._asdict() for step in steps],
        predicted=found,
        accelerator=kind,
        measured_on_accelerator=[one._asdict() for one in runs],
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    settings = "benchmarks/accelerator.py"
    return guarded(lambda: run(parse(AcceleratorBenchmark, given, settings)))


if __name__ == "__main__":
    sys.exit(main())
