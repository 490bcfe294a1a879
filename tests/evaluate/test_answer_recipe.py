"""The recipe for answers of a local model, as it stands, on a tiny world."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from evaluate.answer_world import metrics, sage

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_recipe_reads_all_questions_of_its_draw(shards, run, tmp_path):
    with sage() as server:
        command = [
            ROOT / "recipes" / "answers.sh", "--url", server.url, "--model", "m",
            "--k", "2 5", "--limit", "3 2", tmp_path / "out", run, shards,
        ]  # fmt: skip
        environment = {**os.environ, "PYTHON": sys.executable}
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        bodies = server.bodies
    assert {body["max_tokens"] for body in bodies} == {96}
    assert all(body["cache_prompt"] is True for body in bodies)
    found = metrics(tmp_path / "out" / "shards")
    assert found["n"] == {"2": 3, "5": 2} and found["missing"] == []
    done = subprocess.run([*command, shards], capture_output=True, text=True)
    assert done.returncode == 2 and "expected RUN SHARDS" in done.stderr
    done = subprocess.run(
        [command[0], "--color", "red"], capture_output=True, text=True
    )
    assert done.returncode == 2 and "unknown flag --color" in done.stderr
