"""Triplets as paths: chains worked out by hand, everything shown, the budget held."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import (
    MAX_HOPS,
    NOTE,
    REST,
    path_line,
    path_lines,
    render_paths,
)
from kgscout_jax.reason.prompts import load_template, triplet_line
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.reason.selection import PromptSettings, prompt_for

SEAL = (
    ("Lou Seal", "mascot.team", "Giants", 3.0),
    ("Giants", "won", "2012", 2.5),
    ("Giants", "won", "2010", 2.0),
    ("Bochy", "coach_of", "giants ", 1.0),
    ("A", "b", "C", 0.5),
    ("Giants", "loves", "Lou Seal", 0.1),
)


def test_chains_by_hand():
    # means: won 2012 (3 + 2.5) / 2, won 2010 2.5, coach 2.0, loves 0.1
    assert path_lines(SEAL, ["lou  seal", "Nobody"]) == [
        NOTE,
        "- Lou Seal -> mascot team -> Giants -> won -> 2012; 2010",
        "- Lou Seal -> mascot team -> Giants <- coach of - Bochy",
        "- Lou Seal <- loves - Giants",
        REST,
        "- A, b, C",
    ]


def test_what_one_entity_has_is_told_together():
    counted = [("Ann", "won", f"cup {i}") for i in range(7)]
    assert path_line(counted[:3]) == "Ann -> won -> cup 0, cup 1, cup 2"
    assert path_line(counted).endswith("cup 3, cup 4 and more")
    held = [(tail, "held by", head) for head, _, tail in counted[:3]]
    assert path_line(held) == "Ann <- held by - cup 0, cup 1, cup 2"
    assert " -> won -> cup 1" in path_line(counted[:2])


def test_scores_stand_behind_what_is_reached():
    lines = path_lines(SEAL[:3], ["Lou Seal"], scores=True)
    first = "- Lou Seal -> mascot team -> Giants [3.00]"
    assert lines[1:] == [f"{first} -> won -> 2012 [2.50]; 2010 [2.00]"]


def test_a_triplet_between_two_topics_is_written_once():
    triplets = [("Ken", "part", "m.0x", 1.0), ("m.0x", "show", "Street", 0.5)]
    # the triplet between is one hop of one of them, and shown once
    assert path_lines(triplets, ["Ken", "Street"])[1:] == [
        "- Ken -> part -> m.0x",
        "- Street <- show - m.0x",
    ]
    assert path_lines([("Ken", "knows", "Street", 0.0)], ["Street", "Ken"])[1:] == [
        "- Ken -> knows -> Street"
    ]


def test_an_entity_is_reached_by_the_better_path():
    triplets = [
        ("T", "r", "A", 1.0),
        ("T", "r", "B", 2.0),
        ("A", "s", "X", 5.0),
        ("B", "s", "X", 4.5),
        ("X", "t", "Y", 1.0),
    ]
    # 2 + 4.5 beats 1 + 5; the other way is shown up to where they meet
    lines = path_lines(triplets, ["T"])[1:]
    assert lines == ["- T -> r -> A -> s -> X", "- T -> r -> B -> s -> X -> t -> Y"]


def test_parallel_edges_and_self_loops_are_shown():
    triplets = [("T", "r", "A", 1.0), ("T", "q", "A", 0.5), ("T", "is", "T", 0.2)]
    assert path_lines(triplets, ["T"])[1:] == [
        "- T -> r -> A",
        "- T -> q -> A",
        "- T -> is -> T",
    ]


def test_triplets_beyond_max_hops_are_written_behind():
    triplets = [(f"n{i}", "r", f"n{i + 1}", 0.0) for i in range(MAX_HOPS + 1)]
    lines = path_lines(triplets, ["n0"])
    assert lines[-2:] == [REST, f"- n{MAX_HOPS}, r, n{MAX_HOPS + 1}"]
    assert path_lines(triplets, []) == [triplet_line(t) for t in triplets]
    assert path_lines([], ["n0"]) == []


NAMES = st.sampled_from(["t", "U", "a", "b", "c", "d", "e -> x", "日本"])
TRIPLETS = st.lists(
    st.tuples(NAMES, st.sampled_from(["r", "s", "//"]), NAMES, st.floats(-3, 3)),
    max_size=14,
    unique_by=lambda t: t[:3],
)


@given(TRIPLETS, st.sets(NAMES, max_size=2))
def test_every_triplet_is_shown(triplets, topics):
    """Each as a hop with its score, or as a line behind."""
    marked = [(*t[:3], i + 0.25) for i, t in enumerate(triplets[::-1])][::-1]
    text = "\n".join(path_lines(marked, sorted(topics), scores=True))
    assert all(f"[{i}.25]" in text for i in range(len(marked)))


@given(TRIPLETS, st.integers(0, 150))
def test_the_budget_holds_the_most_triplets_that_fit(triplets, room):
    triplets = sorted(triplets, key=lambda t: -t[3])
    template = load_template("zero_shot")
    bare = render_paths(template, "q?", [], ["t"]).tokens
    prompt = render_paths(template, "q?", triplets, ["t"], budget=bare + room)
    assert prompt.tokens <= bare + room
    n = prompt.n_triplets
    assert prompt.messages == render_paths(template, "q?", triplets[:n], "t").messages
    if n < len(triplets):
        more = render_paths(template, "q?", triplets[: n + 1], ["t"])
        assert more.tokens > bare + room


def test_ten_thousand_triplets_in_the_budget():
    triplets = [("hub", f"r{i % 7}", f"n{i}", -i / 1e4) for i in range(10_000)]
    evidence = Evidence(id="1", question="q", topics=("hub",), triplets=tuple(triplets))
    settings = PromptSettings(form="paths", token_budget=3000)
    prompt = prompt_for(evidence, settings)
    lines = prompt_for(evidence, PromptSettings(token_budget=3000))
    assert prompt.tokens <= 3000 and lines.tokens <= 3000
    # sharing "hub -> r ->" leaves room for more
    assert prompt.n_triplets > 2 * lines.n_triplets > 100


def test_form_scores_and_template_are_settings():
    evidence = Evidence(id="1", question="Who?", topics=("Lou Seal",), triplets=SEAL)
    paths = prompt_for(evidence, PromptSettings(form="paths", scores=True)).show()
    assert paths.startswith("# prompt one_shot") and "Giants [3.00] -> won" in paths
    lines = prompt_for(evidence, PromptSettings(scores=True)).show()
    assert "- [3.00] Lou Seal, mascot team, Giants" in lines


@pytest.mark.parametrize(
    "prompt, empty",
    [
        ("one_shot", "closed_book"),
        ("chain_of_thought", "closed_book_chain_of_thought"),
    ],
)
def test_a_question_without_triplets_gets_a_template_without_them(prompt, empty):
    question = Evidence(id="1", question="Who?")
    got = prompt_for(question, PromptSettings(prompt=prompt, form="paths"))
    assert got.template == empty and "riplet" not in got.show().split("\n", 1)[1]
    own = prompt_for(question, PromptSettings(prompt=prompt, empty="one_shot"))
    assert "Triplets:\n(none)\n" in own.show()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"samples": 0}, "samples: found 0, expected at least 1"),
        ({"token_budget": 0}, "token_budget: found 0, expected"),
        ({"form": "trees"}, "form: 'trees', expected lines or paths"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(UserError, match=message):
        PromptSettings(**options)


def test_a_path_is_one_chain_that_ends_at_its_answer():
    film = ("Alien", "film.directed_by", "Ridley Scott")
    town = ("South Shields", "birthplace_of", "Ridley Scott")
    assert path_line([film]) == "Alien -> film directed by -> Ridley Scott"
    assert path_line([film], "alien") == "Ridley Scott <- film directed by - Alien"
    whole = "Alien -> film directed by -> Ridley Scott <- birthplace of - South Shields"
    assert path_line([film, town], "South Shields") == whole
    assert path_line([film, town], "yes") == whole == path_line([film, town])
    assert path_line([]) == ""


def test_a_value_leads_on_from_the_answer_and_two_that_are_compared_stand_apart():
    town, people = ("Rome", "town_of", "Italy"), ("Rome", "population", "2800")
    assert path_line([town, people], "Rome") == (
        "Italy <- town of - Rome -> population -> 2800"
    )
    assert path_line([people, ("Pisa", "population", "90")], "Rome") == (
        "Rome -> population -> 2800; Pisa -> population -> 90"
    )
