"""Reader of triplet files; the file name selects format and compression."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read import rdf
from kgscout_jax.graph.read.columns import read_csv, read_tsv
from kgscout_jax.graph.read.ntriples import read_ntriples
from kgscout_jax.graph.read.parquet import read_parquet
from kgscout_jax.graph.read.streams import COMPRESSED, inner_name
from kgscout_jax.types import Triplet

TABLES = {".tsv": "\t", ".txt": "\t", ".csv": ","}
"""Suffix of a text table -> its column separator."""


def file_format(path: Path) -> str:
    """The suffix of a triplet file without its compression: ``.tsv``, ``.nt`` ...

    Raises:
        UserError: a folder, or a name of unknown format.
    """
    if path.is_dir():
        raise UserError(f"{path}: expected a triplet file, found a folder")
    suffix = Path(inner_name(path)).suffix
    if suffix in TABLES or suffix == ".nt" or suffix in rdf.FORMATS:
        return suffix
    if suffix == ".parquet" and path.suffix.lower() not in COMPRESSED:
        return suffix
    raise UserError(
        f"{path}: unknown triplet format; expected .tsv, .txt, .csv, .nt, .ttl, .nq or "
        f".trig (each also with {', '.join(COMPRESSED)}) or .parquet"
    )


def read_triplets(
    path: Path, notes: dict[str, int] | None = None, language: str | None = None
) -> Iterator[Triplet]:
    """The triplets of one file in its order, streaming.

    Args:
        path: its name selects the format: ``.tsv``, ``.txt`` (tab-separated, no
            quoting), ``.csv``, ``.nt``, ``.ttl``, ``.nq``, ``.trig``, each also with
            ``.gz``, ``.bz2``, ``.xz``, ``.zst``; ``.parquet``. In TSV and CSV a first
            line head, relation, tail or subject, predicate, object is a header. In
            parquet such columns are read, else the first three string columns. In
            RDF an IRI is named by its last segment, see ``iri_name``, a literal by its
            lexical value.
        notes: ``blank_triplets`` counts RDF statements with a blank literal,
            ``other_language`` those of other languages; both are left out. In other
            formats an empty name is an error.
        language: select RDF literals of this language and those without a tag; ``en``
            selects en and en-GB.

    Raises:
        UserError: (on iteration) the file is missing, empty or malformed.
    """
    notes = {} if notes is None else notes
    suffix = file_format(path)
    if suffix == ".csv":
        return read_csv(path)
    if suffix in TABLES:
        return read_tsv(path)
    if suffix == ".nt":
        return read_ntriples(path, notes, language)
    if suffix == ".parquet":
        return read_parquet(path)
    return rdf.read_rdf(path, notes, language)
