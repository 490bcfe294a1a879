"""Closing and ordering triplets by paths: against networkx, and by hand."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.reason.path_text import (
    MAX_HOPS,
    path_closure,
    path_order,
    render_paths,
)
from kgscout_jax.reason.prompts import load_template, render
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.reason.selection import (
    POOL,
    PromptSettings,
    check_token_budget,
    least_budget,
    pool_size,
    prompt_for,
    select,
)

CHAIN = (
    ("Far", "end", "Goal", 5.0),
    ("Stray", "is", "Alone", 4.0),
    ("Topic", "first", "Near", 3.0),
    ("Topic", "other", "Side", 2.0),
    ("Near", "second", "Far", 1.0),
)


def test_a_triplet_comes_with_the_path_that_joins_it():
    # Far - Goal is the best, and hangs on the third and the last
    assert path_closure(CHAIN, ["topic"], 3) == [0, 2, 4]
    assert path_closure(CHAIN, ["topic"], 4) == [0, 2, 3, 4]
    # two do not hold the way: what fits comes next, and nothing hangs loose
    assert path_closure(CHAIN, ["topic"], 2) == [2, 3]
    assert path_closure(CHAIN, ["topic"], 1) == [2]
    assert path_closure(CHAIN, ["topic"], 9) == [0, 1, 2, 3, 4]
    assert path_closure(CHAIN, ["topic"], 0) == []
    # without a topic: the best
    assert path_closure(CHAIN, ["nobody"], 2) == [0, 1]
    assert path_closure([], ["topic"], 2) == []


def test_path_order_goes_chain_by_chain():
    assert path_order(CHAIN, ["topic"]) == [2, 4, 0, 3, 1]
    assert path_order(CHAIN, []) == [0, 1, 2, 3, 4]


@st.composite
def rankings(draw):
    g = np.random.default_rng(draw(st.integers(0, 100_000)))
    m = draw(st.integers(0, 25))
    ends = g.integers(0, draw(st.sampled_from([4, 12, 30])), (m, 2))
    scores = -np.sort(-g.normal(size=m))
    triplets = [
        (f"e{h}", f"r{i}", f"e{t}", float(s))
        for i, ((h, t), s) in enumerate(zip(ends, scores, strict=True))
    ]
    topics = [f"e{i}" for i in g.integers(0, 12, draw(st.integers(0, 2)))]
    return triplets, topics, draw(st.integers(0, 25))


def reached(triplets, topics):
    """Positions of the triplets within MAX_HOPS hops of a topic, by networkx."""
    graph = nx.MultiGraph()
    for h, _, t, _ in triplets:
        graph.add_edge(h, t)
    starts = {topic for topic in topics if topic in graph}
    if not starts:
        return set()
    far = nx.multi_source_dijkstra_path_length(graph, starts)
    return {
        i
        for i, (h, _, t, _) in enumerate(triplets)
        if min(far.get(h, 99), far.get(t, 99)) < MAX_HOPS
    }


@given(rankings())
def test_the_closure_is_connected_with_the_topics(question):
    triplets, topics, k = question
    kept = path_closure(triplets, topics, k)
    assert kept == sorted(set(kept)) and len(kept) == min(k, len(triplets))
    there = reached(triplets, topics)
    inside = reached([triplets[i] for i in kept], topics)
    if len(there) >= k:
        assert len(inside) == len(kept)
    # never less connected than the k best
    assert len(inside) >= len(reached(triplets[:k], topics))


@given(rankings())
def test_the_order_grows_from_the_topics(question):
    triplets, topics, _ = question
    order = path_order(triplets, topics)
    assert sorted(order) == list(range(len(triplets)))
    there, seen = reached(triplets, topics), set(topics)
    for i in order[: len(there)]:
        head, _, tail, _ = triplets[i]
        assert i in there and {head, tail} & seen
        seen |= {head, tail}
    assert order[len(there) :] == sorted(set(order) - there)


TEMPLATE = load_template("one_shot")


def test_lines_select_the_best():
    found = select("Who?", CHAIN, ["topic"], k=2, form="lines")
    assert found.positions == (0, 1)
    assert found.prompt == render(TEMPLATE, "Who?", CHAIN[:2])


def test_paths_close_from_the_pool():
    assert (pool_size(4, "lines"), pool_size(4, "paths")) == (4, 4 * POOL)
    found = select("Who?", CHAIN, ["topic"], k=3, form="paths")
    assert found.positions == (2, 4, 0)
    some = [CHAIN[i] for i in (0, 2, 4)]
    assert found.prompt == render_paths(TEMPLATE, "Who?", some, ["topic"])
    # the way is out of the pool's reach
    assert select("Who?", CHAIN, ["topic"], k=1, form="paths").positions == (2,)


@given(rankings(), st.sampled_from(["lines", "paths"]), st.integers(0, 300))
def test_the_budget_of_tokens_holds(question, form, more):
    triplets, topics, k = question
    least = select("Who?", [], topics, k=0, form=form).prompt.tokens
    whole = select("Who?", triplets, topics, k=k, form=form)
    budget = max(least, render(TEMPLATE, "Who?", []).tokens) + more
    found = select("Who?", triplets, topics, k=k, form=form, token_budget=budget)
    assert found.prompt.tokens <= budget
    if whole.prompt.tokens <= budget:
        assert found == whole
    elif form == "lines":
        n = len(found.positions)
        assert found.positions == tuple(range(n))
        longer = select("Who?", triplets, topics, k=n + 1, form=form)
        assert longer.prompt.tokens > budget


def test_impossible_selections_are_refused():
    with pytest.raises(UserError, match="expected at most the budget of 3"):
        select("Who?", CHAIN, [], k=3, form="paths", token_budget=3)
    with pytest.raises(
        UserError, match="--form: 'trees', expected one of lines, paths"
    ):
        select("Who?", CHAIN, [], k=3, form="trees")  # pyright: ignore


@pytest.mark.parametrize("prompt", ["one_shot", "zero_shot", "closed_book"])
def test_the_least_budget_is_that_of_one_short_triplet(prompt):
    settings = PromptSettings(prompt=prompt)
    least = least_budget(settings)
    assert least == render(load_template(prompt), "", [("a", "r", "b", 0.0)]).tokens
    check_token_budget(None, settings)
    check_token_budget(least, settings)
    says = f"--token-budget: found {least - 1}, expected at least {least}, what a "
    with pytest.raises(UserError, match=f"{says}prompt {prompt} with one short"):
        check_token_budget(least - 1, settings)


@pytest.mark.parametrize("form", ["lines", "paths"])
def test_likely_answers_stand_below_the_triplets(form):
    known = {"id": "1", "question": "who?", "topics": ("a",),
             "triplets": (("a", "r", "b", 2.0), ("b", "s", "c", 1.0))}  # fmt: skip
    told = Evidence(**known, answers=(("b", 0.917), ("c", 0.4), ("a", 0.01)))
    plain = prompt_for(Evidence(**known), PromptSettings(form=form, likely_answers=2))
    # without the setting, and for a question without answers, nothing changes
    assert prompt_for(told, PromptSettings(form=form)) == plain
    prompt = prompt_for(told, PromptSettings(form=form, likely_answers=2))
    line = "Likely answers (probability): b (0.92); c (0.40)"
    assert prompt.messages[-1][1].replace(f"\n\n{line}", "") == plain.messages[-1][1]
    # they count towards the budget, which then holds fewer triplets
    tight = PromptSettings(form=form, likely_answers=2, token_budget=prompt.tokens - 1)
    fewer = prompt_for(told, tight)
    assert line in fewer.messages[-1][1] and fewer.tokens < prompt.tokens
    assert fewer.n_triplets < prompt.n_triplets
