"""The recipes for WebQSP and CWQ, line by line, on a tiny release of RoG's form."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER

from data_prep.__main__ import main as prepare_main
from data_prep.settings import PrepSettings
from kgscout_jax.cli.main import eval_main, train_main
from kgscout_jax.cli.runner import parse
from kgscout_jax.evaluate.settings import RetrievalSettings
from kgscout_jax.learn.config import ThesisTrainConfig, TrainConfig
from kgscout_jax.utils.io import read_json

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
COLOURS = ("red", "blue", "green", "grey")


def row(name: str, number: int) -> dict:
    """A question whose subgraph has more triplets than the thesis selects."""
    topic, answer = f"{name} {number}", f"town {number}"
    triplets = [
        [topic, "place.of_birth", f"street {number}"],
        [f"street {number}", "location.containedby", answer],
    ]
    triplets += [
        [topic, f"paint.{colour}", f"{colour} wall {i}"]
        for colour in COLOURS
        for i in range(26)
    ]
    return {
        "id": f"{name}-{number}",
        "question": f"In which town was {topic} born?",
        "q_entity": [topic],
        "a_entity": [answer],
        "answer": [answer],
        "graph": triplets,
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("release")
    for split, name in (("train", "Ada"), ("validation", "Bob"), ("test", "Cid")):
        rows = [json.dumps(row(name, number)) + "\n" for number in range(2)]
        (folder / f"{split}.jsonl").write_text("".join(rows))
    return folder


def commands(recipe: str, data: Path, out: Path) -> list[list[str]]:
    """The commands of a script with one epoch: words behind ``python``."""
    text = (RECIPES / recipe).read_text("utf-8").replace("\\\n", " ")
    assert re.search(r"^epochs=\$\{3:-\d+\}$", text, re.M)
    values = {"$data": str(data), "$out": str(out), "$epochs": "1"}
    lines = [line for line in text.splitlines() if line.startswith("python ")]
    for name, value in values.items():
        lines = [line.replace(name, value) for line in lines]
    return [shlex.split(line)[1:] for line in lines]


def run(words: list[str]) -> int:
    if words[:2] == ["-m", "data_prep"]:
        return prepare_main([*words[2:], "--workers", "1"])
    main = {"train.py": train_main, "eval.py": eval_main}[words[0]]
    return main(words[1:], words[0])


@NEEDS_ENCODER
@pytest.mark.usefixtures("kgscout_cache")
@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["webqsp.sh", "cwq.sh", "rog.sh"])
def test_a_recipe_runs_as_it_stands(recipe, release, tmp_path):
    script = commands(recipe, release, tmp_path)
    assert [run(words) for words in script] == [0, 0, 0]
    manifest = read_json(tmp_path / "shards" / "manifest.json")
    trained = read_json(tmp_path / "run" / "config.json")["config"]
    is_thesis = recipe != "rog.sh"
    assert trained["preset"] == ("thesis" if is_thesis else None)
    assert trained["reward"] == ("scipy" if is_thesis else "host")
    cuts = {name: manifest["settings"][name] for name in ("cut", "select", "direction")}
    expected = (
        ("ppr", "cosine", "directed") if is_thesis else ("guided", "hybrid", "both")
    )
    assert tuple(cuts.values()) == expected
    if is_thesis:
        report = (tmp_path / "run" / "metrics.jsonl").read_text()
        steps = [json.loads(line) for line in report.splitlines()]
        assert all(
            0 <= step["reward"] <= 10 for step in steps if step["kind"] == "step"
        )
    report = read_json(tmp_path / "results" / "metrics.json")
    assert report["kgscout"]["answer_hit"]["100"]["n"] == 2


@pytest.mark.parametrize("recipe", ["webqsp.sh", "cwq.sh", "rog.sh"])
def test_every_flag_of_a_recipe_is_one_of_its_command(recipe, tmp_path):
    prepare, train, measure = commands(recipe, tmp_path / "data", tmp_path)
    assert prepare[:2] == ["-m", "data_prep"] and train[0] == "train.py"
    assert measure[:2] == ["eval.py", "retrieval"]
    prepared = parse(PrepSettings, prepare[2:], "prep")
    trained = parse(TrainConfig, train[1:], "train")
    measured = parse(RetrievalSettings, measure[2:], "eval")
    assert measured.run == trained.run and trained.epochs == 1
    assert (prepared.out,) == trained.shards and prepared.out == measured.shards
    preset = None if recipe == "rog.sh" else "thesis"
    assert prepared.preset == trained.preset == preset
    assert trained.policy == ("walk" if preset is None else "thesis")
    questions = 3000 if recipe == "cwq.sh" else None
    assert prepared.train_questions == questions


def test_the_page_lists_every_difference_of_the_improved_recipe():
    page = (RECIPES / "README.md").read_text("utf-8")
    (section,) = re.findall(r"^## The thesis's settings.*?(?=^## )", page, re.M | re.S)
    improved = TrainConfig(
        shards=(Path("s"),), run=Path("r"), policy="walk", epochs=8
    ).to_dict()
    thesis = ThesisTrainConfig(shards=(Path("s"),), run=Path("r")).to_dict()
    # What only the closed form, or only REINFORCE, reads says nothing of the other.
    unread = {"preset", "epochs", "reward", "staleness", "normalise_advantage"}
    unread |= {"baseline", "samples"}
    for name, value in improved.items():
        if value != thesis[name] and name not in unread:
            assert f"`--{name.replace('_', '-')}`" in section, name
    for name in ("cut", "select", "direction", "train-questions"):
        assert f"`--{name}`" in section, name
