"""Questions without q_entity: their topics are found in the text."""

import json

import pytest
from prep_factory import settings_for, write_input

from data_prep.settings import PrepSettings
from data_prep.sources import load_source
from data_prep.topic_linking import TopicLinker, split_questions
from kgscout_jax.errors import UserError

KG = "Alien\tdirected_by\tRidley Scott\nHeat\tdirected_by\tMichael Mann\n"


def questions_of(tmp_path, rows, **settings):
    (tmp_path / "kg.tsv").write_text(KG)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "test.jsonl").write_text(lines)
    prep = PrepSettings(
        source="kg", kg=(tmp_path / "kg.tsv",), input=tmp_path, out=tmp_path / "out",
        **settings,
    )  # fmt: skip
    dataset = load_source("kg", tmp_path, prep.kg)
    linker = TopicLinker(dataset, prep)
    return dataset.graph, split_questions(dataset, "test", prep, linker)


def row(number, text, **fields):
    return {"id": number, "question": text, "answer": [], **fields}


def test_topics_are_linked_only_where_the_field_is_missing(tmp_path):
    graph, split = questions_of(
        tmp_path,
        [
            row(1, "who directed Alien?"),
            row(2, "who directed heat", q_entity=[]),
            row(3, "what about nothing at all?"),
            row(4, "who directed Alien?", q_entity=["Heat"]),
            row(5, "films of ridley scott", q_entity=None),
        ],
    )
    topics = [question.topics for question in split.questions]
    assert topics == [("Alien",), (), (), ("Heat",), ("Ridley Scott",)]
    assert [t.topics.tolist() for t in split.entities] == [
        graph.find_all(names).tolist() for names in topics
    ]
    assert split.notes["topics_from_text"] == 3
    assert split.notes["without_topic"] == 2


def test_aliases_are_names_too(tmp_path):
    aliases = tmp_path / "aliases.tsv"
    aliases.write_text("Ridley Scott\tthe maestro\n")
    _, split = questions_of(tmp_path, [row(1, "films of the maestro")], aliases=aliases)
    assert split.questions[0].topics == ("Ridley Scott",)


def test_a_missing_file_of_aliases_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.tsv: no such file"):
        questions_of(tmp_path, [row(1, "?")], aliases=tmp_path / "none.tsv")


def test_preparation_counts_topics_from_text(tmp_path, cache):
    from data_prep.driver import prepare

    source = write_input(tmp_path / "in")
    for file in source.rglob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        for fields in rows:
            del fields["q_entity"]
        file.write_text("".join(json.dumps(fields) + "\n" for fields in rows))
    shards = prepare(settings_for(source, tmp_path / "out", cache))
    notes = shards.manifest["splits"]["dev"]
    assert notes["topics_from_text"] == notes["read"] > 0
