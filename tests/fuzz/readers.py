"""Attacks on the readers of graphs and data sets: files of strangers, changed.

A file has no checksum, so that any graph may come out; but the graph in memory and the
GRAPH folder of one file are equal, or both are refused.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from fuzz.counting import Count, damage_files, digest
from fuzz.mutations import changed_bytes
from fuzz.samples import DATA_SETS, ROWS, TEXTS
from fuzz.strangers import NASTY

from data_prep.sources import load_source
from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.options import ReadOptions

PIECES = [
    *'"\'\t,;|\n\r<>&{}[]:\\@#.', "\r\n", "\n\n", '""', '"""', "\ufeff", "&#0;", "&x;",
    "<!DOCTYPE a>", "<![CDATA[", "]]>", "<!--", "<graph>", "<node>", "<edge/>",
    '<data key="d0">', "</node>", "</graph>", "null", "1e999", "NaN", '{"id":', "_:b",
    "\\u0000", "\\ud800", "^^", "@en", "@prefix", "a" * 5000, "\x00",
]  # fmt: skip
"""What has a meaning in a format."""


def changed_text(raw: bytes, rng: random.Random) -> bytes:
    """A copy with bytes changed, or with pieces or whole lines put, lost or moved."""
    if rng.random() < 0.3:
        return changed_bytes(raw, rng)
    for _ in range(rng.choice([1, 1, 2, 3])):
        kind, at = rng.randrange(5), rng.randrange(len(raw) + 1)
        if kind < 2:
            piece = rng.choice(PIECES if kind else NASTY)
            end = at + rng.choice([0, 0, 1, 5])
            raw = raw[:at] + piece.encode("utf-8", "surrogatepass") + raw[end:]
        elif lines := raw.splitlines(keepends=True):
            line = lines.pop(rng.randrange(len(lines)))
            if kind > 2:
                copies = [line] * rng.choice([1, 2, 2])
                where = rng.randrange(len(lines) + 1)
                lines[where:where] = copies
            raw = b"".join(lines)
    return raw


def put(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    return folder


def seen(graph: KnowledgeGraph) -> str:
    """The fingerprint of a graph's triplets by name."""
    return digest(sorted(graph.triplet(i) for i in range(len(graph))))


def read_twice(file: Path, options: ReadOptions) -> str:
    """The graph of a file, the same in memory and as a folder; raises UserError."""
    folder = file.with_name("indexed")
    settings = BuildSettings(properties=options.properties)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        expected = seen(KnowledgeGraph.open(file, options=options))
    except UserError as error:
        try:
            build_graph([file], folder, settings)
        except UserError:
            raise error from None
        raise AssertionError(f"only the folder takes it; memory: {error}") from None
    build_graph([file], folder, settings)
    assert seen(KnowledgeGraph.open(folder)) == expected, "the folder differs"
    return expected


def reader_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack on a reader -> the function that runs it."""
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    plain = TEXTS["films.tsv"].encode()
    for name, text in TEXTS.items():
        file = put(folder / f"read-{name}", {name: text}) / name
        made[f"graph file, {name}"] = _attack(file, changed_text)
    for suffix, pack in {
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "xz": lzma.compress,
    }.items():
        name = f"films.tsv.{suffix}"
        file = folder / f"read-{name}" / name
        file.parent.mkdir()
        file.write_bytes(pack(plain))
        made[f"graph file, {name}"] = _attack(file, changed_bytes, exact=True)
    packed = pa.compress(plain, codec="zstd", asbytes=True)
    file = folder / "read-zst" / "films.tsv.zst"
    file.parent.mkdir()
    file.write_bytes(packed)
    made["graph file, films.tsv.zst"] = _attack(file, changed_bytes)
    file = folder / "read-parquet" / "films.parquet"
    file.parent.mkdir()
    columns = dict(
        zip(
            ("head", "relation", "tail"),
            map(list, zip(*ROWS, strict=True)),
            strict=True,
        )
    )
    pq.write_table(pa.table(columns), file)
    made["graph file, films.parquet"] = _attack(file, changed_bytes)
    for source, files in DATA_SETS.items():
        whole = put(folder / f"read-{source}", files)
        made[f"data set, {source}"] = _source_attack(whole, source)
    return made


def _attack(
    file: Path, damage: Callable[[bytes, random.Random], bytes], *, exact: bool = False
) -> Callable[[int, random.Random], Count]:
    """Changes of one graph file.

    Properties are read of every other one; every fifth is made a folder, too.
    """

    def run(count: int, rng: random.Random) -> Count:
        numbers = iter(range(count + 1))

        def use(copy: Path) -> str:
            number, read = next(numbers), copy / file.name
            options = ReadOptions(properties=bool(number % 2) and not exact)
            if number % 5:
                return seen(KnowledgeGraph.open(read, options=options))
            try:
                return read_twice(read, options)
            finally:
                shutil.rmtree(copy / "indexed", ignore_errors=True)

        return damage_files(
            file.parent, [file], use, count, rng, damage=damage, exact=exact
        )

    return run


def _source_attack(whole: Path, source: str) -> Callable[[int, random.Random], Count]:
    """Changes of one file of a data set."""
    graphs = sorted(whole.glob("*.tsv")) if source == "kg" else []

    def use(copy: Path) -> str:
        given = [copy / each.name for each in graphs]
        dataset = load_source(source, copy, given)
        return digest(dataset.questions, seen(dataset.graph))

    def run(count: int, rng: random.Random) -> Count:
        files = sorted(each for each in whole.rglob("*") if each.is_file())
        return damage_files(
            whole, files, use, count, rng, damage=changed_text, exact=False
        )

    return run
