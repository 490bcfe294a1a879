"""ask --pseudo and the rows of PG&AKV in eval answers, with a scripted model."""

from __future__ import annotations

import contextlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER
from reason.unruly_server import Handler, serving
from scout_factory import lines, shared_world

from kgscout_jax.cli.main import eval_main, main
from kgscout_jax.inference.scout import Scout
from kgscout_jax.pseudo.prompts import CYPHER, EDIT, TRIPLETS

sys.path.append(str(Path(__file__).resolve().parents[2] / "recipes"))
import pgakv_page

if find_spec("kglite") is None or find_spec("openai") is None:
    pytest.skip("the extras pgakv and llm are not installed", allow_module_level=True)
pytestmark = NEEDS_ENCODER

BROKEN = 'MATCH (a {name: "Siena"}) CREATE (a)-[:BORN_IN]->(b {name: "Oslo"})'
DRAFT = 'CREATE (a:Town {name: "Siena"})-[:BORN_IN]->(b:Town {name: "Atlantis"})'


class Guesser(Handler):
    """Writes a draft that runs once it is repaired, and corrects it by fact 1."""

    def reply(self, body):
        value = super().reply(body)
        messages = [message["content"] for message in body["messages"]]
        system, said = messages[0], messages[-1]
        if system == CYPHER:
            text = DRAFT if said.startswith("This does not run: MATCH") else BROKEN
        elif system == TRIPLETS:
            text = "Siena | born in | Atlantis"
        elif system == EDIT:
            text = "P1: CORRECT F1\nADD: none"
        elif said.startswith("Facts:"):
            fact = said.splitlines()[1].removeprefix("- ").split(", ")
            text = json.dumps({"ans": [fact[2]]})
        else:
            text = '{"ans": ["answer not available"]}'
        value["choices"][0]["message"]["content"] = text
        return value


@contextlib.contextmanager
def guesser():
    with serving() as server:
        server.RequestHandlerClass = Guesser
        yield server


@pytest.fixture(scope="module")
def world(kgscout_cache):
    return shared_world("walk")


@pytest.fixture
def ask(world, monkeypatch, capsys):
    def call(url, *more, kg=("--kg", world.file)):
        monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: world.scout)
        args = [
            "ask",
            world.policy,
            *kg,
            "In which town was Siena born?",
        ]
        code = main([*map(str, args), "--llm", url, "--model", "m", *more])
        return code, capsys.readouterr()

    return call


@pytest.mark.parametrize(
    "verifier", [pytest.param("vector", marks=pytest.mark.extended), "kgscout"]
)
def test_a_guess_is_corrected_and_the_answer_follows(ask, verifier):
    with guesser() as server:
        options = ("--pseudo", "cypher", "--verifier", verifier, "--threshold", "0.3")
        code, told = ask(server.url, *options, "--json")
        found = json.loads(told.out)["pseudo"]
        assert len(server.bodies) == found["calls"] == 4
        assert found["tokens"] == 4 * 12
        text = ask(server.url, *options, "--explain")[1].out
    assert code == 0
    draft = found["draft"]
    assert (draft["outcome"], draft["causes"]) == ("repaired", ["clause"])
    assert draft["replies"] == [BROKEN, DRAFT]
    (verdict,) = found["verdicts"]
    assert verdict["triplet"] == ["Siena", "born_in", "Atlantis"]
    assert verdict["verdict"] == "corrected"
    assert verdict["facts"] == found["graph"] == found["compared_with"][:1]
    assert found["answers"] == [found["graph"][0]["triplet"][2]]
    assert "    corrected   Siena | born_in | Atlantis\n" in text
    assert "the model writes:\n" in text and f"\n{DRAFT}\n" in text
    assert "pseudo-graph: repaired, 4 requests, 48 tokens" in text


@pytest.mark.extended
def test_facts_of_several_graphs_name_theirs(ask, world, tmp_path):
    other = tmp_path / "other.tsv"
    other.write_text("Siena\tborn.in\tKiel\nKiel\tlies in\tHolstein\n")
    graphs = ("--graphs", f"one={world.file}", f"two={other}")
    with guesser() as server:
        options = ("--pseudo", "triplets", "--threshold", "0.2", "--json")
        code, told = ask(server.url, *options, kg=graphs)
    facts = json.loads(told.out)["pseudo"]["compared_with"]
    sources = {tuple(fact["triplet"]): fact["sources"] for fact in facts}
    assert code == 0 and sources["Siena", "born.in", "Kiel"] == ["two"]
    assert ["one"] in sources.values()


def test_without_facts_nothing_is_answered(ask):
    with guesser() as server:
        code, told = ask(
            server.url, "--pseudo", "triplets", "--threshold", "1", "--json"
        )
    found = json.loads(told.out)["pseudo"]
    assert code == 0 and len(server.bodies) == 1
    assert found["answers"] == found["graph"] == []
    assert [one["verdict"] for one in found["verdicts"]] == ["unsupported"]


def test_a_model_that_is_gone_is_an_error(ask):
    with serving(["400"] * 9) as server:
        code, told = ask(server.url, "--pseudo", "triplets")
    assert code == 1 and "no answer: HTTP 400" in told.out


def test_refused(ask):
    code, told = ask("http://127.0.0.1:9/v1", "--pseudo", "cypher", "--threshold", "2")
    assert code == 2 and "--threshold: 2.0, expected a cosine" in told.err
    both = ("--pseudo", "cypher", "--explore", "vector")
    code, told = ask("http://127.0.0.1:9/v1", *both)
    assert code == 2 and "expected one of the two" in told.err


@pytest.mark.extended
def test_the_ablation_of_a_split(world, tmp_path, capsys):
    every = ("none", "pseudo", "verified", "verified_scout", "scout_pseudo")

    def evaluate(server, *more, rows=every):
        args = [
            "answers", "--shards", world.shards.path, "--run", world.policy,
            "--split", "dev", "--out", tmp_path, "--llm", server.url, "--model", "m",
            "--retrievers", *rows, "--k", 5, "--retries", 0, *more,
        ]  # fmt: skip
        return eval_main([*map(str, args)], "eval.py")

    options = ("--threshold", "0.3", "0.99", "--entities", "10", "1")
    with guesser() as server:
        assert evaluate(server, *options) == 0
        asked = len(server.bodies)
    report = json.loads((tmp_path / "metrics.json").read_text())
    rows = [
        "none", "pseudo", "verified", "verified, threshold 0.99",
        "verified, 1 entities", "verified_scout", "scout_pseudo",
    ]  # fmt: skip
    assert report["retrievers"] == rows
    found, n = report["pseudo"], report["n"]["5"]
    assert found["outcomes"]["repaired"] == n == found["questions"]
    assert found["causes"] == {"clause": n} and not found["causes_after_repair"]
    of = found["rows"]
    # pseudo-graph, repair, answer; an edit more, where there is what to compare with
    assert of["pseudo"]["per_question"]["calls"] == 3
    assert of["verified"]["per_question"]["calls"] == 4
    assert of["verified"]["verdicts"]["corrected"] == n
    assert of["verified, threshold 0.99"]["verdicts"]["unsupported"] == n
    assert of["verified, threshold 0.99"]["per_question"]["calls"] == 2
    assert of["verified_scout"]["facts"] == 1
    holds = [point["facts"] for point in found["sweep"]["threshold"]]
    assert holds == sorted(holds, reverse=True)
    (pseudo, verified) = (
        lines(tmp_path / f"questions-{row}-k5.jsonl") for row in ("pseudo", "verified")
    )
    assert all(one["answers"] == ["Atlantis"] for one in pseudo)
    graphs = [x for x in lines(tmp_path / "pseudo.jsonl") if x["row"] == "verified"]
    for one, graph in zip(verified, graphs, strict=True):
        assert [t[:3] for t in one["triplets"]] == [
            fact["triplet"] for fact in graph["verdicts"][0]["facts"]
        ]
    table = (tmp_path / "table.md").read_text()
    assert "ran after the repair 5 (100.0%)" in table and "## Pseudo-graphs" in table
    assert (tmp_path / "pruning.png").read_bytes()[:4] == b"\x89PNG"
    figures = pgakv_page.figures_of(report)
    page = pgakv_page.ablation(figures).splitlines()
    cells = {line.split("|")[1].strip(): line.split("|")[-3:-1] for line in page}
    # the guess costs two requests, and one more reads KG-Scout's triplets
    assert [float(cells[row][0]) for row in ("none", "verified", "scout_pseudo")] == [
        1, 4, 3,
    ]  # fmt: skip
    assert float(cells["verified"][1]) == 4 * 12
    found = {"webqsp_cypher": figures}
    assert " 100% |" in pgakv_page.pseudo_graphs(found)
    assert f" {n} |" in pgakv_page.verdicts(found)  # corrected: all of them
    assert len(pgakv_page.pruning(found, "threshold").splitlines()) == 2 + len(holds)
    capsys.readouterr()
    with guesser() as server:
        assert evaluate(server, *options, rows=("none", "pseudo", "verified")) == 0
        assert not server.bodies and asked  # all of it is in the cache
        assert evaluate(server, "--threshold", "0.3", "0.3") == 2
        assert (
            "--threshold: 0.3 0.3, expected each value once" in capsys.readouterr().err
        )


@pytest.mark.extended
def test_other_graphs_can_be_the_source(world, tmp_path):
    (tmp_path / "other.tsv").write_text("Siena\tplace of birth\tKiel\n")
    args = [
        "answers", "--shards", world.shards.path, "--split", "dev", "--k", 5, "--out",
        tmp_path / "out", "--model", "m", "--retrievers", "verified", "--pseudo",
        "triplets", "--threshold", 0.2, "--sources", tmp_path / "other.tsv", world.file,
    ]  # fmt: skip
    with guesser() as server:
        assert eval_main([*map(str, args), "--llm", server.url], "eval.py") == 0
    for line in lines(tmp_path / "out/pseudo.jsonl"):
        sources = {name for fact in line["compared_with"] for name in fact["sources"]}
        assert sources == {"other", "graph"}
