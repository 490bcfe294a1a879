"""Common nouns: what kind of thing a question asks for names nothing by itself."""

from __future__ import annotations

import numpy as np
import pytest

from kgscout_jax.graph.link import Linker, build_index
from kgscout_jax.graph.link.common_nouns import is_asked_noun, is_described_noun
from kgscout_jax.graph.link.question_tokens import tokenise_question

NAMES = ["Paper Moth Games", "Glasswing Studio", "Meridian Labs", "Dana Wolfe"]
NAMES += ["Lantern Hollow", "Iron Petal", "Mira Holt", "Tallinn", "Oslo"]
FLAWS = ["CVE-2023-32681", "CVE-2022-40897", "requests", "urllib3", "high", "medium"]


@pytest.fixture(scope="module")
def games() -> Linker:
    degrees = np.array([4, 4, 2, 3, 4, 4, 1, 1, 1])
    return Linker(build_index(NAMES, degrees=degrees))


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("Which games came out after 2013?", []),
        ("Which studios made them?", []),
        ("How many games are there?", []),
        ("List all games", []),
        ("Where is the oldest studio based?", []),
        ("which games did wolfe design", ["Dana Wolfe"]),
        ("who composed the music for the games of dana wolfe?", ["Dana Wolfe"]),
        ("who composed music for games by dana wolfe?", ["Dana Wolfe"]),
        ("Where is the studio that made Iron Petal?", ["Iron Petal"]),
        ("Did the studio hire Dana Wolfe?", ["Dana Wolfe"]),
    ],
)
def test_a_common_noun_is_no_part_of_a_name(games, question, topics):
    assert [link.name for link in games.link(question)] == topics


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("where is moth games based", "Paper Moth Games"),
        ("where is the moth based", "Paper Moth Games"),
        ("who runs meridian", "Meridian Labs"),
        ("which city is glasswing studio in", "Glasswing Studio"),
        ("what did wolfe design", "Dana Wolfe"),
        ("who plays the oldest wolfe character", "Dana Wolfe"),
        ("Which Games came out first?", "Paper Moth Games"),
    ],
)
def test_a_distinct_part_of_a_name_is_linked(games, question, topic):
    assert [link.name for link in games.link(question)] == [topic]


def test_a_whole_name_comes_before_the_kind_that_is_asked_for():
    flaws = Linker(build_index(FLAWS, degrees=np.array([2, 2, 2, 2, 1, 1])))
    for question, topics in {
        "Which CVEs have severity high?": ["high"],
        "which CVEs affect urllib3?": ["urllib3"],
        "Which CVEs are there?": [],
        "what is CVE-2023-32681": ["CVE-2023-32681"],
    }.items():
        assert [link.name for link in flaws.link(question)] == topics


@pytest.mark.parametrize(
    ("question", "asked", "described"),
    [
        ("which hut was built first", ["hut"], ["hut"]),
        ("which studio developed it", ["studio"], []),
        ("which game sold the most", ["game"], []),
        ("in what towns is it", ["towns"], ["towns"]),
        ("tell me what james wrote", [], ["james"]),
        ("which steelers player left", [], []),
        ("which Steelers left", [], []),
        ("the mary_of_teck of", [], []),
        ("the queen of Spain", [], ["queen"]),
        ("the nuclear spin of tin", [], ["spin"]),
        ("late queen of Spain", [], []),
        ("every lodge closed", ["lodge"], []),
        ("what stock exchanges are there", ["exchanges"], []),
        ("which stock exchange lists Bern", ["exchange"], []),
        ("Firms with clerks", ["firms"], []),
        ("Swiss firms", ["firms"], []),
    ],
)
def test_the_words_around_a_noun_tell_what_it_is(question, asked, described):
    tokens = tokenise_question(question)
    nouns = [w for i, w in enumerate(tokens.words) if is_asked_noun(tokens, i, i)]
    others = [w for i, w in enumerate(tokens.words) if is_described_noun(tokens, i)]
    assert nouns == asked
    assert others == described
