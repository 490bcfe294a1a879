"""Arrow batches against the exact readers, on good files, odd ones and broken ones."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph.graph_files import batch_rows, read_triplets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.graph.read import arrow_batches
from kgscout_jax.graph.read.labels import label_batches, relation_names

HERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def compress(data: bytes, suffix: str) -> bytes:
    """The bytes as the compression of this suffix has them."""
    if suffix == ".zst":
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, "zstd") as stream:
            stream.write(data)
        return sink.getvalue().to_pybytes()
    pack = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    return pack.get(suffix, bytes)(data)


SUFFIXES = ["", ".gz", ".bz2", ".xz", ".zst"]
TSV = "Head\tRelation\tTail\n" + "Ä b\tr\tc\n\nd\tr\t1979\n" * 300
NT = '<http://x/a> <http://x/r> "b"@en .\n<http://x/b> <http://x/r> "b"@de .\n' * 200
TTL = '@prefix x: <http://x/> .\nx:a x:r "b"@en , "b"@de ; x:s [ x:r x:c ] .\n' * 200
NQ = "<http://x/a> <http://x/r> <http://x/b> <http://x/g> .\n" * 200
CSV = TSV.replace("\t", ",")
GRAPHML = (
    '<graphml><key id="d" for="node" attr.name="name"/><graph><node id="1"><data '
    'key="d">b c</data></node><node id="2"/>'
    + '<edge source="1" target="2" label="é"/>' * 3
    + "</graph></graphml>\n"
)
GEXF = (
    '<gexf><graph><attributes class="edge"><attribute id="0" title="relation"/>'
    '</attributes><nodes><node id="1" label="b"/></nodes><edges><edge source="1" '
    'target="2"><attvalue for="0" value="r"/></edge></edges></graph></gexf>\n'
)
JSONL = (
    '{"type": "node", "id": 1, "properties": {"name": "b"}}\n{"type": "relationship", '
    '"label": "r", "start": {"id": 1}, "end": {"id": 2}}\n' * 200
)
FILES = {
    "kg.tsv": TSV,
    "kg.csv": CSV,
    "kg.nt": NT,
    "kg.ttl": TTL,
    "kg.nq": NQ,
    "kg.graphml": GRAPHML,
    "kg.gexf": GEXF,
    "kg.jsonl": JSONL,
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", FILES)
def test_compressed_files_read_whole_or_are_refused(tmp_path, name, suffix):
    plain = tmp_path / name
    plain.write_text(FILES[name], "utf-8")
    expected = list(read_triplets(plain))
    path = tmp_path / (name + suffix).upper()  # suffixes ignore case
    data = compress(FILES[name].encode(), suffix)
    path.write_bytes(data)
    assert list(read_triplets(path)) == expected
    assert batch_rows(path) == expected
    if not suffix:
        return
    for broken in (data[: len(data) // 2], data[:-3], b"no " + data, b"\0" * 40):
        path.write_bytes(broken)
        for read in (lambda: list(read_triplets(path)), lambda: batch_rows(path)):
            with pytest.raises(UserError, match="not a whole") as caught:
                read()
            assert str(caught.value).startswith(str(path))
            assert "\n" not in str(caught.value)


def outcome(read) -> object:
    """The rows, or the message that refuses them."""
    try:
        return read()
    except UserError as error:
        return str(error)


def has_blank_names(rows) -> bool:
    """Whether these are rows that the caller refuses, see ``triplet_batches``."""
    return isinstance(rows, list) and not all(all(map(str.strip, r)) for r in rows)


CELL = st.text(st.sampled_from('ab"\ufeff \x85\r\x1c\u2003é,\t\0'), max_size=3)
LINE = st.lists(CELL, min_size=1, max_size=4)
GOOD = st.lists(st.text("abcé ", min_size=1, max_size=3).filter(str.strip), min_size=3,
                max_size=3)  # fmt: skip
HEADER = st.sampled_from(
    [["head", "Relation ", "tail"], ["object", "subject", "predicate"]]
)
LINES = st.lists(st.one_of(GOOD, GOOD, GOOD, LINE, HEADER), max_size=9)


@given(lines=LINES, kind=st.sampled_from([".tsv", ".csv"]), end=st.sampled_from("\n\r"))
@HERE
def test_tables_agree_with_the_exact_reader(tmp_path, monkeypatch, lines, kind, end):
    monkeypatch.setattr(arrow_batches, "BLOCK_BYTES", 40)
    monkeypatch.setattr(arrow_batches, "ROWS", 2)
    between = "\t" if kind == ".tsv" else ","
    path = tmp_path / f"kg{kind}"
    text = "".join(between.join(line) + end for line in lines)
    path.write_bytes(text.encode())
    expected = outcome(lambda: list(read_triplets(path)))
    found = outcome(lambda: batch_rows(path))
    assert found == expected or has_blank_names(found)
    assert outcome(lambda: batch_rows(path, exact=True)) == expected


COLUMN = st.lists(st.sampled_from(["a", "é", "", " ", None]), min_size=4, max_size=4)


@given(columns=st.tuples(COLUMN, COLUMN, COLUMN), dictionary=st.booleans())
@HERE
def test_parquet_agrees_with_the_exact_reader(tmp_path, columns, dictionary):
    arrays = [pa.array(column, pa.string()) for column in columns]
    if dictionary:
        arrays = [array.dictionary_encode() for array in arrays]
    path = tmp_path / "kg.parquet"
    pq.write_table(pa.table(arrays, names=["tail", "head", "relation"]), path)
    expected = outcome(lambda: list(read_triplets(path)))
    found = outcome(lambda: batch_rows(path))
    assert found == expected or has_blank_names(found)


def labels_of(path: Path, notes: dict[str, int]) -> list[tuple[str, str]]:
    found = list(label_batches(path, notes))
    return [pair for ids, names in found for pair in zip(ids, names, strict=True)]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("l.tsv", 'ID\tName\nm.1\tOne "two"\n\nm.2\t \n'),
        ("l.csv", 'id,label\nm.1,"One ""two"""\n\nm.2,\n'),
    ],
)
def test_blank_labels_are_counted_and_left_out(tmp_path, name, text, suffix):
    path, notes = tmp_path / (name + suffix), {}
    path.write_bytes(compress(text.encode(), suffix))
    assert labels_of(path, notes) == [("m.1", 'One "two"')]
    assert notes == {"blank_labels": 1}


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("l.tsv", "a\tb\tc\n", "l.tsv:1: expected 2 columns, id and name, found 3"),
        ("l.csv", "a,b\na\n", "l.csv:2: expected 2 columns, id and name, found 1"),
        ("l.tsv", " \tb\n", "l.tsv:1: the id is empty"),
        ("l.csv", 'a,"b\n', "l.csv:1: not valid CSV"),
        ("l.tsv", "", "l.tsv: holds no labels"),
        ("l.json", "{}", "l.json: unknown label format; expected .tsv"),
    ],
)
def test_malformed_labels_are_refused(tmp_path, name, text, expected):
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError) as caught:
        labels_of(tmp_path / name, {})
    assert expected in str(caught.value)
    with pytest.raises(UserError, match="found a folder"):
        labels_of(tmp_path, {})
    with pytest.raises(UserError, match="no such file"):
        labels_of(tmp_path / "none.tsv", {})


def test_a_relation_has_its_prefixed_iri_and_plain_spellings():
    assert relation_names("rdfs:label") == ["rdfs:label", "label"]
    iri = "http://www.w3.org/2000/01/rdf-schema#label"
    assert relation_names(iri) == [iri, "label"]
    assert relation_names(f"<{iri}>") == [f"<{iri}>", iri, "label"]
    assert relation_names("type.object.name") == ["type.object.name"]


def mutate(data: bytes, where: list[tuple[int, int]], cut: int | None) -> bytes:
    raw = bytearray(data)
    for place, value in where:
        raw[place % len(raw)] = value
    return bytes(raw[: cut % len(raw)] if cut is not None else raw)


@pytest.fixture(scope="module")
def valid(tmp_path_factory) -> dict[str, bytes]:
    """A valid file of every kind."""
    short = {name: text[: text.index("\n", 150) + 1] for name, text in FILES.items()}
    out = {
        name + suffix: compress(text.encode(), suffix)
        for name, text in short.items()
        for suffix in SUFFIXES
    }
    path = tmp_path_factory.mktemp("valid") / "kg.parquet"
    columns = {"head": ["a", "b"] * 9, "relation": ["r"] * 18, "tail": ["é", "d"] * 9}
    pq.write_table(pa.table(columns), path)
    return out | {"kg.parquet": path.read_bytes()}


NAMES = [name + suffix for name in FILES for suffix in SUFFIXES] + ["kg.parquet"]


@given(
    name=st.sampled_from(NAMES),
    noise=st.none()
    | st.binary(max_size=80)
    | st.text('ab\t",<>_:\\.\n', max_size=60).map(str.encode),
    where=st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=4),
    cut=st.one_of(st.none(), st.integers(0, 5000)),
)
@HERE
def test_any_bytes_give_a_graph_or_a_one_line_error(
    tmp_path, valid, name, noise, where, cut
):
    path, out = tmp_path / name, tmp_path / "graph"
    path.write_bytes(mutate(valid[name], where, cut) if noise is None else noise)
    shutil.rmtree(out, ignore_errors=True)
    try:
        build_graph([path], out)
    except UserError as error:
        assert str(path) in str(error)
        assert "\n" not in str(error)
        assert not out.exists()
        with pytest.raises(UserError) as caught:
            open_graph([path])
        assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    else:
        found, expected = KnowledgeGraph.open(out, verify=True), open_graph([path])
        for field in ("entities", "relations"):
            assert list(getattr(found, field)) == list(getattr(expected, field))
        assert found.triplets.tolist() == expected.triplets.tolist()


@given(st.binary(max_size=60), st.sampled_from([".tsv", ".csv", ".tsv.gz", ".csv.zst"]))
@HERE
def test_any_labels_give_a_graph_or_one_line(tmp_path, noise, suffix):
    (tmp_path / "kg.tsv").write_text("m.1\tr\tb\n")
    labels, out = tmp_path / f"labels{suffix}", tmp_path / "graph"
    labels.write_bytes(noise)
    shutil.rmtree(out, ignore_errors=True)
    try:
        build_graph([tmp_path / "kg.tsv"], out, BuildSettings(labels=labels))
    except UserError as error:
        assert str(error).startswith(str(labels))
        assert "\n" not in str(error)
        assert not out.exists()
