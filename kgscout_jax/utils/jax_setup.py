"""The one place that configures JAX."""

from __future__ import annotations

import logging
import os
from pathlib import Path


def setup_jax() -> None:
    """Keep compiled functions between runs, and JAX's chatter out of the log.

    The cache lies in ``$KGSCOUT_CACHE/jax`` (default ``~/.cache/kgscout/jax``) unless
    JAX was told another place.
    """
    import jax

    if not os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        root = os.environ.get("KGSCOUT_CACHE") or Path.home() / ".cache" / "kgscout"
        jax.config.update("jax_compilation_cache_dir", str(Path(root) / "jax"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    for name in ("jax", "absl", "orbax"):
        logging.getLogger(name).setLevel(logging.ERROR)
