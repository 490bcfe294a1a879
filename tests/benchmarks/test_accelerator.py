"""Predictions for accelerators, worked out by hand."""

from __future__ import annotations

import pytest

from benchmarks.accelerator_model import CHIPS, Chip, Step, predict, scaled
from benchmarks.accelerator_runs import TIMED, datasheet, timed_run
from benchmarks.accelerator_steps import kernel_count
from benchmarks.train_world import generated_world

CHIP = Chip(
    name="toy",
    kind="toy",
    flops=1e12,
    bandwidth=1e11,
    host_link=1e9,
    device_link=1e9,
    source="nowhere",
)
STEP = Step(
    mode="closed form",
    candidates=100,
    dimension=8,
    batch_size=10,
    flops=1e9,  # 1 ms
    bytes=2e8,  # 2 ms
    kernels=1000,  # 3 ms
    parameter_bytes=1_000_000,
    host_seconds=0.0015,
    bytes_in=1e3,  # 10 us a step
    bytes_out=0.0,
)


def test_launches_bound_one_device():
    found = predict(STEP, CHIP, 1)
    assert found["bound"] == "launches"
    assert found["questions_per_second"] == pytest.approx(10 / 0.003)
    assert found["roofline_questions_per_second"] == pytest.approx(10 / 0.002)
    assert found["device_wait_share"] == 0
    assert found["claim"] == "predicted"


def test_the_host_bounds_eight():
    # Host 8 * 1.5 = 12 ms; a device 3 ms, and 2 MB * 7 / 8 at 1 GB/s: 1.75 ms.
    found = predict(STEP, CHIP, 8)
    assert found["bound"] == "host"
    assert found["questions_per_second"] == pytest.approx(80 / 0.012)
    assert found["device_wait_share"] == pytest.approx(1 - 4.75 / 12)
    # The devices alone, as if the host took no time.
    assert found["device_questions_per_second"] == pytest.approx(80 / 0.00475)
    assert found["roofline_questions_per_second"] == pytest.approx(80 / 0.00375)
    assert found["device_bound"] == "launches"
    assert found["host_us_allowed"] == pytest.approx(4750 / 80)


def test_twice_the_questions_are_bound_by_memory():
    # As many launches, 3 ms; memory 4 ms.
    found = predict(scaled(STEP, 20), CHIP, 1)
    assert found["bound"] == "memory"
    assert found["questions_per_second"] == pytest.approx(20 / 0.004)


def test_a_device_is_found_among_the_datasheets_by_its_own_name():
    assert datasheet("NVIDIA H100 80GB HBM3") == CHIPS[0]
    assert datasheet("TPU v5 lite") == CHIPS[2]
    assert datasheet("NVIDIA H100 PCIe") is None


@pytest.mark.extended
def test_a_timed_run_of_whole_steps(monkeypatch):
    monkeypatch.setattr("benchmarks.accelerator_runs.QUESTIONS", 0)
    world = generated_world(16, 40, d=16, table=400)
    run = timed_run(world, TIMED[0], policy="thesis", batch_size=16, k=8)
    assert run.candidates == 40 and run.dimension == 16
    assert run.questions_per_second > 0
    assert 0 <= run.device_wait_share <= 1


def test_kernels_of_the_entry_are_counted():
    text = """HloModule m

%inner (p: f32[]) -> f32[] {
  %a.1 = f32[] fusion(%p), kind=kLoop
}

ENTRY %main (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %f.1 = f32[2]{0} fusion(%p), kind=kLoop, calls=%x
  ROOT %dot.2 = f32[2]{0} dot(%f.1, %p), lhs_contracting_dims={1}
}
"""
    assert kernel_count(text) == 2
