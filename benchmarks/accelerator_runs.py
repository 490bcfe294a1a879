"""Training timed on the accelerator that JAX has, beside what was predicted for it."""

from __future__ import annotations

from typing import NamedTuple

import jax

from benchmarks.accelerator_model import CHIPS, Chip
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_traffic import MODES, mode_traffic
from benchmarks.train_world import World

TIMED = (
    "closed form, resident, 10 steps",
    "closed form, streamed",
    "REINFORCE, device, resident, 10 steps",
    "REINFORCE, host, resident",
)
"""Modes of ``train_traffic`` that are timed."""
FEWEST_STEPS = 10
QUESTIONS = 4_000
"""Of a timed run, unless these are fewer steps than ``FEWEST_STEPS``."""


class Run(NamedTuple):
    """What a mode does in a second on the device at hand; measured."""

    mode: str
    candidates: int
    dimension: int
    batch_size: int
    questions_per_second: float
    device_us: float
    """The device's, a question."""
    device_wait_share: float
    host_us: float
    """The processor time of the thread that trains, a question."""


def accelerator() -> str | None:
    """What the accelerator at hand calls itself; None where JAX has the CPU only."""
    device = jax.devices()[0]
    return None if device.platform == "cpu" else device.device_kind


def datasheet(kind: str) -> Chip | None:
    """The chip that calls itself ``kind``; None where no datasheet is listed."""
    return next((chip for chip in CHIPS if chip.kind in kind), None)


def timed_run(world: World, name: str, *, policy: str, batch_size: int, k: int) -> Run:
    """One mode with the whole network, after a first round that compiles."""
    mode = MODES[name]
    candidates = world.split.candidates.shape[1]
    settings = TrainBenchmark(batch_size=batch_size, k=k, candidates=candidates)
    more = {"policy": policy, "samples": 128} | mode.settings
    count = max(FEWEST_STEPS, QUESTIONS // batch_size)
    figures = mode_traffic(world, settings.config(**more), mode, count=count)
    per_second = figures["questions_per_second"]
    return Run(
        mode=name,
        candidates=candidates,
        dimension=world.d,
        batch_size=batch_size,
        questions_per_second=per_second,
        device_us=1e6 * (1 - figures["device_wait_share"]) / per_second,
        device_wait_share=figures["device_wait_share"],
        host_us=figures["host_processor_us_per_question"],
    )
