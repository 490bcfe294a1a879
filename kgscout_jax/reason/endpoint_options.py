"""The settings of an endpoint from the options of a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from kgscout_jax.errors import UserError

SAME = (
    "key_env",
    "temperature",
    "max_tokens",
    "concurrency",
    "timeout",
    "retries",
    "backoff",
)
"""Options that have the names of fields."""
REPLIES = "replies"
"""Folder of replies in ``--out``."""


class EndpointOptions(Protocol):
    """Options of a command that asks a language model."""

    @property
    def llm_seed(self) -> int | None: ...
    @property
    def extra(self) -> str: ...
    @property
    def cache(self) -> Path | None: ...


def endpoint_options(options: EndpointOptions, out: Path | None) -> dict[str, Any]:
    """Fields of ``EndpointSettings`` except the address and the model.

    Args:
        options: those of ``SAME``, the seed, further fields as JSON, the cache.
        out: folder of the results, where replies are stored without ``--cache``.

    Raises:
        UserError: ``--extra`` is no JSON object.
    """
    try:
        extra = json.loads(options.extra)
    except ValueError as error:
        raise UserError(f"--extra: not valid JSON ({error})") from None
    if not isinstance(extra, dict):
        raise UserError(f"--extra: found {options.extra}, expected a JSON object")
    return {
        **{name: getattr(options, name) for name in SAME},
        "seed": options.llm_seed,
        "extra": extra,
        "cache": options.cache or (out / REPLIES if out else None),
    }
