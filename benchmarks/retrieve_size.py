"""The retrieval benchmark at one size, in a process of its own: every figure of it."""

from __future__ import annotations

import copy
import dataclasses
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Float32

from benchmarks.common import peak_memory
from benchmarks.retrieve_peers import FaissPeer, TorchNetwork, TorchPeer
from benchmarks.retrieve_world import World, bytes_of, make_world
from kgscout_jax import Scout
from kgscout_jax.errors import UserError
from kgscout_jax.graph.embeddings import embeddings_of
from kgscout_jax.inference.question_encoder import QuestionEncoder
from kgscout_jax.policy.registry import first_kernels
from kgscout_jax.text.backends import load_model
from kgscout_jax.text.encoder import SentenceEncoder

BATCH = 32
Figures = dict[str, float]
Work = Callable[[int], object]


class Laps:
    """What was measured of one kind of work, question by question."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, work: Callable[[], object]) -> None:
        """Do ``work`` once and keep its seconds, by the clock and of all threads."""
        cpu, wall = time.process_time(), time.perf_counter()
        work()
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)

    @property
    def figures(self) -> Figures:
        """Milliseconds a question: best, median, 99th percentile; the processor's."""
        return {**percentiles(self.wall), "cpu": float(np.median(self.cpu)) * 1e3}


def percentiles(seconds: Sequence[float]) -> Figures:
    """Milliseconds: the best, the median and the 99th percentile."""
    best, p50, p99 = np.percentile(seconds, [0, 50, 99]) * 1e3
    return {"best": float(best), "p50": float(p50), "p99": float(p99)}


def in_turns(
    works: Mapping[str, Work], questions: Mapping[str, int], rounds: int
) -> dict[str, Figures]:
    """Figures of each of ``works``, which take turns of all their questions."""
    laps = {name: Laps() for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            time.sleep(0.05)  # threads of the one before still look for more to do
            for i in range(questions[name]):
                laps[name].time(lambda i=i, work=work: work(i))
    return {name: each.figures for name, each in laps.items()}


def by_callers(work: Work, callers: int, questions: int) -> Figures:
    """Figures of ``work`` on ``questions`` by so many threads at once."""
    laps: list[float] = []

    def one(i: int) -> None:
        begin = time.perf_counter()
        work(i)
        laps.append(time.perf_counter() - begin)

    with ThreadPoolExecutor(callers) as pool:
        list(pool.map(one, range(callers)))  # threads are started
        laps.clear()
        cpu, wall = time.process_time(), time.perf_counter()
        list(pool.map(one, range(questions)))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {
        **percentiles(laps),
        "cpu": cpu / questions * 1e3,
        "per_second": questions / wall,
    }


class KnownQuestions(QuestionEncoder):
    """Knows the embeddings of some questions already; words are held anyway."""

    def __init__(self, encoder: SentenceEncoder, texts: Sequence[str]) -> None:
        super().__init__(encoder)
        self._known = dict(zip(texts, super().encode(texts), strict=True))

    def encode(self, questions: Sequence[str]) -> Float16[np.ndarray, "b d"]:
        """Embeddings of questions, or of words."""
        if all(text in self._known for text in questions):
            return np.stack([self._known[text] for text in questions])
        return super().encode(questions)


def with_embeddings(scout: Scout, world: World) -> Scout:
    """The same scout, which knows the embeddings of the questions already."""
    knowing: Any = copy.copy(scout)
    known = KnownQuestions(scout.encoder, world.questions)
    knowing._searcher = dataclasses.replace(scout._searcher, questions=known)
    return knowing


def measure_size(
    export: Path,
    size: int,
    *,
    questions: int,
    rounds: int,
    callers: int,
    peers: Sequence[str],
    peer_questions: int,
    triplets: int | None = None,
) -> dict[str, Any]:
    """Every figure at about ``size`` triplets around the topics."""
    import torch

    scout = Scout.from_pretrained(export)
    begin = time.perf_counter()
    world = make_world(size, questions, scout.encoder, triplets)
    graph, texts, topics = world.graph, world.questions, world.topics
    out: dict[str, Any] = {
        "triplets": len(graph.triplets),
        "around": world.around,
        "topics": len(set(topics)),
        "made_s": time.perf_counter() - begin,
        "cores": len(os.sched_getaffinity(0)),
        "torch_threads": torch.get_num_threads(),
    }
    begin = time.perf_counter()
    scout.link(texts[0], graph)
    out["linker_s"] = time.perf_counter() - begin
    from kgscout_jax.inference.inputs import find_candidates

    knowing = with_embeddings(scout, world)
    source = embeddings_of(graph, scout.encoder)
    rows = scout.encode(texts)
    ids = [graph.find_all([name]) for name in topics]
    for i in range(questions):  # every shape is compiled
        scout.retrieve(texts[i], graph, topics=topics[i])
    works: dict[str, Work] = {
        "encoded": lambda i: scout.retrieve(texts[i], graph, topics=topics[i]),
        "not_encoded": lambda i: knowing.retrieve(texts[i], graph, topics=topics[i]),
        "encode": lambda i: scout.encode(texts[i : i + 1]),
        "cut": lambda i: find_candidates(
            graph, source, rows[i : i + 1], ids[i], scout.cut
        ),
        "link": lambda i: scout.link(texts[i], graph),
    }
    exported = scout.exported
    if first_kernels(exported.weights, exported.config) is not None:
        keeping = with_embeddings(
            Scout(exported, scout.encoder, keep_products=True), world
        )
        for i in range(questions):  # products are computed
            keeping.retrieve(texts[i], graph, topics=topics[i])
        works["not_encoded, products kept"] = lambda i: keeping.retrieve(
            texts[i], graph, topics=topics[i]
        )
    counts = dict.fromkeys(works, questions)
    figures: dict[str, Any] = in_turns(works, counts, rounds)
    many = (texts * BATCH)[:BATCH], (topics * BATCH)[:BATCH]
    batches = in_turns(
        {"": lambda _: scout.retrieve_many(many[0], graph, topics=many[1])},
        {"": 4},
        rounds,
    )
    figures[f"batch_{BATCH}"] = {k: v / BATCH for k, v in batches[""].items()}
    if callers > 1:
        # Work comes in the order of the questions, which share some topics.
        again = rounds * questions
        figures[f"callers_{callers}"] = by_callers(
            lambda i: works["encoded"](i % questions), callers, again
        )
        joint = Scout(exported, scout.encoder, joint_encoding=True)

        def jointly(i: int) -> object:
            at = i % questions
            return joint.retrieve(texts[at], graph, topics=topics[at])

        by_callers(jointly, callers, questions)  # every shape is compiled
        figures[f"callers_{callers}, joint encoding"] = by_callers(
            jointly, callers, again
        )
    out["memory"] = {"peak": peak_memory(), **bytes_of(graph, scout.encoder)}
    if peers:
        out["agreement"], more = peer_figures(
            scout, world, rows, peers, min(peer_questions, questions), rounds
        )
        figures |= more
    return {**out, "ms": figures}


def peer_figures(
    scout: Scout,
    world: World,
    rows: Float16[np.ndarray, "b d"],
    peers: Sequence[str],
    questions: int,
    rounds: int,
) -> tuple[float, dict[str, Figures]]:
    """(how far the peer's logits are from ours, figures of each of ``peers``)."""
    graph, texts, topics = world.graph, world.questions, world.topics
    table: Any = embeddings_of(graph, scout.encoder)
    wide = rows.astype(np.float32)
    model = load_model(scout.encoder.folder, scout.encoder.name)

    def encode(i: int) -> Float32[np.ndarray, "d"]:
        return model.encode([texts[i]], show_progress_bar=False)[0].astype(np.float32)

    works: dict[str, Work] = {}
    if "torch_networkx" in peers:
        if (kind := scout.exported.config.architecture) != "thesis":
            raise UserError(
                f"--export: found a policy of kind {kind}, but torch_networkx is the "
                "thesis's network; give --peers faiss_cosine"
            )
        plain = TorchPeer(scout.exported, graph, table.triplets, table.relations)
        works["torch_networkx"] = lambda i: plain.retrieve(encode(i), topics[i])
        works["torch_networkx_not_encoded"] = lambda i: plain.retrieve(
            wide[i], topics[i]
        )
    if "faiss_cosine" in peers:
        near = FaissPeer(table.triplets)
        works["faiss_cosine"] = lambda i: near.retrieve(encode(i))
        works["faiss_cosine_not_encoded"] = lambda i: near.retrieve(wide[i])
    if questions == 1:  # a run of minutes is done once, and not to warm up
        works = {name: work for name, work in works.items() if name in peers}
        rounds = 1
        encode(0)
    else:
        for work in works.values():
            work(0)
    figures = in_turns(works, dict.fromkeys(works, questions), rounds)
    if "torch_networkx" not in peers:
        return 0.0, figures
    return network_difference(scout, world, rows), figures


def network_difference(
    scout: Scout, world: World, rows: Float16[np.ndarray, "b d"]
) -> float:
    """The largest difference of the peer's logits from ours, on our candidates.

    Relative to the largest logit.
    """
    from kgscout_jax.inference.inputs import QuestionVectors, find_candidates, inputs_of

    graph, table = world.graph, embeddings_of(world.graph, scout.encoder)
    network, worst = TorchNetwork(scout.exported), 0.0
    for i in range(min(3, len(rows))):
        ids = graph.find_all([world.topics[i]])
        found = find_candidates(graph, table, rows[i : i + 1], ids, scout.cut)
        if found is None:
            continue
        relations, question = [table.relations], QuestionVectors(whole=rows[i])
        inputs = inputs_of([question], [found], relations, scout.cut.candidates)
        ours = np.asarray(scout.exported.logits(inputs))[0, : len(found.ids)]
        theirs = network.logits(
            rows[i].astype(np.float32),
            found.triplets.astype(np.float32),
            table.relations_float32[found.relations[found.relation_index]],
            found.ppr,
        )
        worst = max(worst, float(np.abs(ours - theirs).max() / np.abs(ours).max()))
    return worst
