"""Tables as people have them: headers, separators, columns, doubts, limits."""

from __future__ import annotations

import csv
import gzip
import io
import logging
import tracemalloc
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
from kgscout_jax.graph.read.header import ENDS, MIXED, RELATIONS
from kgscout_jax.graph.read.options import (
    MAX_LINE,
    MAX_NAME,
    ReadOptions,
    parse_columns,
)

HERE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
ROWS = [("Alien; the film", "directed by", "Ridley, Scott"), ("a|b", "r\t", 'say "x"')]


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def table(rows, separator: str) -> str:
    sink = io.StringIO()
    csv.writer(sink, delimiter=separator, lineterminator="\n").writerows(rows)
    return sink.getvalue()


@given(
    ends=st.sampled_from(ENDS)
    | st.tuples(st.sampled_from(ENDS[:MIXED]), st.sampled_from(ENDS[:MIXED])).map(
        lambda pairs: (pairs[0][0], pairs[1][1])
    ),
    relation=st.sampled_from(RELATIONS),
    order=st.permutations(range(5)),
    spell=st.sampled_from([str, str.upper, str.title, "~{}".format, ":{}".format]),
    separator=st.sampled_from(",;\t|"),
    suffix=st.sampled_from([".csv", ".tsv", ".txt"]),
)
@HERE
def test_any_order_of_columns_under_known_names_gives_the_same_triplets(
    tmp_path, ends, relation, order, spell, separator, suffix
):
    rows = ROWS
    if suffix != ".csv" and separator in "\t|":  # their quotes are letters
        rows = [("Alien", "directed by", "Ridley, Scott")]
    cells = [(*row, "1979", "") for row in rows]
    header = [spell(ends[0]), spell(relation), spell(ends[1]), "year", "note"]
    lines = [[row[i] for i in order] for row in (header, *cells)]
    path = write(tmp_path / f"kg{suffix}", table(lines, separator))
    read = list(read_triplets(path))
    assert [triplet for triplet in read if not triplet[0].startswith("_:")] == rows
    assert sum(triplet[1:] == ("year", "1979") for triplet in read) == len(rows)
    assert batch_rows(path) == read


TSV = "a\tr\tb\nc\tr\td\n"
CSV = "a,r,b\nc,r,d\n"


@pytest.mark.parametrize(
    ("name", "text", "columns", "expected"),
    [
        ("kg.csv", "source,target,relation\na,b,r\nc,d,r\n", "", "a r b, c r d"),
        ("kg.csv", "from;to;label\na;b;r\n", "", "a r b"),
        ("kg.csv", "h|x\n", "", ":1: expected 3 comma-separated columns, found 1"),
        ("kg.csv", "a;r;b\nc;r;d\n", "", "a r b, c r d"),
        ("kg.txt", "a|r|b\nc|r|d\n", "", "a r b, c r d"),
        ("kg.txt", '"a" b|r|b\n', "", '"a" b r b'),
        ("kg.tsv", "a,r,b\n", "", "a r b"),
        # as they were read before there were layouts
        ("kg.tsv", TSV, "", "a r b, c r d"),
        ("kg.csv", CSV, "", "a r b, c r d"),
        ("kg.csv", "type,label,name\na,r,b\n", "", "type label name, a r b"),
        # a relation under an unknown name, or none
        ("kg.csv", "source,verb phrase,target\na,r,b\n", "", "a r b"),
        (
            "kg.csv",
            "source,target,weight\na,b,1\n",
            "",
            ":1: a header without a relation; found the columns 'source', 'target', "
            "'weight' (--columns source,NAME,target names the relation's column, "
            "source,=NAME,target gives all rows one relation)",
        ),
        (
            "kg.tsv",
            "from;to;km;x\na;b;1;2\n",
            "",
            ":1: a header without a relation; found the columns 'from', 'to', 'km'",
        ),
        (
            "kg.csv",
            "source,target,weight\na,b,1\n",
            "source,=knows,target",
            "a knows b",
        ),
        # Gephi's Type says which way an edge points
        (
            "kg.csv",
            "Source,Target,Type,Id,Label,Weight\na,b,Directed,0,r,1.0\n",
            "",
            "a r b",
        ),
        (
            "kg.csv",
            "Source,Target,Type,Id,Weight\na,b,Directed,0,1.0\nb,c,Undirected,1,1.0\n",
            "",
            ":1: a header without a relation; found the columns 'Source', 'Target', "
            "'Type'",
        ),
        (
            "kg.csv",
            "Source,Target,Type,Id,Label,Weight\na,b,Undirected,0,,2\nb,c,Directed,1,,1\n",
            "",
            ":1: a header without a relation; found the columns 'Source', 'Target', "
            "'Type', 'Id', 'Label', 'Weight' (--columns Source,NAME,Target names",
        ),
        (
            "kg.csv",
            "Source,Target,Type,Id,Label\na,b,Directed,0,r\nb,c,Directed,1,\n",
            "",
            ":3: the relation is empty (--columns HEAD,=NAME,TAIL gives all rows one",
        ),
        # other languages
        ("kg.csv", "Subjekt;Prädikat;Objekt\na;r;b\n", "", "a r b"),
        ("kg.csv", "von,nach,Beziehung\na,b,r\n", "", "a r b"),
        ("kg.csv", "objet;prédicat;sujet\nb;r;a\n", "", "a r b"),
        ("kg.csv", "sujeto,predicado,objeto\na,r,b\n", "", "a r b"),
        (
            "kg.txt",
            "a b 0.5\n",
            "",
            ":1: expected 3 tab-separated columns, found 1; tabs, commas, semicolons",
        ),
        # one letter a column
        ("kg.csv", "s,p,o\na,r,b\n", "", "a r b"),
        ("kg.tsv", "H\tR\tT\na\tr\tb\n", "", "a r b"),
        ("kg.csv", "p,s,o\na,r,b\n", "", "p s o, a r b"),
        ("kg.csv", "a\tr\tb\nc\tr\td\n", "", "a r b, c r d"),
        (
            "kg.csv",
            "a,b,r,1\n",
            "",
            ":1: expected 3 comma-separated columns, found 4; --columns HEAD,RELATION,"
            "TAIL names them",
        ),
        # the separator is found before the number of columns is refused
        (
            "kg.csv",
            "x1;x2;x3;x4\nAda;Legal;1,5;2019\nUgo;Legal;2,5;2020\n",
            "",
            ":1: expected 3 semicolon-separated columns, found 4; --columns HEAD,",
        ),
        (
            "kg.tsv",
            "Ada,Legal,15,2019\nUgo,Legal,15,2019\n",
            "",
            ":1: expected 3 comma-separated columns, found 4; --columns HEAD,RELATION,",
        ),
        (
            "kg.csv",
            "name;department;salary;start\nAda;Legal;1,5;2019\n",
            "name,=works in,department",
            "Ada works in Legal",
        ),
        ("kg.csv", "a,b\nc;d;e;f\n", "", ":1: expected 3 comma-separated columns"),
        ("kg.csv", "a;b;c,r,d|e|f\n", "", "a;b;c r d|e|f"),
        ("kg.tsv", '"a"\t"r"\t"b"\n', "", '"a" "r" "b"'),
        # a header in quotes: all of the file is
        (
            "kg.tsv",
            '"subject"\t"predicate"\t"object"\n"a\tb"\t"r"\t"b"\n',
            "",
            "a\tb r b",
        ),
        ("kg.csv", '\ufeff"subject","object","predicate"\na,b,r\n', "", "a r b"),
        # given columns
        ("kg.csv", "von,nach,art\na,b,r\n", "von,art,nach", "a r b"),
        ("kg.csv", "von,nach,art\na,b,r\n", "VON, Art ,nach", "a r b"),
        ("kg.csv", "a,b,r\n", "1,3,2", "a r b"),
        ("kg.csv", "a,b,r\n", "source,target,relation", "a r b"),
        ("kg.csv", "target,source,type\nb,a,r\n", "source,target,type", "a r b"),
        ("kg.csv", "source,target,type\na,b,r\n", "target,type,source", "b r a"),
        ("kg.csv", "source,target\na,b\n", "source,=likes,target", "a likes b"),
        ("kg.csv", "a,b\n", "1,=likes,2", "a likes b"),
        ("kg.csv", "7;a;b;r\n", "2,4,3", "a r b"),
        (
            "kg.csv",
            "von,nach\na,b\n",
            "von,x,nach",
            ":1: expected the columns von, x, nach, found 'von', 'nach'",
        ),
        ("kg.csv", "a,b\n", "1,2,3", ":1: expected the columns 1, 2, 3, found 'a'"),
        (
            "kg.csv",
            "from,to,type,x\na,b,r\n",
            "",
            ":2: expected 4 comma-separated columns, as in the header, found 3",
        ),
    ],
)
def test_layouts_worked_out_by_hand(tmp_path, name, text, columns, expected):
    path = write(tmp_path / name, text)
    chosen = parse_columns(columns or None)
    for read in (lambda: read_triplets(path, columns=chosen),
                 lambda: batch_rows(path, columns=chosen)):  # fmt: skip
        if expected.startswith(":"):
            with pytest.raises(UserError) as caught:
                list(read())
            assert f"{path}{expected}" in str(caught.value)
        else:
            assert ", ".join(map(" ".join, read())) == expected


@pytest.mark.parametrize(
    ("text", "doubt"),
    [
        ("source,target,relation\na,b,r\n", None),
        (CSV, None),
        ("a;r;b\n" * 2, "found semicolon-separated columns; read as ('a', 'r', 'b')"),
        ("from,to,type,label\na,b,r,s\n", "several columns could be meant; read as "),
        (
            "".join(f"n{i},m{i},knows\n" for i in range(9)),
            "the second column holds more different names than another one; read as "
            "('n0', 'm0', 'knows'), ('n1', 'm1', 'knows'), ('n2', 'm2', 'knows')",
        ),
        (
            "fra,slags,til\n" + "".join(f"a{i},kennt,b{i}\n" for i in range(9)),
            "the first line may be a header; read as ('fra', 'slags', 'til'), ",
        ),
        (
            "fra,slags,til\nParis,in,France\nRome,in,Italy\n",
            "the first line may be a header; read as ('fra', 'slags', 'til'), ",
        ),
        ("Paris,in,France\nRome,in,Italy\nParis,on,Seine\n", None),
        ("head,verb phrase,tail\na,r,b\n", "the first line is taken for a header; "),
        ("s,p,o\na,r,b\n", "the first line is taken for a header; read as ('a', 'r'"),
    ],
)
def test_a_guess_prints_three_triplets_and_the_remedy_once(
    tmp_path, caplog, text, doubt
):
    caplog.set_level(logging.INFO, "kgscout")
    path = write(tmp_path / "kg.csv", text)
    build_graph([path], tmp_path / "graph")
    assert len(caplog.messages) == (doubt is not None)
    if doubt:
        assert caplog.messages[0].startswith(f"{path}: {doubt}")
        assert "--columns HEAD,RELATION,TAIL changes that" in caplog.messages[0]


def test_further_columns_are_facts_about_both_ends(tmp_path, caplog):
    caplog.set_level(logging.INFO, "kgscout")
    text = "from,to,type,since,,weight\nAnn,Bo,knows,2019,x,1\nBob,Bo,knows, ,x,2\n"
    path = write(tmp_path / "kg.csv", text)
    plain = [("Ann", "knows", "Bo"), ("Bob", "knows", "Bo")]
    row = [("source", "Ann"), ("target", "Bo"), ("since", "2019")]
    facts = [plain[0], *(("_:kg:2", *pair) for pair in row), plain[1]]
    assert list(read_triplets(path)) == batch_rows(path) == facts
    assert caplog.messages[0] == (
        f"{path}: further columns: since: read as facts about both ends (--columns "
        "HEAD,RELATION,TAIL leaves them out); weight: left out (--properties reads "
        "them)"
    )
    chosen = ReadOptions(columns=("from", "type", "to"))
    assert len(KnowledgeGraph.open(path, options=chosen)) == len(plain)
    read = list(read_triplets(path, properties=True))
    assert batch_rows(path, properties=True) == read
    assert {("_:kg:2", "weight", "1"), ("_:kg:3", "weight", "2")} < {*read}
    options = ReadOptions(properties=True)
    small = KnowledgeGraph.open(path, options=options)
    build_graph([path], tmp_path / "graph", BuildSettings(properties=True))
    large = KnowledgeGraph.open(tmp_path / "graph")
    assert list(large.entities) == list(small.entities)
    assert large.triplets.tolist() == small.triplets.tolist()


@pytest.mark.parametrize("columns", ["", "a,b", "a,b,c,d", "a,,c", '"a'])
def test_columns_are_three(columns):
    with pytest.raises(UserError, match="--columns: expected three columns"):
        parse_columns(columns)


def test_columns_of_parquet_are_found_or_given(tmp_path):
    path = tmp_path / "kg.parquet"
    pq.write_table(pa.table({"target": ["b"], "x": ["y"], "source": ["a"],
                             "type": ["r"]}), path)  # fmt: skip
    assert list(read_triplets(path)) == batch_rows(path) == [("a", "r", "b")]
    for columns in (("source", "x", "target"), ("3", "2", "1")):
        assert list(read_triplets(path, columns=columns)) == [("a", "y", "b")]
        assert batch_rows(path, columns=columns) == [("a", "y", "b")]
    with pytest.raises(UserError, match="expected columns a, b, c of strings"):
        list(read_triplets(path, columns=("a", "b", "c")))


@pytest.mark.parametrize(
    "names",
    ["src weight dst note", "src dst weight", "note src x dst", "source target"],
)
def test_parquet_and_csv_with_ends_and_no_relation_are_refused(tmp_path, names):
    cells = {name: [name[0]] for name in names.split()}
    pq.write_table(pa.table(cells), tmp_path / "kg.parquet")
    ends = "source,{},target" if "source" in names else "src,{},dst"
    with pytest.raises(UserError) as refused:
        list(read_triplets(tmp_path / "kg.parquet"))
    for part in (": a header without a relation; found the columns '", "=NAME"):
        assert part in str(refused.value)
    if len(cells) > 2:
        path = write(
            tmp_path / "kg.csv", table([[*cells], [*"abcd"[: len(cells)]]], ",")
        )
        with pytest.raises(UserError) as same:
            list(read_triplets(path))
        tail = str(refused.value).partition(": ")[2]
        assert str(same.value) == f"{path}:1: {tail}"
    columns = tuple(ends.format("=r").split(","))
    expected = [(columns[0][0], "r", columns[2][0])]
    assert list(read_triplets(tmp_path / "kg.parquet", columns=columns)) == expected
    assert batch_rows(tmp_path / "kg.parquet", columns=columns) == expected


@pytest.mark.parametrize(
    ("header", "doubt"),
    [
        ("h r t", None),
        ("x y z", "the first columns of strings are taken"),
        ("src verb2 dst", "the middle column is taken for the relation"),
        ("source type label target", "several columns could be meant"),
    ],
)
def test_a_parquet_file_of_unclear_columns_is_told_with_its_first_triplets(
    tmp_path, caplog, header, doubt
):
    caplog.set_level(logging.INFO, "kgscout")
    path = tmp_path / "kg.parquet"
    names = header.split()
    cells = {name: [f"{name}{i}" for i in range(4)] for name in names}
    pq.write_table(pa.table(cells), path)
    order = (0, len(names) - 2, len(names) - 1)
    triplets = [tuple(f"{names[place]}{i}" for place in order) for i in range(4)]
    assert batch_rows(path) == triplets
    first = ", ".join(map(str, triplets[:3]))
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}: {doubt}; read as {first} ...; --columns HEAD,RELATION,TAIL changes "
        "that, with names of the header or numbers"
    ] * (doubt is not None)


def test_further_columns_of_parquet_are_properties_as_those_of_csv(tmp_path):
    rows = [["Ann", "admires", "Acme", "2019", "yes"], ["Bob", "owns", "Acme", "", ""]]
    header = ["head", "relation", "tail", "since:int", "paid"]
    csv_file = write(tmp_path / "kg.csv", table([header, *rows], ","))
    columns = dict(zip(header, map(list, zip(*rows, strict=True)), strict=True))
    columns |= {"since:int": [2019, None], "tags": [["a"], None]}
    parquet_file = tmp_path / "kg.parquet"
    pq.write_table(pa.table(columns), parquet_file)
    expected = list(read_triplets(csv_file, properties=True))
    assert ("_:kg:2", "since", "2019") in expected and len(expected) == 6
    # Rows of parquet are numbered from 1, and lines of text from that of the header.
    in_parquet = [(h.replace(":2", ":1"), r, t) for h, r, t in expected]
    assert list(read_triplets(parquet_file, properties=True)) == in_parquet
    assert batch_rows(parquet_file, properties=True) == in_parquet
    assert list(read_triplets(parquet_file)) == batch_rows(parquet_file) == in_parquet


LONG = "n" * (MAX_NAME + 1)


@pytest.mark.parametrize(
    ("name", "end", "repeats", "expected"),
    [
        ("kg.tsv", LONG + "\n", 1, f":2: a name of {MAX_NAME + 1:,} characters"),
        ("kg.csv", LONG + "\n", 1, f":2: a name of more than {MAX_NAME:,} characters"),
        ("kg.csv", f'"{LONG}"\n', 1, ":2: a name of more than"),
        ("kg.nt", f'<x> <r> "{LONG}" .\n', 1, ":2: a name of"),
        ("kg.ttl", f'<x> <r> "{LONG}" .\n', 1, ": a name of"),
        ("kg.tsv", LONG, 99, f":2: a line of more than {MAX_LINE:,} characters"),
        ("kg.nt", LONG, 99, ":2: a line of more than"),
        ("kg.csv", LONG, 99, ":2: a line of more than"),
        ("kg.csv", '"' + ("x" * 999 + "\n") * 999 + '",', 99, " a row of more than"),
    ],
)
def test_bombs_are_refused_in_bounded_memory(tmp_path, name, end, repeats, expected):
    separator = "\t" if name == "kg.tsv" else ","
    first = separator.join("arb") + "\n" + separator.join("xr") + separator
    if name[-2:] in ("nt", "tl"):
        first = '<a> <r> "b" .\n'
    path = tmp_path / (name + ".gz")
    with gzip.GzipFile(path, "wb", compresslevel=1) as file:
        file.write(first.encode())
        for _ in range(repeats):
            file.write(end.encode())
    tracemalloc.start()
    with pytest.raises(UserError) as caught:
        list(read_triplets(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(caught.value).startswith(str(path)) and expected in str(caught.value)
    assert len(str(caught.value)) < 400
    assert peak < 100 << 20
    with pytest.raises(UserError) as again:
        build_graph([path], tmp_path / "graph")
    assert str(again.value) == str(caught.value)
