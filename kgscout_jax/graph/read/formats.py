"""Formats of triplet files, by their names."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read import rdf
from kgscout_jax.graph.read.dialect import TABLES
from kgscout_jax.graph.read.gml import SUFFIX as GML
from kgscout_jax.graph.read.json_lines import JSON_LINES
from kgscout_jax.graph.read.markup import MARKUP
from kgscout_jax.graph.read.obo import SUFFIX as OBO
from kgscout_jax.graph.read.streams import COMPRESSED, inner_name, open_bytes

COLUMNS = (*TABLES, ".parquet")
"""Formats of one table with columns."""
_LINKED_DATA = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\[?\s*\{\s*"@(?:context|graph|id)"\s*:'
)
"""The beginning of JSON-LD."""
_SAMPLE_BYTES = 1_024


def file_format(path: Path) -> str:
    """The suffix of a triplet file without its compression: ``.tsv``, ``.nt`` ...

    ``.jsonld`` as well for a ``.json`` that begins as JSON-LD does.

    Raises:
        UserError: a folder, or a name of unknown format.
    """
    if path.is_dir():
        raise UserError(f"{path}: expected a triplet file, found a folder")
    suffix = Path(inner_name(path)).suffix
    if suffix == ".json" and path.is_file():
        state = path.stat()
        if _is_linked_data(path, state.st_mtime_ns, state.st_size):
            return ".jsonld"
    if suffix in TABLES or suffix == ".nt" or suffix in rdf.FORMATS:
        return suffix
    if suffix in MARKUP or suffix in JSON_LINES or suffix in (OBO, GML):
        return suffix
    if suffix == ".parquet" and path.suffix.lower() not in COMPRESSED:
        return suffix
    raise UserError(
        f"{path}: unknown triplet format; expected .tsv, .txt, .csv, .sif, .nt, .ttl, "
        ".nq, .trig, .n3, .rdf, .owl, .jsonld, .obo, .graphml, .gexf, .gml, .json, "
        f".jsonl, .geojson, .cyjs (each also with {', '.join(COMPRESSED)}), .parquet, "
        ".xlsx, .xls, .ods, .sqlite or .db"
    )


def is_table(path: Path) -> bool:
    """Whether a file is one table with columns."""
    return file_format(path) in COLUMNS


@lru_cache(maxsize=1 << 12)
def _is_linked_data(path: Path, _modified: int, _size: int) -> bool:
    """Whether a file of JSON, as it was, begins with a keyword of JSON-LD."""
    with open_bytes(path) as handle:
        return _LINKED_DATA.match(handle.read(_SAMPLE_BYTES)) is not None
