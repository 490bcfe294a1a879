"""The notebooks of ``examples/``: that they run, and hold no results of a machine."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import pytest

nbclient = pytest.importorskip("nbclient", reason="the extra dev is not installed")
nbformat = pytest.importorskip("nbformat")

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def outputs_of(path, monkeypatch):
    """The data of all outputs after a run from top to bottom, type -> values."""
    folder = Path(sys.executable).parent
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the library's event loops
        nbclient.NotebookClient(
            notebook, timeout=500, resources={"metadata": {"path": str(EXAMPLES)}}
        ).execute()
    found: dict[str, list[str]] = {}
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            for kind, value in output.get("data", {"text": output.get("text")}).items():
                found.setdefault(kind, []).append(str(value))
    return found


def test_a_graph_of_your_own(monkeypatch):
    found = outputs_of(EXAMPLES / "own_graph.ipynb", monkeypatch)
    assert any("<iframe" in each for each in found["text/html"])
    assert any("South Shields" in each for each in found["text"])


@pytest.mark.slow
def test_a_table_is_reproduced(monkeypatch):
    found = outputs_of(EXAMPLES / "reproduce_table.ipynb", monkeypatch)
    assert any("published" in each for each in found["text/html"])
    assert found["image/png"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stripped(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert not cell.metadata
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    text = path.read_text(encoding="utf-8")
    assert not any(place in text for place in ("/home/", "/tmp/", "/work", "C:\\\\"))
