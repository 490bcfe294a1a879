"""Datasheet figures of accelerators, and what a training step would take on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

KERNEL_SECONDS = 3e-6
"""Assumed for each kernel: a launch, and what it takes to fill and drain the chip."""


@dataclass(frozen=True, kw_only=True)
class Chip:
    """An accelerator, by its datasheet; nothing here is measured."""

    name: str
    kind: str
    """Words of what JAX calls the device."""
    flops: float
    """Dense matmuls of float32 operands in full precision, as policies have them (see
    ``policy.precision``), per second: on a TPU six passes of bfloat16."""
    bandwidth: float
    """Of its memory, bytes per second."""
    host_link: float
    """Bytes per second from the host, one way."""
    device_link: float
    """Bytes per second to the other devices, one way."""
    source: str


CHIPS = (
    Chip(
        name="H100 SXM",
        kind="H100 80GB HBM3",
        flops=67e12,
        bandwidth=3.35e12,
        host_link=64e9,
        device_link=450e9,
        source="NVIDIA H100 Tensor Core GPU datasheet: FP32 67 TFLOPS; "
        "3.35 TB/s; PCIe Gen5 128 GB/s, NVLink 900 GB/s, both ways",
    ),
    Chip(
        name="A100 SXM 80 GB",
        kind="A100-SXM4-80GB",
        flops=19.5e12,
        bandwidth=2.039e12,
        host_link=32e9,
        device_link=300e9,
        source="NVIDIA A100 Tensor Core GPU datasheet: FP32 19.5 TFLOPS; 2,039 GB/s; "
        "PCIe Gen4 64 GB/s, NVLink 600 GB/s, both ways",
    ),
    Chip(
        name="TPU v5e",
        kind="TPU v5 lite",
        flops=197e12 / 6,
        bandwidth=819e9,
        host_link=32e9,
        device_link=100e9,
        source="cloud.google.com/tpu/docs/v5e: bfloat16 197 TFLOPs, of which six make "
        "one of float32; 819 GB/s; "
        "interconnect 1,600 Gbit/s, both ways; the host's link is not stated there: "
        "PCIe Gen4 is assumed",
    ),
)


class Step(NamedTuple):
    """What a step of one device costs; measured here."""

    mode: str
    candidates: int
    dimension: int
    batch_size: int
    flops: float
    bytes: float
    """Of its kernels' operands and results."""
    kernels: int
    parameter_bytes: int
    host_seconds: float
    bytes_in: float
    """To the device, a question."""
    bytes_out: float
    gathers: int = 0
    scatters: int = 0
    resident: bool = False
    """Whether questions lie on the device, which has to be the only one."""


def scaled(step: Step, batch_size: int) -> Step:
    """The step of another number of questions: as many kernels, each with more work."""
    times = batch_size / step.batch_size
    return step._replace(
        batch_size=batch_size,
        flops=step.flops * times,
        bytes=step.bytes * times,
        host_seconds=step.host_seconds * times,
    )


def predict(step: Step, chip: Chip, devices: int) -> dict[str, Any]:
    """Questions per second, what bounds them and how much a device waits.

    The first three figures are of the devices alone, as if the host took no time:
    by FLOPs and memory, with launches, and the microseconds of the host per question
    below which no device waits.
    """
    questions = step.batch_size * devices
    # Each device sends and receives all gradients but its own share, twice.
    exchange = 2 * step.parameter_bytes * (devices - 1) / devices / chip.device_link
    parts = {
        "FLOPs": step.flops / chip.flops,
        "memory": step.bytes / chip.bandwidth,
        "launches": step.kernels * KERNEL_SECONDS,
    }
    link = questions * (step.bytes_in + step.bytes_out) / chip.host_link
    beside = {"host": step.host_seconds * devices, "host link": link}
    roofline = max(parts["FLOPs"], parts["memory"]) + exchange
    device = max(parts.values()) + exchange
    whole = max(device, *beside.values())
    everything = parts | beside
    return {
        "chip": chip.name,
        "mode": step.mode,
        "candidates": step.candidates,
        "dimension": step.dimension,
        "devices": devices,
        "claim": "predicted",
        "roofline_questions_per_second": questions / roofline,
        "device_questions_per_second": questions / device,
        "device_bound": max(parts, key=lambda name: parts[name]),
        "host_us_allowed": 1e6 * device / questions,
        "questions_per_second": questions / whole,
        "bound": max(everything, key=lambda name: everything[name]),
        "device_wait_share": 1 - device / whole,
    }
