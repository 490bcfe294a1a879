"""Loaders of published formats; each returns a ``Dataset``."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from data_prep.sources.dataset import Dataset
from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.options import ReadOptions

SOURCES = ("rog", "nsm", "metaqa", "pathquestion", "kg", "world")


def load_source(
    name: str,
    input: Path | None,
    kg: Sequence[Path] = (),
    options: ReadOptions | None = None,
) -> Dataset:
    """The data set in a published format.

    Args:
        name: one of ``SOURCES``.
        input: the file or folder to read; ``world`` is built in and takes none.
        kg: triplet files, for ``kg`` only.
        options: how these files are read.

    Raises:
        UserError: there is no such source, what it needs is missing, or its loader
            finds something wrong.
    """
    if name not in SOURCES:
        raise UserError(f"unknown source {name!r}; expected {', '.join(SOURCES)}")
    if kg and name != "kg":
        raise UserError(f"source {name!r} takes no --kg: its graph is in its --input")
    if name != "kg" and options not in (None, ReadOptions()):
        raise UserError(
            f"source {name!r} takes no --columns, --properties or --language: they "
            "are for the files of --kg"
        )
    if name == "world" and input is not None:
        raise UserError("source 'world' is built in and takes no --input")
    if input is None and name not in ("kg", "world"):
        raise UserError(f"source {name!r} needs --input PATH, see docs/data.md")
    load = importlib.import_module(f"data_prep.sources.{name}").load
    if name == "kg":
        return load(input, kg, options)
    return load() if name == "world" else load(input)
