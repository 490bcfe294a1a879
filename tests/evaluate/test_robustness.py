"""Retrieval on graphs with mistakes: the perturbed questions, the report, resuming."""

import json

import numpy as np
import pytest
from prep_factory import NEEDS_ENCODER
from scout_factory import shared_world

from kgscout_jax.cli.main import main
from kgscout_jax.data.shards import Shards
from kgscout_jax.evaluate.robustness.question_graphs import QuestionGraphs
from kgscout_jax.perturb.edges import METHODS
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize

pytestmark = NEEDS_ENCODER


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("walk")


def triplets_of(shards: Shards, split, row):
    """Named triplets of a question's candidates, with their local nodes and rows."""
    ids = split.candidates[row][split.candidates[row] >= 0]
    names, relations = shards.entities, shards.relations
    return [
        ((names[h], relations[r], names[t]), tuple(nodes), i)
        for (h, r, t), nodes, i in zip(
            shards.triplets[ids].tolist(),
            split.nodes[row, : len(ids)].tolist(),
            ids,
            strict=True,
        )
    ]


@pytest.mark.extended
def test_questions_see_the_same_mistakes(world):
    shards, split = world.shards, world.shards.split("train")
    rows = np.arange(1, len(split))
    graphs = QuestionGraphs.of(shards, split, rows)
    cache = EmbeddingCache(SentenceEncoder(shards.encoder["name"]))
    scorer = graphs.scorer(cache)
    for i, row in enumerate(rows):
        before = [named for named, _, _ in triplets_of(shards, split, row)]
        own = [n for n, _, _ in triplets_of(graphs.shards, graphs.split, i)]
        assert before == own
    for method in METHODS:
        compact, remains = graphs.perturbed_triplets(method, 0.5, 0, scorer)
        other, questions = graphs.with_mistakes(compact, remains, cache)
        mistakes = 0
        for i in range(len(rows)):
            old = {j: t for t, _, j in triplets_of(graphs.shards, graphs.split, i)}
            found = triplets_of(other, questions, i)
            assert {j for _, _, j in found} == {j for j in old if remains[j]}
            nodes = {}
            for (head, _, tail), (h, t), _ in found:
                assert nodes.setdefault(h, head) == head
                assert nodes.setdefault(t, tail) == tail
            assert len(set(nodes.values())) == len(nodes)
            assert max(nodes, default=-1) < questions.n_nodes[i]
            assert len(questions.node_ppr[i]) == questions.n_nodes[i]
            for triplet, _, j in found:
                if triplet != old[j]:
                    mistakes += 1
                    expected = cache.embed([linearize(triplet)])[0]
                    np.testing.assert_array_equal(other.triplet_embeddings[j], expected)
        assert mistakes or method == "ed"


@pytest.mark.slow
def test_the_report_has_every_point_and_resumes(world, tmp_path, capsys):
    out = tmp_path / "robustness"
    words = ["eval", "robustness", "--run", str(world.policy), "--split", "dev"]
    words += ["--shards", str(world.shards.path), "--out", str(out), "--k", "4"]
    words += ["--retrievers", "kgscout", "cosine", "prize_paths"]
    words += ["--also", f"same={world.policy}"]
    words += ["--methods", "er", "ed", "--levels", "0", "1"]
    assert main(words) == 0
    report = json.loads((out / "metrics.json").read_text())
    figures, against = report["figures"], report["against"]
    assert report["reference"] == "kgscout"
    for metric, rows in against.items():
        assert list(rows) == ["cosine", "prize_paths", "same"]
        assert figures[metric]["same"] == figures[metric]["kgscout"]
        same = rows["same"]["er"]["0"]
        assert (same["difference"], same["low"], same["high"]) == (0, 0, 0)
        value, other = (figures[metric][n]["er"]["0"] for n in ("cosine", "kgscout"))
        expected = value["value"] - other["value"]
        assert rows["cosine"]["er"]["0"]["difference"] == pytest.approx(expected)
    for metric, rows in report["figures"].items():
        for name, methods in rows.items():
            for method, levels in methods.items():
                assert list(levels) == ["0", "1"]
                pair = report["paired"][metric][name][method]
                assert pair["0"]["difference"] in (0, None)
                if method == "ed":
                    assert not levels["1"]["value"]
            assert methods["er"]["0"] == methods["ed"]["0"]
    assert report["figures"]["answer_hit"]["kgscout"]["er"]["0"]["value"] > 0
    assert "hits@1" in report["figures"]
    assert report["similarity"]["sd2"]["er"]["0"] == 1
    assert report["similarity"]["ats"]["ed"]["1"] == 0
    for name in ("robustness.png", "similarity.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")
    before = {file: file.stat().st_mtime_ns for file in out.rglob("cells/*/*.json")}
    removed = sorted(before)[0]
    removed.unlink()
    assert main(words) == 0
    after = {file: file.stat().st_mtime_ns for file in out.rglob("cells/*/*.json")}
    assert {f for f in after if after[f] != before[f]} <= {
        removed,
        *(f for f in after if "similarity" in f.name),
    }
    assert json.loads((out / "metrics.json").read_text()) == report
    assert "difference" in capsys.readouterr().out
    assert main([*words[:-1], "2"]) == 2
    assert main([*words, "--also", "cosine=x"]) == 2
    assert main([*words, "--reference", "bm25"]) == 2
    told = capsys.readouterr().err
    assert "--also: the name 'cosine' is taken" in told
    assert "--reference: found 'bm25', expected one of kgscout, cosine" in told
