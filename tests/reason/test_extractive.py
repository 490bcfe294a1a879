"""The extractive reader: sets worked out by hand, and inputs that are odd."""

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.reason.readers.extractive import (
    ExtractiveReader,
    ExtractiveSettings,
    _Graph,
    path_sets,
)
from kgscout_jax.reason.readers.protocol import Evidence, Reader
from kgscout_jax.types import entity_key

READER = ExtractiveReader()


def read(triplets, topics=("T",), question="q", match=(), **settings):
    reader = ExtractiveReader(ExtractiveSettings(**settings))
    evidence = Evidence(
        id="1",
        question=question,
        topics=tuple(topics),
        triplets=tuple(triplets),
        relation_match=tuple(match),
    )
    (found,) = reader.read([evidence])
    assert found.id == "1" and found.error is None
    assert found.outcome == ("triplets" if found.answers else "empty")
    return found


def test_all_ends_of_the_best_relation():
    triplets = [
        ("T", "children", "Ann", 2.0),
        ("T", "spouse", "Eve", 1.9),
        ("t ", "children", "Bob", 1.8),
        ("Carl", "children", "T", 1.0),
        ("Dan", "children", "Ann", 1.0),
    ]
    found = read(triplets)
    assert found.answers == ("Ann", "Bob")
    assert found.raw == "T -> children -> Ann"
    # standing alone in what the question says, the spouse wins
    assert read(triplets, question="Who is the spouse of T?").answers == ("Eve",)
    # and by the match of its relation
    match = [0.1, 0.9, 0.1, 0.1, 0.1]
    assert read(triplets, match=match).answers == ("Eve",)
    # the direction counts: who has T as a child is another set
    assert "Carl" not in found.answers


def test_scores_by_hand():
    """Two triplets: standardised scores are 1 and -1, matches -1 and 1."""
    evidence = Evidence(
        id="1",
        question="Where is Q made?",
        topics=("Q",),
        triplets=(("Q", "thing.made_in", "A", 3.0), ("A", "part_of", "B", 1.0)),
        relation_match=(0.2, 0.6),
    )
    settings = ExtractiveSettings(
        sharpness=2.0, match=0.3, words=10.0, last_words=5.0, named_cost=0.25
    )
    one, two = path_sets(_Graph(evidence), [0], settings)
    # "made" is shared; "in" and "is" are no words that count
    assert one.score == pytest.approx(2.0 * 1 + 0.3 * -1 + 10 + 5)
    # mean score 0, matches cancel, "made" shared but not by the last relation alone
    assert two.score == pytest.approx(2.0 * 0 + 0.3 * 0 + 10 - 0.25)
    assert (two.triplets, two.forward) == ((0, 1), (True, True))


def test_mass_divides_at_hubs():
    """T leads to H, and H by ``s`` to four ends: together they weigh as one."""
    triplets = [("T", "r", "H", 0.0)] + [("H", "s", f"n{i}", 0.0) for i in range(4)]
    evidence = Evidence(id="1", question="q", topics=("T",), triplets=tuple(triplets))
    settings = ExtractiveSettings(named_cost=0.0)
    one, two = path_sets(_Graph(evidence), [0], settings)
    assert len(two.ends) == 4
    assert one.score == pytest.approx(0.0) and two.score == pytest.approx(0.0)
    # from a node without a name it does not divide
    unnamed = [tuple("m.0h" if x == "H" else x for x in t) for t in triplets]
    evidence = Evidence(id="1", question="q", topics=("T",), triplets=tuple(unnamed))
    (only,) = path_sets(_Graph(evidence), [0], settings)
    assert only.score == pytest.approx(math.log(4))


def test_unnamed_nodes_are_passed_and_not_answered():
    triplets = [
        ("T", "marriage", "m.0x1", 3.0),
        ("m.0x1", "spouse", "Eve", 2.0),
        ("m.0x1", "spouse", "T", 2.0),
        ("m.0x1", "from", "1999", 1.0),
        ("T", "height", "180", 0.0),
    ]
    found = read(triplets, question="who did T marry?")
    assert found.answers == ("Eve",)
    assert found.raw == "T -> marriage -> m.0x1 -> spouse -> Eve"
    assert read(triplets, question="when was it?").answers == ("1999",)
    assert read(triplets[:1]).answers == ("m.0x1",)  # there is nothing else


def test_two_hops_where_the_question_names_both_relations():
    triplets = [
        ("Night Ferry", "starred_actors", "Ada", 2.0),
        ("Old Pier", "starred_actors", "Ada", 1.9),
        ("Night Ferry", "directed_by", "Tom", 1.8),
        ("Old Pier", "directed_by", "Sue", 1.7),
        ("Night Ferry", "has_genre", "Drama", -1.0),
        ("Old Pier", "has_genre", "Drama", -1.1),
    ]
    match = [0.5, 0.5, 0.6, 0.6, 0.1, 0.1]
    found = read(triplets, ["ada"], "who directed the movies starring Ada", match)
    assert found.answers == ("Tom", "Sue")
    assert found.raw == "Ada <- starred actors - Night Ferry -> directed by -> Tom"
    found = read(triplets, ["ada"], "what did Ada star in", [0.6, 0.6, 0.3, 0.3, 0, 0])
    assert found.answers == ("Night Ferry", "Old Pier")


def test_topics_are_answers_only_without_anything_else():
    triplets = [("T", "r", "U", 1.0), ("U", "s", "A", 0.0)]
    assert read(triplets, ["T", "U"]).answers == ("A",)
    assert set(read(triplets[:1], ["T", "U"]).answers) == {"U"}
    assert read([("T", "is", "T", 1.0)]).answers == ("T",)


def test_without_topics_among_the_triplets():
    triplets = [("Big Ben", "in", "London", 1.0), ("Paris", "in", "France", 0.5)]
    # what the question names
    assert read(triplets, ["X"], "Where is Paris?").answers == ("France",)
    assert read(triplets, [], "where is big ben").answers == ("London",)
    # or the head of the best triplet
    assert read(triplets, ["X"], "where?").answers == ("London",)
    assert read([], ["X"]).answers == () and read([]).raw is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_scores_that_are_no_numbers(bad):
    triplets = [("T", "r", "A", 1.0), ("T", "s", "B", bad), ("T", "q", "C", 0.5)]
    assert read(triplets).answers == ("A",)
    assert read([("T", "r", "A", bad)], match=[bad]).answers == ("A",)


def test_max_answers_keeps_the_best():
    triplets = [("T", "r", f"n{i}", -i) for i in range(30)]
    found = read(triplets, max_answers=5)
    assert found.answers == ("n0", "n1", "n2", "n3", "n4")


WEIRD = st.sampled_from(
    [
        "T",
        "a",
        "A ",
        "東京",
        "m.0a",
        "-1999",
        "",
        " ",
        "$x {y}",
        "a\tb",
        "//",
        "💥",
        "U",
    ]
)


@given(
    st.lists(st.tuples(WEIRD, WEIRD, WEIRD, st.floats(-5, 5)), max_size=12),
    st.lists(WEIRD, max_size=3),
    st.text(max_size=20),
    st.randoms(use_true_random=False),
)
def test_any_names_are_read(triplets, topics, question, random):
    match = [random.random() for _ in triplets]
    found = read(triplets, topics, question, match)
    entities = {entity_key(name) for h, _, t, _ in triplets for name in (h, t)}
    keys = [entity_key(answer) for answer in found.answers]
    assert bool(keys) == bool(triplets)
    assert set(keys) <= entities and len(set(keys)) == len(keys)
    # the same again, and on another scale of scores
    assert read(triplets, topics, question, match).answers == found.answers


@given(st.floats(0.5, 100), st.floats(-50, 50))
def test_scale_of_scores_does_not_matter(scale, shift):
    triplets = [
        ("T", "r", "A", 0.5),
        ("T", "s", "B", 0.25),
        ("B", "s", "C", 2.0),
        ("A", "r", "C", 1.0),
    ]
    other = [(h, r, t, s * scale + shift) for h, r, t, s in triplets]
    assert read(other).answers == read(triplets).answers


def test_ten_thousand_triplets():
    triplets = [
        (f"n{i % 97}", f"rel {i % 13}", f"n{i * 7919 % 3001}", -i / 1e4)
        for i in range(10_000)
    ]
    started = time.monotonic()
    found = read(triplets, ["n0", "N1"])
    assert found.answers and time.monotonic() - started < 5
    assert isinstance(READER, Reader) and READER.name == "extractive"


def test_impossible_settings_are_refused():
    with pytest.raises(UserError, match="hops: 5, expected 1 to 4"):
        ExtractiveSettings(hops=5)
    with pytest.raises(UserError, match="max_answers: found 0, expected at least 1"):
        ExtractiveSettings(max_answers=0)
    with pytest.raises(UserError, match="question 1: 1 relation matches for 0 tri"):
        Evidence(id="1", question="q", relation_match=(0.5,))
