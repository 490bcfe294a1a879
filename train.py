"""Train the policy: ``python train.py --shards SHARDS --run RUN`` (see --help)."""

import sys

from kgscout_jax.cli.main import train_main

if __name__ == "__main__":
    sys.exit(train_main(sys.argv[1:], "python train.py"))
