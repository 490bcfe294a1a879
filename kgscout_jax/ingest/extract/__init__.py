"""Extractors: texts to triplets with their ranges of characters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError

if TYPE_CHECKING:
    from kgscout_jax.ingest.extract.protocol import Extractor

EXTRACTORS = ("syntax",)
"""Names of extractors that need no server."""


def make_extractor(name: str = "syntax") -> Extractor:
    """The extractor of this name; raises UserError for another one."""
    if name not in EXTRACTORS:
        raise UserError(f"extractor: {name!r}, expected one of {', '.join(EXTRACTORS)}")
    from kgscout_jax.ingest.extract.syntax import SyntaxExtractor

    return SyntaxExtractor()
