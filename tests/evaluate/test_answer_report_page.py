"""The page of a batch: one file that needs nothing else and breaks on no name."""

import dataclasses
import json
import re
from html.parser import HTMLParser

import pytest
from evaluate.answer_page import CONTEXT, EVIL, PLOTS, cell, page

from kgscout_jax.evaluate.answers.failures import FAILURES
from kgscout_jax.evaluate.answers.page import page_data, report_html
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.show import report_scripts
from kgscout_jax.show.page import ASSETS

KNOWN = (
    "html head meta title style body header h1 nav a main section h2 h3 div p table "
    "thead tbody tr th td small img span i form label select input noscript button dl "
    "dt dd script h4 ul li br"
).split()


class Reader(HTMLParser):
    """Tags with their attributes, and what the scripts hold."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.text = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data
        self.text.append(data)


@pytest.fixture(scope="module")
def read():
    return Reader(page())


def test_no_name_becomes_markup(read):
    assert {tag for tag, _ in read.tags} <= set(KNOWN)
    assert len(read.scripts) == 2
    for _, attributes in read.tags:
        assert not any(name.startswith("on") for name in attributes)
    shown = "".join(read.text)
    assert EVIL in shown  # in the title's heading, as text


def test_the_page_fetches_nothing(read):
    for tag, attributes in read.tags:
        assert tag not in ("link", "iframe", "object", "base")
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(
                ("#", "data:image/svg+xml;base64,")
            )
    assert not re.search(r"@import|url\(|fetch\(|XMLHttp|https?://(?!www\.w3)", page())


def test_the_data_holds_every_question_triplet_and_answer(read):
    data = json.loads(read.scripts[0])
    assert data["questions"][0]["text"] == EVIL and data["questions"][0]["gold"] == [
        EVIL
    ]
    assert [(c["retriever"], c["k"], len(c["rows"])) for c in data["cells"]] == [
        ("none", 1, 3), ("cosine", 1, 3), ("none", 3, 2), ("cosine", 3, 2)
    ]  # fmt: skip
    ids, scores, marks = data["lists"]["cosine"][0]
    names = [data["names"][i] for i in ids]
    assert names == [EVIL, "r", "b", "b", "r", "c", "c", "r", EVIL]
    assert scores == [2.0, 1.0, 0.5] and marks == [3, 0, 1]
    # the third question is asked at K = 1 only
    assert len(data["lists"]["cosine"][2][1]) == 1
    assert data["lists"]["none"] == [[[], [], []]] * 3
    answers, given, found, reply, error, failure, outcome, *_ = data["cells"][1][
        "rows"
    ][0]
    assert (answers, given, found, reply) == ([EVIL, "x"], [1, 0], [1], EVIL)
    assert (error, failure, outcome) == (None, None, "json")
    assert data["cells"][1]["rows"][1][5] == "misread"


def test_a_trace_travels_with_its_retriever():
    one = cell("cosine", 1)
    rankings = [dataclasses.replace(one.rankings[0], trace=t) for t in ("Q", "", EVIL)]
    cells = {
        ("cosine", 1): dataclasses.replace(one, rankings=rankings),
        ("none", 1): cell("none", 1),
    }
    assert page_data({"rules": "rog"}, cells)["traces"] == {"cosine": ["Q", "", EVIL]}


def test_exact_rules_mark_exact_answers():
    cells = {("cosine", 1): cell("cosine", 1, answers=("the x",), gold=("x",))}
    report = answer_report(cells, rules="kgscout", settings={}, context=CONTEXT)
    assert page_data(report, cells)["cells"][0]["rows"][0][1:3] == [[0], [0]]
    report["rules"] = "rog"
    assert page_data(report, cells)["cells"][0]["rows"][0][1:3] == [[1], [1]]


def test_every_part_of_a_bar_leads_to_its_questions(read):
    links = [
        attributes for tag, attributes in read.tags
        if tag == "a" and attributes.get("class", "").startswith("f-")
    ]  # fmt: skip
    found = {attributes["href"]: attributes["title"] for attributes in links}
    assert found["#retriever=cosine&k=1&verdict=misread"].endswith(": 1 of 3")
    assert found["#retriever=cosine&k=1&verdict=right"] == "right: 2 of 3"
    assert f"{FAILURES['no_reply']}: " not in "".join(found.values())


def test_examples_lead_to_their_question(read):
    links = [attributes.get("href", "") for tag, attributes in read.tags if tag == "a"]
    assert "#retriever=cosine&k=3&verdict=misread&open=id+1" in links
    shown = "".join(read.text)
    assert f"given wrong; gold {EVIL}" in shown


def test_tables_stand_in_the_page_without_a_script(read):
    shown = "".join(read.text)
    for words in ("Where wrong answers come from", "Hit against K", "n = 2", "cosine"):
        assert words in shown


def test_template_syntax_in_a_name_stays_as_it_is():
    names = json.loads(Reader(page("{{ style }}")).scripts[0])["names"]
    assert "{{ style }}" in names


def test_further_scripts_cannot_end_their_element():
    text = page(scripts=('window.kgscoutDraw = () => "</script><!-- x";',))
    scripts = Reader(text).scripts
    assert len(scripts) == 3
    assert 'kgscoutDraw = () => "<\\/script><\\!-- x"' in scripts[1]


def test_the_page_may_load_nothing(read):
    [policy] = [
        attributes["content"]
        for _, attributes in read.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.startswith("default-src 'none';") and "http" not in policy


def test_the_drawing_comes_once_and_changes_nothing_else(read):
    text = page(scripts=report_scripts())
    drawn = Reader(text)
    scripts = [tag for tag, _ in drawn.tags if tag == "script"]
    assert len(scripts) == 2 + len(report_scripts())
    assert [t for t in drawn.tags if t[0] != "script"] == [
        t for t in read.tags if t[0] != "script"
    ]
    library = (ASSETS / "cytoscape.min.js").read_text(encoding="utf-8")
    assert text.count(library) == 1
    assert len(text) - len(page()) < len(library) + 100_000


def test_lone_surrogates_become_question_marks():
    text = page("half \ud83d")
    assert (
        text.encode("utf-8")
        and "half ?" in json.loads(Reader(text).scripts[0])["names"]
    )


@pytest.mark.extended
def test_a_page_of_1200_readings_is_below_4_mb():
    many = {
        (name, 100): cell(name, 100, n=400, triplets=100)
        for name in ("cosine", "ppr", "scout")
    }
    report = answer_report(many, rules="rog", settings={}, context=CONTEXT, resamples=5)
    text = report_html(report, many, plots=PLOTS)
    # 2,000 questions, then, stay under 20 MB
    assert len(text) < 4e6
    assert EVIL in "".join(Reader(text).text)


def test_a_page_lists_the_first_questions_and_counts_all():
    cells = {("cosine", 3): cell("cosine", 3)}
    report = answer_report(cells, rules="rog", settings={}, context=CONTEXT)
    text = report_html(report, cells, plots=PLOTS, listed=2)
    assert "The first 2 of 3 questions" in text and "right: 2 of 3" in text
    assert len(json.loads(Reader(text).scripts[0])["questions"]) == 2
    assert "The first" not in report_html(report, cells, plots=PLOTS)
