"""The words of the prompts: one file each in ``templates/``, filled with fields.

Whatever comes from a graph, a document or a model goes through ``prompt_text`` first:
it stands on one line and cannot pass for a marker of a chat.
"""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kgscout_jax.reason.prompts import Message

FOLDER = Path(__file__).parent / "templates"


@cache
def _parts(name: str) -> tuple[tuple[str, string.Template], ...]:
    """Role and words of each message of a template."""
    text = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in text.split("--- ")[1:]]
    return tuple((role.strip(), string.Template(body)) for role, _, body in parts)


def fill(name: str, /, **fields: str) -> tuple[Message, ...]:
    """The messages of the template ``name``; every ``$field`` in it must be given."""
    return tuple((role, body.substitute(fields).strip()) for role, body in _parts(name))


@cache
def data(name: str) -> Mapping[str, Any]:
    """What ``templates/NAME.json`` holds."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
