"""Every source on tiny files worked out by hand, on broken ones, and on real data."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from data_prep.sources import SOURCES, kg, load_source, metaqa, nsm, pathquestion, rog
from data_prep.sources.dataset import Dataset
from data_prep.sources.splits import split_by_topic
from kgscout_jax.errors import UserError

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def put(folder: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        if path.suffix == ".gz":
            data = gzip.compress(data)
        path.write_bytes(data)
    return folder


def named(dataset: Dataset, split: str, i: int) -> list[tuple[str, str, str]]:
    assert dataset.subgraphs is not None
    return [dataset.graph.triplet(int(t)) for t in dataset.subgraphs[split][i]]


def ids(dataset: Dataset) -> dict[str, list[str]]:
    return {split: [q.id for q in rows] for split, rows in dataset.questions.items()}


# --- rog ---------------------------------------------------------------------------

ROG = [
    {
        "id": "q1",
        "question": "where is b?",
        "answer": ["C", "D"],
        "q_entity": ["B"],
        "a_entity": ["C"],
        "graph": [
            ["A", "r.one", "B"],
            ["a", "r.one", " B"],  # the same triplet by identity
            ["B", "r.two", "C"],
            ["B", "r.two", " "],  # names nothing
        ],
    },
    {
        "id": "q2",
        "question": "and d?",
        "answer": [],
        "q_entity": ["D"],
        "a_entity": [],
        "graph": [],
    },
    {
        "id": "q3",
        "question": "and c?",
        "answer": ["B"],
        "q_entity": ["c"],
        "a_entity": ["B"],
        "graph": [["b", "r.two", "C"], ["C", "r.one", "C"]],
    },
]


def check_rog(dataset: Dataset, split: str) -> None:
    assert list(dataset.graph.entities) == ["A", "B", "C"]
    assert list(dataset.graph.relations) == ["r.one", "r.two"]
    np.testing.assert_array_equal(
        dataset.graph.triplets, [[0, 0, 1], [1, 1, 2], [2, 0, 2]]
    )
    assert ids(dataset) == {split: ["q1", "q2", "q3"]}
    assert named(dataset, split, 0) == [("A", "r.one", "B"), ("B", "r.two", "C")]
    assert named(dataset, split, 1) == []
    assert named(dataset, split, 2) == [("B", "r.two", "C"), ("C", "r.one", "C")]
    first = dataset.questions[split][0]
    assert (first.topics, first.answers, first.answer_entities) == (
        ("B",),
        ("C", "D"),
        ("C",),
    )
    assert first.hop is None
    assert dataset.notes == {
        "triplets_read": 6,
        "blank_triplets": 1,
        "empty_graphs": 1,
        "duplicate_triplets": 1,
    }


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train.jsonl", "train"),
        ("validation.jsonl", "dev"),
        ("data/valid.jsonl.gz", "dev"),
        ("val.jsonl", "dev"),
        ("test.jsonl.gz", "test"),
        ("sample.jsonl", "test"),
    ],
)
def test_rog_reads_json_lines_under_any_name_of_a_split(tmp_path, name, split):
    put(tmp_path, {name: lines(*ROG)})
    check_rog(rog.load(tmp_path), split)
    dataset = rog.load(tmp_path / name)
    check_rog(dataset, split)
    assert dataset.files == [tmp_path / name]


@pytest.mark.parametrize("folder", ["", "data/"])
@pytest.mark.parametrize("batch", [1, 64])
def test_rog_reads_parquet_in_parts_and_in_data(tmp_path, monkeypatch, folder, batch):
    monkeypatch.setattr(rog, "BATCH", batch)
    put(tmp_path, {f"{folder}README.md": "x"})
    table = pa.Table.from_pylist(ROG)
    names = [
        f"{folder}validation-0000{i}-of-00002-91f0f73a7f8e4f7b.parquet" for i in (0, 1)
    ]
    pq.write_table(table.slice(0, 2), tmp_path / names[0])
    pq.write_table(table.slice(2), tmp_path / names[1])
    dataset = rog.load(tmp_path)
    check_rog(dataset, "dev")
    assert dataset.files == [tmp_path / name for name in names]


def test_rog_splits_share_one_graph(tmp_path):
    put(
        tmp_path,
        {"test.jsonl": lines(ROG[2]), "train.jsonl": lines(ROG[0], ROG[1])},
    )
    dataset = rog.load(tmp_path)
    assert ids(dataset) == {"train": ["q1", "q2"], "test": ["q3"]}
    assert named(dataset, "test", 0) == [("B", "r.two", "C"), ("C", "r.one", "C")]


def test_rog_reads_large_types_and_empty_graphs_of_parquet(tmp_path):
    rows = pa.Table.from_pylist(ROG)
    large = pa.large_list(pa.large_list(pa.large_string()))
    at = rows.schema.get_field_index("graph")
    rows = rows.set_column(at, "graph", rows.column("graph").cast(large))
    pq.write_table(rows, tmp_path / "train.parquet")
    check_rog(rog.load(tmp_path), "train")
    empty = [{**ROG[1], "graph": []}]
    pq.write_table(pa.Table.from_pylist(empty), tmp_path / "test.parquet")
    dataset = rog.load(tmp_path)
    assert named(dataset, "test", 0) == []


def test_rog_parquet_errors_name_the_row(tmp_path):
    def refused(match: str, **change) -> None:
        rows = [ROG[0], {**ROG[2], **change}]
        rows = [{k: v for k, v in row.items() if v is not ...} for row in rows]
        pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
        with pytest.raises(UserError, match=match) as caught:
            rog.load(tmp_path)
        assert "\n" not in str(caught.value)

    refused(r"train\.parquet: row 2: field 'graph': .* found null", graph=None)
    refused(r"train\.parquet: row 2: .* found a row of 2", graph=[["a", "b"]])
    refused(r"row 2: .* found a row that holds null", graph=[["a", "b", None]])
    refused(r"row 2: field 'answer': .* found null", answer=None)
    refused(r"row 2: question id 'q1' occurs twice, first at .*row 1", id="q1")
    table = pa.Table.from_pylist(ROG).drop_columns(["a_entity"])
    pq.write_table(table, tmp_path / "train.parquet")
    with pytest.raises(UserError) as caught:
        rog.load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path / 'train.parquet'}: column 'a_entity' is missing; found: id, "
        "question, answer, q_entity, graph"
    )
    data = (tmp_path / "train.parquet").read_bytes()
    (tmp_path / "train.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(UserError, match=r"train\.parquet: not a parquet file"):
        rog.load(tmp_path)


# --- nsm ---------------------------------------------------------------------------

NSM = {
    "id": "q1",
    "question": "where is b?",
    "entities": [1],
    "answers": [{"kb_id": "m.3", "text": "Sea"}, {"kb_id": "m.9", "text": "Elsewhere"}],
    "subgraph": {"tuples": [[0, 1, 1], [1, 0, 2], [4, 0, 3]], "entities": [99]},
}
NSM_FILES = {
    "entity_name.txt": "m.0\tAlpha\nm.1\tNone\nm.2\tsea\nm.3\tSea\nm.4\talpha\n",
    "relations.txt": "r.one\nr.two\n",
    "dev_simple.json": lines(NSM),
}


def test_nsm_names_replace_ids(tmp_path):
    dataset = nsm.load(put(tmp_path, NSM_FILES))
    assert list(dataset.graph.entities) == ["Alpha", "m.1", "sea"]
    assert list(dataset.graph.relations) == ["r.two", "r.one"]
    assert named(dataset, "dev", 0) == [
        ("Alpha", "r.two", "m.1"),
        ("Alpha", "r.one", "sea"),
        ("m.1", "r.one", "sea"),
    ]
    (question,) = dataset.questions["dev"]
    assert question.topics == ("m.1",)
    assert question.answers == ("Sea", "Elsewhere")
    assert question.answer_entities == ("Sea", "Elsewhere")
    assert dataset.notes["entity_ids"] == 5
    assert dataset.notes["entity_ids_with_name"] == 4
    assert dataset.notes["ids_sharing_a_name"] == 2
    assert dataset.notes["triplets_read"] == 3
    assert [f.name for f in dataset.files] == [
        "entity_name.txt",
        "relations.txt",
        "dev_simple.json",
    ]


@pytest.mark.parametrize(
    "names",
    [
        {"entities_names.json": json.dumps({"m.1": "Beta", "m.7": "unused"})},
        {"entity_name.txt": "m.7\tunused\nm.1\tBeta\n"},
        {},
    ],
)
def test_nsm_entities_take_names_from_a_second_table(tmp_path, names):
    row = {
        **NSM,
        # ReaRev: kb_id a number, the id under "text"
        "answers": [{"kb_id": 3, "text": "m.1"}, {"kb_id": "m.2", "text": None}],
    }
    files = {
        "entities.txt": "m.0\nm.1\nm.2\nm.3\nm.4\n\n",
        "relations.txt": NSM_FILES["relations.txt"],
        "test_simple.json": lines(row),
        **names,
    }
    dataset = nsm.load(put(tmp_path, files))
    shown = "Beta" if names else "m.1"
    assert list(dataset.graph.entities) == ["m.0", shown, "m.2", "m.4", "m.3"]
    (question,) = dataset.questions["test"]
    assert question.topics == (shown,)
    assert question.answers == question.answer_entities == (shown, "m.2")


# --- metaqa ------------------------------------------------------------------------

KB = (
    "Alien|directed_by|Ridley Scott\n"
    "Alien|release_year|1979\n"
    "\n"
    "alien|release_year|1979\n"
)
ONE_HOP = (
    "who directed [Alien]\tRidley Scott\n"
    "what is [Password] about\ta|b\n"
    "is [Hello ] it\tb\n"
    "[[REC]] came out when\t2007\n"
)


def test_split_by_topic_is_the_sha1_of_the_lowered_name():
    # sha1("hello") = aa... = 170, sha1("password") = 5b... = 91, sha1("test") = a9...
    assert [split_by_topic(t) for t in ("Hello", "passWORD", "test")] == [
        "test",
        "dev",
        "train",
    ]


def test_metaqa_flat_with_one_split_is_split_by_topic(tmp_path):
    files = {
        "kb.txt": KB,
        "1hop_dev.txt": ONE_HOP,
        "3hop_dev.txt": "x [password]\ty\n",
        "1hop_dev_qtype.txt": "not read\n",
    }
    dataset = metaqa.load(put(tmp_path, files))
    dev = dataset.questions["dev"]
    assert [q.id for q in dev] == ["metaqa-1-00002", "metaqa-3-00001"]
    assert [q.hop for q in dev] == [1, 3]
    assert dev[0].text == "what is Password about"
    assert dev[0].topics == ("Password",)
    assert dev[0].answers == ("a", "b")
    assert [q.text for q in dataset.questions["test"]] == ["is Hello  it"]
    texts = {q.id: q.text for rows in dataset.questions.values() for q in rows}
    assert texts["metaqa-1-00004"] == "[REC] came out when"
    assert len(dataset.graph.triplets) == 2
    assert dataset.notes == {"triplets_read": 3, "duplicate_triplets": 1}
    assert dataset.subgraphs is None


@pytest.mark.parametrize("layout", [metaqa.OFFICIAL, metaqa.FLAT])
def test_metaqa_keeps_the_splits_of_its_files(tmp_path, layout):
    files = {"kb.txt": KB}
    for split in ("train", "dev", "test"):
        for hop in (1, 2):
            name = layout.format(hop=hop, split=split)
            files[name] = f"{split} [Hello]\tx\n"
    dataset = metaqa.load(put(tmp_path, files))
    assert ids(dataset) == {
        split: ["metaqa-1-00001", "metaqa-2-00001"]
        for split in ("train", "dev", "test")
    }
    assert dataset.questions["dev"][0].text == "dev Hello"


def test_metaqa_official_with_one_split_keeps_it(tmp_path):
    files = {"kb.txt": KB, "1-hop/vanilla/qa_dev.txt": "is it [Hello]\tx\n"}
    assert ids(metaqa.load(put(tmp_path, files))) == {"dev": ["metaqa-1-00001"]}


# --- pathquestion ------------------------------------------------------------------

PQ2 = "the n of hello 's p ?\tx_(y)(x_(y)/z/)\thello#p#b#n#x_(y)#<end>#x_(y)\n"
PQ = {
    "2H-kb.txt": "hello\tp\tb\nb\tn\tx_(y)\n",
    "PQ-2H.txt": PQ2,
    "3H-kb.txt": "b\tn\tx_(y)\nx_(y)\tp\ttest\n",
    "PQ-3H.txt": "deep ?\ttest(test/)\ttest#p#b#n#x_(y)#p#test#<end>#test\n",
}


def test_pathquestion_reads_paths_and_answers(tmp_path):
    dataset = pathquestion.load(put(tmp_path, PQ))
    assert ids(dataset) == {"train": ["pq-3h-00001"], "test": ["pq-2h-00001"]}
    (question,) = dataset.questions["test"]
    assert question.topics == ("hello",)
    assert question.answers == ("x_(y)", "z")
    assert question.relevant_triplets == (("hello", "p", "b"), ("b", "n", "x_(y)"))
    assert question.hop == 2
    assert len(dataset.questions["train"][0].relevant_triplets) == 3
    assert len(dataset.graph.triplets) == 3
    assert dataset.notes == {"triplets_read": 4, "duplicate_triplets": 1}


def test_pathquestion_may_have_one_hop_only(tmp_path):
    files = {name: text for name, text in PQ.items() if "2H" in name}
    assert ids(pathquestion.load(put(tmp_path, files))) == {"test": ["pq-2h-00001"]}


# --- kg ----------------------------------------------------------------------------

KG_ROW = {"id": 7, "question": "where is b?", "q_entity": "B", "answer": ["C"]}


def test_kg_reads_questions_over_several_graph_files(tmp_path):
    full = {
        **KG_ROW,
        "id": "eight",
        "q_entity": ["A", "B"],
        "a_entity": ["c"],
        "relevant_triples": [["B", "s", "C"]],
        "hop": 2,
        "note": "fields of one's own are ignored",
    }
    bare = {"id": "nine", "question": "?", "q_entity": [], "answer": None}
    put(
        tmp_path,
        {
            "one.tsv": "A\tr\tB\nb\ts\tC\n",
            "two.csv.gz": "head,relation,tail\nB,s,c\n",
            "q/train.jsonl": lines(KG_ROW, full),
            "q/validation.jsonl.gz": lines(bare),
        },
    )
    files = [tmp_path / "one.tsv", tmp_path / "two.csv.gz"]
    dataset = kg.load(tmp_path / "q", files)
    assert ids(dataset) == {"train": ["7", "eight"], "dev": ["nine"]}
    first, second = dataset.questions["train"]
    assert (first.topics, first.answers) == (("B",), ("C",))
    assert (first.answer_entities, first.relevant_triplets, first.hop) == (
        None,
        (),
        None,
    )
    assert second.topics == ("A", "B")
    assert second.answer_entities == ("c",)
    assert second.relevant_triplets == (("B", "s", "C"),)
    assert second.hop == 2
    assert dataset.questions["dev"][0].answers == ()
    assert len(dataset.graph.triplets) == 2
    assert dataset.notes == {
        "triplets_read": 3,
        "blank_triplets": 0,
        "duplicate_triplets": 1,
    }
    assert dataset.files[:2] == files


# --- what is refused ---------------------------------------------------------------


# fmt: off
FILES: dict[str, dict[str, str | bytes]] = {
    "rog": {"train.jsonl": lines(ROG[0])},
    "nsm": NSM_FILES,
    "metaqa": {"kb.txt": KB, "1hop_dev.txt": ONE_HOP},
    "pathquestion": PQ,
    "kg": {"train.jsonl": lines(KG_ROW), "kg.tsv": "a\tr\tb\n"},
}
"""Source -> input that loads."""
R0 = lines(ROG[0])
POINTER = "version https://git-lfs.github.com/s\n"
MALFORMED_FILES: list[tuple[str, dict[str, str | bytes | None], str]] = [
    # source, files replaced (None: deleted), part of the message
    ("rog", {"train.jsonl": None, "readme": ""}, "expected train-*.parquet"),
    ("rog", {"train.jsonl": None}, "no such file or folder"),
    ("rog", {"train.jsonl": "\n"}, "no question in train.jsonl"),
    ("rog", {"train.jsonl": R0 + "{\n"}, "train.jsonl:2: not valid JSON"),
    ("rog", {"train.jsonl": "[]\n"}, "train.jsonl:1: expected a JSON object"),
    ("rog", {"train.jsonl": lines({**ROG[0], "graph": [["a", "b", "X"]]}).replace(
        "X", "\\ud800")}, "train.jsonl:1: field 'graph': expected Unicode text"),
    ("rog", {"train.jsonl": R0 + R0},
     "train.jsonl:2: question id 'q1' occurs twice, first at "),
    ("rog", {"train.jsonl": b'{"id": "\xe9"}\n'}, "train.jsonl:1: not UTF-8"),
    ("rog", {"train.jsonl": lines(ROG[1])}, "the graph of every question is empty"),
    ("rog", {"dev.jsonl": R0, "validation.jsonl": R0},
     "dev.jsonl and validation.jsonl both hold the split dev"),
    ("rog", {"train.jsonl": None, "train-00000-of-00002-a.parquet": ""},
     "train-00000-of-00002-a.parquet: one of 2 parts, of which 1 are there"),
    ("rog", {"test-0.parquet": POINTER}, "test-0.parquet: a git-lfs pointer"),
    ("nsm", {"dev_simple.json": None}, "found none of train_simple.json"),
    ("nsm", {"entity_name.txt": None}, "found neither entities.txt nor"),
    ("nsm", {"relations.txt": None},
     "relations.txt: no such file; there is: dev_simple.json, entity_name.txt"),
    ("nsm", {"relations.txt": "\n"}, "relations.txt: empty"),
    ("nsm", {"entity_name.txt": "a\tb\tc\n"},
     "entity_name.txt:1: expected id TAB name, found 3 columns"),
    ("nsm", {"entity_name.txt": "m.0\ta\nm.1\tb\nm.0\tc\n"},
     "entity_name.txt:3: id 'm.0' occurs twice, first in line 1"),
    ("nsm", {"entities_names.json": "[]"},
     "entities_names.json: expected an object of id: name, found list"),
    ("nsm", {"entities_names.json": '{"m.1": "half \\ud800"}'},
     "entities_names.json: field 'm.1': expected Unicode text, found the lone"),
    ("nsm", {"dev_simple.json": "{"}, "dev_simple.json:1: not valid JSON"),
    ("metaqa", {"kb.txt": None}, "kb.txt: no such file; there is: 1hop_dev"),
    ("metaqa", {"1hop_dev.txt": None}, "found neither 1-hop/vanilla/qa_train.txt"),
    ("metaqa", {"kb.txt": "a|b|c\na|b\n"},
     "kb.txt:2: expected 3 columns separated by |, found 2"),
    ("metaqa", {"kb.txt": "a||c\n"}, "kb.txt:1: a column is empty"),
    ("metaqa", {"kb.txt": "\n"}, "kb.txt: holds no triplets"),
    ("metaqa", {"1hop_dev.txt": "[a]\n"},
     "1hop_dev.txt:1: expected question TAB answers, found 1 column"),
    ("metaqa", {"1hop_dev.txt": "a\tb\n"}, "1hop_dev.txt:1: expected one [topic]"),
    ("metaqa", {"1hop_dev.txt": "[a] [b]\tc\n"}, "1hop_dev.txt:1: expected one"),
    ("metaqa", {"1hop_dev.txt": ""}, "no question in 1hop_dev.txt"),
    ("pathquestion", {"PQ-2H.txt": None, "PQ-3H.txt": None},
     "found neither PQ-2H.txt nor"),
    ("pathquestion", {"3H-kb.txt": None},
     "3H-kb.txt: no such file; there is: 2H-kb.txt"),
    ("pathquestion", {"2H-kb.txt": ""}, "2H-kb.txt: holds no triplets"),
    ("pathquestion", {"2H-kb.txt": "a b c\n"}, "2H-kb.txt:1: expected 3 tab-sep"),
    ("pathquestion", {"PQ-2H.txt": PQ2 + "a\tb\n"}, "PQ-2H.txt:2: expected 3 tab-"),
    ("pathquestion", {"PQ-2H.txt": "q\ta(a/)\tt#r#a#<end>#a\n"},
     "PQ-2H.txt:1: expected a path topic#relation#entity... of 2 hops"),
    ("pathquestion", {"PQ-2H.txt": "q\ta\tt#r#a#s#b#<end>#b\n"},
     "PQ-2H.txt:1: expected answers as b(a/b/), got 'a'"),
    ("kg", {"train.jsonl": None}, "found none of train.jsonl, dev.jsonl"),
    ("kg", {"kg.tsv": None}, "kg.tsv: no such file"),
    ("kg", {"kg.tsv": ""}, "kg.tsv: holds no triplets"),
    ("kg", {"train.jsonl": None, "test.jsonl": ""}, "no question in test.jsonl"),
]
NAMES = "expected a list of strings"
TRIPLE = "expected a list of [head, relation, tail]"
ROWS = {
    "rog": ("train.jsonl", ROG[0]),
    "nsm": ("dev_simple.json", NSM),
    "kg": ("train.jsonl", KG_ROW),
}
"""Source -> (file of questions, a row that loads)."""
MALFORMED_ROWS: list[tuple[str, dict, str]] = [
    # source, fields replaced (...: deleted), part of the message about line 2
    ("rog", {"graph": ...},
     "field 'graph' is missing; found: id, question, answer, q_entity, a_entity"),
    ("rog", {"answer": 1}, f"field 'answer': {NAMES}, found int"),
    ("rog", {"answer": [None]}, "found a list that holds null"),
    ("rog", {"id": None}, "field 'id': expected a string, found"),
    ("rog", {"question": ""}, "field 'question'"),
    ("rog", {"graph": "x"}, f"field 'graph': {TRIPLE} (str), found str"),
    ("rog", {"graph": ["abc"]}, "a list that holds str"),
    ("rog", {"graph": [["a", "b"]]}, "found a row of 2"),
    ("rog", {"graph": [["a", "b", 1]]}, "row that holds int"),
    ("nsm", {"subgraph": {"tuples": [[0, 0, 5]]}}, "field 'subgraph.tuples': expected "
     "an index below 5, the length of entity_name.txt, found 5"),
    ("nsm", {"subgraph": {"tuples": [[0, 2, 1]]}},
     "below 2, the length of relations.txt, found 2"),
    ("nsm", {"subgraph": {"tuples": [[-1, 0, 1]]}}, "found -1"),
    ("nsm", {"subgraph": {"tuples": [["a", 0, 1]]}},
     f"field 'subgraph.tuples': {TRIPLE} (int), found a row that holds str"),
    ("nsm", {"subgraph": []}, "field 'subgraph': expected an object"),
    ("nsm", {"subgraph": {}}, "field 'subgraph': field 'tuples' is missing"),
    ("nsm", {"entities": [7]}, "field 'entities': expected an index below 5"),
    ("nsm", {"entities": ["m"]}, "field 'entities': expected a list of indices"),
    ("nsm", {"answers": "x"},
     "field 'answers': expected a list of objects, found str"),
    ("nsm", {"answers": ["x"]}, "found a list that holds str"),
    ("nsm", {"answers": [{"text": "x"}]},
     "field 'answers': field 'kb_id' is missing; found: text"),
    ("nsm", {"id": "q1"}, "question id 'q1' occurs twice"),
    ("kg", {"answer": ..., "answers": ["C"]},
     "field 'answer' is missing; found: id, question, q_entity, answers"),
    ("kg", {"answer": "C"}, f"field 'answer': {NAMES}, found str"),
    ("kg", {"q_entity": {}}, f"field 'q_entity': {NAMES}, found dict"),
    ("kg", {"relevant_triples": [["a", "b"]]},
     "field 'relevant_triples': expected a list of"),
    ("kg", {"hop": "2"}, "field 'hop': expected a whole number, found '2'"),
    ("kg", {"id": True}, "field 'id': expected a string, found bool"),
    ("kg", {"id": "7"}, "question id '7' occurs twice, first at "),
]
# fmt: on


def message_of(source: str, folder: Path) -> str:
    """The error for a folder, which is one line and names the place first."""
    graphs = [folder / "kg.tsv"] if source == "kg" else []
    with pytest.raises(UserError) as caught:
        load_source(source, folder, graphs)
    message = str(caught.value)
    assert message.startswith(str(folder))
    assert "\n" not in message
    return message


@pytest.mark.parametrize(("source", "changes", "expected"), MALFORMED_FILES)
def test_malformed_files_give_one_line_that_names_the_place(
    tmp_path, source, changes, expected
):
    files = {k: v for k, v in (FILES[source] | changes).items() if v is not None}
    assert expected in message_of(source, put(tmp_path / "in", files))


@pytest.mark.parametrize(("source", "changes", "expected"), MALFORMED_ROWS)
def test_malformed_rows_give_one_line_that_names_the_field(
    tmp_path, source, changes, expected
):
    file, row = ROWS[source]
    fields = {**row, "id": "x", **changes}
    second = lines({k: v for k, v in fields.items() if v is not ...})
    folder = put(tmp_path / "in", FILES[source] | {file: lines(row) + second})
    message = message_of(source, folder)
    assert f"{file}:2: field " in message or f"{file}:2: question id" in message
    assert expected in message


def test_load_source_names_the_missing_argument(tmp_path):
    with pytest.raises(UserError, match="unknown source 'webqsp'; expected rog, nsm"):
        load_source("webqsp", tmp_path)
    for name in ("rog", "nsm", "metaqa", "pathquestion"):
        with pytest.raises(UserError, match=f"'{name}' needs --input"):
            load_source(name, None)
        with pytest.raises(UserError, match="takes no --kg"):
            load_source(name, tmp_path, [tmp_path])
        with pytest.raises(UserError, match=r"none: no such f"):
            load_source(name, tmp_path / "none")
    with pytest.raises(UserError, match="'kg' needs --kg"):
        load_source("kg", tmp_path)
    with pytest.raises(UserError, match="'kg' needs --input"):
        load_source("kg", None, [tmp_path])
    with pytest.raises(UserError, match="takes no --input"):
        load_source("world", tmp_path)
    assert len(SOURCES) == 6


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tuples", "kb_id", "text"]), inner)
    ),
    max_leaves=8,
)


@given(data=st.data())
@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_value_in_a_field_loads_or_gives_one_line(tmp_path, data):
    source = data.draw(st.sampled_from(["rog", "nsm", "kg"]))
    file, row = ROWS[source]
    row = row | ({"relevant_triples": []} if source == "kg" else {})
    field = data.draw(st.sampled_from(sorted(row)))
    text = (
        lines(row).encode()
        + json.dumps({**row, "id": "other", field: data.draw(JSON)}).encode()
    )
    put(tmp_path / source, FILES[source] | {file: text})
    graphs = [tmp_path / source / "kg.tsv"] if source == "kg" else []
    try:
        dataset = load_source(source, tmp_path / source, graphs)
    except UserError as error:
        assert ":2: " in str(error)
        assert field in str(error)
        assert "\n" not in str(error)
    else:
        assert sum(map(len, dataset.questions.values())) == 2


# --- the page that documents the formats ------------------------------------------


def test_examples_of_the_data_page_load(tmp_path):
    page = (Path(__file__).resolve().parents[2] / "docs/data.md").read_text("utf-8")
    page = page[page.index("## Input formats") :]
    blocks = re.findall(r"^```\w*\n(.*?)^```$", page, re.M | re.S)
    kg_rows, tsv, csv, nt, rog_rows, nsm_rows, metaqa_rows, pq_rows = blocks[:8]
    put(
        tmp_path,
        {
            "kg/dev.jsonl": kg_rows,
            "kg.tsv": tsv,
            "kg.csv": csv,
            "kg.nt": nt,
            "rog/dev.jsonl": rog_rows,
            "nsm/dev_simple.json": nsm_rows,
            "nsm/entity_name.txt": "m.00\tAlien\nm.01\tRidley Scott\nm.02\tNone\n",
            "nsm/relations.txt": "directed_by\ngenre\n",
            "metaqa/kb.txt": KB,
            "metaqa/1-hop/vanilla/qa_dev.txt": metaqa_rows,
            "pathquestion/2H-kb.txt": tsv,
            "pathquestion/PQ-2H.txt": pq_rows,
        },
    )
    graphs = [tmp_path / name for name in ("kg.tsv", "kg.csv", "kg.nt")]
    for source in ("kg", "rog", "nsm", "metaqa", "pathquestion"):
        dataset = load_source(
            source, tmp_path / source, graphs if source == "kg" else []
        )
        assert sum(map(len, dataset.questions.values())) == 3
    assert "Alien" in kg.load(tmp_path / "kg", graphs).graph.entities


# --- real data, where it is at hand ------------------------------------------------


@pytest.mark.parametrize(
    ("source", "folder", "graph", "counts", "shape"),
    [
        ("rog", "webqsp_rog", None, {"test": 6}, (3852, 623, 10667)),
        ("nsm", "cwq_nsm", None, {"train": 4, "dev": 2, "test": 2}, (5564, 857, 18581)),
        (
            "metaqa",
            "metaqa",
            None,
            {"train": 31128, "dev": 4073, "test": 3937},
            (39804, 9, 130468),
        ),
        (
            "pathquestion",
            "pathquestion",
            None,
            {"train": 5788, "dev": 625, "test": 693},
            (2256, 13, 3377),
        ),
        (
            "kg",
            "webqsp_union",
            "kg.tsv",
            {"train": 1100, "dev": 200},
            (60179, 3252, 134219),
        ),
    ],
)
def test_published_data_has_its_known_size(source, folder, graph, counts, shape):
    path = SHARED / folder
    if not path.is_dir():
        pytest.skip(f"no {folder} at hand")
    dataset = load_source(source, path, [path / graph] if graph else [])
    assert {split: len(rows) for split, rows in dataset.questions.items()} == counts
    found = dataset.graph
    assert (len(found.entities), len(found.relations), len(found.triplets)) == shape
    for rows in dataset.questions.values():
        assert len({q.id for q in rows}) == len(rows)
    if source == "pathquestion":  # the labelled path is in the graph, hop for hop
        known = {found.triplet(i) for i in range(len(found.triplets))}
        assert all(
            set(q.relevant_triplets) <= known
            for rows in dataset.questions.values()
            for q in rows
        )
    if source == "metaqa":
        topics = {
            split: {q.topics[0].lower() for q in rows}
            for split, rows in dataset.questions.items()
        }
        assert not topics["train"] & topics["test"]
        assert not topics["train"] & topics["dev"]
