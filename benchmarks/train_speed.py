"""Questions per second of all contenders, FLOPs, bytes, and the roofline."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

from benchmarks.common import race, seconds, show
from benchmarks.roofline import Cost, Peaks, cost_of, measured_peaks
from benchmarks.train_ours import Ours, policy_config
from benchmarks.train_peers import (
    MlpTrainer,
    Question,
    ThesisTrainer,
    Watch,
    torch_question,
    torch_tables,
)
from benchmarks.train_plain import PlainPolicy
from benchmarks.train_settings import TrainBenchmark
from benchmarks.train_world import World, generated_world, read_world
from kgscout_jax.data.tables import Tables
from kgscout_jax.errors import UserError
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.mlp import MlpConfig
from kgscout_jax.utils.progress import ProgressBar

AIMS = {"torch_networkx": 15, "torch_mlp_dde": 2}
COMPARED = {
    "torch_networkx": "reinforce 1, host",
    "torch_networkx_literal": "reinforce 1, host",
    "torch_mlp_dde": "MLP, cross-entropy",
}
"""Each peer's counterpart: the same estimator or loss, as many questions an update."""
BATCHES = 4
"""Batches that turns go through, one after the other."""


def world_of(settings: TrainBenchmark) -> World:
    """The questions that a run is about."""
    if settings.shards is not None:
        return read_world(settings.shards)
    return generated_world(
        BATCHES * settings.batch_size,
        settings.candidates,
        d=settings.dimension,
        table=max(100 * settings.candidates, 1),
        seed=settings.seed,
    )


def chosen_rows(world: World, settings: TrainBenchmark) -> list[np.ndarray]:
    """Batches of questions that learn, of shards a random draw."""
    size = settings.batch_size
    rows = np.random.default_rng(settings.seed).permutation(world.rows(settings.k))
    if len(rows) < size:
        raise UserError(
            f"--batch-size: found {size}, expected at most {len(rows)}, the questions "
            f"with a topic, an answer and more than {settings.k} candidates"
        )
    batches = min(BATCHES, len(rows) // size)
    return list(rows[: batches * size].reshape(batches, size))


def speed(settings: TrainBenchmark) -> dict[str, Any]:
    """Figures for the last line: ratios, the roofline and what both rest on."""
    world = world_of(settings)
    batches = chosen_rows(world, settings)
    describe(world, np.concatenate(batches))
    ours = contenders(world, settings)
    # --- one race
    turns = {name: itertools.cycle(batches) for name in ours}
    works: dict[str, Callable[[], Any]] = {
        name: lambda one=one, turn=turns[name]: one.train(next(turn))
        for name, one in ours.items()
    }
    counts = dict.fromkeys(works, settings.batch_size)
    questions = torch_questions(world, batches, settings)
    watches: dict[str, Watch] = {}
    for name, peer in peers(world, settings).items():
        is_slow = isinstance(peer, ThesisTrainer)
        count = settings.peer_questions if is_slow else settings.batch_size
        watches[name] = Watch(settings.clock)
        works[name] = turn_of(peer, questions, count, watches[name])
        counts[name] = count
    with ProgressBar(len(works), "compiling", "contenders") as bar:
        for work in works.values():
            work()
            bar.update(1)
    for watch in watches.values():
        watch.spent.clear()
    laps = race(works, repeats=settings.rounds, warm_up=False, clock=settings.clock)
    each = {
        name: float(np.median(lap.laps)) / counts[name] for name, lap in laps.items()
    }
    # --- shares
    repeats = max(settings.rounds // 2, 1)
    shares = {name: watch.shares() for name, watch in watches.items()}
    for name, one in ours.items():
        is_thesis = one.config.policy == "thesis"
        network = (ours["closed form"] if is_thesis else one).run_network
        shares[name] = one.shares(batches[0], settings.clock, repeats, network)
    show_speed(each, shares)
    ratios = {peer: each[peer] / each[name] for peer, name in COMPARED.items()}
    show_ratios(each, ratios)
    # --- work and roofline
    peaks = measured_peaks(settings.clock)
    rooflines = show_roofline(ours, batches[0], peaks, settings)
    folded, plain = network_costs(world, settings, ours["closed form"], batches[0])
    per_second = {name: 1 / value for name, value in each.items()}
    return {
        "ratios": ratios,
        "roofline": rooflines["closed form"],
        "rooflines": rooflines,
        "flops_ratio": plain.flops / folded.flops,
        "bytes_ratio": plain.bytes / folded.bytes,
        "questions_per_second": per_second,
        "source": "generated" if settings.shards is None else settings.shards.name,
    }


def describe(world: World, rows: np.ndarray) -> None:
    """Print what the questions are like."""
    split = world.split
    relations = np.asarray(world.shards.triplets[:, 1])
    unique = [len(np.unique(relations[c[c >= 0]])) for c in split.candidates[rows]]
    answers = (split.answers[rows] >= 0).sum(axis=1)
    edges = np.diff(split.path_edges["directed"].offsets)[rows]
    print(
        f"{len(rows)} questions, means: {split.n_real[rows].mean():.0f} candidates, "
        f"{np.mean(unique):.0f} unique relations, {split.n_nodes[rows].mean():.0f} "
        f"nodes, {answers.mean():.1f} answers, {edges.mean():.1f} hops on shortest "
        f"paths; table of {len(world.shards.triplet_embeddings)} x {world.d}"
    )


def contenders(world: World, settings: TrainBenchmark) -> dict[str, Ours]:
    """Ours: each estimator with the thesis's network, and the other networks."""
    thesis = {"estimator": "reinforce", "baseline": "greedy", "samples": 1}
    many = {"estimator": "reinforce", "samples": settings.samples}
    tables = Tables.of(world.shards)
    kinds: dict[str, dict[str, Any]] = {
        "closed form": {},
        "reinforce 1, host": thesis,
        "reinforce 1, device": thesis | {"reward": "device"},
        "walk, closed form": {"policy": "walk"},
        "MLP, cross-entropy": {"policy": "mlp", "estimator": "bce"},
    }
    if settings.samples > 1:
        name = f"reinforce {settings.samples}"
        kinds |= {f"{name}, host": many, f"{name}, device": many | {"reward": "device"}}
    return {
        name: Ours(world, settings.config(**changes), tables=tables)
        for name, changes in kinds.items()
    }


def peers(
    world: World, settings: TrainBenchmark
) -> dict[str, ThesisTrainer | MlpTrainer]:
    """The thesis with one query row and with all, and the MLP as wide as ours."""
    torch.manual_seed(0)
    config, tables = thesis_config(world, settings), torch_tables(world)
    return {
        "torch_networkx": ThesisTrainer(config, tables, settings.k),
        "torch_networkx_literal": ThesisTrainer(
            config, tables, settings.k, literal=True
        ),
        "torch_mlp_dde": MlpTrainer(world.d, MlpConfig().width, tables),
    }


def thesis_config(world: World, settings: TrainBenchmark) -> DualTowerConfig:
    """The thesis's network for these questions."""
    config = policy_config(world, settings.config())
    assert isinstance(config, DualTowerConfig)
    return config


def torch_questions(
    world: World, batches: list[np.ndarray], settings: TrainBenchmark
) -> list[Question]:
    """The same questions, prepared for the peers."""
    config = thesis_config(world, settings)
    rows = np.concatenate(batches).tolist()
    return [torch_question(world, row, config) for row in rows]


def turn_of(
    peer: ThesisTrainer | MlpTrainer,
    questions: list[Question],
    count: int,
    watch: Watch,
) -> Callable[[], None]:
    """A peer's turn: ``count`` more of the questions."""

    def chunks() -> Iterator[list[Question]]:
        turn = itertools.cycle(questions)
        while True:
            yield list(itertools.islice(turn, count))

    more = chunks()
    return lambda: peer.train(next(more), watch)


def show_speed(each: dict[str, float], shares: dict[str, dict[str, float]]) -> None:
    """Print what every contender does in a second."""
    rows = [
        [
            name,
            f"{1 / value:.3g}",
            seconds(value),
            f"{shares[name]['network']:.1%}",
            f"{shares[name].get('reward', 0):.1%}",
        ]
        for name, value in each.items()
    ]
    header = ["contender", "questions/s", "a question", "network", "reward or loss"]
    show("Training, the median turn", header, rows)
    print(
        "\nShares: of the peers by a watch in the loop; of ours each part timed on its"
        "\nown, against a whole step. Network: forward and backward. The closed form's"
        "\nexpectations are part of its step: rest."
    )


def show_ratios(each: dict[str, float], ratios: dict[str, float]) -> None:
    """Print how many times as fast ours are."""
    rows = [
        [name, f"{value:.3g}", str(AIMS.get(name, "–"))]
        for name, value in (
            *ratios.items(),
            (
                "torch_networkx, reward on the device",
                each["torch_networkx"] / each["reinforce 1, device"],
            ),
        )
    ]
    show("Peer's time over ours", ["peer", "ratio", "aim"], rows)


def show_roofline(
    ours: dict[str, Ours],
    rows: np.ndarray,
    peaks: Peaks,
    settings: TrainBenchmark,
) -> dict[str, float]:
    """Measured time over the roofline of each compiled step; prints both."""
    print(
        f"\nPeaks: matmuls {peaks.flops / 1e9:.3g} GFLOP/s float32, "
        f"{peaks.flops_bfloat16 / 1e9:.3g} bfloat16; memory "
        f"{peaks.bandwidth / 1e9:.3g} GB/s"
    )
    prepared = {name: one.compiled(rows) for name, one in ours.items()}
    works = {name: call for name, (_, call) in prepared.items()}
    laps = race(works, repeats=settings.rounds, clock=settings.clock)
    table, ratios = [], {}
    for name, (cost, _) in prepared.items():
        measured, best = float(np.median(laps[name].laps)), peaks.seconds(cost)
        ratios[name] = measured / best
        q = cost.per(len(rows))
        table.append(
            [
                name,
                f"{q.flops / 1e9:.3f}",
                f"{q.dots / 1e9:.3f}",
                f"{q.bytes / 1e6:.1f}",
                seconds(measured / len(rows)),
                seconds(best / len(rows)),
                f"{ratios[name]:.2f}",
            ]
        )
    header = ["compiled step, a question", "GFLOP", "matmuls as written", "MB"]
    header += ["measured", "roofline", "ratio (aim 2)"]
    show("Roofline: the larger of FLOPs / peak and bytes / bandwidth", header, table)
    print(
        "\nGFLOP and MB: the compiler's count of the optimised program, every kernel's"
        "\noperands and results as if none stayed in a cache. Matmuls as written: by"
        "\nhand, before dead code is dropped. The step without reading and host reward."
    )
    return ratios


def network_costs(
    world: World, settings: TrainBenchmark, ours: Ours, rows: np.ndarray
) -> tuple[Cost, Cost]:
    """The network's forward and backward work, folded and plain; prints both."""
    plain = Ours(world, settings.config(), kind=PlainPolicy, tables=ours.tables)
    few = rows[: min(4, len(rows))]
    costs, table = [], []
    for name, one in (("folded", ours), ("plain", plain)):
        batch = one.reader.read(few, len(few))
        cost = cost_of(one.network, one.state.params, one.tables, batch).per(len(few))
        costs.append(cost)
        row = [cost.flops / 1e9, cost.dots / 1e9, cost.bytes / 1e6]
        table.append([name, *(f"{value:.3g}" for value in row)])
    folded, plain_cost = costs
    ratio = [plain_cost.flops / folded.flops, plain_cost.dots / folded.dots]
    ratio.append(plain_cost.bytes / folded.bytes)
    table.append(["ratio (aim 4)", *(f"{value:.3g}" for value in ratio)])
    header = ["network, both ways, a question", "GFLOP", "matmuls as written", "MB"]
    show("Folded against plain, both in JAX", header, table)
    return folded, plain_cost
