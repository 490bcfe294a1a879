"""Two updates and a measurement on so many simulated devices, for ``test_devices``.

``python tests/learn/on_devices.py SHARDS OUT CASE ...`` writes what each case computed
to OUT/CASE.npz. A case is POLICY-ESTIMATOR-REWARD-BASELINE-DEVICES[-rows].
"""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import numpy as np

from kgscout_jax.data.shards import Shards
from kgscout_jax.learn.checkpoint_leaves import flatten
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.dev_measurement import Measurement
from kgscout_jax.learn.devices import devices_of
from kgscout_jax.learn.estimator_updates import update_class
from kgscout_jax.learn.reward_device import DeviceReward
from kgscout_jax.learn.run_config import network_config
from kgscout_jax.learn.sharded_reader import device_tables
from kgscout_jax.learn.timeline import Timeline
from kgscout_jax.learn.train_state import initial_state, optimizer, state_to_tree
from kgscout_jax.learn.training_set import TrainingSet
from kgscout_jax.learn.update_steps import Steps
from kgscout_jax.policy.module import Policy

BATCHES = [np.arange(6), np.array([20, 37, 9])]
"""No multiple of most numbers of devices; the second is the end of an epoch."""


def main(shards: Path, out: Path, cases: list[str]) -> None:
    for case in cases:
        found = computed(Shards.open(shards), case)
        np.savez(out / f"{case}.npz", allow_pickle=False, **found)


def computed(shards: Shards, case: str) -> dict[str, np.ndarray]:
    """The state after two updates, what they showed, and what is measured then."""
    policy_kind, estimator, reward, baseline, count, *by_rows = case.split("-")
    config = TrainConfig(
        shards=shards.path,
        run=Path("nowhere"),
        policy=policy_kind,  # pyright: ignore[reportArgumentType]
        estimator=estimator,  # pyright: ignore[reportArgumentType]
        reward=reward,  # pyright: ignore[reportArgumentType]
        baseline=baseline,  # pyright: ignore[reportArgumentType]
        devices=int(count),
        shard_tables=bool(by_rows),
        k=4,
        samples=4,
        entropy_weight=0.01,
        batch_size=6,
        learning_rate=1e-2,
        warmup_steps=0,
        tower_hidden=(8, 4),
        gate_hidden=8,
        combiner_hidden=4,
        heads=2,
    )
    devices = devices_of(config)
    assert devices.count == int(count)
    training_set = TrainingSet.of(shards, config, devices)
    split, reader = training_set.split, training_set.reader
    policy = Policy.initial(network_config(config, [training_set]), 0)
    transform = optimizer(config, 10)
    scorer = DeviceReward(split)
    steps = Steps(policy, config, transform, scorer, devices.mesh)
    state = devices.replicate(initial_state(policy, transform))
    (tables,) = device_tables([shards], devices, shard_rows=config.shard_tables)
    if by_rows:
        held = {shard.data.shape[0] for shard in tables.triplets.addressable_shards}
        assert len(held) == 1 and held.pop() * devices.count == len(tables.triplets)
        assert len(tables.triplets) < len(shards.triplet_embeddings) + 64 * int(count)
    timeline = Timeline()
    updates = update_class(config)(config, steps, tables, reader, timeline)
    shown = {}
    for step, rows in enumerate(BATCHES):
        begun = updates.propose(state.params, updates.read(rows, step))
        state, values = updates.update(state, begun)
        shown |= {f"shown {step} {name}": value for name, value in values.items()}
    timeline.close()
    for leaf in jax.tree.leaves(state):
        assert leaf.sharding.is_fully_replicated
    measure = Measurement(reader, np.arange(20), config)
    measured = measure(steps, state.params, tables)
    if devices.mesh is not None:
        moves_little(steps, state, tables, reader, devices)
    leaves = flatten(state_to_tree(devices.local_copy(state)))
    shown |= {f"measured {name}": value for name, value in measured.items()}
    return {name: np.asarray(leaf) for name, leaf in (leaves | shown).items()}


def moves_little(steps, state, tables, reader, devices) -> None:
    """Ranking sends no logits and no batch between devices, only rows of tables."""
    batch = reader.read(BATCHES[0], 6)
    text = steps.rank.lower(state.params, tables, batch, k=4).compile().as_text()
    names = ("all-gather", "all-reduce", "all-to-all", "collective-permute")
    found = {name for name in names if f" {name}(" in text}
    # Rows of other devices, and the number of rounds that takes.
    assert found <= ({"all-to-all", "all-reduce"} if tables.layout else set()), found


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
