"""Drawings as HTML: what is in the page, and that data never becomes markup."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.errors import UserError
from kgscout_jax.show import (
    MAX_DRAWN,
    AnswerLine,
    GraphView,
    graph_assets,
    graph_fragment,
    graph_page,
    report_scripts,
    write_page,
)
from kgscout_jax.show.drawing import drawing_data, relation_label, weights
from kgscout_jax.show.page import ASSETS, SCRIPTS
from kgscout_jax.utils.io import sha256_file

EVIL = "</script><img src=x onerror=alert(1)><!-- \u2028\u2029 & \" '"


def view(**changes):
    """Two hops from a topic to an answer, and a self-loop."""
    return GraphView(
        **{
            "title": "q1",
            "question": "Where is Ann's town?",
            "topics": ("Ann",),
            "answers": ("Utopia",),
            "triplets": [
                ("Ann", "people.person.lives_in", "Town", 2.0),
                ("Town", "part of", "UTOPIA", 1.5),
                ("Town", "twin", "Town", 1.0),
            ],
            **changes,
        }
    )


class Page(HTMLParser):
    """The tags with their attributes, and the text of each script, of a document."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.scripts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, sorted(name for name, _ in attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data

    @property
    def data(self):
        return json.loads(self.scripts[-1])


def test_the_page_holds_the_drawing_and_loads_nothing():
    page = Page(graph_page(view()))
    assert page.data == json.loads(json.dumps(drawing_data(view())))
    assert not {"link", "img", "iframe", "object", "base"} & {t for t, _ in page.tags}
    assert not {"src", "href", "srcset"} & {a for _, attrs in page.tags for a in attrs}
    # The library's licence comments name these; nothing else names any address.
    urls = set(re.findall(r"(?:https?:)?//[\w-]+\.[\w./-]+", graph_page(view())))
    assert {url.split("//")[1] for url in urls} <= {
        "en.wikipedia.org/wiki/MIT_License",
        "engelschall.com",
        "opensource.org/licenses/MIT",
    }
    assert not re.search(r"@import|url\(", (ASSETS / "graph.css").read_text())


def test_answers_are_listed_and_given_paths_marked():
    lines = [AnswerLine("Utopia", 0.876, "Ann -> lives in -> Town"), AnswerLine("x", 0)]
    drawn = view(paths=[(0, 1), (), (2,)], answer_lines=lines, answer_note="Not sure:")
    page = graph_page(drawn)
    assert "<b>Utopia</b> <small>0.88</small><span>Ann -&gt; lives in" in page
    assert '<p class="kgv-note">Not sure:</p>' in page
    data = drawing_data(drawn)
    assert data["given"] and data["paths"] == [(2, [0, 1]), (3, [0, 1, 2])]
    assert not drawing_data(view())["given"]
    evil = graph_page(view(answer_lines=[AnswerLine(EVIL, 1, EVIL)], answer_note=EVIL))
    assert "<img" not in evil


def test_names_never_become_markup():
    benign = Page(graph_page(view(title="t", question="q")))
    hostile = view(
        title=EVIL,
        question=EVIL,
        topics=(EVIL,),
        answers=(EVIL + "2",),
        gold=(EVIL,),
        triplets=[(EVIL, EVIL, EVIL + "2", 1.0)],
    )
    page = Page(graph_page(hostile))
    assert page.tags == benign.tags
    assert page.data == json.loads(json.dumps(drawing_data(hostile)))
    assert page.data["relations"][0][0] == EVIL
    fragment = graph_fragment(hostile, EVIL)
    assert [tag for tag, _ in Page(fragment).tags] == [
        "section",
        "script",
        "noscript",
        "p",
    ]
    inside = fragment.split('json">')[1].split("</script>")[0]
    assert not set(inside) & set("<>&\u2028\u2029")


@given(st.lists(st.text(max_size=12), min_size=3, max_size=3), st.floats(-9, 9))
def test_any_text_survives_the_page(names, score):
    drawn = view(triplets=[(*names, score)], topics=(names[0],), answers=())
    page = Page(graph_page(drawn))
    page_data, wanted = page.data, drawing_data(drawn)
    assert page_data["names"] == wanted["names"]
    assert page_data["relations"][0][0] == names[1]


def test_half_characters_do_not_stop_a_page_from_being_written(tmp_path):
    broken = "half \ud83d"
    drawn = view(title=broken, question=broken, triplets=[(broken, "r", "x", 1.0)])
    write_page(tmp_path / "page.html", drawn)
    written = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert written.data["names"][0] == "half ?"


def test_entities_are_one_whatever_their_spelling_and_kinds_add_up():
    data = drawing_data(view(topics=("ann", "Nobody"), gold=("utopia", "ann")))
    assert data["names"] == ["Ann", "Town", "UTOPIA", "Nobody"]
    assert data["kinds"] == [1 | 4, 0, 2 | 4, 1]
    assert data["relations"] == [
        ["people.person.lives_in", "lives in"],
        ["part of", "part of"],
        ["twin", "twin"],
    ]
    assert data["triplets"] == [
        [0, 0, 1, 2.0, 1.0],
        [1, 1, 2, 1.5, 0.5],
        [1, 2, 1, 1.0, 0.0],
    ]
    assert data["judged"] and data["total"] == 3
    # The topic "ann" is itself gold: it needs no path. Utopia is reached at K = 2.
    assert data["paths"] == [(2, [0, 1])]


def test_only_the_best_are_drawn_and_the_rest_is_counted():
    many = [("Ann", "r", f"e{i}", -float(i)) for i in range(MAX_DRAWN + 7)]
    data = drawing_data(view(triplets=many))
    assert len(data["triplets"]) == MAX_DRAWN and data["total"] == MAX_DRAWN + 7
    assert data["triplets"][-1][4] == 0.0


def test_empty_evidence_is_a_picture_too():
    data = Page(graph_page(view(triplets=[]))).data
    assert data["names"] == ["Ann", "Utopia"]
    assert data["triplets"] == [] and data["paths"] == []


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([3.0], [0.5]),
        ([2.0, 2.0], [0.5, 0.5]),
        ([6.0, 3.0, -6.0], [1.0, 0.75, 0.0]),
        ([1.7e308, 0.0, -1.7e308], [1.0, 0.5, 0.0]),
    ],
)
def test_weights(scores, expected):
    np.testing.assert_allclose(weights(np.array(scores)), expected)


@pytest.mark.parametrize(
    ("relation", "label"),
    [
        ("people.person.place_of_birth", "place of birth"),
        ("a.b.first..c.d.second", "second"),
        ("directed_by", "directed by"),
        ("http://dbpedia.org/ontology/birthPlace", "birthPlace"),
        ("http://www.w3.org/2000/01/rdf-schema#label", "label"),
        ("/location/location/contains", "contains"),
        ("and/or", "and/or"),
        ("vs. the world", "vs. the world"),
        ("", ""),
        ("_", "_"),
        ("/", "/"),
    ],
)
def test_relation_labels(relation, label):
    assert relation_label(relation) == label


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"topics": "Ann"}, "topics: expected a tuple of names, got 'Ann'"),
        ({"gold": (1,)}, r"gold: expected a tuple of names, got \(1,\)"),
        ({"triplets": [("a", "b", "c")]}, r"rank 1: expected \(head, relation, tail, "),
        ({"triplets": [("a", "b", "c", "1")]}, "rank 1: expected"),
        ({"triplets": [("a", "b", "c", float("nan"))]}, "finite score.*nan"),
        ({"triplets": [("a", "b", 3, 1.0)]}, "rank 1: expected"),
        ({"triplets": ["abcd"]}, "rank 1: expected"),
        (
            {"triplets": [("a", "b", "c", 1.0), ("a", "b", "d", 2.0)]},
            "rank 2: expected scores best first, got 2 after 1",
        ),
    ],
)
def test_bad_views_are_refused(changes, message):
    with pytest.raises(UserError, match=message):
        view(**changes)


def test_scores_may_be_numpy_numbers():
    drawn = view(
        triplets=[("a", "b", "c", np.float32(1.5)), ("a", "b", "d", np.int64(1))]
    )
    assert [row[3] for row in Page(graph_page(drawn)).data["triplets"]] == [1.5, 1.0]


def test_many_fragments_share_one_set_of_assets():
    fragments = [graph_fragment(view(), f"drawing-{i}") for i in range(3)]
    assert all("cytoscape" not in fragment for fragment in fragments)
    page = Page(f"<html>{graph_assets()}{''.join(fragments)}</html>")
    assert [tag for tag, _ in page.tags].count("section") == 3
    assert len(page.scripts) == len(SCRIPTS) + 3


def test_scripts_can_stand_in_a_script_element():
    own = [(ASSETS / name).read_text(encoding="utf-8") for name in SCRIPTS]
    assert set(own) < set(report_scripts())
    for text in map(str.lower, report_scripts()):
        assert "</script" not in text and "<!--" not in text


def test_the_library_is_the_one_that_is_named_with_its_licence():
    readme = (ASSETS / "README.md").read_text()
    assert sha256_file(ASSETS / "cytoscape.min.js") in readme
    version = re.search(r"Cytoscape\.js (\d+\.\d+\.\d+)", readme)
    assert version and f'"{version[1]}"' in (ASSETS / "cytoscape.min.js").read_text()
    assert (
        "Permission is hereby granted" in (ASSETS / "cytoscape.LICENSE.txt").read_text()
    )
    assert all(file.stat().st_size < 1_000_000 for file in ASSETS.iterdir())
