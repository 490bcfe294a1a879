"""What the lines of a file of results were made with, so that a refusal can name it.

Lines hold a hash alone; a hidden file beside theirs holds what it is of.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.inference.batch_lines import inputs_fingerprint
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.utils.differences import first_difference

UNKNOWN = "another policy, graph or settings"


def inputs_file(out: Path) -> Path:
    """The file of the inputs of the lines of ``out``."""
    return out.with_name(f".{out.name}.settings")


def settings_difference(out: Path, mark: object, inputs: Mapping[str, Any]) -> str:
    """What tells lines from those of a command, with both values.

    Args:
        out: the file of the lines.
        mark: the hash that a line has.
        inputs: ``settings_inputs`` of the command.
    """
    try:
        before = json.loads(inputs_file(out).read_text())
    except (OSError, ValueError, RecursionError):
        return UNKNOWN
    if not isinstance(before, dict) or inputs_fingerprint(before) != mark:
        return UNKNOWN
    now = json.loads(json.dumps(inputs))  # its lists are lists
    if found := first_difference(flags(before), flags(now)):
        return found
    if before.get("graph") != now["graph"]:
        return "another graph than --kg"
    return "another policy"


def flags(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The flags among the inputs, those without a value at their default."""
    default = dataclasses.asdict(SelectionConfig())
    return {
        "k": inputs["k"],
        **default,
        **inputs.get("keep", {}),
        **inputs.get("read", {}),
    }
