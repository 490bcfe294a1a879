"""What is installed: the extra that brings a missing module, and our data_prep."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from kgscout_jax.errors import UserError

EXTRAS = {
    "train": "bm25s flax matplotlib optax orbax plotille",
    "encoders": "sentence_transformers torch transformers",
    "serve": "fastapi prometheus_client pydantic starlette uvicorn",
    "mcp": "mcp",
    "llm": "openai",
    "langchain": "langchain_core",
    "llama-index": "llama_index",
}
"""Extra -> the modules it brings."""


def missing_line(error: ImportError) -> str | None:
    """The line that installs what an import did not find; None for other modules."""
    module = (error.name or "").partition(".")[0]
    for extra, modules in EXTRAS.items():
        if module in modules.split():
            return f"{module} is not installed: pip install 'kgscout-jax[{extra}]'"
    return None


def with_install_line(error: ModuleNotFoundError) -> ModuleNotFoundError:
    """The same error, whose message is the line that installs the module."""
    return ModuleNotFoundError(missing_line(error) or str(error), name=error.name)


def check_data_prep() -> None:
    """Raise UserError where another package named data_prep hides ours.

    It is installed beside ``kgscout_jax``; one that lies elsewhere is another's.
    """
    expected = Path(__file__).resolve().parents[2] / "data_prep"
    spec = importlib.util.find_spec("data_prep")
    origin = (spec and spec.origin) or "none"
    if Path(origin).resolve().parent != expected:
        raise UserError(
            f"package data_prep: found {origin}, expected {expected}: another one of "
            "that name comes first on Python's path (PYTHONPATH, the current folder)"
        )
