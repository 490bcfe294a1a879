"""Files of retrieved triplets: written, read, and read wrong."""

import json

import numpy as np
import pytest
from shards_factory import shards_of
from split_factory import Case

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.retrieval.metrics import retrieval_metrics
from kgscout_jax.retrieve.baselines import PPR, Cosine
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.retrieved_file import write_retrieved

CHAIN = [("A", "r", "B"), ("B", "r", "C  c"), ("C c", "S", "D"), ("C c", "s", "D")]
CASES = [
    Case(triplets=CHAIN, topics=["A"], answers=["D"]),
    Case(triplets=[("X", "r", "Y"), ("X", "r", "Z")], topics=["X"], answers=["Z"]),
    Case(triplets=[], topics=["nobody"], answers=["nothing"]),
]


@pytest.fixture
def world():
    return shards_of(CASES, relevant=[CHAIN[:2], [], []])


def write(path, *records):
    lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("retriever", [Cosine(), PPR()])
def test_round_trip_gives_identical_metrics(world, tmp_path, retriever):
    shards, split = world
    ours = retriever.rank(shards, split, 3)
    path = tmp_path / "retrieved.jsonl"
    write_retrieved(path, shards, split, ours)
    other = External(path)
    assert other.name == retriever.name
    theirs = other.rank(shards, split, 3)
    assert theirs.notes == {"missing": 0, "unknown": 0, "repeated": 0}
    for field in ("heads", "relations", "tails", "scores", "lengths"):
        np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))
    np.testing.assert_allclose(theirs.seconds, ours.seconds, atol=1e-6)
    expected, found = (
        retrieval_metrics(rankings, shards, split, [1, 2, 3])
        for rankings in (ours, theirs)
    )
    for name, by_k in expected.items():
        for k, values in by_k.items():
            np.testing.assert_array_equal(found[name][k], values, err_msg=name)


def test_a_written_line_has_the_documented_fields(world, tmp_path):
    shards, split = world
    path = tmp_path / "deep" / "retrieved.jsonl"
    write_retrieved(path, shards, split, PPR().rank(shards, split, 2))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["id"] for row in rows] == ["q0", "q1", "q2"]
    fields = "id question retriever triplets answers seconds"
    assert set(rows[0]) == set(fields.split())
    assert [len(row["triplets"]) for row in rows] == [2, 2, 0]
    assert rows[0]["answers"] == ["D"]
    head, relation, tail, score = rows[1]["triplets"][0]
    assert (head, relation) == ("X", "r") and tail in ("Y", "Z") and score > 0


def test_names_match_in_any_spelling_and_unknown_names_count(world, tmp_path):
    shards, split = world
    path = write(
        tmp_path / "theirs.jsonl",
        {"id": "q0", "triplets": [["a", "R", " b"], ["c C", "s", "d"]]},
        {"id": "q2", "triplets": [["Nobody", "new", "NOTHING", 3], ["u", "v", "w"]]},
        {"id": "stranger", "triplets": []},
        "",
    )
    other = External(path)
    assert other.name == "theirs"
    rankings = other.rank(shards, split, 5)
    names = rankings.names
    assert names is not None
    assert rankings.notes == {"missing": 1, "unknown": 1, "repeated": 0}
    assert rankings.lengths.tolist() == [2, 0, 2]
    assert rankings.heads[0, 0] == shards.entities.index("A")
    # "S" and "s" are two relations of this graph: the exact one comes first.
    assert rankings.relations[0, 1] == shards.relations.index("s")
    assert rankings.heads[2, 0] >= len(shards.entities)
    assert names.entities[int(rankings.heads[2, 0])] == "Nobody"
    assert names.relations[int(rankings.relations[2, 0])] == "new"
    assert rankings.scores[2].tolist() == [3, 0, 0, 0, 0]
    assert np.isnan(rankings.seconds).all()
    found = retrieval_metrics(rankings, shards, split, [1, 2])
    # q2's topic and answer are in no graph of ours, but this system found them.
    assert found["answer_hit"][1].tolist() == [0, 0, 1]
    assert found["path_hit"][1].tolist() == [0, 0, 1]
    assert found["answer_hit"][2].tolist() == [1, 0, 1]


def test_order_of_the_file_is_the_ranking_and_repeats_are_dropped(world, tmp_path):
    shards, split = world
    rows = [["X", "r", "Z", 0.1], ["x", "r", "z", 0.9], ["X", "r", "Y", 0.5]]
    path = write(tmp_path / "f.jsonl", {"id": "q1", "triplets": rows})
    rankings = External(path, "other").rank(shards, split, 5)
    assert rankings.notes["repeated"] == 1
    assert rankings.lengths.tolist() == [0, 2, 0]
    entities = [shards.entities[t] for t in rankings.tails[1, :2]]
    assert entities == ["Z", "Y"]
    np.testing.assert_allclose(rankings.scores[1], [0.1, 0.5, 0, 0, 0])


OK = {"id": "q0", "triplets": []}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected a JSON object"),
        ({"triplets": []}, "'id' is None"),
        ({"id": "q1"}, "'triplets' is missing"),
        ({"id": "q1", "triplets": {}}, "'triplets' is dict"),
        ({"id": "q1", "triplets": [["a", "b"]]}, "triplet 1 is"),
        ({"id": "q1", "triplets": [["a", "b", "c"], "abc"]}, "triplet 2 is 'abc'"),
        ({"id": "q1", "triplets": [["a", 7, "c"]]}, "expected three names"),
        ({"id": "q1", "triplets": [["a", " ", "c"]]}, "expected three names"),
        ({"id": "q1", "triplets": [["a", "b", "c", "high"]]}, "score 'high'"),
        ({"id": "q1", "triplets": [["a", "b", "c", 1e300]]}, "expected a number"),
        ('{"id": "q1", "triplets": [["a", "b", "c", NaN]]}', "expected a number"),
        ({"id": "q0", "triplets": []}, "occurs twice, first on line 1"),
    ],
)
def test_an_error_names_the_malformed_line(world, tmp_path, record, message):
    path = write(tmp_path / "f.jsonl", OK, record)
    with pytest.raises(UserError) as error:
        External(path).rank(*world, 5)
    assert str(error.value).startswith(f"{path}:2: ")
    assert message in str(error.value) and "\n" not in str(error.value)


def test_a_file_without_any_question_of_the_split_is_refused(world, tmp_path):
    path = tmp_path / "f.jsonl"
    with pytest.raises(UserError, match="no such file"):
        External(path)
    first = world[1].questions[0].id
    path.touch()
    with pytest.raises(UserError, match="found 0 ids, none of split"):
        External(path).rank(*world, 5)
    write(path, {"id": "else", "triplets": []})
    with pytest.raises(UserError, match=f"found 1 ids, .* such as {first!r}"):
        External(path).rank(*world, 5)
    write(path, {"id": "else", "triplets": []}, {"id": first, "triplets": []})
    notes = External(path).rank(*world, 5).notes
    assert (notes["missing"], notes["unknown"]) == (2, 1)


def test_forks_of_a_name_space_are_independent():
    names = NameSpace(["A b"], ["r", "R"])
    one, two = names.fork(), names.fork()
    assert one.entities.add("a  B") == 0
    assert one.entities.add("new") == one.entities.add(" NEW ") == 1
    assert two.entities.find("new") == names.entities.find("new") == -1
    assert (len(one.entities), len(two.entities)) == (2, 1)
    assert one.relations.find("R") == 1 and one.relations.find("r") == 0
    assert one.relations.add("likes") == one.relations.add("Likes") == 2
    assert one.find_triplet(("A B", "LIKES", "no")) == (0, 2, -1)
    third = one.fork()
    assert third.entities.find("new") == 1 and third.relations[2] == "likes"
