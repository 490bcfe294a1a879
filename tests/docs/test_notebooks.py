"""The notebooks of ``examples/``: that they run, and hold no results of a machine."""

from __future__ import annotations

import ast
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

nbclient = pytest.importorskip("nbclient", reason="the extra dev is not installed")
nbformat = pytest.importorskip("nbformat")

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def values_of(path: Path) -> Iterator[Any]:
    """What cells end with, run from top to bottom in this process."""
    names: dict[str, Any] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code":
            continue
        code = ast.parse(cell.source)
        last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
        exec(compile(code, path.name, "exec"), names)
        if last is not None:
            value = ast.Expression(last.value)
            yield eval(compile(value, path.name, "eval"), names)


def outputs_of(path, monkeypatch):
    """The data of all outputs of a kernel of its own, type -> values."""
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


@pytest.mark.slow
def test_the_cells_about_a_graph_of_your_own_run(kgscout_cache, capsys):
    values = list(values_of(EXAMPLES / "own_graph.ipynb"))
    pages = [each._repr_html_() for each in values if hasattr(each, "_repr_html_")]
    assert any("<iframe" in page for page in pages)
    assert "South Shields" in capsys.readouterr().out


@pytest.mark.slow
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
