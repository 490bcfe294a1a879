"""The page's "Your own graph in five minutes" does what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from prep_factory import NEEDS_ENCODER

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
