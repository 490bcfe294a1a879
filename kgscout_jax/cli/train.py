"""``kgscout train``: a process that trains, set up before JAX starts."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from kgscout_jax.export.bundled import folder_of
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.network_kind import with_policy_of
from kgscout_jax.learn.setting_scopes import check_scopes

if TYPE_CHECKING:
    from kgscout_jax.learn.devices import Devices
    from kgscout_jax.learn.trained_policy import TrainedPolicy


def train(config: TrainConfig) -> None:
    """Train to the end of the run, or from where it was stopped.

    Raises:
        UserError: the shards, the run's folder or a setting cannot be used.
    """
    if config.init is not None and not (config.run / "config.json").exists():
        config = with_policy_of(config, folder_of(config.init))
    check_scopes(config)
    from kgscout_jax.utils.jax_memory import keep_memory
    from kgscout_jax.utils.jax_setup import setup_jax

    keep_memory()
    setup_jax()
    from kgscout_jax.learn import train as training

    if config.perturb is not None:
        from kgscout_jax.cli.perturbed_shards import perturbed_config

        config = perturbed_config(config)
    from kgscout_jax.learn.devices import LostProcessError

    try:
        training.train(config, load=load_initial)
    except LostProcessError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        # JAX would wait for the lost process for minutes, and then abort this one.
        os._exit(2)


def load_initial(path: Path, *, devices: Devices) -> TrainedPolicy:
    """The policy of ``--init``: of a run, of an export, or the bundled one."""
    from kgscout_jax.export.load_trained import load_trained

    return load_trained(path, devices=devices)
