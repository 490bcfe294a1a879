"""``python -m kgscout_jax``: the ``kgscout`` command."""

from __future__ import annotations

import sys

from kgscout_jax.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
