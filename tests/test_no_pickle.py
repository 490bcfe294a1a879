"""Nothing that is read can run code: no pickle in any guise, in any source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = ("kgscout_jax", "data_prep", "benchmarks", "recipes")
SOURCES = sorted(
    [
        *(file for place in PLACES for file in (ROOT / place).rglob("*.py")),
        *ROOT.glob("*.py"),
    ]
)
MODULES = frozenset(
    "pickle _pickle cPickle cloudpickle dill joblib shelve marshal jsonpickle "
    "pandas.read_pickle".split()
)
CALLS = frozenset(
    "torch.load torch.save yaml.load yaml.unsafe_load yaml.full_load pd.read_pickle "
    "pandas.read_pickle eval exec __import__".split()
)
SAFE_NUMPY = frozenset({"load", "save"})
"""Of numpy, these must be told not to pickle: ``save`` would for arrays of objects."""


def problems(source: str) -> Iterator[str]:
    """(line: what) of everything in a source that pickles, or may run what it reads."""
    tree = ast.parse(source)
    numpy = {"numpy"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            numpy |= {a.asname or a.name for a in node.names if a.name == "numpy"}
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            names = []
        for name in names:
            if name in CALLS or MODULES & {name, name.split(".")[0]}:
                yield f"{line}: imports {name}"
            if name in ("numpy.load", "numpy.save"):
                yield f"{line}: imports {name}, expected np.load, np.save"
        if isinstance(node, ast.Call):
            yield from _call(node, line, numpy)
        elif (
            isinstance(node, ast.keyword)
            and node.arg == "allow_pickle"
            and ast.unparse(node.value) != "False"
        ):
            yield f"{node.value.lineno}: allow_pickle is not False"


def _call(node: ast.Call, line: int, numpy: set[str]) -> Iterator[str]:
    name = ast.unparse(node.func)
    keywords = {word.arg for word in node.keywords}
    if name in CALLS:
        yield f"{line}: calls {name}"
    module, _, function = name.rpartition(".")
    if module in numpy and function in SAFE_NUMPY and "allow_pickle" not in keywords:
        yield f"{line}: {name} without allow_pickle=False"
    if function in ("to_pickle", "read_pickle") or module in MODULES:
        yield f"{line}: calls {name}"


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_source_pickles(file):
    assert not [f"{file}:{each}" for each in problems(file.read_text("utf-8"))]


def test_there_are_sources_to_look_at():
    names = {str(file.relative_to(ROOT)) for file in SOURCES}
    assert {"kgscout_jax/utils/io.py", "data_prep/write_shards.py", "train.py"} <= names


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "import pickle as p",
        "from pickle import loads",
        "def f():\n    import cloudpickle",
        "from joblib import load",
        "import torch\ntorch.load('x')",
        "from torch import load",
        "import numpy as np\nnp.load('x')",
        "import numpy as np\nnp.load('x', allow_pickle=True)",
        "import numpy as np\nallowed = True\nnp.load('x', allow_pickle=allowed)",
        "import numpy as n\nn.load('x')",
        "import numpy as np\nnp.save('x', a)",
        "from numpy import load",
        "import yaml\nyaml.load(x)",
        "frame.to_pickle('x')",
        "eval('1')",
    ],
)
def test_it_would_be_found(source):
    assert list(problems(source))


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp.load('x', allow_pickle=False)",
        "import json\njson.load(x)",
        "import yaml\nyaml.safe_load(x)",
        "model.eval()",
        "from safetensors.numpy import load_file",
    ],
)
def test_what_is_safe_is_let_through(source):
    assert not list(problems(source))
