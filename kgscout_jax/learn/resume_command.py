"""The command that resumes a run, built from its settings."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError


def resume_command(
    config: Mapping[str, Any], run: Path, program: str = "kgscout train"
) -> str:
    """The shell command that resumes a run.

    It has the flags that differ from their defaults: parsed, they give the same
    settings.

    Args:
        config: the settings in the run's ``config.json``.
        run: the run's folder now.
        program: the program that trains.
    """
    folders = flag("shards", config.get("shards"))
    words = [*program.split(" ", 1), *folders, "--run", str(run)]
    default = defaults(config)
    for name, value in config.items():
        is_default = value is None or (name in default and default[name] == value)
        if not is_default and name not in ("shards", "run"):
            words += flag(name, value)
    return shlex.join(words)


def command_line_program() -> str:
    """The program that this process was started as, if it trains."""
    script = sys.argv[0] if sys.argv else ""
    return f"python {script}" if Path(script).name == "train.py" else "kgscout train"


def defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """The default of each setting, as ``config.json`` writes it.

    Some defaults depend on a choice such as ``--estimator``; they follow the choices in
    ``config``.
    """
    from kgscout_jax.learn.config import TrainConfig

    here = Path(".")
    kind = TrainConfig.presets.get(str(config.get("preset")), TrainConfig)
    plain = kind(shards=(here,), run=here).to_dict()
    choices: dict[str, Any] = {
        name: value
        for name, value in config.items()
        if isinstance(plain.get(name), str) and name not in ("shards", "run")
    }
    try:
        full = kind(shards=(here,), run=here, **choices).to_dict()
    except (UserError, KeyError, TypeError, ValueError):  # of another version
        full = plain
    out = {name: plain[name] if name in choices else full[name] for name in plain}
    return {**out, "preset": None}


def flag(name: str, value: Any) -> Iterator[str]:
    """The command-line words that set one setting."""
    name = name.replace("_", "-")
    if isinstance(value, bool):
        yield f"--{name}" if value else f"--no-{name}"
        return
    yield f"--{name}"
    for each in value if isinstance(value, list) else [value]:
        yield str(each)
