"""Fitting the scoring weights, and the features they weigh."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link import Linker, LinkIndex
from kgscout_jax.graph.link.fit import examples, fit_weights, misspelt
from kgscout_jax.graph.link.question_tokens import ask
from kgscout_jax.graph.link.scoring import FEATURES, WEIGHTS, features, scores

NAMES = ["Tom Hanks", "Hanks", "Big", "Paris Hilton", "Paris", "Zurich", "Director"]


def row(linker: Linker, question: str, name: str) -> dict[str, float]:
    """The features of the full match of ``name``."""
    asked = ask(question)
    found = linker.candidates(asked)
    for candidate, values in zip(
        found, features(asked, linker.index, found), strict=True
    ):
        if linker.index.text_of(candidate.surface) == name and candidate.how != "fuzzy":
            return dict(zip(FEATURES, values.tolist(), strict=True))
    raise AssertionError(f"{name} is no candidate")


def test_features_worked_out_by_hand():
    degrees = np.array([99, 9, 9, 9, 9, 9, 9])
    linker = Linker(LinkIndex.build(NAMES, degrees=degrees))
    got = row(linker, "was Tom Hanks in Paris", "Tom Hanks")
    wanted = {"exact": 1, "words": 1, "content": 2, "degree": 1, "capital": 1}
    wanted |= {"preposition": 0, "within": 0, "share": 2 / 3, "common": 0, "last": 0}
    assert got == pytest.approx(got | wanted)
    got = row(linker, "was Tom Hanks in Paris", "Hanks")
    assert got["within"] == 1
    assert got["degree"] == pytest.approx(np.log1p(9) / np.log1p(99))
    got = row(linker, "was Tom Hanks in Paris", "Paris")
    assert (got["preposition"], got["last"]) == (1, 1)
    got = row(linker, "who is the director of it", "Director")
    assert (got["common"], got["content"], got["capital"]) == (1, 0, 0)


def test_the_loss_falls_and_the_order_becomes_right():
    linker = Linker(LinkIndex.build(NAMES))
    # Here people always mean the shorter name: the opposite of the usual.
    asked = [("who is tom hanks", [1]), ("who is paris hilton", [4])] * 5
    given = examples(linker, asked)
    weights = fit_weights(given, ridge=0.1)
    for text, (topic,) in asked:
        taken = ask(text)
        found = linker.candidates(taken)
        likely = scores(taken, linker.index, found, weights)
        best = found[int(likely.argmax())]
        assert linker.index.entity_of(best.surface) == topic
        assert likely.max() > 0.5
    alias = FEATURES.index("alias")
    assert weights[alias] == WEIGHTS[alias], "no example has an alias"


def test_without_a_topic_there_is_nothing_to_fit():
    linker = Linker(LinkIndex.build(NAMES))
    with pytest.raises(UserError, match="no question has a topic"):
        fit_weights(examples(linker, [("who is tom hanks", [5])]))


@given(st.text(), st.integers(0, 5))
def test_misspelling_changes_one_word_at_most(text, seed):
    wrong = misspelt(text, np.random.default_rng(seed))
    before, after = text.split(" "), wrong.split(" ")
    changed = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    assert len(changed) <= 1
    assert all(abs(len(a) - len(b)) <= 1 for a, b in changed)
