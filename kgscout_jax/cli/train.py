"""``kgscout train``: a process that trains, set up before JAX starts."""

from __future__ import annotations

from kgscout_jax.learn.config import TrainConfig


def train(config: TrainConfig) -> None:
    """Train to the end of the run, or from where it was stopped.

    Raises:
        UserError: the shards, the run's folder or a setting cannot be used.
    """
    from kgscout_jax.utils.jax_memory import keep_memory
    from kgscout_jax.utils.jax_setup import setup_jax

    keep_memory()
    setup_jax()
    from kgscout_jax.learn import train as training

    training.train(config)
