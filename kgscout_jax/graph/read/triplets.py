"""Files of triplets: the format is told by the name, compression too."""

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
"""Suffixes of text tables and what stands between their columns."""


def file_format(path: Path) -> str:
    """The suffix that tells the format of a triplet file: ``.tsv``, ``.nt`` ...

    Raises:
        UserError: a folder, or a name that tells no format.
    """
    if path.is_dir():
        raise UserError(f"{path}: expected a triplet file, found a folder")
    kind = Path(inner_name(path)).suffix
    compressed = path.suffix.lower() in COMPRESSED
    if kind in TABLES or kind == ".nt" or kind in rdf.FORMATS:
        return kind
    if kind == ".parquet" and not compressed:
        return kind
    raise UserError(
        f"{path}: unknown triplet format; expected .tsv, .txt, .csv, .nt, .ttl, .nq or "
        f".trig (each also with {', '.join(COMPRESSED)}) or .parquet"
    )


def read_triplets(
    path: Path, notes: dict[str, int] | None = None, language: str | None = None
) -> Iterator[Triplet]:
    """The triplets of one file, streaming, as they stand there.

    Args:
        path: the format is told by the name: ``.tsv``, ``.txt`` (tab-separated, no
            quoting), ``.csv``, ``.nt``, ``.ttl``, ``.nq``, ``.trig``, each also with
            ``.gz``, ``.bz2``, ``.xz``, ``.zst``; ``.parquet``. In TSV and CSV a first
            line head, relation, tail or subject, predicate, object is a header; in
            parquet such columns are used, else the first three that hold strings. In
            RDF an IRI is shown by its last segment, see ``iri_name``, a literal by its
            lexical value.
        notes: ``blank_triplets`` counts the RDF statements that are left out for a
            blank literal, ``other_language`` those left out for their language.
            Elsewhere an empty name is an error.
        language: of RDF literals with a language tag, keep those of this one only:
            ``en`` keeps en and en-GB. Literals without a tag are always kept.

    Raises:
        UserError: (on iteration) the file is missing, empty or malformed.
    """
    notes = {} if notes is None else notes
    kind = file_format(path)
    if kind == ".csv":
        return read_csv(path)
    if kind in TABLES:
        return read_tsv(path)
    if kind == ".nt":
        return read_ntriples(path, notes, language)
    if kind == ".parquet":
        return read_parquet(path)
    return rdf.read_rdf(path, notes, language)
