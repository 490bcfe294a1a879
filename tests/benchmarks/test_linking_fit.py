"""Fitting the weights of the linker's scoring model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.linking_fit import fit_weights, misspell, training_examples
from kgscout_jax.errors import UserError
from kgscout_jax.graph.link import Linker, build_index
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.scoring import FEATURES, WEIGHTS, scores

NAMES = ["Tom Hanks", "Hanks", "Big", "Paris Hilton", "Paris", "Zurich", "Director"]


def test_fitted_weights_rank_the_topics_of_the_examples_first():
    linker = Linker(build_index(NAMES))
    # Here people always mean the shorter name: the opposite of the usual.
    questions = [("who is tom hanks", [1]), ("who is paris hilton", [4])] * 5
    weights = fit_weights(training_examples(linker, questions), ridge=0.1)
    for text, (topic,) in questions:
        tokens = tokenise_question(text)
        candidates = linker.candidates(tokens)
        probabilities = scores(tokens, linker.index, candidates, weights)
        best = candidates[int(probabilities.argmax())]
        assert linker.index.entity_of(best.surface) == topic
        assert probabilities.max() > 0.5
    alias = FEATURES.index("alias")
    assert weights[alias] == WEIGHTS[alias], "no example has an alias"


def test_fitting_without_a_topic_is_refused():
    linker = Linker(build_index(NAMES))
    with pytest.raises(UserError, match="no question has a topic"):
        fit_weights(training_examples(linker, [("who is tom hanks", [5])]))


@pytest.mark.extended
@given(st.text(), st.integers(0, 5))
def test_a_misspelling_changes_at_most_one_word(text, seed):
    wrong = misspell(text, np.random.default_rng(seed))
    before, after = text.split(" "), wrong.split(" ")
    changed = [(a, b) for a, b in zip(before, after, strict=False) if a != b]
    assert len(changed) <= 1
    assert all(abs(len(a) - len(b)) <= 1 for a, b in changed)
