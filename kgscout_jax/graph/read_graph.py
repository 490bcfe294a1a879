"""The triplets of files with the names that labels give them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.display_names import (
    LabelTable,
    named_entities,
    named_relations,
)
from kgscout_jax.graph.interning import InternedTriplets, Interner
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.graph.read.triplets import TripletFiles


def read_graph(
    paths: Sequence[Path], options: ReadOptions | None, notes: dict[str, int] | None
) -> InternedTriplets:
    """The triplets of files, as one chunk.

    Args:
        paths: triplet files.
        options: how they are read.
        notes: counts of omitted triplets are added here, see ``TripletFiles.rows``.

    Raises:
        UserError: a file is malformed, or there are no triplets.
    """
    files = TripletFiles(options, notes, paths)
    labels = files.labels = LabelTable()
    interner = Interner()
    interner.add(itertools.chain.from_iterable(map(files.rows, paths)))
    rows = interner.interned()
    if not len(rows.triplets):
        raise UserError(f"{', '.join(map(str, paths))}: no triplets")
    if not len(labels):
        return rows
    return rows._replace(
        entities=named_entities(rows.entities, labels),
        ids=rows.entities,
        relations=named_relations(rows.relations, labels.get),
    )
