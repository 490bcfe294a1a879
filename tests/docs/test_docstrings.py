"""Examples in docstrings show what the code does."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    file
    for package in ("kgscout_jax", "data_prep")
    for file in sorted((ROOT / package).rglob("*.py"))
    if ">>>" in file.read_text("utf-8")
]


@pytest.mark.parametrize(
    "module", [".".join(f.relative_to(ROOT).with_suffix("").parts) for f in FILES]
)
def test_the_examples_of_a_module_hold(module):
    found = doctest.testmod(importlib.import_module(module))
    assert found.attempted and not found.failed
