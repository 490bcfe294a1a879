"""Files of triplets, and graphs that must be equal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.builder import GraphBuilder
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.arrow_batches import triplet_batches
from kgscout_jax.graph.read.options import ReadOptions, parse_columns
from kgscout_jax.graph.read.triplets import TripletFiles
from kgscout_jax.types import Triplet

IDS = [("m.01", "by", "m.02"), ("m.01", "cvt", "m.03"), ("m.04", "year", "1979")]


def write_tsv(path: Path, rows) -> Path:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    return path


def in_format(turtle: str, name: str) -> str:
    """Turtle, as N-Triples where the name of the file says so."""
    if name.endswith(".ttl"):
        return turtle
    import pyoxigraph as ox

    quads = ox.parse(turtle, ox.RdfFormat.TURTLE)
    return "".join(f"{quad.triple} .\n" for quad in quads)


def read_triplets(path: Path, notes=None, **options) -> Iterator[Triplet]:
    """The triplets of a file, line by line."""
    return TripletFiles(ReadOptions(**options), notes, [path]).rows(path)


def batch_rows(path: Path, *, exact: bool = False, **options) -> list[Triplet]:
    """The same, as an index reads them: in batches."""
    files = TripletFiles(ReadOptions(**options), files=[path])
    return [
        row
        for columns in triplet_batches(path, files, exact=exact)
        for row in zip(*(column.to_pylist() for column in columns), strict=True)
    ]


def memory_graph(*chunks) -> KnowledgeGraph:
    builder = GraphBuilder()
    builder.add([row for chunk in chunks for row in chunk])
    return builder.build()[0]


def assert_equal(found: KnowledgeGraph, expected: KnowledgeGraph) -> None:
    """Ids, names, order, indices and look-ups agree."""
    assert list(found.entities) == list(expected.entities)
    assert list(found.relations) == list(expected.relations)
    assert found.triplets.dtype == np.int32
    assert found.triplets.tolist() == expected.triplets.tolist()
    everything = np.arange(len(expected.entities), dtype=np.int32)[::-1]
    for side in ("by_head", "by_tail"):
        one, other = getattr(found, side), getattr(expected, side)
        assert one.offsets.tolist() == other.offsets.tolist()
        assert one.rows(everything)[1].tolist() == other.rows(everything)[1].tolist()
        assert one.rows(everything)[1].dtype == np.int32
    assert found.unnamed_mask.tolist() == expected.unnamed_mask.tolist()
    for i, name in enumerate(expected.entities):
        assert found.find(f" {name.upper()} ") == expected.find(name.upper())
        assert found.find(name) == i
        assert found.find_every(name).tolist() == [i]
    for absent in ("not there", "half \ud800"):
        assert found.find(absent) is None
        assert found.find_every(absent).tolist() == []
    for i in range(len(expected.triplets)):
        assert found.triplet(i) == expected.triplet(i)


def facts(paths, columns: str = "", *, properties: bool = False) -> set[str]:
    """The triplets of files, which must be those of a GRAPH folder built of them."""
    paths = [paths] if isinstance(paths, Path) else list(paths)
    chosen = parse_columns(columns or None)
    graph = KnowledgeGraph.open(
        paths, options=ReadOptions(columns=chosen, properties=properties)
    )
    out = paths[0].with_suffix(".graph")
    build = BuildSettings(columns=chosen, properties=properties)
    build_graph(paths, out, build, overwrite=True)
    large = KnowledgeGraph.open(out)
    assert list(large.entities) == list(graph.entities)
    assert large.triplets.tolist() == graph.triplets.tolist()
    return {" | ".join(graph.triplet(i)) for i in range(len(graph.triplets))}
