"""States of runs for people: one in full, several as a table."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kgscout_jax.runs.status import Best, RunState

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLES = {"running": "green", "finished": "blue", "stopped": "yellow", "damaged": "red"}
UNKNOWN = "?"


def print_states(states: Sequence[RunState], console: Console) -> None:
    """Print one run in full, or several as rows of a table."""
    if len(states) == 1:
        _print_one(states[0], console)
    else:
        _print_many(states, console)
    for state in states:
        name = "" if len(states) == 1 else f"{state.run}: "
        for problem in state.problems:
            console.print(_text(f"damaged: {problem}", "red"), soft_wrap=True)
        if state.resume:
            at = f"after step {state.resumes_at}" if state.resumes_at else "anew"
            # unbroken: it is there to be copied
            console.print(_text(f"{name}to go on {at}:"), soft_wrap=True)
            console.print(_text(f"  {state.resume}", "bold"), soft_wrap=True)


def _print_one(state: RunState, console: Console) -> None:
    from rich.text import Text

    head = Text.assemble((state.run, "bold"), "  ", (state.state, STYLES[state.state]))
    console.print(head)
    rows = [
        ("trains", f"{_trains(state)}, shards {state.shards or UNKNOWN}"),
        ("step", _progress(state)),
        ("best", _best(state.best)),
        *_by_set(state.best),
        ("last", ", ".join(f"{k} {v:.4g}" for k, v in state.last.items()) or "-"),
        ("speed", f"{_speed(state.questions_per_second)} questions/s"),
        ("time", _times(state)),
        ("disk", f"{_bytes(state.disk_bytes)}, checkpoints {_steps(state)}"),
    ]
    for name, value in rows:
        console.print(_text(f"  {name:8}{value}"), soft_wrap=True)


def _print_many(states: Sequence[RunState], console: Console) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    largest_k = max((k for s in states if s.best for k in _ks(s.best)), default=None)
    rows = [_row(state, largest_k) for state in states]
    for name in rows[0]:
        if name in ("run", "trains", "state"):
            table.add_column(name, overflow="fold", no_wrap=name == "state")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    for state, row in zip(states, rows, strict=True):
        styles = {"state": STYLES[state.state]}
        table.add_row(*(_text(row[name], styles.get(name, "")) for name in row))
    console.print(table)


def _row(state: RunState, k: int | None) -> dict[str, str]:
    """The cells of a run, by the names of their columns."""
    best = state.best
    dev, cosine = (best.dev, best.cosine) if best else ({}, {})
    hit = "" if k is None else f"answer_hit@{k}"
    return {
        "run": state.run,
        "trains": _trains(state),
        "state": state.state,
        "step": str(state.step),
        "of": _or(state.total_steps),
        "epoch": f"{state.epoch}/{_or(state.epochs)}",
        "best": _or(best.step if best else None, "-"),
        "reward": _figure(dev.get("reward")),
        hit.removeprefix("answer_") or "hit": _figure(dev.get(hit)),
        "cosine": _figure(cosine.get(hit)),
        "loss": _figure(state.last.get("loss")),
        "q/s": _speed(state.questions_per_second),
        "spent": _duration(state.seconds_spent),
        "left": _duration(state.seconds_left),
        "saved": str(len(state.checkpoints)),
        "disk": _bytes(state.disk_bytes),
    }


def _trains(state: RunState) -> str:
    k = "" if state.k is None else f" k = {state.k}"
    kind = f"{state.policy}, " if state.policy else ""
    return f"{kind}{state.estimator or UNKNOWN}{k} on {state.source or UNKNOWN}"


def _progress(state: RunState) -> str:
    text = f"{state.step} of {_or(state.total_steps)}"
    if state.total_steps:
        text += f" ({state.step / state.total_steps:.0%})"
    return f"{text}, epoch {state.epoch} of {_or(state.epochs)}"


def _best(best: Best | None) -> str:
    if best is None:
        return "- (no epoch has ended, or there are no dev questions)"
    parts = [f"step {best.step} (epoch {best.epoch}) by dev reward"]
    parts += _measures(best.dev, best.cosine)
    if not best.kept:
        parts.append("its checkpoint is not there")
    return ", ".join(parts)


def _by_set(best: Best | None) -> list[tuple[str, str]]:
    """A row for each of several sets."""
    sets = best.by_set if best else {}
    return [
        ("", ", ".join([f"on {name}", *_measures(of_set.dev, of_set.cosine)]))
        for name, of_set in sets.items()
    ]


def _measures(dev: Mapping[str, float], cosine: Mapping[str, float]) -> Iterable[str]:
    """Each measure, with that of cosine where it is known."""
    for name, value in dev.items():
        against = cosine.get(name)
        beside = "" if against is None else f" (cosine {against:.3f})"
        yield f"{name} {value:.3f}{beside}"


def _times(state: RunState) -> str:
    text = f"{_duration(state.seconds_spent)} spent"
    if state.state != "finished":
        text += f", about {_duration(state.seconds_left)} left"
    if state.updated is not None:
        text += f", last row {_duration(max(0, time.time() - state.updated))} ago"
    return text


def _steps(state: RunState) -> str:
    return ", ".join(map(str, state.checkpoints)) or "none"


def _ks(best: Best) -> Iterable[int]:
    for name in best.dev:
        k = name.removeprefix("answer_hit@")
        if k != name and k.isdecimal():
            yield int(k)


def _or(value: int | None, instead: str = UNKNOWN) -> str:
    return instead if value is None else str(value)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _speed(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def _bytes(n: int) -> str:
    """Bytes in decimal units.

    >>> _bytes(999), _bytes(12_345), _bytes(5_000_000_000)
    ('999 B', '12.3 kB', '5.0 GB')
    """
    size, units = float(n), ["B", "kB", "MB", "GB", "TB"]
    while size >= 999.95 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{n} B" if units[0] == "B" else f"{size:.1f} {units[0]}"


def _duration(seconds: float | None) -> str:
    """A time in its two largest units.

    >>> _duration(4.2), _duration(125), _duration(7260), _duration(200_000)
    ('4 s', '2 min 5 s', '2 h 1 min', '2 d 7 h')
    """
    if seconds is None:
        return UNKNOWN
    left, parts = round(seconds), []
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60), ("s", 1)):
        if left >= length or (unit == "s" and not parts):
            parts.append(f"{left // length} {unit}")
            left %= length
        elif parts:
            break
    return " ".join(parts[:2])


def _text(text: str, style: str = "") -> Text:
    """Text for rich: what looks like markup in a path is not."""
    from rich.text import Text

    return Text(text, style=style)
