"""Published formats, one loader each; all of them yield ``base.Loaded``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from data_prep.sources.base import Loaded
from kgscout_jax.errors import UserError

SOURCES = ("rog", "nsm", "metaqa", "pathquestion", "kg", "world")


def load_source(name: str, input: Path | None, kg: Sequence[Path] = ()) -> Loaded:
    """The data set in a published format.

    Args:
        name: one of ``SOURCES``.
        input: the file or folder to read; ``world`` is built in and takes none.
        kg: triplet files, for ``kg`` only.

    Raises:
        UserError: there is no such source, what it needs is missing, or its loader
            finds something wrong.
    """
    if name not in SOURCES:
        raise UserError(f"unknown source {name!r}; expected {', '.join(SOURCES)}")
    if kg and name != "kg":
        raise UserError(f"source {name!r} takes no --kg: its graph is in its --input")
    if name == "kg":
        from data_prep.sources import kg as kg_source

        return kg_source.load(input, kg)
    if name == "world":
        if input is not None:
            raise UserError("source 'world' is built in and takes no --input")
        from data_prep.sources import world

        return world.load(seed=0)
    if input is None:
        raise UserError(f"source {name!r} needs --input PATH, see docs/data.md")
    if name == "rog":
        from data_prep.sources import rog

        return rog.load(input)
    if name == "nsm":
        from data_prep.sources import nsm

        return nsm.load(input)
    if name == "metaqa":
        from data_prep.sources import metaqa

        return metaqa.load(input)
    from data_prep.sources import pathquestion

    return pathquestion.load(input)
