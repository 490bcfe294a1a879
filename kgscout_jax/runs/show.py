"""``kgscout runs``: prints the status of runs and draws their curves."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from rich.console import Console

from kgscout_jax.runs.run_folder import StoredRun, find_runs, read_run
from kgscout_jax.runs.settings import RunsSettings
from kgscout_jax.runs.status import state_of
from kgscout_jax.runs.table import print_states

PIPE_WIDTH = 160
"""Columns where standard output is no terminal."""


def show_runs(settings: RunsSettings) -> int:
    """Print the status of the runs, draw curves where asked; returns 0.

    Raises:
        UserError: there is no such run, or the plot cannot be written.
    """
    runs = [read_run(path) for path in find_runs(settings.run)]
    states = [state_of(run) for run in runs]
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    if settings.json:
        print(json.dumps({"runs": [state.to_dict() for state in states]}, indent=2))
    else:
        print_states(states, console)
    if settings.timeline is not None:
        _show_timelines(runs, settings, console)
    if settings.plot is None:
        return 0
    from kgscout_jax.runs.curves import panels_of

    panels = panels_of(runs)
    if not panels:
        print("nothing to draw: no step has been logged yet", file=sys.stderr)
        return 0
    if settings.plot:
        from kgscout_jax.runs.plot import draw_png

        (out,) = settings.plot
        title = states[0].run if len(runs) == 1 else f"{len(runs)} runs"
        draw_png(panels, title, out)
        print(f"wrote {out}", file=sys.stderr if settings.json else sys.stdout)
    elif not settings.json:
        from kgscout_jax.runs.terminal_plot import draw_on_terminal

        console.print()
        draw_on_terminal(panels, console)
    return 0


def _show_timelines(
    runs: Sequence[StoredRun], settings: RunsSettings, console: Console
) -> None:
    from kgscout_jax.runs.step_timeline import (
        draw_timelines,
        print_timeline,
        timeline_of,
    )

    timelines = [timeline_of(run) for run in runs]
    if not settings.json:
        for timeline in timelines:
            console.print()
            console.print(timeline.run, markup=False, soft_wrap=True)
            print_timeline(timeline, console)
    if settings.timeline:
        (out,) = settings.timeline
        draw_timelines(timelines, out)
        print(f"wrote {out}", file=sys.stderr if settings.json else sys.stdout)
