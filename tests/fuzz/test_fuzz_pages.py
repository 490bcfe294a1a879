"""Pages of graphs of strangers: names are text in them, in a browser too."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from fuzz.strangers import FUZZ, NASTY, TEXT, TRIPLETS
from hypothesis import given
from hypothesis import strategies as st
from show.test_in_browser import CHROMIUM, chromium, play

from kgscout_jax.show import GraphView, graph_fragment, graph_page

pytestmark = pytest.mark.extended

LONG = "x" * 100_000
TITLE = "document.title='broken'"


class Page(HTMLParser):
    """Tags with their attributes' names, and the texts of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data


def view(triplets, *, topics=(), answers=(), text="q") -> GraphView:
    scored = [(*t, 1.0 - i / 100) for i, t in enumerate(triplets)]
    topics, answers = tuple(topics), tuple(answers)
    return GraphView(
        title=text, question=text, topics=topics, answers=answers, triplets=scored
    )


PLAIN = Page(graph_page(view([("a", "b", "c")]))).tags


@FUZZ
@given(TRIPLETS, st.lists(TEXT, max_size=2), st.lists(TEXT, max_size=2), TEXT)
def test_no_name_becomes_markup(triplets, topics, answers, text):
    written = graph_page(view(triplets, topics=topics, answers=answers, text=text))
    page = Page(written.encode("utf-8").decode("utf-8"))
    assert page.tags == PLAIN
    data = json.loads(page.scripts[-1])
    assert len(data["triplets"]) == len(triplets)
    inside = written.split('<script type="application/json">')[1]
    assert not set(inside.split("</script>")[0]) & set("<>&\u2028\u2029")


HOSTILE = [text for text in NASTY if text.strip()]


def in_browser(test):
    """A test that needs Chromium."""
    skip = pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on PATH")
    return pytest.mark.browser(skip(test))


@in_browser
def test_a_browser_shows_names_and_runs_none(tmp_path):
    triplets = [(name, name, f"{name} end") for name in [LONG, *HOSTILE][:30]]
    # as many as a page draws at first
    hostile = view(triplets, topics=HOSTILE[:5], answers=HOSTILE[5:9], text=HOSTILE[16])
    seen = play(
        tmp_path,
        graph_fragment(hostile, "hostile"),
        """
        await pause(300);
        seen.state = state("hostile");
        const rows = [...section("hostile").querySelectorAll("tbody tr")];
        seen.rows = rows.map((row) => row.textContent.slice(0, 400));
        seen.labels = graph("hostile").cy.nodes().map((n) => n.data("label") ?? "");
        seen.inner = section("hostile").querySelectorAll("td *:is(img, b, a)").length;
        """,
    )
    assert seen["inner"] == 0  # and, of all pages: no error, no request, no image
    assert seen["state"]["drawn"][1] == len(triplets)
    assert seen["state"]["undrawable"] == 0
    assert any("<img src=x" in row for row in seen["rows"])
    assert any("</script><script>" in row for row in seen["rows"])


@in_browser
def test_a_whole_page_in_a_browser(tmp_path):
    triplets = [(name, name, f"{name} end") for name in HOSTILE]
    text = "</title><script>document.title='broken'</script>" + HOSTILE[17]
    page = graph_page(view(triplets, topics=HOSTILE, text=text))
    dom = chromium(tmp_path, page, "--dump-dom")
    (title,) = re.findall(r"<title>(.*?)</title>", dom, re.S)
    assert title.startswith("&lt;/title&gt;") and "<canvas" in dom
    body = re.sub(r"<script.*?</script>", "", dom, flags=re.S)
    assert "<img" not in body and f"<script>{TITLE}" not in body
