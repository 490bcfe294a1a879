"""What was found, in every form."""

from __future__ import annotations

import dataclasses
import json

import networkx as nx
import numpy as np
import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link import Link
from kgscout_jax.graph.provenance import Source
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.reason.prompts import triplet_line
from kgscout_jax.reason.selection import PromptSettings, prompt_for
from kgscout_jax.types import Answer

LINK = Link(entity=0, name="Ann", score=0.98765, how="alias", start=9, stop=12)
FOUND = RetrievalResult(
    question="Where is Ann?",
    topics=("Ann",),
    triplets=(
        ("Ann", "people.person.lives_in", "Town"),
        ("Town", "part of", "Utopia"),
        ("Ann", "twin", "Town"),
        ("Mu", "near", "Lemuria"),
    ),
    scores=np.array([2.0, 1.5, 0.25, -1.0], np.float32),
    links=(LINK,),
    relation_match=(0.5, 0.25, 0.125, 0.0),
    n_candidates=9,
    seconds=0.002,
)
NOTHING = RetrievalResult(question="Who?", scores=np.empty(0, np.float32))


def test_as_text_is_a_triplet_a_line():
    assert FOUND.as_text().splitlines() == [
        "- Ann, people person lives in, Town",
        "- Town, part of, Utopia",
        "- Ann, twin, Town",
        "- Mu, near, Lemuria",
    ]
    lines = FOUND.as_text(scores=True).splitlines()
    assert lines == [triplet_line(each, scores=True) for each in FOUND.scored]
    assert lines[0].startswith("- [2.00] Ann")


def test_as_paths_is_a_chain_a_line():
    text = FOUND.as_paths()
    assert "Ann -> people person lives in -> Town -> part of -> Utopia" in text
    assert text.splitlines()[-1] == "- Mu, near, Lemuria"  # no topic reaches it


def test_networkx_keeps_parallel_edges():
    graph = FOUND.to_networkx()
    assert isinstance(graph, nx.MultiDiGraph)
    edges = {
        (u, about["relation"], v, about["score"], about["rank"])
        for u, v, about in graph.edges(data=True)
    }
    assert edges == {
        (h, r, t, s, rank) for rank, (h, r, t, s) in enumerate(FOUND.scored, 1)
    }
    assert graph.number_of_edges("Ann", "Town") == 2
    assert [n for n, topic in graph.nodes(data="topic") if topic] == ["Ann"]
    assert nx.shortest_path(graph, "Ann", "Utopia") == ["Ann", "Town", "Utopia"]
    assert list(NOTHING.to_networkx()) == []


def test_a_record_is_a_line_of_retrieved():
    line = FOUND.to_record("q1").to_json()
    assert "\n" not in line
    value = json.loads(line)
    assert value["triplets"] == [[h, r, t, s] for h, r, t, s in FOUND.scored]
    assert value["topics"] == ["Ann"] and value["answers"] == []
    (linked,) = value["linked"]
    assert linked == {
        "name": "Ann", "how": "alias", "score": 0.9877, "start": 9, "stop": 12
    }  # fmt: skip
    assert "topics_not_found" not in value
    assert json.loads(NOTHING.to_record("q2").to_json())["triplets"] == []


def test_a_record_holds_the_answers_of_the_graph():
    path = FOUND.triplets[:2]
    answer = Answer(name="Utopia", probability=0.87654, path=path)
    one = dataclasses.replace(FOUND, answers=(answer,)).to_record("q1").extra
    written = {
        "name": "Utopia", "probability": 0.8765, "path": [list(t) for t in path]
    }  # fmt: skip
    assert one["graph_answers"] == [written] and one["kind"] == "set"
    assert not one["abstained"] and "best_guesses" not in one
    unsure = dataclasses.replace(FOUND, abstained=True, best_guesses=(answer,))
    two = unsure.to_record("q1").extra
    assert two["best_guesses"] == [written] and two["graph_answers"] == []
    assert unsure.confidence == 0.87654 and unsure.answer_entities == ()
    assert "graph_answers" not in FOUND.to_record("q1").extra


def test_evidence_of_a_reader():
    evidence = FOUND.evidence("q1")
    assert evidence.triplets == FOUND.scored and evidence.topics == ("Ann",)


@pytest.mark.parametrize("found", [FOUND, NOTHING])
def test_to_html_draws_the_triplets(found, tmp_path):
    path = found.to_html(str(tmp_path / "x.html"), answers=("Utopia",))
    page = path.read_text("utf-8")
    assert found.question in page
    assert ("Lemuria" in page) == bool(found.triplets)


def test_the_page_lists_the_answers_and_marks_their_paths(tmp_path):
    answer = Answer(name="Utopia", probability=0.87654, path=FOUND.triplets[:2])
    found = dataclasses.replace(FOUND, answers=(answer,))
    page = found.to_html(tmp_path / "x.html").read_text("utf-8")
    assert "<b>Utopia</b> <small>0.88</small>" in page
    assert "Ann -&gt; people person lives in -&gt; Town -&gt; part of -&gt; Uto" in page
    assert '"paths":[[2,[0,1]]],"given":true' in page
    marked = found.to_html(tmp_path / "y.html", answers=("Lemuria",)).read_text("utf-8")
    assert '"given":false' in marked
    unsure = dataclasses.replace(FOUND, abstained=True, best_guesses=(answer,))
    assert "Not sure; best guesses:" in unsure.to_html(tmp_path / "z.html").read_text()


def test_scores_that_are_no_numbers_draw_nothing(tmp_path):
    found = RetrievalResult(
        question="Who?", triplets=(("a", "r", "b"),), scores=np.array([np.nan])
    )
    with pytest.raises(UserError, match="finite score"):
        found.to_html(tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_notebook_shows_one_line_and_the_page():
    assert repr(FOUND) == "RetrievalResult('Where is Ann?': evidence only; 4 triplets)"
    sure = dataclasses.replace(FOUND, answers=(Answer(name="Town", probability=0.5),))
    assert "answered, Town (0.50); 4 triplets" in repr(sure)
    html = FOUND._repr_html_()
    assert html.startswith("<iframe srcdoc=") and html.count("<") == 2
    assert "Lemuria" in html


def test_to_pandas_has_a_row_a_triplet():
    pytest.importorskip("pandas")
    table = FOUND.to_pandas()
    assert list(table.columns) == ["head", "relation", "tail", "score"]
    assert [tuple(row) for row in table.itertuples(index=False)] == list(FOUND.scored)
    assert len(NOTHING.to_pandas()) == 0


def test_to_dict_names_the_parts_of_a_triplet():
    record = FOUND.to_dict()
    assert record["status"] == "evidence only" and record["topics"] == ["Ann"]
    first = {"head": "Ann", "relation": "people.person.lives_in", "tail": "Town"}
    assert record["triplets"][0] == first | {"score": 2.0}
    assert NOTHING.to_dict()["status"] == "nothing found"
    near = dataclasses.replace(FOUND, nearest=True)
    assert near.to_dict()["nearest"] is True and near.status == "no topic"


def test_sources_stand_in_prompts_and_on_the_page():
    town, utopia = Source("town.md", 0, 3, 9), Source('a, b, "c".md', 1, 0, 5)
    sources = ((town,), (utopia, town), (), ())
    answer = Answer(name="Utopia", probability=0.9, path=FOUND.triplets[:2])
    found = dataclasses.replace(FOUND, provenance=sources, answers=(answer,))
    prompt = prompt_for(found.evidence(), PromptSettings()).messages[-1][1]
    assert "- Ann, people person lives in, Town [town.md, 3-9]\n" in prompt
    quoted = """["a, b, 'c'.md, 0-5 (+1)"]"""  # a name of a file is a stranger's
    assert f"- Town, part of, Utopia {quoted}\n- Ann, twin, Town\n" in prompt
    counted = dataclasses.replace(found, selection={"form": "lines", "tokens": 9})
    assert not counted.evidence().sources  # its tokens were counted without them
    page = found.to_page()
    assert "<cite>town.md, 3-9; a, b, &quot;c&quot;.md, 0-5 (+1)</cite>" in page
    assert "<cite>" not in dataclasses.replace(FOUND, answers=(answer,)).to_page()
