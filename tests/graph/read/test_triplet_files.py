"""Triplet files: every format by hand, round trips, and broken ones."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph.graph_files import batch_rows, read_triplets
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.header import NAMES as HEADER_NAMES
from kgscout_jax.graph.read.header import plain
from kgscout_jax.graph.read.key_columns import is_key_name
from kgscout_jax.graph.read.ntriples import iri_name
from kgscout_jax.graph.read.options import MISSING

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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tail,head,relation\nParis,Café,is in\n", [("Café", "is in", "Paris")]),
        ("a,b,c\nhead,relation,tail\n", [tuple("abc"), ("head", "relation", "tail")]),
    ],
)
def test_a_header_in_any_order_is_in_the_first_line_only(tmp_path, text, expected):
    assert list(read_triplets(write(tmp_path / "kg.csv", text))) == expected


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


STRINGS = pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize(
    ("columns", "order"),
    [
        ("tail relation head", (2, 1, 0)),  # columns are found by name, not by place
        ("Object Predicate Subject", (2, 1, 0)),
        ("x y z", (0, 1, 2)),  # nothing to go by but the order
    ],
)
@pytest.mark.parametrize("strings", STRINGS)
def test_parquet_columns_match_by_name_then_by_order(tmp_path, columns, order, strings):
    arrays = [pa.array([row[i] for row in ROWS]).cast(strings) for i in order]
    names = ["weight", *columns.split()]
    table = pa.table([pa.array([1, 2, 3]), *arrays], names=names)
    pq.write_table(table, tmp_path / "kg.parquet", row_group_size=2)
    assert list(read_triplets(tmp_path / "kg.parquet")) == ROWS


def parquet(**columns) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def zip_file() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sheet1.xml", bytes(range(256)))
    return sink.getvalue()


ZIP = zip_file()
EXPECTED = ": expected columns head, relation, tail of strings (integers too "
NO_ROWS = parquet(**dict.fromkeys(("head", "relation", "tail"), pa.array([], "string")))
TWO_STRINGS = parquet(a=["x"], b=["y"], c=[1])
NUMBERS = parquet(head=["x"], relation=["y"], tail=[1.5])
NULL = parquet(head=["x", "x", "x"], relation=["y", "y", None], tail=["z", None, "v"])
BLANK = parquet(head=["x", " "], relation=["y", "y"], tail=["z", "z"])
LARGE = parquet(head=["x"] * 999, relation=["y"] * 999, tail=["z"] * 999)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("tsv", "a\tb\tc\na\tb\n", ":2: expected 3 tab-separated columns, found 2"),
        ("csv", "a,b,c,d\n", ":1: expected 3 comma-separated columns, found 4"),
        ("tsv", "a\t \tc\n", ":1: the relation is empty"),
        ("csv", "a,b,\n", ":1: the tail is empty"),
        ("tsv", "", ": holds no triplets"),
        ("csv", "head,relation,tail\n", ": holds no triplets"),
        ("nt", "# nothing\n", ": holds no triplets"),
        ("csv", 'x,y,z\na,b,"c\nd,e,f\n', ":2: not valid CSV (a quote opens in this"),
        ("csv", 'x,y,z\na,"b"c,d\n', ":2: not valid CSV"),
        (
            "tsv",
            "a\tb\tc\né\tb\tc\r\n".encode() + b"caf\xe9\tb\tc\n",
            ":3: not UTF-8 text (byte 0xe9); ",
        ),
        ("csv", b"a,b,c\n" + b"x,y,z\n" * 50000 + b"\x80,b,c\n", ":50002: not UTF-8"),
        (
            "csv",
            "head,relation,tail\n".encode("utf-16"),
            ": UTF-16 text, expected UTF-8; it is converted by iconv -f UTF-16",
        ),
        (
            "csv",
            gzip.compress(b"a,b,c\n", mtime=0),
            ": a gzip file, expected UTF-8 text; rename it to kg.csv.gz",
        ),
        ("tsv", ZIP, ": a zip or Excel file, expected UTF-8 text; export it as CSV"),
        ("nt", bytes(range(256)), ": binary, expected UTF-8 text"),
        ("nt", "<http://a> <http://b> <http://c>\n", ":1: not an N-Tri"),
        ("nt", '"a" <http://b> <http://c> .\n', ":1: not an"),
        ("nt", "<http://a b> <http://b> <http://c> .\n", ":1: not"),
        ("nt", '<a> <b> "\\ud800" .\n', ":1: the escape \\ud800"),
        ("nt", '<a> <b> "\\U00110000" .\n', ":1: the escape"),
        ("xlsx", "", ": unknown triplet format; expected .tsv"),
        ("parquet.gz", "", ": unknown triplet format"),
        ("parquet", "a\tb\tc\n", ": not a parquet file"),
        (
            "parquet",
            "version https://git-lfs.github.com/spec/v1\n",
            ": a git-lfs pointer",
        ),
        ("parquet", TWO_STRINGS, EXPECTED + "as head and tail), found a (string), "),
        ("parquet", NUMBERS, "tail (double)"),
        ("parquet", NULL, ": row 3: column 'relation' is null"),
        ("parquet", BLANK, ": row 2: column 'head' is empty"),
        ("parquet", NO_ROWS, ": holds no triplets"),
        ("parquet", LARGE[:4] + b"\0" * 20 + LARGE[24:], ": "),
        ("tsv", None, ": no such file"),
        ("parquet", None, ": no such file"),
    ],
)
def test_malformed_and_missing_files_give_a_one_line_error(
    tmp_path, name, content, expected
):
    path = tmp_path / f"kg.{name}"
    if content is not None:
        write(path, content)
    with pytest.raises(UserError) as caught:
        list(read_triplets(path))
    message = str(caught.value)
    assert message.startswith(str(path)) and expected in message
    assert "\n" not in message


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UserError, match="found a folder"):
        read_triplets(tmp_path)


# What a name may hold: anything but control letters (a file's lines and columns) and
# lone surrogates, and neither blank, nor a word for a missing value, nor what begins a
# comment or a term of RDF.
NAMES = st.text(
    st.characters(blacklist_categories=("Cs", "Cc")), min_size=1, max_size=12
).filter(
    lambda name: name.strip() and name not in MISSING and name.lstrip()[0] not in '#<"'
)
TRIPLETS = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=8).filter(
    lambda rows: (
        rows[0][0].strip().lower() not in ("head", "subject")
        and "\ufeff" not in rows[0][0]
        # what names or numbers the rows of a table
        and not any(plain(cell).endswith(HEADER_NAMES) for cell in rows[0])
        and not is_key_name(rows[0][0])
    )
)


@given(rows=TRIPLETS)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_tsv_csv_and_parquet_round_trip(tmp_path, rows):
    text = "".join("\t".join(row) + "\n" for row in rows)
    assert list(read_triplets(write(tmp_path / "kg.tsv", text))) == rows
    sink = io.StringIO()
    csv.writer(sink).writerows(rows)
    assert list(read_triplets(write(tmp_path / "kg.csv", sink.getvalue()))) == rows
    head, relation, tail = map(list, zip(*rows, strict=True))
    data = parquet(head=head, relation=relation, tail=tail)
    assert list(read_triplets(write(tmp_path / "kg.parquet", data))) == rows


def test_rdf_terms_in_tables_are_named_as_in_n_triples(tmp_path):
    yago = write(
        tmp_path / "yago.tsv",
        "<Ada_Lovelace>\t<wasBornIn>\t<London>\n<Ada_Lovelace>\trdf:type\t<person>\n"
        '<Ada_Lovelace>\t<wasBornOnDate>\t"1815-12-10"^^xsd:date\n'
        "http://x.org/r/Ada\thttp://x.org/r/homepage\thttp://x.org/p#ada\n"
        "Ada\thomepage\thttp://x.org/p\n<3 hearts\tis\t<5 or >3\n",
    )
    rows = [
        ("Ada_Lovelace", "wasBornIn", "London"),
        ("Ada_Lovelace", "rdf:type", "person"),
        ("Ada_Lovelace", "wasBornOnDate", "1815-12-10"),
        ("Ada", "homepage", "ada"),
        ("Ada", "homepage", "http://x.org/p"),
        ("<3 hearts", "is", "<5 or >3"),
    ]
    assert list(read_triplets(yago)) == rows
    assert list(batch_rows(yago)) == rows
