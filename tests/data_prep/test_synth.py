"""Questions made from a graph: exact answers, nothing shared by the splits."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from film_world import film_triplets
from hypothesis import given, settings
from hypothesis import strategies as st

from data_prep.sources import kg
from data_prep.synth.ambiguity import Ambiguity
from data_prep.synth.arc_index import ArcIndex
from data_prep.synth.draft import Draft, Leg
from data_prep.synth.frames import SPLITS
from data_prep.synth.generation import generate
from data_prep.synth.settings import SynthSettings
from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.relation_words import split_words
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import read_json_lines

RELATIONS = [
    "directed_by", "genre", "people.person.place_of_birth", "film.actor.film",
    "film.director.film", "release_year", "depends on", "capitalOf",
]  # fmt: skip
YEARS = ["1970", "1984", "1999", "2001"]


@st.composite
def triplets(draw):
    """Of a small graph with hubs, unnamed entities, self-loops and years."""
    ends = st.sampled_from([f"Node {i}" for i in range(14)] + ["m.0a1", "m.0b2"])
    rows = st.tuples(ends, st.sampled_from(RELATIONS), ends)
    years = st.tuples(ends, st.just("release_year"), st.sampled_from(YEARS))
    return draw(st.lists(rows | years, min_size=20, max_size=90, unique=True))


def records_of(rows, questions=60, **options):
    graph = KnowledgeGraph.from_triplets(rows)
    settings = SynthSettings(
        graph=(), out=Path("unused"), questions=questions, **options
    )
    made = generate(graph, settings)
    return {
        split: [question.record(graph) for question in made.questions[split]]
        for split in SPLITS
    }


def follow(rows, topic, path, back=0):
    """What a path reaches, by comparing every triplet; without the topic after back."""
    reached = {topic}
    for step, arc in enumerate(path, 1):
        relation, inverse = arc.lstrip("^"), arc.startswith("^")
        reached = {
            (h if inverse else t)
            for h, r, t in rows
            if r == relation and (t if inverse else h) in reached
        }
        if step == back:
            reached -= {topic}
    return reached


def expected_answers(rows, record):
    """The answers by the question's recorded paths and test."""
    reached = [
        follow(rows, topic, path, record.get("back", 0))
        for topic, path in zip(record["q_entity"], record["paths"], strict=True)
    ]
    if record["shape"] == "pair":
        return reached[0] & reached[1] - set(record["q_entity"])
    found = reached[0] - {record["q_entity"][0]}
    if "value" not in record:
        return found
    value = record["value"]
    years = {}
    for entity in found:
        (years[entity],) = {
            int(t) for h, r, t in rows if h == entity and r == value["relation"]
        }
    if record["shape"] == "superlative":
        best = {"highest": max, "lowest": min}[value["test"]](years.values())
        return {entity for entity, year in years.items() if year == best}
    (limit,) = map(int, [value["threshold"]] if "threshold" in value else reached[1])
    sign = 1 if value["test"] == "above" else -1
    return {entity for entity, year in years.items() if sign * (year - limit) > 0}


@given(triplets(), st.integers(0, 3))
@settings(max_examples=8)
def test_answers_are_exactly_what_the_recorded_paths_give(rows, seed):
    for split in records_of(rows, seed=seed).values():
        for record in split:
            answers = set(record["a_entity"])
            assert answers == expected_answers(rows, record) and answers
            assert not any(name.startswith("m.") for name in answers)
            assert not answers & set(record["q_entity"])
            if record["shape"] == "count":
                assert record["answer"] == [str(len(answers))]
            else:
                assert set(record["answer"]) == answers
            assert len(answers) <= 20
            relevant = {tuple(row) for row in record["relevant_triples"]}
            assert relevant <= set(rows)
            # The relevant triplets alone lead to every answer.
            if record["shape"] in ("chain", "implied", "count"):
                topic, path = record["q_entity"][0], record["paths"][0]
                assert answers <= follow(relevant, topic, path)
            text = f" {' '.join(split_words(record['question']))} "
            for name in answers:
                assert f" {' '.join(split_words(name))} " not in text


def big_film_graph():
    """Films with directors, years, genres and towns: enough for all splits."""
    rows = []
    for i in range(240):
        film, director = f"Picture {chr(65 + i % 26)}{i}", f"Maker {i % 60}"
        rows += [
            (film, "directed_by", director),
            (film, "written_by", f"Author {i % 45}"),
            (film, "release_year", str(1950 + i % 70)),
            (film, "has_genre", ["Drama", "Comedy", "War", "Noir"][i % 4]),
            (film, "starred_actors", f"Player {i % 80}"),
            (film, "starred_actors", f"Player {(i * 7) % 80}"),
            (director, "born_in", f"Town {i % 60 % 25}"),
            (f"Town {i % 25}", "lies_in", f"Land {i % 5}"),
            (f"Land {i % 5}", "currency", f"Coin {i % 5}"),
            (f"Author {i % 45}", "married_to", f"Player {i % 45}"),
        ]
    return rows


@pytest.fixture(scope="module")
def records():
    return records_of(big_film_graph())


def test_splits_share_no_topic_no_combination_of_paths_and_no_frame(records):
    for field in ("q_entity", "wording"):
        seen = {
            split: {value for record in records[split] for value in record[field]}
            for split in SPLITS
        }
        assert not seen["dev"] & (seen["train"] | seen["test"])
        assert not seen["test"] & seen["train"]
    paths = {
        split: {
            json.dumps([sorted(r["paths"]), r.get("value", {}).get("relation")])
            for r in records[split]
        }
        for split in SPLITS
    }
    assert not paths["dev"] & (paths["train"] | paths["test"])
    assert not paths["test"] & paths["train"]


def test_a_small_graph_keeps_most_topics_to_train_on():
    made = records_of(painting_graph(), 1200)
    topics = {
        split: {topic for record in records for topic in record["q_entity"]}
        for split, records in made.items()
    }
    assert topics["dev"] and topics["test"]
    assert len(topics["train"]) > 2 * len(topics["dev"] | topics["test"])
    assert len(made["train"]) > 2 * len(made["dev"] + made["test"])


def test_every_split_and_shape_is_filled(records):
    assert {split: len(records[split]) for split in SPLITS} == {
        "train": 48, "dev": 6, "test": 6,
    }  # fmt: skip
    shapes = {record["shape"] for record in records["train"]}
    assert shapes == {
        "chain", "implied", "pair", "count", "superlative", "comparison",
    }  # fmt: skip
    texts = [r["question"].lower() for split in SPLITS for r in records[split]]
    assert len(set(texts)) == len(texts)


def test_paths_there_and_back_are_said_by_what_both_ends_share():
    made = records_of(big_film_graph(), questions=300)["train"]
    shared = [r for r in made if any(".same." in frame for frame in r["wording"])]
    assert {r["hop"] for r in shared} == {2, 3}
    for record in shared:
        assert any(b in (f"^{a}", a[1:]) for a, b, *_ in record["paths"])
        assert "other other" not in record["question"]
    # Further on, the topic is none of those that share something with it.
    onwards = [r for r in shared if r["shape"] == "chain" and r["hop"] == 3]
    assert {r["back"] for r in onwards} == {2}


def airport_graph():
    """Airports in cities of countries, each of which has a currency of its own."""
    rows = []
    for i in range(60):
        rows.append((f"Airport {i}", "serves_city", f"City {i % 24}"))
        rows.append((f"City {i % 24}", "country", f"Land {i % 8}"))
        rows.append((f"Land {i % 8}", "currency", f"Coin {i % 8}"))
    return sorted(set(rows))


def test_steps_that_lead_to_one_entity_are_left_out_of_some_questions():
    rows = airport_graph()
    made = [r for split in records_of(rows).values() for r in split]
    implied = [record for record in made if record["shape"] == "implied"]
    assert implied
    for record in implied:
        path, text = record["paths"][0], record["question"].lower()
        unsaid = path[: record["implied"]]
        assert 1 <= len(unsaid) < len(path)
        for end in range(1, len(unsaid) + 1):
            assert len(follow(rows, record["q_entity"][0], path[:end])) == 1
        assert not [relation for relation in unsaid if relation.split("_")[-1] in text]


@pytest.mark.parametrize(
    ("extra", "clear"),
    [
        ([], True),
        # An airport's own currency, its city's, and that of another country as near.
        ([("Airport 0", "currency", "Token")], False),
        ([("City 0", "currency", "Token")], False),
        ([("City 0", "twin_country", "Land 1")], False),
        # Those further away do not count.
        ([("Land 0", "neighbour", "Land 1")], True),
    ],
)
def test_steps_are_left_out_only_where_no_other_reading_is_as_near(extra, clear):
    graph = KnowledgeGraph.from_triplets(airport_graph() + extra)
    path = [graph.relations.index(r) for r in ("serves_city", "country", "currency")]
    leg = Leg(graph.entities.index("Airport 0"), tuple((r,) for r in path), (1, 1, 1))
    answers = (graph.entities.index("Coin 0"),)
    draft = Draft("implied", (leg,), answers, triplets=(), implied=2)
    kept = Ambiguity(ArcIndex.of(graph)).without_ambiguous([draft])
    assert kept == ([draft] if clear else [])


def painting_graph(paintings=60):
    """Paintings with their painters' birth dates and places, in museums of cities."""
    rows = []
    for i in range(paintings):
        painter, city = f"Painter {i % 20}", f"City {i % 10}"
        rows += [
            (f"Picture {i}", "creator", painter),
            (f"Picture {i}", "location", f"Museum {i % 15}"),
            (f"Museum {i % 15}", "located_in", f"City {i % 15 % 5}"),
            (city, "country", f"Land {i % 5}"),
            (painter, "place_of_birth", city),
            (painter, "date_of_birth", f"1{800 + i % 20}-02-{10 + i % 10}"),
        ]
    return sorted(set(rows))


def test_steps_are_left_out_before_a_noun_that_the_topic_may_have():
    made = [r for split in records_of(painting_graph(), 400).values() for r in split]
    implied = [record for record in made if record["shape"] == "implied"]
    said = {tuple(r["paths"][0][r["implied"] - 1 :]) for r in implied}
    assert ("located_in", "country") in said
    # Neither is born, nor does a city create what its one painter creates.
    assert not [r for r in implied if "birth" in r["paths"][0][r["implied"]]]
    assert not [r for r in implied if "^creator" in r["paths"][0]]
    for record in implied:
        if len(record["paths"][0]) == record["implied"] + 1:
            said = {frame.partition(".")[0] for frame in record["wording"]}
            assert said <= {"noun", "phrase"}


def test_no_path_stays_at_its_topic():
    rows = [row for row in big_film_graph() if row[1] in ("directed_by", "born_in")]
    rows += [(f"Maker {i}", "advises", f"Maker {i}") for i in range(60)]
    rows += [(head, "produced_by", tail) for head, r, tail in rows if r[0] == "d"]
    made = [r for split in records_of(rows, 300).values() for r in split]
    for record in made:
        for topic, path in zip(record["q_entity"][:1], record["paths"], strict=False):
            for end in range(1, len(path)):
                back = record.get("back", 2 if path[1] == f"^{path[0]}" else 0)
                assert follow(rows, topic, path[:end], back) != {topic}, record


def test_no_question_says_flags_constants_or_a_way_back_to_the_same():
    rows = []
    for i in range(60):
        car = f"Car {i}"
        rows += [(car, "type", "car"), (car, "leased", ("yes", "no")[i % 2])]
        rows += [(car, "plate", f"PL {i} X"), (car, "driver", f"Driver {i % 20}")]
        rows += [(car, "depot", f"Depot {i % 7}")]
    made = [r for split in records_of(rows, 200).values() for r in split]
    assert made
    for record in made:
        steps = {step.lstrip("^") for path in record["paths"] for step in path}
        assert steps.isdisjoint(("type", "leased"))
        for path in record["paths"]:
            assert ("plate", "^plate") not in [*pairwise(path[1:])]


def test_unnamed_entities_are_passed_but_never_named():
    rows = [
        row
        for i in range(30)
        for row in (
            (f"Film {i}", "film.film.starring", f"m.0{i}"),
            (f"m.0{i}", "film.performance.actor", f"Actor {i % 12}"),
        )
    ]
    made = [r for split in records_of(rows).values() for r in split]
    assert ["film.film.starring", "film.performance.actor"] in [
        path for record in made for path in record["paths"]
    ]
    for record in made:
        names = [*record["q_entity"], *record["a_entity"], record["question"]]
        assert not any("m.0" in name for name in names)
        assert record["hop"] <= 3


def test_labels_of_several_entities_are_never_named(tmp_path):
    rows, labels = [], []
    for i in range(40):
        rows += [(f"Q{i + 1}", "directed by", f"Q{100 + i % 9}")]
        labels += [f"Q{i + 1}\tFilm {i // 2 if i < 10 else i}\n"]
    labels += [f"Q{100 + i}\tMaker {i}\n" for i in range(9)]
    (tmp_path / "labels.tsv").write_text("".join(labels))
    folder = tmp_path / "films.graph"
    kg_file = write_graph(tmp_path, rows)
    build = ["graph", "--kg", str(kg_file), "--labels", str(tmp_path / "labels.tsv")]
    assert main([*build, "--out", str(folder)]) == 0
    command = ["synth", str(folder), "--out", str(tmp_path / "q"), "--questions", "80"]
    assert main(command) == 0
    named = set()
    for split in SPLITS:
        for _, record in read_json_lines(tmp_path / "q" / f"{split}.jsonl"):
            named |= {*record["q_entity"], *record["a_entity"]}
    assert {f"Film {i}" for i in range(10, 40)} & named
    assert not {f"Film {i}" for i in range(5)} & named


def test_words_that_fit_two_relations_are_told_apart_by_the_type_or_dropped():
    rows = [
        row
        for i in range(20)
        for row in (
            (f"Person {i}", "film.actor.film", f"Film {i}"),
            (f"Person {i}", "film.director.film", f"Film {i + 1}"),
        )
    ]
    chains = [
        record
        for split in records_of(rows, hops=1).values()
        for record in split
        if record["shape"] == "chain" and not record["paths"][0][0].startswith("^")
    ]
    assert chains
    for record in chains:
        role = "actor" if "actor" in record["paths"][0][0] else "director"
        assert role in record["question"].lower()


def museum_graph():
    """Paintings, painters and museums that say what they are, with dates."""
    classes = {"Picture": "Painting", "Painter": "human", "Museum": "art museum"}
    rows = painting_graph()
    names = {name for head, _, tail in rows for name in (head, tail)}
    rows += [
        (name, "instance of", classes[name.split()[0]])
        for name in sorted(names)
        if name.split()[0] in classes
    ]
    for i in range(15):
        day = f"19{20 + i}-03-01T00:00:00Z"
        rows.append((f"Museum {i}", "opened_on", day))
        rows.append((f"Museum {i}", "coordinate location", f"Point(4.{i} 52)"))
        rows.append((f"Museum {i}", "description", f"museum number {i} of a list"))
    return rows


@pytest.fixture(scope="module")
def museum_records():
    made = records_of(museum_graph(), 600)
    return [record for split in SPLITS for record in made[split]]


def test_entities_are_called_by_their_class_and_dates_by_their_day(museum_records):
    made = museum_records
    texts = [record["question"].lower() for record in made]
    asked = [
        text
        for text, record in zip(texts, made, strict=True)
        if record["paths"] == [["^date_of_birth", "^creator"]]
    ]
    assert any("painting" in text for text in asked)
    assert not [text for text in texts if "instance" in text]
    assert [text for text in texts if "opening date" in text]
    assert not [text for text in texts if "00:00" in text or "point(" in text]
    assert [text for text in texts if re.search(r"\b19\d\d-03-01\b", text)]
    assert not [text for text in texts if re.search("date .*(was|were) .* in$", text)]
    used = {arc.lstrip("^") for r in made for path in r["paths"] for arc in path}
    assert "instance of" in used
    assert not used & {"coordinate location", "description"}


def test_only_entities_are_counted(museum_records):
    made = museum_records
    counts = [record for record in made if record["shape"] == "count"]
    assert counts
    assert not [
        r for r in counts if r["paths"][0][-1] in ("opened_on", "date_of_birth")
    ]


def write_graph(folder: Path, rows) -> Path:
    file = folder / "graph.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    return file


def files_of(out: Path):
    return {p.name: p.read_bytes() for p in out.iterdir() if p.is_file()}


def test_the_command_writes_the_same_bytes_that_the_kg_source_reads(tmp_path, capsys):
    graph = write_graph(tmp_path, big_film_graph())
    outs = [tmp_path / "one", tmp_path / "two"]
    for out in outs:
        command = ["synth", str(graph), "--out", str(out), "--questions", "50"]
        assert main(command) == 0
    assert files_of(outs[0]) == files_of(outs[1])
    dataset = kg.load(outs[0], [graph])
    questions = [q for split in SPLITS for q in dataset.questions[split]]
    assert len(questions) == 50
    for question in questions:
        found = {entity_key(name) for name in question.answer_entities}
        assert found and len(dataset.graph.find_all(question.topics)) > 0
        assert question.relevant_triplets
    report = json.loads((outs[0] / "report.json").read_text())
    assert report["questions"] == {"train": 40, "dev": 5, "test": 5}
    assert "## Examples" in (outs[0] / "report.md").read_text()

    before = files_of(outs[0])
    assert main(command := [*command[:3], str(outs[0]), *command[4:]]) == 0
    assert "complete already" in capsys.readouterr().out
    assert files_of(outs[0]) == before
    assert main([*command, "--seed", "1"]) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert main([*command, "--seed", "1", "--overwrite"]) == 0
    assert files_of(outs[0])["train.jsonl"] != before["train.jsonl"]


def test_rows_of_edges_and_years_are_said_as_people_do():
    rows = []
    for i in range(120):
        film, actor = f"Picture {i}", f"Player {i % 40}"
        row = f"_:films:{i}"
        rows += [
            (actor, "ACTED_IN", film),
            (row, "Person", actor),
            (row, "Movie", film),
            (row, "role", f"Part {i % 50}"),
            (film, "released", str(1950 + i % 60)),
            (actor, "born", str(1900 + i % 40)),
        ]
    made = [r for split in records_of(rows, 500).values() for r in split]
    names = {name for r in made for name in (*r["q_entity"], *r["a_entity"])}
    assert not [name for name in names if name.startswith("_:")]
    assert ["^Person", "role"] in [path for r in made for path in r["paths"]]
    texts = [record["question"].lower() for record in made]
    assert not [text for text in texts if re.search("bearing|releasing", text)]
    assert [text for text in texts if "release year" in text or "birth year" in text]
    assert not [text for text in texts if re.search(r"\bdate\b|released on", text)]


def test_columns_and_properties_are_read_as_by_other_commands(tmp_path):
    rows = [f"{h},{t},x\n" for h, r, t in big_film_graph() if r == "directed_by"]
    (tmp_path / "kg.csv").write_text("source,target,weight\n" + "".join(rows))
    command = ["synth", str(tmp_path / "kg.csv"), "--questions", "40"]
    assert main([*command, "--out", str(tmp_path / "a")]) == 2
    command += ["--columns", "source,=directed by,target"]
    assert main([*command, "--out", str(tmp_path / "b")]) == 0
    named = ["--properties", "--out", str(tmp_path / "c")]
    assert main([*command, *named]) == 0
    assert "directed by" in (tmp_path / "b" / "report.md").read_text()
    assert files_of(tmp_path / "b") != files_of(tmp_path / "c")


def test_a_folder_of_other_files_is_left_alone(tmp_path, capsys):
    graph = write_graph(tmp_path, film_triplets())
    (tmp_path / "train.jsonl").write_text("{}\n")
    assert main(["synth", str(graph), "--out", str(tmp_path)]) == 2
    assert "not written by kgscout synth" in capsys.readouterr().err
    assert (tmp_path / "train.jsonl").read_text() == "{}\n"


def test_a_graph_without_names_gives_an_error(tmp_path, capsys):
    graph = write_graph(
        tmp_path, [("m.0a", "knows", "m.0b"), ("m.0b", "knows", "m.0c")]
    )
    assert main(["synth", str(graph), "--out", str(tmp_path / "q")]) == 2
    assert "no question can be asked" in capsys.readouterr().err


def test_a_model_without_its_server_is_refused():
    with pytest.raises(UserError, match="--model without --llm"):
        SynthSettings(graph=(), out=Path("x"), model="m")
