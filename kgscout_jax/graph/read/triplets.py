"""Reader of triplet files; the file name selects format and compression."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read import rdf
from kgscout_jax.graph.read.columns import table_triplets
from kgscout_jax.graph.read.layout import TABLES, Layout, table_layout
from kgscout_jax.graph.read.ntriples import read_ntriples
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.graph.read.parquet import read_parquet
from kgscout_jax.graph.read.streams import COMPRESSED, inner_name
from kgscout_jax.types import Triplet

logger = logging.getLogger("kgscout")


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


class TripletFiles:
    """Reads the triplet files of one graph.

    Layouts of text tables are determined once. A doubtful one is told to the user with
    the first triplets.
    """

    def __init__(
        self, options: ReadOptions | None = None, notes: dict[str, int] | None = None
    ) -> None:
        """``notes``: counts of omitted triplets are added here."""
        self.options = options or ReadOptions()
        self.notes = {} if notes is None else notes
        self._layouts: dict[Path, Layout] = {}

    def layout(self, path: Path) -> Layout:
        """The layout of a text table."""
        if path not in self._layouts:
            layout = table_layout(path, self.options)
            if remark := layout.remark(path):
                logger.info("%s", remark)
            self._layouts[path] = layout
        return self._layouts[path]

    def rows(self, path: Path) -> Iterator[Triplet]:
        """The triplets of one file in its order, streaming; see ``read_triplets``."""
        suffix = file_format(path)
        if suffix in TABLES:
            return self._table(path)
        if suffix == ".nt":
            return read_ntriples(path, self.notes, self.options.language)
        if suffix == ".parquet":
            return read_parquet(path, self.options.columns)
        return rdf.read_rdf(path, self.notes, self.options.language)

    def _table(self, path: Path) -> Iterator[Triplet]:
        yield from table_triplets(
            path, self.layout(path), properties=self.options.properties
        )


def read_triplets(
    path: Path,
    notes: dict[str, int] | None = None,
    language: str | None = None,
    *,
    columns: Sequence[str] = (),
    properties: bool = False,
) -> Iterator[Triplet]:
    """The triplets of one file in its order, streaming.

    Args:
        path: its name selects the format: ``.tsv``, ``.txt`` (tab-separated, no
            quoting), ``.csv``, ``.nt``, ``.ttl``, ``.nq``, ``.trig``, each also with
            ``.gz``, ``.bz2``, ``.xz``, ``.zst``; ``.parquet``. A first line of a text
            table that names head, relation and tail is a header, see ``header``; such
            columns are also read of parquet, else the first three string columns. In
            RDF an IRI is named by its last segment, see ``iri_name``, a literal by its
            lexical value.
        notes: ``blank_triplets`` counts RDF statements with a blank literal,
            ``other_language`` those of other languages; both are left out. In other
            formats an empty name is an error.
        language: select RDF literals of this language and those without a tag; ``en``
            selects en and en-GB.
        columns: the columns of head, relation and tail, see ``ReadOptions``.
        properties: whether extra columns become triplets, see ``ReadOptions``.

    Raises:
        UserError: (on iteration) the file is missing, empty or malformed.
    """
    options = ReadOptions(columns=columns, properties=properties, language=language)
    return TripletFiles(options, notes).rows(path)
