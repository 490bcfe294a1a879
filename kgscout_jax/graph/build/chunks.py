"""Triplets of all files in chunks of bounded size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from kgscout_jax.graph.build.interning import strings_of
from kgscout_jax.graph.build.labels import LabelBuffer, LabelStore
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.read.arrow_batches import Columns, triplet_batches
from kgscout_jax.graph.read.labels import relation_names
from kgscout_jax.graph.read.triplets import TripletFiles
from kgscout_jax.utils.progress import ProgressBar


def triplet_chunks(
    files: Sequence[Path],
    settings: BuildSettings,
    reader: TripletFiles,
    labels: LabelStore | None = None,
    *,
    exact: bool = False,
) -> Iterator[Columns]:
    """The triplets of all files in chunks.

    Args:
        files: the files, read in this order.
        settings: the size of a chunk, the language, the relation of labels.
        reader: reads them; counts of omitted triplets are added to its notes.
        labels: receives the triplets of the label relation, or without one the names
            in RDF files; they are then left out.
        exact: do not use arrow's decoders.
    """
    batches: list[Columns] = []
    rows = size = 0
    names = None
    if labels is not None and settings.label_relation is None:
        names = LabelBuffer(labels, reader.notes)
    reader.labels = names
    with ProgressBar(0, "read", "triplets") as bar:
        for path in files:
            for columns in triplet_batches(path, reader, exact=exact):
                batch = columns
                if labels is not None and settings.label_relation is not None:
                    batch = _split(
                        columns, settings.label_relation, labels, reader.notes
                    )
                batches.append(batch)
                rows += len(batch[0])
                size += sum(column.nbytes for column in batch)
                bar.update(len(columns[0]))
                if rows >= settings.rows or size >= settings.chunk_bytes:
                    yield _concatenate(batches)
                    batches, rows, size = [], 0, 0
    reader.labels = None
    if names is not None:
        names.flush()
    if rows:
        yield _concatenate(batches)


def _split(
    columns: Columns, relation: str, labels: LabelStore, notes: dict[str, int]
) -> Columns:
    """The triplets of other relations; those of ``relation`` go to ``labels``."""
    import pyarrow as pa

    pc = compute()
    spellings = pa.array(relation_names(relation), pa.large_string())
    mask = pc.is_in(columns[1], spellings)
    heads, _, tails = (column.filter(mask) for column in columns)
    if len(heads):
        labels.add(strings_of(heads), strings_of(tails))
        notes["label_triplets"] = notes.get("label_triplets", 0) + len(heads)
    other = pc.invert(mask)
    return (
        columns[0].filter(other),
        columns[1].filter(other),
        columns[2].filter(other),
    )


def _concatenate(batches: Sequence[Columns]) -> Columns:
    """Batches as one chunk."""
    import pyarrow as pa

    heads, relations, tails = zip(*batches, strict=True)
    return pa.concat_arrays(heads), pa.concat_arrays(relations), pa.concat_arrays(tails)
