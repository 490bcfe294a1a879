"""Fixtures: most tests that draw look at nothing but the names of the files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, Any

import pytest
from matplotlib.figure import Figure

savefig = Figure.savefig
RENDERED: dict[Any, bytes] = {}
"""Of each format and size of a figure, the first picture in this process."""


def saved_once(
    figure: Figure, handle: IO[bytes], *, format: str, **options: Any
) -> None:
    """``Figure.savefig``, but figures of one size all have the first one's picture."""
    key = format, *figure.get_size_inches().tolist()
    if key not in RENDERED:
        buffer = io.BytesIO()
        savefig(figure, buffer, format=format, **options)
        RENDERED[key] = buffer.getvalue()
    handle.write(RENDERED[key])


@pytest.fixture(scope="session", autouse=True)
def pictures_rendered_once() -> Iterator[None]:
    """Figures are made as ever; rendering them takes longer than an evaluation."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", saved_once)
        yield


@pytest.fixture
def own_pictures(monkeypatch) -> None:
    """Every figure is rendered, for tests that look at pictures."""
    monkeypatch.setattr(Figure, "savefig", savefig)
