"""The judges' formulas on cases by hand, and the readers of replies."""

import math

import pytest

from kgscout_jax.okgqa.judges.facts import Facts, fact_lines, sentences
from kgscout_jax.okgqa.judges.factscore import Verdict, precision
from kgscout_jax.okgqa.judges.geval import (
    from_samples,
    from_tokens,
    sample_score,
    score_span,
    token_score,
)
from kgscout_jax.okgqa.ladder import most_consistent, split_reply
from kgscout_jax.okgqa.passages import Passage, PassageIndex, triplet_passages
from kgscout_jax.okgqa.questions import entity_names, in_turn, read_questions
from kgscout_jax.reason.completions import Completion


def token(*pairs):
    return [[text, math.log(p)] for text, p in pairs]


def test_a_score_is_the_expectation_over_its_token():
    # G-Eval: 1 * .1 + 3 * .2 + 5 * .5 = 3.2, over their sum .8
    logprobs = [token(("1", 0.1), (" 3", 0.2), ("5", 0.5), ("x", 0.15))]
    score, mass = token_score(logprobs)
    assert score == pytest.approx(4.0) and mass == pytest.approx(0.8)
    judged = from_tokens(Completion(text="5", logprobs=logprobs))
    assert judged.value == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        ("4", 4), ("- 4.", 4), ("4/5", 4), ("3 out of 5", 3), ("**Score:** 2", 2),
        ("On a scale from 1 to 5, I rate it 4", 4), ("Score (1-5): 3", 3),
        ("Rating on 1 to 5: 2/5", 2), ("2 of the 3 facts hold; score: 4", 4),
        ("The score was 2, the final score is 5", 5), ("4, so 4", 4),
        ("1 to 5", None), ("2 or 3", None), ("-4", None), ("Score: −4", None),
        ("7", None), ("Score: 10", None), ("4/10", None), ("Score: 4/10", None),
        ("4.5", None), ("GPT4", None), ("good", None),
    ],
)  # fmt: skip
def test_a_reply_has_one_score_or_none(reply, score):
    span = score_span(reply)
    assert (span and span[0]) == score
    assert span is None or reply[span[1]] == str(score)


def test_the_tokens_weigh_the_score_that_is_read():
    scale = [token((word, 1.0)) for word in ("From", " ", "1", " to ", "5", ":", " ")]
    assert token_score([*scale, token(("4", 0.5), ("2", 0.5))])[0] == pytest.approx(3)
    minus = [token(("-", 1.0)), token(("4", 1.0))]
    for unreadable in (scale, minus, [token(("none", 1.0))], []):
        assert token_score(unreadable) == (None, 0.0)


@pytest.mark.parametrize(
    ("completion", "outcome"),
    [
        (Completion(text=None, error="HTTP 500"), "no reply"),
        (Completion(text=" "), "unreadable"),
        (Completion(text="good", logprobs=[token(("good", 1.0))]), "unreadable"),
    ],
)
def test_a_failed_score_is_no_zero(completion, outcome):
    judged = from_tokens(completion)
    assert (judged.value, judged.outcome) == (None, outcome)


def test_samples_without_a_score_are_left_out():
    assert sample_score(["5", "3 out of 5", "ten", "10", "4.5"]) == (4.0, 2)
    replies = [Completion(text="5"), Completion(text=None), Completion(text="2")]
    assert from_samples(replies).value == pytest.approx((3.5 - 1) / 4)
    assert from_samples([Completion(text=None)] * 2).outcome == "no reply"


def test_the_fact_score_is_the_share_of_supported_facts():
    facts = Facts(("a", "b", "c", "d"), "judged")
    verdicts = [Verdict("a", True), Verdict("b", False), Verdict("c", True)]
    judged = precision(facts, [*verdicts, Verdict("d", None, "unreadable")])
    assert judged.value == pytest.approx(2 / 3)
    assert judged.details["failed_facts"] == 1
    failed = precision(Facts(("a",), "judged"), [Verdict("a", None, "no reply")])
    assert (failed.value, failed.outcome) == (None, "no reply")
    assert precision(Facts((), "no facts"), []).outcome == "no facts"


def test_sentences_end_where_people_end_them():
    text = (
        'He met Dr. J. R. Brown. "Why?" she asked. In 1950, at 3.5 km, it ended.\nYes!'
    )
    assert sentences(text) == [
        "He met Dr. J. R. Brown.", '"Why?" she asked.',
        "In 1950, at 3.5 km, it ended.", "Yes!",
    ]  # fmt: skip
    assert sentences("- \n...\n") == []


def test_facts_are_the_lines_of_a_list():
    reply = "Sure!\n* A is B.\n3) C is D.\n\n- A is B."
    assert fact_lines(reply) == ["A is B.", "C is D."]


def test_the_most_consistent_sample_is_nearest_to_the_others():
    import numpy as np

    rows = np.array([[1, 0, 0], [0.9, 0.1, 0], [0.8, 0, 0.6], [0, 1, 0]], np.float32)
    assert most_consistent(rows) == 1
    assert most_consistent(rows[:1].repeat(3, axis=0)) == 0


def test_the_last_mark_begins_the_answer():
    reply = "Answer: not yet.\nMore.\n## Final answer:\nIt is so."
    assert split_reply(reply)[0] == "It is so."
    assert split_reply("So it is.\nAnswer:")[::2] == ("So it is.\nAnswer:", False)


def test_passages_are_found_by_words():
    triplets = [("Alien", "directed_by", "Ridley Scott"), ("Ran", "set in", "Japan")]
    passages = triplet_passages(triplets)
    assert Passage("Alien", "Alien, directed by, Ridley Scott.") in passages
    index = PassageIndex(passages, by="bm25")
    ((first, second), nothing) = index.search(["Who is Ridley Scott?", "xyzzy"], 2)
    assert {first.title, second.title} == {"Alien", "Ridley Scott"} and nothing == []


def test_long_texts_are_cut_into_passages():
    sentence = ("a", "r", " ".join(["w"] * 100))
    passages = triplet_passages([sentence, ("a", "s", " ".join(["v"] * 100))])
    assert [len(p.text.split()) <= 60 for p in passages] == [True] * len(passages)
    assert sum(p.title == "a" for p in passages) == 4


CSV = """,question,type,placeholders,dbpedia_entities,id,dbpedia_entities_re
0,Compare A. with B.,comparative,"{'x': 'A.', 'y': ""B's""}","{'x': 'http://d/A._(z)'}",7,
1,Describe C.,descriptive,{},,8,"{'p': 'http://d/C%C3%A9'}"
2,Compare D.,comparative,{},,9,
"""


def test_the_published_csv_gives_names_of_entities(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text(CSV)
    first, second, third = read_questions(path)
    assert (first.id, first.type) == ("7", "comparative")
    assert first.names == (("http://d/A._(z)", "A.", "A. (z)"),)
    assert second.names == (("http://d/C%C3%A9", "Cé"),) and third.names == ()
    assert [one.id for one in in_turn([first, third, second])] == ["7", "8", "9"]
    assert entity_names({}, {"x": "y"}) == ()


def test_without_passages_nothing_is_found():
    assert PassageIndex([]).search(["a", "b"], 3) == [[], []]
