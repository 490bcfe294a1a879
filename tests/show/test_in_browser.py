"""Drawings in headless Chromium: that they are drawn, and that the controls work.

A script at the end of the page plays the user and leaves what it saw in the document.
"""

import html
import json
import os
import shutil
import subprocess
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest

from kgscout_jax.show import (
    MAX_DRAWN,
    GraphView,
    graph_assets,
    graph_fragment,
    graph_page,
    report_scripts,
)
from kgscout_jax.show.drawing import drawing_data

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="needs chromium on PATH"),
]

EVIL = "</script><img src=x onerror=\"document.title='broken'\">"
TOPIC_BLUE = (0x00, 0x5F, 0x96)
PATH_ORANGE = (0xD0, 0x7A, 0x00)
ANSWER_GREEN = (0x00, 0x78, 0x5A)

PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")


def chromium(tmp_path, text, *flags):
    """What Chromium prints for a page with this text."""
    (tmp_path / "page.html").write_text(text, encoding="utf-8")
    command = [
        CHROMIUM,
        *"--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(),
        *"--disable-background-networking --disable-component-update".split(),
        *"--disable-sync --disable-dev-shm-usage --hide-scrollbars".split(),
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1280,900",
        "--virtual-time-budget=8000",
        *flags,
        (tmp_path / "page.html").as_uri(),
    ]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def play(tmp_path, body, script):
    """What the probe saw after ``script`` (the body of an async function) ran."""
    page = (
        f"<!DOCTYPE html><html><head><meta charset=utf-8><title>fine</title>"
        f"{graph_assets()}</head><body>{body}<pre id=seen></pre>"
        f"<script>{PROBE}</script>"
        f"<script>async function play() {{ {script} }}</script></body></html>"
    )
    dom = chromium(tmp_path, page, "--dump-dom")
    seen = json.loads(html.unescape(dom.split('<pre id="seen">')[1].split("</pre>")[0]))
    assert seen["errors"] == []
    assert (seen["requests"], seen["violations"], seen["images"]) == (0, 0, 0)
    assert seen["title"] == "fine"
    return seen


def chain(n=3):
    """Topic - middle - Answer, then leaves on the topic, best first."""
    leaves = [("Topic", "leaf of", f"leaf {i}", 1 - i / n) for i in range(n)]
    return GraphView(
        title="chain",
        question="what?",
        topics=("Topic",),
        answers=("Answer", "Elsewhere"),
        triplets=[
            ("Topic", "a.b.leads_to", "middle", 5.0),
            ("Answer", "comes from", "middle", 4.0),
            *leaves,
        ],
    )


def dense(seed, n=120):
    """A random multigraph with hubs, parallel edges, self-loops and loose pieces."""
    rng = np.random.default_rng(seed)
    ends = np.minimum(rng.geometric(0.06, (n, 2)), 70)
    names = [f"entity number {i} " + "long " * (i % 5) for i in range(71)]
    scores = np.sort(rng.normal(size=n))[::-1]
    return GraphView(
        title="dense",
        question="which?",
        topics=(names[1], names[2]),
        answers=(names[3], names[9]),
        gold=(names[3], names[4]),
        triplets=[
            (names[h], f"domain.type.relation_{h % 4}", names[t], float(s))
            for (h, t), s in zip(ends, scores, strict=True)
        ],
    )


def test_what_is_drawn_and_that_the_controls_work(tmp_path):
    hostile = GraphView(
        title=EVIL,
        question=EVIL,
        topics=(EVIL,),
        answers=("b",),
        triplets=[(EVIL, EVIL, "b", 1.0), ("b", "self", "b", 0.5)],
    )
    nothing = GraphView(
        title="",
        question="?",
        topics=("Topic",),
        answers=("A",),
        empty_note="No triplets lie around Topic.",
    )
    body = (
        graph_fragment(chain(40), "chain")
        + graph_fragment(hostile, "hostile")
        + graph_fragment(nothing, "nothing")
        + '<div style="height: 9000px"></div>'
        + graph_fragment(chain(), "far")
    )
    seen = play(
        tmp_path,
        body,
        """
        await pause(300);
        seen.far = section("far").dataset.ready ?? "not yet";
        seen.first = state("chain");
        type("chain", "input[type=range]", 42);
        seen.all = state("chain");
        type("chain", "input[type=range]", 1);
        seen.one = state("chain");
        type("chain", "input[type=range]", 5);
        type("chain", "input[type=search]", "LEAF 1");
        seen.search = state("chain");
        seen.found = graph("chain").cy.nodes(".found").map((n) => n.data("label"));
        const hint = section("chain").querySelector(".kgv-found");
        seen.hint = hint.textContent;
        type("chain", "input[type=search]", "leads_to");
        seen.byRelation = graph("chain").cy.nodes(".found").map((n) => n.data("label"));
        const rows = section("chain").querySelectorAll("tbody tr");
        rows[1].dispatchEvent(new MouseEvent("mouseenter"));
        seen.lit = graph("chain").cy.edges(".lit").map((e) => e.data("rank"));
        rows[1].dispatchEvent(new MouseEvent("mouseleave"));
        seen.unlit = graph("chain").cy.elements(".lit, .dim").length;
        graph("chain").cy.getElementById("n1").emit({
          type: "mouseover", position: { x: 0, y: 0 } });
        seen.tip = section("chain").querySelector(".kgv-tip").textContent;
        seen.litRows = [...rows].flatMap((r, i) => r.matches(".kgv-lit") ? [i] : []);
        const before = graph("chain").cy.zoom();
        section("chain").querySelector("[title='Zoom in']").click();
        seen.zoomed = graph("chain").cy.zoom() / before;
        const canvas = section("chain").querySelector(".kgv-canvas");
        const press = (target, key) => target.dispatchEvent(
          new KeyboardEvent("keydown", { key, bubbles: true }));
        press(canvas, "-");
        seen.keyed = graph("chain").cy.zoom() / before;
        rows[0].focus();
        press(rows[0], "ArrowDown");
        seen.focused = [...rows].indexOf(document.activeElement);
        const chips = [...section("chain").querySelectorAll(".kgv-chip")];
        seen.chips = chips.map((chip) => [chip.textContent, chip.disabled]);
        type("chain", "input[type=range]", 1);
        chips[1].click();
        seen.raised = state("chain");
        seen.held = graph("chain").cy.nodes(".lit").map((n) => n.data("label"));
        dispatchEvent(new Event("beforeprint"));
        seen.paper = section("chain").querySelector(".kgv-paper").src.slice(0, 22);
        document.querySelectorAll(".kgv-paper").forEach((image) => image.remove());
        seen.hostile = state("hostile");
        seen.cell = section("hostile").querySelector("td:nth-child(3)").textContent;
        seen.nothing = state("nothing");
        seen.empty = section("nothing").querySelector(".kgv-empty").textContent;
        delete section("far").dataset.ready;
        seen.farAsleep = graph("far").cy === null;
        section("far").scrollIntoView();
        // frames may come late on a busy machine
        const drawn = () => section("far").dataset.ready && !graph("chain").cy;
        for (let i = 0; i < 40 && !drawn(); i++) await pause(100);
        seen.farLater = section("far").dataset.ready;
        seen.chainLater = graph("chain").cy === null ? "given up" : "kept";
        """,
    )
    assert seen["far"] == "not yet" and seen["farLater"] == "yes"
    assert seen["farAsleep"]  # printed meanwhile, and given up again
    assert seen["chainLater"] == "given up"
    # 42 triplets over 43 entities: the first 30 are shown, later all, later one.
    for name, k in (("first", 30), ("all", 42), ("one", 1), ("search", 5)):
        shown = seen[name]
        assert shown["drawn"] == [k + 1, k] and shown["rows"] == k, name
        assert (shown["nodes"], shown["edges"]) == (str(k + 1), str(k))
        assert shown["path"] == (0 if k == 1 else 2)
        assert (shown["overlaps"], shown["unseen"], shown["undrawable"]) == (0, 0, 0)
    assert seen["first"]["text"].startswith("30 of 42 triplets, 31 entities, 2 on")
    widths = seen["all"]["widths"]
    assert widths == sorted(widths, reverse=True) and widths[0] == 6 and widths[-1] == 1
    assert seen["found"] == ["leaf 1"]
    assert seen["hint"] == "1 found, 10 beyond K"  # leaf 10 to leaf 19
    assert sorted(seen["byRelation"]) == ["Topic", "middle"]
    assert (seen["lit"], seen["unlit"]) == ([1], 0)
    assert seen["litRows"] == [0, 1]  # both triplets of "middle"
    assert seen["tip"] == "middle2 of the triplets shown"
    assert seen["zoomed"] == pytest.approx(1.25)
    assert seen["keyed"] == pytest.approx(1.0) and seen["focused"] == 1
    assert seen["chips"] == [
        ["Topic#1", False],
        ["Answer#2", False],
        ["Elsewherenot kept", True],
    ]
    assert seen["raised"]["edges"] == "2"  # K went from 1 to where "Answer" occurs
    assert sorted(seen["held"]) == ["Answer", "middle"]
    assert seen["paper"] == "data:image/png;base64,"
    assert seen["hostile"]["drawn"] == [2, 2] and seen["cell"] == EVIL
    assert seen["nothing"]["drawn"] == [1, 0] and seen["empty"].startswith("No ")


@pytest.mark.extended
def test_labels_point_to_the_tail_and_crossing_lines_run_under_them(tmp_path):
    view = dense(0)
    seen = play(
        tmp_path,
        graph_fragment(view, "dense"),
        """
        type("dense", "input[type=range]", 120);
        const cy = graph("dense").cy;
        cy.edges(".cross")[0].addClass("lit path");
        const order = (edges) => edges.map((edge) => edge.numericStyle("z-index"));
        seen.order = [order(cy.edges(".cross")), order(cy.edges(".tree"))];
        const x = (node) => node.position("x");
        const labels = () => cy.edges().not(":loop").map((edge) =>
          [edge.data("label"), x(edge.target()) < x(edge.source())]);
        seen.labels = labels();
        const moved = cy.nodes(".topic")[0];
        moved.position("x", 1e4).emit("free");
        seen.moved = labels();
        """,
    )
    across, tree = seen["order"]
    assert across and max(across) < min(tree)
    for labels in (seen["labels"], seen["moved"]):
        assert labels
        for label, backwards in labels:
            assert label.startswith("← ") == backwards
            assert label.endswith(" →") == (not backwards)
    assert seen["labels"] != seen["moved"]


@pytest.mark.extended
def test_no_boxes_overlap_and_the_same_data_gives_the_same_picture(tmp_path):
    views = {f"dense{seed}": dense(seed) for seed in range(2)}
    views["again"] = dense(1)
    seen = play(
        tmp_path,
        "".join(graph_fragment(view, name) for name, view in views.items()),
        """
        for (const { id } of document.querySelectorAll("section.kgv")) {
          for (const k of [17, 120]) {
            type(id, "input[type=range]", k);
            seen[`${id} ${k}`] = state(id);
          }
        }
        """,
    )
    for name, view in views.items():
        for k in (17, 120):
            shown = seen[f"{name} {k}"]
            ends = {e for h, _, t, _ in view.triplets[:k] for e in (h, t)}
            assert int(shown["nodes"]) == len(ends | set(view.topics))
            assert shown["drawn"][1] == k
            problems = shown["overlaps"], shown["unseen"], shown["undrawable"]
            assert problems == (0, 0, 0), (name, k)
    assert seen["dense1 120"]["places"] == seen["again 120"]["places"]


def question(view, on_path=(), **more):
    """A view as a report hands it to the drawing."""
    assert view.gold is not None
    names = "head", "relation", "tail", "score"
    kept = [dict(zip(names, triplet, strict=True)) for triplet in view.triplets]
    marks = [{"onPath": rank in on_path} for rank in range(len(kept))]
    return {
        "id": view.title,
        "text": view.question,
        "topics": view.topics,
        "answers": view.answers,
        "gold": view.gold,
        "triplets": [one | mark for one, mark in zip(kept, marks, strict=True)],
        **more,
    }


SPELLINGS = (
    "Ann", " ANN\u2003", "ann\x1c\x85", "\ufeffann", "STRASSE", "stra\u00dfe",
    "\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2", "\u0130stanbul",
    "istanbul", "a \t b", "A B", "a\u200bb", "\u200b", "Zu\u0308rich", "Z\u00fcrich",
    "", "  ", EVIL, EVIL.upper(), "\U0001f600",
)  # fmt: skip
RELATIONS = (
    "people.person.place_of_birth", "a.b.first..c.d.second", "directed_by",
    "http://dbpedia.org/ontology/birthPlace", "http://www.w3.org/rdf-schema#label",
    "/location/location/contains", "and/or", "vs. the world", "", "_", "/", "a.b.c.",
    "a\u2003b.c", "x\x1cy.z", "\ufeffa.b", EVIL,
)  # fmt: skip


def test_a_question_of_a_report_becomes_the_data_of_a_page(tmp_path):
    rng = np.random.default_rng(5)
    mixed = GraphView(
        title="spellings",
        question="?",
        topics=(" ann ", "Nobody"),
        answers=("STRASSE", "Someone"),
        gold=("strasse", "istanbul", "No one"),
        triplets=[
            (
                SPELLINGS[rng.integers(len(SPELLINGS))],
                RELATIONS[i % len(RELATIONS)],
                SPELLINGS[rng.integers(len(SPELLINGS))],
                float(score),
            )
            for i, score in enumerate(np.sort(rng.normal(size=MAX_DRAWN + 9))[::-1])
        ],
    )
    equal = GraphView(title="", question="", gold=(), triplets=[("a", "r", "b", 2.0)])
    views = [dense(3), mixed, equal]
    on_path = [(0, 2, 3), (1, MAX_DRAWN + 2), ()]
    asked = [question(view, on) for view, on in zip(views, on_path, strict=True)]
    judged = question(equal, answers=["a", "z"], right=[1, 1], gold=["b"], found=[1])
    hostile = json.dumps([*asked, judged]).replace("<", "\\u003c")
    script = f"seen.data = {hostile}.map(KGScoutQuestion.data);"
    found = play(tmp_path, f"<script>{report_scripts()[-1]}</script>", script)["data"]
    for view, data in zip(views, found, strict=False):
        wanted = drawing_data(view)
        for field in ("names", "kinds", "relations", "judged", "total"):
            assert data[field] == wanted[field], field
        np.testing.assert_allclose(data["triplets"], wanted["triplets"], atol=1.01e-4)
    paths = [data["paths"] for data in found]
    assert paths[:3] == [[[1, [0]], [3, [0, 2]], [4, [0, 2, 3]]], [[2, [1]]], []]
    # The rules that judged may be looser than the names: what they say is drawn.
    assert found[3]["names"] == ["a", "b", "z"] and found[3]["kinds"] == [6, 6, 6]


@pytest.mark.extended
def test_a_dark_page_has_a_dark_drawing_and_a_phone_whole_words(tmp_path):
    dark = tmp_path / "dark.png"
    flags = f"--screenshot={dark}", "--blink-settings=preferredColorScheme=0"
    chromium(tmp_path, graph_page(chain()), *flags)
    assert matplotlib.image.imread(dark)[..., :3].mean() < 0.25
    frame = html.escape(graph_page(chain(6)))
    script = """
        const page = document.querySelector("iframe").contentDocument;
        const drawn = () => page.querySelector("[data-ready]");
        for (let i = 0; i < 40 && !drawn(); i++) await pause(100);
        seen.wide = page.documentElement.scrollWidth;
        seen.lines = [...page.querySelectorAll("td:nth-child(3)")].map(
          (cell) => cell.getClientRects().length);
    """
    body = f'<iframe srcdoc="{frame}" style="width: 390px; height: 900px"></iframe>'
    seen = play(tmp_path, body, script)
    assert seen["wide"] <= 390 and set(seen["lines"]) == {1}


@pytest.mark.extended
def test_the_picture_has_a_topic_an_answer_and_a_path_in_their_colours(tmp_path):
    picture = tmp_path / "picture.png"
    chromium(tmp_path, graph_page(chain()), f"--screenshot={picture}")
    pixels = np.round(matplotlib.image.imread(picture)[..., :3] * 255).astype(int)
    assert pixels.shape == (900, 1280, 3)
    stage = pixels[210:470]  # below the legend, above the table
    for colour, least in ((TOPIC_BLUE, 800), (ANSWER_GREEN, 300), (PATH_ORANGE, 300)):
        near = (np.abs(stage - colour) <= 3).all(axis=-1).sum()
        assert near >= least, (colour, near)
