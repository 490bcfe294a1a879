"""kgscout ask at a terminal: what it prints is text, whatever the graph's names are."""

from __future__ import annotations

import io
import re
import sys
import unicodedata

import numpy as np
import pytest
from fuzz.strangers import FUZZ, NASTY, TEXT, TRIPLETS
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.cli.answer_text import (
    MAX_NAME,
    escape_unwritable_letters,
    print_evidence,
    print_topics,
    short_name,
)
from kgscout_jax.cli.main import main
from kgscout_jax.errors import JOINERS, MAX_MESSAGE, UserError, escape
from kgscout_jax.graph.link.links import Link
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout

pytestmark = pytest.mark.extended


def printed(result: RetrievalResult, capsys) -> str:
    capsys.readouterr()
    print_topics(result)
    print_evidence(result)
    return capsys.readouterr().out


def harmless(text: str) -> None:
    """No control, nothing unseen but joiners, nothing that turns the line."""
    for character in text:
        category = unicodedata.category(character)
        assert character in "\n " + JOINERS or category[0] in "LMNPS", repr(character)


def result_of(triplets, topics=(), links=(), lost=()) -> RetrievalResult:
    return RetrievalResult(
        question="who?",
        topics=tuple(topics),
        triplets=tuple(triplets),
        scores=-np.arange(len(triplets), dtype=np.float32),
        links=tuple(links),
        topics_not_found=tuple(lost),
    )


@FUZZ
@given(TRIPLETS, st.lists(TEXT, max_size=3), st.lists(TEXT, max_size=3))
def test_evidence_is_printed_as_harmless_text(capsys, triplets, topics, lost):
    links = [Link(entity=0, name=t, score=0.5, how="exact", start=0, stop=1)
             for t in topics[:1]]  # fmt: skip
    out = printed(result_of(triplets, topics, links, lost), capsys)
    harmless(out)
    ranks = re.findall(r"^ *(\d+) +-?\d+\.\d\d ", out, re.M)
    assert ranks == [str(i + 1) for i in range(len(triplets))]  # nobody forges a row


@pytest.mark.parametrize("text", [*NASTY, "x" * 100_000, "\x1b[31m" * 5000])
def test_escape_and_short_name_are_harmless(text):
    harmless(escape(text[:5000]))
    harmless(short_name(text))
    message = str(UserError(f"kg.tsv:1: expected a name, found {text}"))
    harmless(message)
    assert "\n" not in message and len(message) <= MAX_MESSAGE
    assert message.startswith("kg.tsv:1: expected")
    assert len(short_name(text)) <= MAX_NAME + 1
    if len(text) > MAX_NAME:
        assert short_name(text).endswith("…")


def test_names_are_neither_rows_nor_markup(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    row = "x\n 2   9.99   Alien   directed_by   Eve"
    triplets = [(row, "r", "b"), ("[red]Ada[/red]", "[blink]r", "b")]
    out = printed(result_of(triplets, topics=["t\ntopics: Eve"]), capsys)
    assert len(re.findall(r"^topics: ", out, re.M)) == 1
    assert len(re.findall(r"^ *\d+ +-?\d+\.\d\d ", out, re.M)) == 2
    assert all(text in out for text in ("x\\n 2", "[red]Ada[/red]", "[blink]r"))


def test_an_ascii_terminal_gets_escapes(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    result = result_of([("né", "名前", "🎬")], topics=["né"], lost=["שלום"])
    escape_unwritable_letters()
    print_topics(result)
    print_evidence(result)
    out.flush()
    said = out.buffer.getvalue().decode("ascii")
    assert "topics: n\\xe9" in said and "\\U0001f3ac" in said


def test_ask_prints_and_draws_hostile_names_of_a_file(
    hash_scout, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(Scout, "from_pretrained", lambda *_, **__: hash_scout)
    monkeypatch.setenv("COLUMNS", "200")
    names = [
        " ".join(text.encode("utf-8", "ignore").decode().replace("\t", " ").split())
        for text in NASTY
    ]
    lines = [f"Alien\tis\t{name}" for name in names if name]
    lines.append("Alien\tdirected_by\t" + "z" * 100_000)
    (tmp_path / "kg.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    args = ["ask", "out", "--kg", str(tmp_path / "kg.tsv"), "--k", "60"]
    args += ["--html", str(tmp_path / "x.html")]
    for question in ("who directed Alien?\x1b[2J\u202e", "<b>Alien</b> " * 40_000):
        capsys.readouterr()
        assert main([*args, "--topic", "Alien", question]) == 0
        out, _ = capsys.readouterr()
        harmless(out)
        assert "z" * MAX_NAME not in re.sub(r"\s", "", out).replace("z…", "")
        assert len(out) < 60_000
        page = (tmp_path / "x.html").read_text("utf-8")
        assert "<b>Alien" not in page
        assert page.count("<script") == page.count("</script")
    for nothing in ("", " \u2028", "\n"):
        assert main([*args, nothing]) == 2
        assert "question: found" in capsys.readouterr().err
