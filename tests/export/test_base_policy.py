"""The policy that comes with the package: whole, small, the one of its card."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path

from prep_factory import NEEDS_ENCODER

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.export import load_exported
from kgscout_jax.export.bundled import FOLDER, NAME
from kgscout_jax.export.format import CARD, MODEL

ROOT = Path(__file__).resolve().parents[2]


def test_its_weights_are_those_of_its_card():
    digest = hashlib.sha256((FOLDER / MODEL).read_bytes()).hexdigest()
    card = (FOLDER / CARD).read_text("utf-8")
    assert re.findall(r"sha256: `(\w+)`", card) == [digest]
    exported = load_exported(NAME)  # compares the checksums and the golden outputs
    assert exported.metadata["files"][MODEL]["sha256"] == digest
    assert exported.has_answers
    names = [each["name"] for each in exported.metadata["training"]["sets"]]
    for name in {re.sub("^worded-.*", "worded", name) for name in names}:
        assert f"| {name} |" in card


def test_it_is_in_the_package_and_at_most_a_megabyte():
    files = sorted(FOLDER.iterdir())
    assert [file.name for file in files] == [
        "README.md", "config.json", "golden.npz", "model.safetensors"
    ]  # fmt: skip
    assert sum(file.stat().st_size for file in files) <= 1_000_000
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    globs = settings["tool"]["setuptools"]["package-data"]["kgscout_jax"]
    packaged = {file for glob in globs for file in (ROOT / "kgscout_jax").glob(glob)}
    assert packaged >= {*files}


@NEEDS_ENCODER
def test_it_answers_from_a_graph_that_it_has_never_seen(kgscout_cache):
    graph = KnowledgeGraph.from_triplets(
        [
            ("curl", "depends on", "openssl"),
            ("curl", "depends on", "zlib"),
            ("wget", "depends on", "pcre"),
            ("openssl", "maintained by", "Kurt Roeckx"),
            ("zlib", "maintained by", "Mark Brown"),
            ("pcre", "maintained by", "Matthew Vernon"),
        ]
    )
    result = Scout.from_pretrained().retrieve("Who maintains zlib?", graph, 1)
    assert result.triplets == (("zlib", "maintained by", "Mark Brown"),)


@NEEDS_ENCODER
def test_it_answers_where_steps_are_named_one_after_the_other(kgscout_cache):
    graph = KnowledgeGraph.from_triplets(
        [
            ("Ann", "father", "Bob"),
            ("Ann", "mother", "Cleo"),
            ("Bob", "father", "Dan"),
            ("Eve", "father", "Dan"),
            ("Eve", "gender", "female"),
            ("Ann", "born in", "Bern"),
            ("Bob", "born in", "Basel"),
            ("Dan", "works for", "Acme"),
            ("Acme", "founded by", "Fay"),
            ("Eve", "works for", "Apex"),
        ]
    )
    scout = Scout.from_pretrained()
    for question, topic, answer in (
        ("Where was Ann's father born?", "Ann", "Basel"),
        ("Who founded the firm that Dan works for?", "Dan", "Fay"),
    ):
        result = scout.retrieve(question, graph, topics=[topic])
        # Said, and not only guessed: doubts reach the probability.
        assert [each.name for each in result.answers] == [answer]
    aunt = scout.retrieve("Who is the aunt of Ann?", graph, topics=["Ann"])
    assert (*aunt.answers, *aunt.best_guesses)[0].name == "Eve"
