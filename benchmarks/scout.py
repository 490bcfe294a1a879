"""One question at a time: how long ``Scout.retrieve`` takes, and where.

    python benchmarks/scout.py [--questions 30] [--triplets 5000]

A generated graph with power-law degrees, questions whose topics have about
``--triplets`` triplets within two hops; the topics are given, the graph is embedded
(random rows: the time does not depend on them). The policy has its default size and
random parameters, the encoder is the real one. Told: the median of the clock's and of
the processor's milliseconds, whole and by step; the first call after loading; and the
same questions in batches of 32. On a busy machine the two clocks differ. The second run
finds its compiled functions in the cache. Ends with one JSON line.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from common import last_line, show

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.graph.embeddings import Table, embeddings_of, names_of
from kgscout_jax.graph.subgraph import balls
from kgscout_jax.text.encoder import SentenceEncoder

ENTITIES, RELATIONS, TRIPLETS = 20_000, 300, 60_000
D = 384


def export(folder: Path, encoder: SentenceEncoder) -> Path:
    """An exported policy of the default size, its parameters as training starts."""
    from flax import nnx

    from kgscout_jax.export import export_policy
    from kgscout_jax.learn.runs import TrainedPolicy
    from kgscout_jax.policy.network import PolicyConfig, ScoutPolicy

    config = PolicyConfig(dimension=D, ppr_mean=(-8, -8), ppr_std=(2, 2))
    settings = {"hops": 2, "max_triplets": 2000, "candidates": 1000}
    settings |= {"direction": "both", "cut": "guided", "select": "hybrid"}
    shards = {"source": "kg", "fingerprint": "none", "settings": settings}
    about = {"config": {}, "policy": config.to_dict(), "shards": shards}
    about["encoder"] = encoder.identity.to_dict()
    policy = ScoutPolicy(config, rngs=nnx.Rngs(0))
    return export_policy(TrainedPolicy(policy, 0, about), folder / "policy")


def make_graph(scout: Scout, rng: np.random.Generator) -> KnowledgeGraph:
    """A graph with power-law degrees and random embeddings."""
    heads = np.minimum(rng.pareto(1.0, TRIPLETS) * 20, ENTITIES - 1).astype(int)
    tails = rng.integers(0, ENTITIES, TRIPLETS)
    kinds = np.minimum(rng.pareto(1.0, TRIPLETS) * 5, RELATIONS - 1).astype(int)
    graph = KnowledgeGraph.from_triplets(
        (f"entity {h}", f"relation.kind{r}", f"entity {t}")
        for h, r, t in zip(heads, kinds, tails, strict=True)
    )

    def units(count: int) -> np.ndarray:
        rows = rng.normal(size=(count, D)).astype(np.float32)
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)

    digest = scout.encoder.identity.digest
    triplets, relations = units(len(graph.triplets)), units(len(graph.relations))
    table = Table(graph.triplets, triplets, relations, names_of(graph))
    graph.kept["embeddings", digest] = table
    return graph


def topics_of(
    graph: KnowledgeGraph, count: int, size: int, rng: np.random.Generator
) -> tuple[list[str], float]:
    """Names of entities with about ``size`` triplets within two hops; the mean size."""
    names, sizes = [], []
    for entity in rng.permutation(len(graph.entities)):
        ball = len(balls(graph, [np.array([entity], np.int32)], 2))
        if 0.8 * size <= ball <= 1.25 * size:
            names.append(graph.entities[entity])
            sizes.append(ball)
            if len(names) == count:
                break
    return names, float(np.mean(sizes))


def measured(work: Callable[[int], object], count: int) -> tuple[float, float]:
    """Median milliseconds of the clock and of the processor."""
    laps = []
    for i in range(count):
        wall, cpu = time.perf_counter(), time.process_time()
        work(i)
        laps.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = np.median(laps, axis=0) * 1e3
    return float(wall), float(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--questions", type=int, default=30)
    parser.add_argument("--triplets", type=int, default=5000)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    encoder = SentenceEncoder()
    with tempfile.TemporaryDirectory() as folder:
        path = export(Path(folder), encoder)
        start = time.perf_counter()
        scout = Scout.from_pretrained(path, encoder=encoder)
        load = time.perf_counter() - start
        graph = make_graph(scout, rng)
        topics, size = topics_of(graph, args.questions, args.triplets, rng)
        texts = [f"which thing number {i} belongs to it" for i in range(len(topics))]
        start = time.perf_counter()
        scout.retrieve(texts[0], graph, topics=topics[0])
        first = time.perf_counter() - start
        source = embeddings_of(graph, scout.encoder)
        embeddings = scout.encode(texts)
        ids = [graph.find_all([name]) for name in topics]
        steps = {
            "whole": lambda i: scout.retrieve(texts[i], graph, topics=topics[i]),
            "encode": lambda i: scout.encode(texts[i : i + 1]),
            "cut and choose": lambda i: scout.candidates(
                graph, source, embeddings[i : i + 1], ids[i]
            ),
        }
        for i in range(len(topics)):  # every bucket is compiled
            steps["whole"](i)
        figures = {name: measured(work, len(topics)) for name, work in steps.items()}
        many = (texts * 32)[:32], (topics * 32)[:32]
        scout.retrieve_many(many[0], graph, topics=many[1])
        wall, cpu = measured(
            lambda _: scout.retrieve_many(many[0], graph, topics=many[1]), 5
        )
        figures["whole, in batches of 32"] = wall / 32, cpu / 32
    rows = [[name, f"{w:.1f}", f"{c:.1f}"] for name, (w, c) in figures.items()]
    title = f"ms a question, median of {len(topics)}; {size:.0f} triplets in two hops"
    show(title, ["step", "clock", "processor"], rows)
    print(f"\nload {load:.2f} s, first call {first:.2f} s")
    last_line(
        "scout",
        triplets=size,
        load_s=load,
        first_call_s=first,
        wall_ms={name: w for name, (w, _) in figures.items()},
        cpu_ms={name: c for name, (_, c) in figures.items()},
    )


if __name__ == "__main__":
    main()
