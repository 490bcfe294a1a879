"""Settings of ``kgscout ingest``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least, check_both_or_neither


@dataclass(frozen=True, kw_only=True)
class IngestSettings:
    """Make a graph of documents: text, Markdown, HTML, reStructuredText, PDF.

    Example: kgscout ingest docs/ --out GRAPH && kgscout ask --kg GRAPH "Who wrote it?"

    The same command goes on where it was stopped, and after a change of documents reads
    only those anew.
    """

    docs: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DOCS...")
    ]
    """Folders of documents, or documents."""
    out: Path
    """The GRAPH folder to write."""
    extractor: Literal["syntax"] | None = None
    """What finds triplets without a model: syntax (rules on a parser of English). The
    default without --llm."""
    llm: str | None = None
    """Base URL of an OpenAI-compatible server whose model finds the triplets instead,
    with the version: http://127.0.0.1:8080/v1."""
    model: str | None = None
    """The model's name on the server."""
    key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the API key; local servers need none."""
    concurrency: int = 4
    """Requests to the server at a time."""
    input_price: float = 0.0
    """Dollars per million tokens of prompts."""
    output_price: float = 0.0
    """Dollars per million tokens of replies."""
    chunk: int = 2000
    """Characters of a chunk, about; a chunk ends with a paragraph or a sentence."""
    resolve: bool = True
    """Join spellings of one entity; --no-resolve keeps each, as does the same command
    with it on a graph that is there."""
    add: Annotated[bool, tyro.conf.arg(name="add")] = False
    """Keep the documents that the graph has already. Without it the graph has exactly
    the documents given."""

    def __post_init__(self) -> None:
        if not self.docs:
            raise UserError("DOCS: expected a folder of documents, found none")
        check_both_or_neither(llm=self.llm, model=self.model)
        if self.llm is not None and self.extractor is not None:
            raise UserError("--llm and --extractor: expected one of them, found both")
        check_at_least(1, concurrency=self.concurrency)
        check_at_least(200, chunk=self.chunk)
        check_at_least(0, input_price=self.input_price, output_price=self.output_price)
