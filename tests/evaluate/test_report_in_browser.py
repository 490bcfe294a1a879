"""The page of a batch in headless Chromium: that it is shown, and that it works.

A script in the page plays the reader and leaves what it saw in the document.
"""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from evaluate.answer_page import CONTEXT, EVIL, PLOTS, cell, page

from kgscout_jax.evaluate.answers.page import report_html
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.show import report_scripts

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on PATH"),
]

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--hide-scrollbars", "--virtual-time-budget=4000",
)  # fmt: skip

PROBE = """
const seen = { errors: [], drawn: [], freed: [] };
addEventListener("error", (event) => seen.errors.push(event.message));
addEventListener("securitypolicyviolation", (event) =>
  seen.errors.push("forbidden: " + event.blockedURI));
const all = (selector) => [...document.querySelectorAll(selector)];
function look() {
  return {
    count: document.getElementById("count").textContent,
    ids: all("#list details").map((item) => item.dataset.id),
    badges: all("#list .badge").map((badge) => badge.textContent),
    others: all("#list .others").map((other) => other.textContent),
    hash: location.hash, more: !document.getElementById("more").hidden,
  };
}
function choose(name, value, kind = "change") {
  const field = document.forms.filters.elements[name];
  field.value = value;
  field.dispatchEvent(new Event(kind, { bubbles: true }));
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
addEventListener("load", async () => {
  try { await play(); } catch (error) { seen.errors.push(String(error)); }
  seen.title = document.title;
  seen.images = document.images.length;
  seen.plot = document.images[0].naturalWidth;
  seen.requests = performance.getEntriesByType("resource").length;
  const pre = document.createElement("pre");
  pre.id = "seen";
  pre.textContent = JSON.stringify(seen);
  document.body.append(pre);
});
"""

SPY = """
window.kgscoutDraw = (element, question) => {
  seen.drawn.push([element.className, question.id, question.k, question.triplets.length,
    question.triplets.filter((t) => t.onPath).length, question.answers]);
  if (question.id === "id 1") throw new Error("cannot draw");
  return () => seen.freed.push([question.id, element.isConnected]);
};
"""

DRAWINGS = """
const drawing = (item) => KGScout.graph(item.querySelector("section.kgv"));
const shown = (item) => {
  const { cy } = drawing(item);
  return { nodes: cy.nodes().map((node) => node.data("label")),
    edges: cy.edges().length,
    path: cy.edges(".path").map((edge) => edge.data("rank")),
    roles: cy.nodes().map((node) => node.classes().filter((c) => c !== "lit").join()),
    text: item.querySelector(".kgv-status").textContent };
};
const open = async (item) => {
  item.scrollIntoView(); // what is far away is not drawn
  const toggled = new Promise((done) => item.addEventListener("toggle", done));
  item.open = true;
  await toggled;
};
"""


def chromium(address: str, tmp_path: Path, *more: str) -> str:
    assert CHROMIUM
    profile = tmp_path / "profile"
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={profile}", *more, address],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "HOME": str(tmp_path)},
    )
    shutil.rmtree(profile, ignore_errors=True)
    return done.stdout


def seen(text: str, tmp_path: Path, hash: str = "") -> dict[str, Any]:
    """What the script in a page saw."""
    path = tmp_path / "report.html"
    path.write_text(text, encoding="utf-8")
    dom = chromium(path.as_uri() + hash, tmp_path, "--dump-dom")
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.DOTALL)
    assert found, dom[-2000:]
    return json.loads(html.unescape(found[1]))


def test_filters_search_and_links_select_questions(tmp_path):
    play = """
async function play() {
  seen.start = look();
  choose("verdict", "wrong"); seen.wrong = look();
  choose("verdict", "gained none"); seen.gained = look();
  choose("verdict", "all"); choose("k", "3"); seen.k3 = look();
  choose("k", "1"); choose("order", "worst"); seen.worst = look();
  choose("order", "asked"); choose("hop", "null"); seen.hop = look();
  choose("hop", "all");
  choose("text", "NUMBER 2", "input"); await pause(400);
  seen.text = look();
  choose("text", "", "input"); await pause(400);
  choose("retriever", "none"); seen.none = look();
  choose("retriever", "cosine");
  const first = document.querySelector("#list details");
  first.open = true; await pause(100);
  const isYes = (chip) => chip.classList.contains("yes");
  seen.chips = all(".chip").map((chip) => [chip.textContent, isYes(chip)]);
  seen.reply = first.querySelector("pre").textContent;
  const texts = (row) => [...row.cells].map((cell) => cell.textContent);
  seen.rows = all(".triplets tbody tr").map(texts);
  seen.gold = all(".triplets tr.gold").length;
  all(".bar a").find((a) => a.hash.includes("none") && a.hash.includes("k=3")).click();
  await pause(200);
  seen.clicked = look();
  all(".examples a").find((a) => a.hash.includes("cosine")).click();
  await pause(200);
  seen.example = look();
  seen.opened = all("details[open]").map((item) => item.dataset.id);
  seen.table = all(".triplets tbody tr").length;
}"""
    found = seen(page(scripts=(PROBE + SPY + play,)), tmp_path)
    assert found["errors"] == []
    assert found["title"] == f"Answers on dev of {EVIL}"
    assert (found["images"], found["plot"]) == (2, 40)
    ids = ["id 0", "id 1", "id 2"]
    # at first: the last retriever at the largest K
    assert found["start"]["count"] == "2 of 2 questions, 1 right"
    assert found["start"]["badges"] == ["right", "there, but misread"]
    assert found["start"]["others"] == ["none ✗"] * 2
    assert found["wrong"]["ids"] == ["id 1"]
    assert "verdict=wrong" in found["wrong"]["hash"]
    assert found["gained"]["ids"] == ["id 0"]
    assert found["k3"]["ids"] == ids[:2]
    assert found["worst"]["ids"] == ["id 1", "id 0", "id 2"]
    assert found["hop"]["ids"] == ["id 2"]
    assert found["text"]["ids"] == ["id 2"]
    assert found["none"]["count"] == "3 of 3 questions, 0 right"
    assert found["none"]["badges"] == ["not in the top K"] * 3
    assert found["chips"] == [[EVIL, True], [EVIL, True], ["x", False], ["b", False]]
    assert found["reply"] == EVIL
    assert found["rows"] == [["1", EVIL, "r", "b", "2.000", "answerpath"]]
    assert found["gold"] == 1
    assert found["drawn"][0] == ["drawing", "id 0", 1, 1, 1, [EVIL, "x"]]
    # nothing was kept for the second, by "none"; the one drawn was freed on leaving
    assert [one[1] for one in found["drawn"]] == ["id 0", "id 1"]
    assert found["freed"] == [["id 0", True]]
    assert found["table"] == 3  # without a drawing, too
    assert found["clicked"]["count"] == "2 of 2 questions, 0 right"
    assert found["opened"] == ["id 1"] == found["example"]["ids"]
    assert found["clicked"]["hash"].startswith("#retriever=none&k=3&verdict=")


@pytest.mark.extended
def test_an_address_restores_its_view(tmp_path):
    play = """
async function play() {
  seen.start = look();
  seen.open = all("details[open]").map((item) => item.dataset.id);
}"""
    hash = "#retriever=cosine&k=1&verdict=wrong&open=id+1"
    found = seen(page(scripts=(PROBE + play,)), tmp_path, hash)
    assert found["errors"] == []
    assert found["start"]["ids"] == ["id 1"] and found["open"] == ["id 1"]
    nonsense = "#retriever=nobody&k=7&verdict=%3Cb%3E&hop=9&order=x&open=%22"
    found = seen(page(scripts=(PROBE + play,)), tmp_path, nonsense)
    assert found["errors"] == [] and found["start"]["count"].startswith("2 of 2")


@pytest.mark.slow
def test_a_thousand_questions_are_shown_a_screenful_at_a_time(tmp_path):
    play = """
async function play() {
  seen.start = look();
  document.getElementById("more").click();
  seen.more = look();
  const began = performance.now();
  choose("verdict", "wrong");
  seen.ms = performance.now() - began;
  seen.wrong = look();
  choose("verdict", "all");
  seen.before = [all(".kgv").length, all("canvas").length];
  await open(document.querySelector("#list details"));
  seen.after = [all(".kgv").length, drawing(document).cy.edges().length];
}"""
    cells = {
        (name, 20): cell(name, 20, n=1000, triplets=20, name="a name")
        for name in ("cosine", "scout")
    }
    report = answer_report(
        cells, rules="rog", settings={}, context=CONTEXT, resamples=5
    )
    scripts = (*report_scripts(), PROBE + DRAWINGS + play)
    text = report_html(report, cells, plots=PLOTS, scripts=scripts)
    found = seen(text, tmp_path)
    assert found["errors"] == []
    assert found["start"]["count"] == "1000 of 1000 questions, 999 right"
    assert 0 < len(found["start"]["ids"]) < 200 and found["start"]["more"]
    assert len(found["more"]["ids"]) > len(found["start"]["ids"])
    assert found["wrong"]["ids"] == ["id 1"] and not found["wrong"]["more"]
    # nothing is drawn before a question is opened, and then it alone
    assert found["before"] == [0, 0] and found["after"] == [1, 20]


@pytest.mark.extended
def test_an_opened_question_is_drawn_and_a_closed_one_is_freed(tmp_path):
    play = """
async function play() {
  const [first, second] = all("#list details");
  seen.before = [all(".kgv").length, all("canvas").length];
  await open(first);
  seen.first = shown(first);
  const rows = [...first.querySelectorAll(".triplets tbody tr")];
  const lit = () => rows.map((row) => row.matches(".kgv-lit"));
  drawing(first).hold(drawing(first).cy.edges()[1]);
  seen.lit = lit();
  drawing(first).hold(null);
  rows[2].dispatchEvent(new MouseEvent("mouseenter"));
  seen.edges = drawing(first).cy.edges(".lit").map((edge) => edge.data("rank"));
  rows[2].dispatchEvent(new MouseEvent("mouseleave"));
  seen.unlit = [lit(), drawing(first).cy.elements(".lit, .dim").length];
  const slider = first.querySelector("input[type=range]");
  slider.value = 1;
  slider.dispatchEvent(new Event("input"));
  seen.one = shown(first);
  seen.pale = rows.map((row) => row.matches(".kgv-beyond"));
  seen.cells = rows[0].cells[5].textContent;
  const box = drawing(first).canvas.getBoundingClientRect();
  seen.size = [box.width, box.height];
  const { cy } = drawing(first);
  const toggled = new Promise((done) => first.addEventListener("toggle", done));
  first.open = false;
  await toggled;
  seen.closed = [cy.destroyed(), all(".kgv").length, all("canvas").length,
    rows[0].onclick, rows[2].className];
  await open(first);
  seen.again = shown(first).edges;
  await open(second);
  seen.both = all(".kgv").length;
  seen.roles = shown(second).roles;
  drawing(first).wake(); // it may be far by now
  const both = [first, second].map((item) => drawing(item).cy);
  choose("verdict", "wrong");
  await pause(300);
  seen.left = [both.map((each) => each.destroyed()), all(".kgv").length];
  choose("verdict", "all"); choose("retriever", "none");
  await open(document.querySelector("#list details"));
  seen.none = all(".kgv").length;
}"""
    scripts = (*report_scripts(), PROBE + DRAWINGS + play)
    found = seen(page(scripts=scripts), tmp_path, "#retriever=cosine&k=3")
    assert found["errors"] == [] and found["requests"] == 0
    assert found["title"] == f"Answers on dev of {EVIL}" and found["images"] == 2
    assert found["before"] == [0, 0]
    # A ring of three: EVIL -> b -> c -> EVIL; b is the topic, EVIL and "x" are given,
    # EVIL is gold, the first triplet is on a path.
    first = found["first"]
    assert (len(first["nodes"]), first["edges"], first["path"]) == (3, 3, [0])
    assert first["nodes"][::2] == ["b", "c"]
    assert first["nodes"][1].startswith("</script><img src")  # a label, cut to fit
    assert first["roles"] == ["topic", "right", ""]
    assert first["text"] == (
        "3 of 3 triplets, 3 entities, 1 on a shortest path to a gold answer."
    )
    assert found["lit"] == [False, True, False] and found["edges"] == [2]
    assert found["unlit"] == [[False] * 3, 0]
    assert (found["one"]["edges"], len(found["one"]["nodes"])) == (1, 2)
    assert found["pale"] == [False, True, True] and found["cells"] == "answerpath"
    assert min(found["size"]) > 200
    assert found["closed"] == [True, 0, 0, None, "gold"]
    assert found["again"] == 3 and found["both"] == 2
    assert found["roles"] == ["topic", "missed", ""]
    assert found["left"] == [[True, True], 0] and found["none"] == 0


@pytest.mark.extended
def test_colours_are_on_the_picture(tmp_path):
    """Colours of the badges, bars and plot are on the picture, none runs off it."""
    path, picture = tmp_path / "report.html", tmp_path / "report.png"
    path.write_text(page("a name"), encoding="utf-8")
    for width in (1280, 420):
        flags = (f"--window-size={width},3200", f"--screenshot={picture}")
        chromium(path.as_uri(), tmp_path, *flags)
        pixels = (matplotlib.image.imread(picture)[..., :3] * 255).round().astype(int)
        assert pixels.shape == (3200, width, 3)

        def count(colour, pixels=pixels):
            return int((pixels == np.array(colour)).all(axis=-1).sum())

        assert count((0x1A, 0x7F, 0x4B)) > 300  # right
        assert count((0xB3, 0x26, 0x1E)) > 300  # misread
        assert count((0, 128, 128)) > 300  # the plot, teal
        assert (pixels[:, -4:] == 255).mean() > 0.9  # a margin at the right
