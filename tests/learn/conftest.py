"""Shards and runs that tests of training share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from training import REINFORCE, compilations, recorded, shared_steps, tiny
from written_shards import write_shards

from kgscout_jax.data.shards import Shards
from kgscout_jax.learn import train as train_module
from kgscout_jax.learn.train import train


@pytest.fixture(scope="module", autouse=True)
def compiled_once() -> Iterator[None]:
    """Runs of equal settings share their jitted functions, in these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(train_module, "Steps", shared_steps)
        yield


@pytest.fixture(scope="session")
def shards(tmp_path_factory) -> Shards:
    return write_shards(tmp_path_factory.mktemp("shards"))


@pytest.fixture(scope="session")
def finished(shards, kgscout_cache, tmp_path_factory) -> Path:
    """A run of closed_form that nobody disturbed."""
    run = tmp_path_factory.mktemp("runs") / "finished"
    steps = recorded(tiny(shards, run))
    assert set(compilations(steps).values()) == {1}  # a step never compiles again
    return run


@pytest.fixture(scope="session")
def moving(shards, kgscout_cache, tmp_path_factory) -> Path:
    """A run of reinforce whose baseline is a moving average: state, too."""
    run = tmp_path_factory.mktemp("runs") / "moving"
    steps = recorded(
        tiny(shards, run, **REINFORCE, baseline="moving_average", save_every=3)
    )
    assert set(compilations(steps).values()) == {1}
    return run


@pytest.fixture(scope="session")
def leaving_one_out(shards, kgscout_cache, tmp_path_factory) -> Path:
    """A run of reinforce with its default baseline."""
    run = tmp_path_factory.mktemp("runs") / "leave_one_out"
    train(tiny(shards, run, **REINFORCE, baseline="leave_one_out"))
    return run
