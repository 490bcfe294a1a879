"""What commands that ask a language model have as options, and its endpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, kw_only=True)
class EndpointOptions:
    """Options of a command that asks a language model in batches."""

    temperature: float = 0.1
    """Temperature of sampling."""
    max_tokens: int = 512
    """Maximum tokens of a reply."""
    llm_seed: int | None = None
    """Seed of sampling, if the server supports one."""
    extra: str = "{}"
    """Further fields of the request as JSON: '{"cache_prompt": true}' for llama.cpp."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key; local servers need none."""
    concurrency: int = 4
    """Concurrent requests."""
    timeout: float = 120.0
    """Seconds for one attempt."""
    retries: int = 5
    """Further attempts after a failed one."""
    backoff: float = 1.0
    """Seconds before the first retry; each further one doubles it, with jitter."""
    input_price: float = 0.0
    """Dollars per million prompt tokens."""
    output_price: float = 0.0
    """Dollars per million tokens of replies."""
    cache: Path | None = None
    """Folder for replies, one per model; default: replies/ in --out."""


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
