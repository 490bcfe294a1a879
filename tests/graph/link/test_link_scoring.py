"""The features of the linker's scoring model."""

import numpy as np
import pytest

from kgscout_jax.graph.link import Linker, build_index
from kgscout_jax.graph.link.question_tokens import tokenise_question
from kgscout_jax.graph.link.scoring import FEATURES, features

NAMES = ["Tom Hanks", "Hanks", "Big", "Paris Hilton", "Paris", "Zurich", "Director"]


def row(linker: Linker, text: str, name: str) -> dict[str, float]:
    """The features of the full match of ``name``."""
    question = tokenise_question(text)
    candidates = linker.candidates(question)
    rows = features(question, linker.index, candidates)
    for candidate, values in zip(candidates, rows, strict=True):
        if linker.index.text_of(candidate.surface) == name and candidate.how != "fuzzy":
            return dict(zip(FEATURES, values.tolist(), strict=True))
    raise AssertionError(f"{name} is no candidate")


def test_features_equal_those_worked_out_by_hand():
    degrees = np.array([99, 9, 9, 9, 9, 9, 9])
    linker = Linker(build_index(NAMES, degrees=degrees))
    got = row(linker, "was Tom Hanks in Paris", "Tom Hanks")
    expected = {"exact": 1, "words": 1, "content": 2, "degree": 1, "capital": 1}
    expected |= {"preposition": 0, "within": 0, "share": 2 / 3, "common": 0, "last": 0}
    assert got == pytest.approx(got | expected)
    got = row(linker, "was Tom Hanks in Paris", "Hanks")
    assert got["within"] == 1
    assert got["degree"] == pytest.approx(np.log1p(9) / np.log1p(99))
    got = row(linker, "was Tom Hanks in Paris", "Paris")
    assert (got["preposition"], got["last"]) == (1, 1)
    got = row(linker, "who is the director of it", "Director")
    assert (got["common"], got["content"], got["capital"]) == (1, 0, 0)
