"""Triplet files: every format by hand, round trips, and broken ones."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read import read_triplets
from kgscout_jax.graph.read.ntriples import iri_name

ROWS = [("Café", "is in", "Paris"), ("#1 Fan", "by", 'Plies "P"'), ("a", "b", "a")]


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


TSV = 'Café\tis in\tParis\n\n#1 Fan\tby\tPlies "P"\na\tb\ta'
CSV = 'Café,is in,Paris\n\n#1 Fan,by,"Plies ""P"""\na,b,a\n'
NT = r"""# a comment, then a blank line

<http://x.org/Caf%C3%A9> <http://x.org/p#is%20in> <http://x.org/Paris/> .
<http://x.org/%231%20Fan> <urn/by> "Plies \"P\""@en-GB . # comment
 <http://x.org/a>	<http://x.org/b><http://x.org/other#a>.
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kg.tsv", TSV),
        ("kg.txt", TSV),
        ("kg.TSV", TSV.replace("\n", "\r\n")),
        ("kg.tsv.gz", TSV),
        ("kg.tsv", "\ufeffHead\tRelation\tTail\n" + TSV),
        ("kg.csv", CSV),
        ("kg.csv.gz", CSV.replace("\n", "\r\n")),
        ("kg.csv", "subject,predicate,object\n" + CSV),
        ("kg.csv", '\ufeffsubject,"predicate",object\n' + CSV),
        ("kg.nt", NT),
        ("kg.nt.gz", NT.replace("\n", "\r\n")),
    ],
)
def test_text_formats_give_the_same_triplets(tmp_path, name, content):
    assert list(read_triplets(write(tmp_path / name, content))) == ROWS


def test_header_in_another_order_is_followed(tmp_path):
    path = write(tmp_path / "kg.csv", "tail,head,relation\nParis,Café,is in\n")
    assert list(read_triplets(path)) == [("Café", "is in", "Paris")]


def test_header_is_recognised_in_the_first_line_only(tmp_path):
    path = write(tmp_path / "kg.tsv", "a\tb\tc\nhead\trelation\ttail\n")
    assert list(read_triplets(path)) == [("a", "b", "c"), ("head", "relation", "tail")]


def test_ntriples_literals_nodes_and_escapes(tmp_path):
    path = write(
        tmp_path / "kg.nt",
        r"""_:b0 <http://x/p> "tab\tuA\u00e9\U0001F600\\n" .
<http://x/a> <http://x/p> "5"^^<http://www.w3.org/2001/XMLSchema#int> .
<http://x/a> <http://x/p> "" .
<http://x/a> <http://x/p> _:b1.c .
<http://x/\u00e9> <http://x/p> "été" .
""",
    )
    notes: dict[str, int] = {}
    assert list(read_triplets(path, notes)) == [
        ("_:b0", "p", "tab\tuAé😀\\n"),
        ("a", "p", "5"),
        ("a", "p", "_:b1.c"),
        ("é", "p", "été"),
    ]
    assert notes == {"blank_triplets": 1}


@pytest.mark.parametrize(
    ("iri", "name"),
    [
        ("http://www.wikidata.org/entity/Q42", "Q42"),
        ("http://dbpedia.org/resource/New_York", "New_York"),
        ("http://x.org/a#b%20c", "b c"),
        ("http://x.org/a/", "a"),
        ("urn:isbn:1", "urn:isbn:1"),
        ("http://x.org/%20", "<http://x.org/%20>"),
    ],
)
def test_an_iri_is_named_by_its_last_segment(iri, name):
    assert iri_name(iri) == name


@pytest.mark.parametrize(
    "columns",
    [
        ["head", "relation", "tail"],
        ["Subject", "Predicate", "Object"],
        ["x", "y", "z"],
    ],
)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), "dictionary"])
def test_parquet_columns_match_by_name_then_by_order(tmp_path, columns, kind):
    arrays = []
    for i in (2, 1, 0):  # the tail first: columns are found by name, not by place
        array = pa.array([row[i] for row in ROWS])
        array = array.dictionary_encode() if kind == "dictionary" else array.cast(kind)
        arrays.append(array)
    names = columns[::-1]
    if columns == ["x", "y", "z"]:  # nothing to go by but the order
        arrays = arrays[::-1]
        names = columns
    table = pa.table([pa.array([1, 2, 3]), *arrays], names=["weight", *names])
    pq.write_table(table, tmp_path / "kg.parquet", row_group_size=2)
    assert list(read_triplets(tmp_path / "kg.parquet")) == ROWS


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


BROKEN = {
    "two columns": (
        "kg.tsv",
        "a\tb\tc\na\tb\n",
        "kg.tsv:2: expected 3 tab-separated columns, found 2",
    ),
    "four columns": (
        "kg.csv",
        "a,b,c,d\n",
        "kg.csv:1: expected 3 comma-separated columns, found 4",
    ),
    "empty cell": ("kg.tsv", "a\t \tc\n", "kg.tsv:1: the relation is empty"),
    "empty tail": ("kg.csv", "a,b,\n", "kg.csv:1: the tail is empty"),
    "nothing": ("kg.tsv", "", "kg.tsv: holds no triplets"),
    "header only": ("kg.csv", "head,relation,tail\n", "kg.csv: holds no triplets"),
    "comments only": ("kg.nt", "# nothing\n", "kg.nt: holds no triplets"),
    "open quote": ("kg.csv", 'a,b,"c\nd,e,f\n', "kg.csv:2: not valid CSV"),
    "latin-1": ("kg.tsv", b"caf\xe9\tb\tc\n", "kg.tsv: not UTF-8"),
    "no dot": ("kg.nt", "<http://a> <http://b> <http://c>\n", "kg.nt:1: not an N-Tri"),
    "literal subject": ("kg.nt", '"a" <http://b> <http://c> .\n', "kg.nt:1: not an"),
    "space in IRI": ("kg.nt", "<http://a b> <http://b> <http://c> .\n", "kg.nt:1: not"),
    "surrogate": ("kg.nt", '<a> <b> "\\ud800" .\n', "kg.nt:1: the escape \\ud800"),
    "too far": ("kg.nt", '<a> <b> "\\U00110000" .\n', "kg.nt:1: the escape"),
    "no turtle": ("kg.json", "", "kg.json: unknown triplet format; expected .tsv"),
    "parquet.gz": ("kg.parquet.gz", "", "kg.parquet.gz: unknown triplet format"),
    "no parquet": ("kg.parquet", "a\tb\tc\n", "kg.parquet: not a parquet file"),
    "pointer": (
        "kg.parquet",
        "version https://git-lfs.github.com/spec/v1\n",
        "kg.parquet: a git-lfs pointer",
    ),
    "two strings": (
        "kg.parquet",
        parquet(a=["x"], b=["y"], c=[1]),
        "kg.parquet: expected string columns head, relation, tail, found "
        "a (string), b (string), c (int64)",
    ),
    "numbers": (
        "kg.parquet",
        parquet(head=["x"], relation=["y"], tail=[1]),
        "tail (int64)",
    ),
    "null": (
        "kg.parquet",
        parquet(head=["x", "x"], relation=["y", "y"], tail=["z", None]),
        "kg.parquet: row 2: column 'tail' is null",
    ),
    "blank": (
        "kg.parquet",
        parquet(head=["x", " "], relation=["y", "y"], tail=["z", "z"]),
        "kg.parquet: row 2: column 'head' is empty",
    ),
    "no rows": (
        "kg.parquet",
        parquet(
            head=pa.array([], pa.string()),
            relation=pa.array([], pa.string()),
            tail=pa.array([], pa.string()),
        ),
        "kg.parquet: holds no triplets",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_files_give_a_one_line_error(tmp_path, case):
    name, content, expected = BROKEN[case]
    with pytest.raises(UserError) as caught:
        list(read_triplets(write(tmp_path / name, content)))
    message = str(caught.value)
    assert expected in message
    assert message.startswith(str(tmp_path / name))
    assert "\n" not in message


def test_missing_truncated_files_and_folders_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"none\.tsv: no such file"):
        list(read_triplets(tmp_path / "none.tsv"))
    with pytest.raises(UserError, match=r"none\.parquet: no such file"):
        list(read_triplets(tmp_path / "none.parquet"))
    with pytest.raises(UserError, match="found a folder"):
        read_triplets(tmp_path)
    whole = gzip.compress(TSV.encode() * 100)
    (tmp_path / "kg.tsv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"kg\.tsv\.gz: not a whole gzip file"):
        list(read_triplets(tmp_path / "kg.tsv.gz"))
    data = parquet(head=["x"] * 999, relation=["y"] * 999, tail=["z"] * 999)
    (tmp_path / "kg.parquet").write_bytes(data[:4] + b"\0" * 20 + data[24:])
    with pytest.raises(UserError, match=r"kg\.parquet: "):
        list(read_triplets(tmp_path / "kg.parquet"))


# What a name may hold: anything but control letters (a file's lines and columns) and
# lone surrogates, and not blank.
NAMES = st.text(
    st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12
).filter(str.strip)
TRIPLETS = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=8).filter(
    lambda rows: (
        rows[0][0].strip().lower() not in ("head", "subject")
        and "\ufeff" not in rows[0][0]
    )
)


@given(rows=TRIPLETS)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_tsv_csv_and_parquet_round_trip(tmp_path, rows):
    text = "".join("\t".join(row) + "\n" for row in rows)
    assert list(read_triplets(write(tmp_path / "kg.tsv", text))) == rows
    sink = io.StringIO()
    csv.writer(sink).writerows(rows)
    assert list(read_triplets(write(tmp_path / "kg.csv", sink.getvalue()))) == rows
    columns = dict(
        zip(("head", "relation", "tail"), zip(*rows, strict=True), strict=True)
    )
    pq.write_table(pa.table(columns), tmp_path / "kg.parquet")
    assert list(read_triplets(tmp_path / "kg.parquet")) == rows


@given(
    content=st.one_of(st.binary(max_size=60), st.text('ab\t",<>_:\\.\n', max_size=60)),
    suffix=st.sampled_from([".tsv", ".csv", ".nt", ".tsv.gz", ".parquet"]),
)
@settings(
    max_examples=200,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_bytes_give_triplets_or_a_one_line_error(tmp_path, content, suffix):
    path = tmp_path / f"kg{suffix}"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        rows = list(read_triplets(path))
    except UserError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
    else:
        assert rows
        assert all(len(row) == 3 and all(map(str.strip, row)) for row in rows)
