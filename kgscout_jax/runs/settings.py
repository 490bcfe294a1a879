"""Settings of ``kgscout runs``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from kgscout_jax.errors import UserError


@dataclass(frozen=True, kw_only=True)
class RunsSettings:
    """Show the state of a training run, or of all runs in a folder.

    Example: kgscout runs runs/first --plot curves.png
    """

    run: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN")]
    """Folder of a run, or a folder that holds several; more than one is allowed."""
    plot: Annotated[
        tuple[Path, ...] | None, tyro.conf.arg(metavar="[FILE.png]", name="plot")
    ] = None
    """Also draw the curves, all runs in one: on the terminal, or into FILE.png."""
    timeline: Annotated[
        tuple[Path, ...] | None, tyro.conf.arg(metavar="[FILE.png]", name="timeline")
    ] = None
    """Also draw what host and device did in the latest steps, and how much the device
    waits: on the terminal, or into FILE.png."""
    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print only JSON, for programs."""

    def __post_init__(self) -> None:
        if not self.run:
            raise UserError("RUN: expected a folder of a run, found none")
        for flag, paths in (("--plot", self.plot), ("--timeline", self.timeline)):
            files = paths or ()
            if len(files) > 1:
                raise UserError(f"{flag}: found {len(files)} files, expected at most 1")
            for path in files:
                if path.suffix.lower() != ".png":
                    raise UserError(f"{flag}: found {path}, expected a file named .png")
