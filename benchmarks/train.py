"""Training: questions per second against two peers, and the distance from the roofline.

    python benchmarks/train.py
    python benchmarks/train.py --shards FOLDER
    python benchmarks/train.py --sections speed ablation linear --plot linear.png

Peers (train_peers.py): the thesis in PyTorch and NetworkX, and SubgraphRAG's MLP with
directional distance encoding. All get the same questions, generated ones of WebQSP's
size by default. They take turns, and the median counts. What is compared with what:

- ``torch_networkx`` does REINFORCE with one sample and the greedy baseline, reward on
  the host; so do we for that ratio, with as many questions per update. All query rows
  of its attention are equal, so it sends one. ``torch_networkx_literal`` sends one per
  candidate, as the thesis writes it.
- ``torch_mlp_dde`` against our MLP: both by binary cross-entropy on path triplets, as
  many questions per update, equally wide. It reads head and tail, ours the triplet.

The closed form, for the thesis's network and for the walk policy, has rows of its own.

Ours pays for reading its batches from shards, the peers get prepared ones. Leaves out
what happens once: tables, compilation. Ends with one JSON line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.common import last_line, peak_memory
from benchmarks.train_settings import Section, TrainBenchmark
from kgscout_jax.cli.runner import guarded, parse


def threads() -> int:
    """Processors that this process may use: XLA takes all, PyTorch is told to."""
    import torch

    affinity = getattr(os, "sched_getaffinity", None)
    count = len(affinity(0)) if affinity else os.cpu_count() or 1
    torch.set_num_threads(count)
    return count


def run(settings: TrainBenchmark) -> None:
    """Measure the sections asked for; tables are printed on the way."""
    from kgscout_jax.utils.jax_memory import keep_memory
    from kgscout_jax.utils.jax_setup import setup_jax

    keep_memory()  # as training does, before JAX and PyTorch start
    setup_jax()
    import jax

    from benchmarks import train_ablation, train_linear, train_speed, train_traffic
    from benchmarks.train_peers import torch_device

    device = jax.devices()[0]
    count = threads()
    print(
        f"PyTorch and XLA: {count} thread{'s' * (count > 1)} each; PyTorch on "
        f"{torch_device()}, XLA on {device.platform} ({device.device_kind}); times by "
        f"the {settings.clock} clock"
    )
    measure: dict[Section, Callable[[TrainBenchmark], dict[str, Any]]] = {
        "speed": train_speed.speed,
        "ablation": train_ablation.ablation,
        "linear": train_linear.linear,
        "traffic": train_traffic.traffic,
    }
    figures: dict[str, Any] = {"ratios": {}, "roofline": None}
    for section in settings.sections:
        figures |= measure[section](settings)
    print()
    last_line(
        "train",
        **figures,
        threads=count,
        clock=settings.clock,
        peak_memory_mb=peak_memory() / 1e6,
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(parse(TrainBenchmark, given, "benchmarks/train.py")))


if __name__ == "__main__":
    sys.exit(main())
