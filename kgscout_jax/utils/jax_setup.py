"""The configuration of JAX."""

from __future__ import annotations

import logging
import os
from pathlib import Path


def setup_jax() -> None:
    """Cache compiled functions between runs, and silence JAX's own log messages.

    The cache is ``$KGSCOUT_CACHE/jax`` (default ``~/.cache/kgscout/jax``) unless
    ``$JAX_COMPILATION_CACHE_DIR`` is set.
    """
    import jax

    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        root = os.environ.get("KGSCOUT_CACHE") or Path.home() / ".cache" / "kgscout"
        jax.config.update("jax_compilation_cache_dir", str(Path(root) / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    for name in ("jax", "absl", "orbax"):
        logging.getLogger(name).setLevel(logging.ERROR)
