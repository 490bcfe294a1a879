"""Presets of a command's settings: a subclass whose defaults are the preset's.

``--preset NAME`` makes the subclass the command's settings, so that ``--help`` shows
its values; a value that contradicts it, from the command line or from Python, is
refused.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any, TypeVar

from kgscout_jax.errors import UserError

C = TypeVar("C")


def preset_class(config: type[C], args: Sequence[str]) -> type[C]:
    """The class of the settings that the arguments ask for: a preset's, or itself."""
    presets = getattr(config, "presets", {})
    for flag, value in itertools.pairwise([*args, ""]):
        name, equals, attached = flag.partition("=")
        if name == "--preset":
            return presets.get(attached if equals else value, config)
    return config


def check_preset(settings: Any, preset: type[Any]) -> None:
    """Raises UserError, naming the flag, unless the settings have the preset's values.

    They are those that the preset's class declares itself.
    """
    defaults = {field.name: field.default for field in dataclasses.fields(preset)}
    for name in preset.__annotations__:
        if name in ("preset", "presets"):
            continue
        value = getattr(settings, name)
        if value != defaults[name]:
            flag = name.replace("_", "-")
            raise UserError(
                f"--{flag}: found {value}, expected {defaults[name]} with --preset "
                f"{settings.preset}; leave out one of the two"
            )
