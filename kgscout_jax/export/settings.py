"""Settings of an export."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro


@dataclass(frozen=True, kw_only=True)
class ExportSettings:
    """Export a trained run as the folder that inference needs.

    Example: kgscout export runs/first policy/ --metrics results/metrics.json
    """

    run: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
    """The trained run."""
    out: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")]
    """Folder to write: config.json, model.safetensors, policy.stablehlo, golden.npz,
    README.md."""
    step: int | None = None
    """Checkpoint to export; default the best by dev reward."""
    metrics: Path | None = None
    """metrics.json of an evaluation of this checkpoint, for the model card."""
    shards: Path | None = None
    """The run's shards, if they have moved since training."""
    calibrate: str | None = None
    """Split of the shards, not train, to calibrate the probability of an answer among
    the K best on; retrieve --target needs it."""
    dtype: Literal["float32", "float16"] = "float32"
    """Type of the stored parameters; float16 is half as large and rounds them."""
    stablehlo: bool = True
    """Write policy.stablehlo, for programs without this package; it holds the
    parameters once more."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Replace an exported policy in the folder."""
