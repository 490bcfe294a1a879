"""The command that goes on with a run, made of the settings it was started with."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError


def train_command(config: Mapping[str, Any], run: Path) -> str:
    """The ``kgscout train`` line that resumes a run, for a shell."""
    return shlex.join(["kgscout", "train", *train_words(config, run)])


def train_words(config: Mapping[str, Any], run: Path) -> list[str]:
    """The flags that resume a run.

    Those that differ from what they would be without: the same settings come out when
    they are parsed.

    Args:
        config: the settings in the run's ``config.json``.
        run: where the run lies now.
    """
    words = ["--shards", str(config.get("shards")), "--run", str(run)]
    without = defaults(config)
    for name, value in config.items():
        same = name in without and without[name] == value
        if not same and name not in ("shards", "run"):
            words += flag(name, value)
    return words


def defaults(config: Mapping[str, Any]) -> dict[str, Any]:
    """What each setting is where no flag says so, as ``config.json`` writes it.

    The defaults of some depend on a choice such as ``--estimator``: theirs are those of
    the choices in ``config``.
    """
    from kgscout_jax.learn.config import TrainConfig

    here = Path(".")
    plain = TrainConfig(shards=here, run=here).to_dict()
    choices: dict[str, Any] = {
        name: value
        for name, value in config.items()
        if isinstance(plain.get(name), str) and name not in ("shards", "run")
    }
    try:
        chosen = TrainConfig(shards=here, run=here, **choices).to_dict()
    except (UserError, KeyError, TypeError, ValueError):  # of another version
        chosen = plain
    return {name: plain[name] if name in choices else chosen[name] for name in plain}


def flag(name: str, value: Any) -> Iterator[str]:
    """The words that set one setting, as the command line spells them."""
    name = name.replace("_", "-")
    if isinstance(value, bool):
        yield f"--{name}" if value else f"--no-{name}"
        return
    yield f"--{name}"
    for each in value if isinstance(value, list) else [value]:
        yield str(each)
