"""What tells the preparation of a folder from that of a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgscout_jax.utils.differences import first_difference, flag_difference


def preparation_difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """The source, the setting, the encoder or the file that differs, and both values.

    Args:
        before: ``source``, ``settings``, ``encoder`` and ``sources`` of a manifest.
        now: those of the command.
    """
    if before.get("source") != now["source"]:
        return f"source {before.get('source')}, found {now['source']}"
    if found := first_difference(before.get("settings") or {}, now["settings"]):
        return found
    encoders = before.get("encoder") or {}, now["encoder"]
    one, two = (each.get("name") for each in encoders)
    if one != two:
        return flag_difference("encoder", one, two)
    if found := first_difference(*encoders):
        return f"another encoder: {found.removeprefix('--')}"
    return _file_difference(before.get("sources") or [], now["sources"])


def _file_difference(
    before: list[Mapping[str, str]], now: list[Mapping[str, str]]
) -> str:
    """The input file, or the version of a package, that differs."""
    names = [
        [each.get("file") or each.get("package") or "" for each in sources]
        for sources in (before, now)
    ]
    if names[0] != names[1]:
        return f"the input {', '.join(names[0])}, found {', '.join(names[1])}"
    for one, two in zip(before, now, strict=True):
        if one != two and "version" in one:
            version = f"{one['package']} {one['version']}"
            return f"{version}, found {two.get('version')}"
        if one != two:
            return f"another {one.get('file')}, its content differs"
    return "another version of KG-Scout"
