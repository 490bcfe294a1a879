"""Every source on broken files and on any value of a field: a line, or a data set."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from source_files import KB, KG_ROW, NSM, NSM_FILES, ONE_HOP, PQ, PQ2, ROG, lines, put

from data_prep.sources import SOURCES, load_source
from kgscout_jax.errors import UserError

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
