"""The sections of the data benchmark: each times our side and its peer."""

from __future__ import annotations

import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import race, seconds, timed
from benchmarks.data_sample import MAX_TRIPLETS, DataBenchmark, Result, Sample
from kgscout_jax.errors import UserError

N_CANDIDATES, DIMENSION = 1000, 384
CHUNK = 32
"""Questions cut at once, as in preparation."""


def ppr(sample: Sample, settings: DataBenchmark) -> Result:
    """PageRank of each question on its own subgraph."""
    from benchmarks.peers import multigraph, rank_nodes
    from kgscout_jax.graph.walk.pagerank import pagerank

    cut = sample.cut
    start = time.perf_counter()
    n = len(sample.graph.entities)
    blocks = cut.blocks.astype(np.int64)
    ends = sample.graph.triplets[cut.triplet_ids][:, [0, 2]] + (blocks * n)[:, None]
    topic_keys = [i * n + topics for i, topics in enumerate(sample.topics)]
    restart = np.concatenate(topic_keys).astype(np.int64)
    nodes = np.union1d(ends, restart)
    heads, tails = np.searchsorted(nodes, ends).T
    at = np.searchsorted(nodes, restart)
    our_build = time.perf_counter() - start

    start = time.perf_counter()
    bounds = cut.offsets
    graphs = [
        multigraph([sample.triplets[i] for i in cut.triplet_ids[low:high]], both=True)
        for low, high in itertools.pairwise(bounds)
    ]
    their_build = time.perf_counter() - start
    topics = [row.tolist() for row in sample.topics]
    results: dict[str, Any] = {}

    def ours() -> None:
        results["ours"] = pagerank(
            len(nodes), heads, tails, nodes // n, at, direction="both"
        )

    def theirs() -> None:
        results["theirs"] = [
            rank_nodes(graph, own) for graph, own in zip(graphs, topics, strict=True)
        ]

    laps = race(
        {"ours": ours, "theirs": theirs}, repeats=settings.repeats, clock=settings.clock
    )
    rank = np.zeros(len(nodes))
    for i, ranks in enumerate(results["theirs"]):
        keys = np.fromiter(ranks, np.int64, len(ranks)) + i * n
        rank[np.searchsorted(nodes, keys)] = list(ranks.values())
    size = np.bincount(nodes // n, minlength=len(topics))
    distance = np.bincount(nodes // n, np.abs(rank - results["ours"])) / size
    count = len(topics)
    return Result(
        peer="networkx.pagerank",
        ours=laps["ours"].best / count,
        theirs=laps["theirs"].best / count,
        notes=(
            ("triplets per subgraph", f"{len(cut.triplet_ids) / count:.0f}"),
            ("L1 between both, per node, largest", f"{distance.max():.1e}"),
            ("building: nodes numbered, ours", seconds(our_build / count)),
            ("building: nx.MultiDiGraph, peer", seconds(their_build / count)),
        ),
    )


def candidates(sample: Sample, settings: DataBenchmark) -> Result:
    """Ball, PageRank, cut and the nearest triplets by cosine, of each question."""
    from benchmarks.peers import candidates as plain_candidates
    from benchmarks.peers import multigraph
    from data_prep.question_chunks import cosines
    from kgscout_jax.graph.walk.subgraph import cut_subgraphs
    from kgscout_jax.retrieve.candidates import select_rows

    graph, topics = sample.graph, sample.topics
    start = time.perf_counter()
    _ = graph.by_head, graph.by_tail
    our_build = time.perf_counter() - start
    start = time.perf_counter()
    whole = multigraph(sample.triplets)
    their_build = time.perf_counter() - start

    rng = np.random.default_rng(settings.seed)
    table_ids = np.unique(sample.cut.triplet_ids)
    table = _unit(rng.standard_normal((len(table_ids), DIMENSION)))
    question_rows = _unit(rng.standard_normal((len(topics), DIMENSION)))
    # The peer's cut may keep another triplet where PageRank all but ties.
    vectors = [question_rows[0].astype(np.float32)] * len(graph.triplets)
    for i, vector in zip(table_ids.tolist(), table.astype(np.float32), strict=True):
        vectors[i] = vector
    results: dict[str, list[list[int]]] = {}

    def ours() -> None:
        rows: list[list[int]] = []
        for low in range(0, len(topics), CHUNK):
            part = slice(low, low + CHUNK)
            cut = cut_subgraphs(
                graph, topics[part], hops=sample.hops, max_triplets=MAX_TRIPLETS
            )
            arrays = {"blocks": cut.blocks, "triplet_ids": cut.triplet_ids}
            cosine = cosines(arrays, question_rows[part], table_ids, table)
            blocks, ids = cut.blocks, cut.triplet_ids
            selected = select_rows(
                blocks, ids, cosine, cut.scores,
                candidates=N_CANDIDATES, select="cosine",
            )  # fmt: skip
            bounds = np.searchsorted(blocks[selected], np.arange(cut.n_blocks + 1))
            rows += [row.tolist() for row in np.split(ids[selected], bounds[1:-1])]
        results["ours"] = rows

    def theirs() -> None:
        results["theirs"] = [
            plain_candidates(
                whole,
                sample.triplets,
                own.tolist(),
                question,
                vectors,
                hops=sample.hops,
                max_triplets=MAX_TRIPLETS,
                n_candidates=N_CANDIDATES,
            )
            for own, question in zip(
                topics, question_rows.astype(np.float32), strict=True
            )
        ]

    # The peer takes a minute on deep balls: its first run counts.
    laps = race({"ours": ours}, repeats=settings.repeats, clock=settings.clock)
    laps |= race({"theirs": theirs}, repeats=1, warm_up=False, clock=settings.clock)
    same = [
        len(set(a) & set(b)) / max(len(a), len(b), 1)
        for a, b in zip(results["ours"], results["theirs"], strict=True)
    ]
    count = len(topics)
    balls = sample.cut.sizes_before_cut
    return Result(
        peer="NetworkX and Python",
        ours=laps["ours"].best / count,
        theirs=laps["theirs"].best / count,
        notes=(
            (
                f"triplets per ball of {sample.hops} hops, mean, largest",
                f"{balls.mean():.0f}, {balls.max()}",
            ),
            ("candidates that both chose", f"{np.mean(same):.2%}"),
            ("building: index by head and tail, ours, once", seconds(our_build)),
            ("building: nx.MultiDiGraph, peer, once", seconds(their_build)),
        ),
    )


def _unit(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1 as they are stored."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16)


def encoding(sample: Sample, settings: DataBenchmark) -> Result:
    """Embedding the strings of each question's subgraph, repetitions and all.

    Whole triplets are drawn, with all their occurrences: strings repeat in the sample
    as often as in the subgraphs.
    """
    from kgscout_jax.text.backends import load_model
    from kgscout_jax.text.cache import EmbeddingCache
    from kgscout_jax.text.encoder import SentenceEncoder
    from kgscout_jax.text.linearize import linearize

    ids = sample.cut.triplet_ids
    distinct = np.unique(ids)
    share = min(1.0, settings.strings / len(ids))
    rng = np.random.default_rng(settings.seed)
    sample_mask = np.isin(ids, distinct[rng.random(len(distinct)) < share])
    flat = [linearize(sample.graph.triplet(int(i))) for i in ids[sample_mask]]
    encoder = SentenceEncoder(settings.encoder, backend=settings.encoder_backend)
    plain = load_model(encoder.folder, settings.encoder)
    warm = flat[:64]
    encoder.encode(warm)

    def theirs(what: Sequence[str]) -> None:
        plain.encode(list(what), show_progress_bar=False)

    theirs(warm)

    def once(work: Callable[[], None]) -> float:
        return timed(work, repeats=1, warm_up=False, clock=settings.clock).best

    with tempfile.TemporaryDirectory() as folder:
        # As in preparation: all strings at once, to a cache that starts empty, on disk.
        cache = EmbeddingCache(encoder, Path(folder))

        def ours() -> None:
            cache.embed(flat)

        first, repeated = (once(ours) for _ in range(2))
    peer = once(lambda: theirs(flat))
    probe = list(dict.fromkeys(flat))[:256]
    count = len(sample.topics)
    return Result(
        peer="SentenceTransformer.encode",
        ours=first / count,
        theirs=peer / count,
        notes=(
            (
                "strings, distinct",
                f"{len(flat)}, {len(set(flat))}: each distinct one is embedded once",
            ),
            (
                "in all subgraphs of these questions",
                f"{len(ids)}, {len(distinct)}, {len(ids) / len(distinct):.2f} each",
            ),
            ("a second run, all in the cache", seconds(repeated / count)),
            *_backends(settings, plain, theirs, probe),
        ),
    )


def _backends(
    settings: DataBenchmark,
    plain: Any,
    theirs: Callable[[Sequence[str]], None],
    probe: list[str],
) -> list[tuple[str, str]]:
    """Strings per second of each backend that is installed, without repetition."""
    from kgscout_jax.text.backends import BACKENDS
    from kgscout_jax.text.encoder import SentenceEncoder

    works: dict[str, Callable[[], Any]] = {
        "SentenceTransformer.encode": lambda: theirs(probe)
    }
    for name in BACKENDS:
        try:
            encoder = SentenceEncoder(settings.encoder, backend=name)
        except UserError as error:
            print(f"left out: {error}", file=sys.stderr)
            continue
        works[f"backend {name}"] = lambda e=encoder: e.encode(probe)
    laps = race(works, repeats=settings.repeats, clock=settings.clock)
    base = laps["SentenceTransformer.encode"].best
    return [
        (
            f"no repetition: {name}",
            f"{len(probe) / lap.best:.0f} strings/s, {base / lap.best:.2f} times",
        )
        for name, lap in laps.items()
    ]
