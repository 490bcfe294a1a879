"""What ``kgscout runs`` is asked to show."""

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
    """Folder of a run, or one that holds several; more than one may be given."""
    plot: Annotated[
        tuple[Path, ...] | None, tyro.conf.arg(metavar="[FILE.png]", name="plot")
    ] = None
    """Draw the curves too: on the terminal, or into FILE.png; several runs in one."""
    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print JSON for programs, nothing else."""

    def __post_init__(self) -> None:
        if not self.run:
            raise UserError("RUN: expected a folder of a run, found none")
        if self.plot is None:
            return
        if len(self.plot) > 1:
            raise UserError(f"--plot: found {len(self.plot)} files, expected at most 1")
        for path in self.plot:
            if path.suffix.lower() != ".png":
                raise UserError(f"--plot: found {path}, expected a file named .png")
