"""pyarrow's functions, imported on first use."""

from __future__ import annotations

from typing import Any


def compute() -> Any:
    """pyarrow.compute, untyped: it creates its functions at run time."""
    import pyarrow.compute

    return pyarrow.compute
