"""Exported policies: write, check, load and publish them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgscout_jax.export.hub import from_pretrained, push
    from kgscout_jax.export.load import Exported, load_exported
    from kgscout_jax.export.write import export_policy

__all__ = ["Exported", "export_policy", "from_pretrained", "load_exported", "push"]

_HOMES = {
    "Exported": "load",
    "export_policy": "write",
    "from_pretrained": "hub",
    "load_exported": "load",
    "push": "hub",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: loading needs no training code."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
