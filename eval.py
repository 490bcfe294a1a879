"""Evaluate: ``python eval.py retrieval --run RUN --shards SHARDS --out DIR``."""

import sys

from kgscout_jax.cli.main import eval_main

if __name__ == "__main__":
    sys.exit(eval_main(sys.argv[1:], "python eval.py"))
