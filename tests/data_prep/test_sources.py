"""Every source on tiny files worked out by hand, and on real data."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from source_files import KB, KG_ROW, NSM, NSM_FILES, ONE_HOP, PQ, ROG, lines, put

from data_prep.sources import kg, load_source, metaqa, nsm, pathquestion, rog
from data_prep.sources.dataset import Dataset
from data_prep.sources.splits import split_by_topic
from kgscout_jax.errors import UserError

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"


def named(dataset: Dataset, split: str, i: int) -> list[tuple[str, str, str]]:
    assert dataset.subgraphs is not None
    return [dataset.graph.triplet(int(t)) for t in dataset.subgraphs[split][i]]


def ids(dataset: Dataset) -> dict[str, list[str]]:
    return {split: [q.id for q in rows] for split, rows in dataset.questions.items()}


# --- rog ---------------------------------------------------------------------------


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
