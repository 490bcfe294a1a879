"""pyarrow's functions, imported on first use."""

from __future__ import annotations

from typing import Any


def compute() -> Any:
    """pyarrow.compute; it makes its functions at run time, so no checker knows them."""
    import pyarrow.compute

    return pyarrow.compute
