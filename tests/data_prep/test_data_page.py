"""docs/data.md does what it says: its examples load, its five minutes run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER
from source_files import KB, put

from data_prep.sources import kg, load_source
from kgscout_jax.data.shards import Shards
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@NEEDS_ENCODER
def test_the_commands_of_the_page(tmp_path):
    page = (ROOT / "docs/data.md").read_text("utf-8")
    section = page.split("## Your own graph in five minutes")[1].split("\n## ")[0]
    script = "\n".join(re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S))
    assert script.count("kgscout ") >= 4
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "KGSCOUT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "every checksum agrees" in done.stdout
    graph = KnowledgeGraph.open(tmp_path / "films.graph")
    assert len(graph.triplets) == 7 and graph.find("dan o'bannon") is not None
    shards = Shards.open(tmp_path / "shards")
    train = shards.split("train").questions
    assert [q.topics for q in train] == [("Alien",), ("Heat",)]
    assert [q.answers_in_subgraph for q in train] == [("Ridley Scott",), ("Chicago",)]


def test_examples_of_the_data_page_load(tmp_path):
    page = (ROOT / "docs/data.md").read_text("utf-8")
    page = page[page.index("## Input formats") :]
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page, re.M | re.S)
    kg_rows, tsv, csv, sheet, sales, people, nt, *others = blocks[:11]
    rog_rows, nsm_rows, metaqa_rows, pq_rows = others
    put(
        tmp_path,
        {
            "kg/dev.jsonl": kg_rows,
            "kg.tsv": tsv,
            "kg.csv": csv,
            "countries.csv": sheet,
            "sales.csv": sales,
            "people.jsonl": people,
            "kg.nt": nt,
            "rog/dev.jsonl": rog_rows,
            "nsm/dev_simple.json": nsm_rows,
            "nsm/entity_name.txt": "m.00\tAlien\nm.01\tRidley Scott\nm.02\tNone\n",
            "nsm/relations.txt": "directed_by\ngenre\n",
            "metaqa/kb.txt": KB,
            "metaqa/1-hop/vanilla/qa_dev.txt": metaqa_rows,
            "pathquestion/2H-kb.txt": tsv,
            "pathquestion/PQ-2H.txt": pq_rows,
        },
    )
    graphs = [tmp_path / name for name in ("kg.tsv", "kg.csv", "kg.nt")]
    for source in ("kg", "rog", "nsm", "metaqa", "pathquestion"):
        dataset = load_source(
            source, tmp_path / source, graphs if source == "kg" else []
        )
        assert sum(map(len, dataset.questions.values())) == 3
    assert "Alien" in kg.load(tmp_path / "kg", graphs).graph.entities
    countries = KnowledgeGraph.open(tmp_path / "countries.csv")
    found = {countries.triplet(i) for i in range(len(countries))}
    assert ("Belgium", "languages", "Dutch") in found and len(found) == 7
    events = KnowledgeGraph.open(tmp_path / "sales.csv")
    found = {events.triplet(i) for i in range(len(events))}
    assert ("_:sales:2", "product", "Desk") in found and len(found) == 15
    records = KnowledgeGraph.open(tmp_path / "people.jsonl")
    found = {records.triplet(i) for i in range(len(records))}
    assert ("_:people:1.1", "role", "lead") in found and len(found) == 12
