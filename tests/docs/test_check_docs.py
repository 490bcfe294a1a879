"""The checker of pages: what runs, what fails, what is only read."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from kgscout_jax.errors import UserError
from tools.check_docs import CheckSettings, check, in_order, main
from tools.docs_flags import commands_in, flags_in, help_of
from tools.docs_pages import broken_links, read_page

DOCS = Path(__file__).resolve().parents[2] / "docs"
FLAGS = {
    (): frozenset[str](),
    ("train",): frozenset({"--shards", "--run", "--log"}),
    ("eval", "retrieval"): frozenset({"--k"}),
    ("prep",): frozenset({"--out"}),
}


def page_in(folder: Path, text: str, name: str = "page") -> Path:
    path = folder / f"{name}.md"
    path.write_text(text.replace("~~~", "```"), "utf-8")
    return path


def checked(folder: Path, *texts: str, limit: float = 20.0) -> int:
    pages = [page_in(folder, text, f"page{i}") for i, text in enumerate(texts)]
    return check(pages, (), CheckSettings(limit=limit), FLAGS.get)


def test_blocks_share_folder_variables_and_names(tmp_path, capsys):
    code = checked(
        tmp_path,
        '~~~bash\nword=there; echo 41 > n.txt; f() { echo "$word"; }\n~~~\n'
        "~~~python\nfrom pathlib import Path\nn = int(Path('n.txt').read_text())\n~~~\n"
        '~~~sh\n[ "$(f)" = there ]\n~~~\n'
        "<!-- expect: 42 -->\n~~~python\nprint(n + 1)\n~~~\n",
    )
    out = capsys.readouterr().out
    assert code == 0, out
    assert "4 of 4 blocks run" in out and "4 blocks run, 0 marked as not run" in out


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# A\n\n~~~bash\necho before\nls nowhere\necho after\n~~~\n", ":5: failed"),
        ("~~~python\nx = 1\n\nx / 0\n~~~\n", ":4: failed"),
        ("~~~bash\nf() {\n  false\n}\nf\n~~~\n", ":3: failed"),
        ("~~~bash\ncat nowhere | sort\n~~~\n", ":2: failed"),
        ('~~~bash\necho "$unset"\n~~~\n', ":2: failed"),
        ("~~~bash\nexit 0\n~~~\n", ":2: failed"),
        ("~~~python\nimport sys; sys.exit(0)\n~~~\n", ":2: failed"),
        ("~~~python\n\nx ==\n~~~\n", ":3: invalid syntax"),
        ("<!-- expect: b -->\n~~~bash\necho a\n~~~\n", ":3: did not print 'b'"),
    ],
)
def test_what_fails_is_told_with_its_line(tmp_path, capsys, text, told):
    assert checked(tmp_path, text) == 1
    out = capsys.readouterr().out
    assert f"page0.md{told}" in out


def test_a_failure_shows_the_output_and_stops_the_page(tmp_path, capsys):
    code = checked(
        tmp_path, "~~~bash\necho seen; ls nowhere\n~~~\n~~~bash\ntouch ran\n~~~\n"
    )
    out = capsys.readouterr().out
    assert code == 1 and "1 of 2 blocks run" in out
    assert "    seen\n" in out and "nowhere" in out


def test_output_of_earlier_blocks_does_not_count(tmp_path):
    block = "~~~bash\necho a\n~~~\n"
    assert checked(tmp_path, f"{block}<!-- expect: a -->\n~~~bash\ntrue\n~~~\n") == 1


def test_what_is_marked_is_not_run(tmp_path, capsys):
    code = checked(
        tmp_path,
        "<!-- not run: needs a GPU -->\n\n~~~bash\nfalse\n~~~\n~~~bash\ntrue\n~~~\n"
        "~~~json\nnot json\n~~~\n",
    )
    out = capsys.readouterr().out
    assert code == 0 and "1 of 2 blocks run" in out
    assert "not run, line 4: needs a GPU" in out


def test_a_block_that_takes_too_long_is_ended(tmp_path, capsys):
    assert checked(tmp_path, "~~~bash\nsleep 60\n~~~\n", limit=0.5) == 1
    assert "took more than 0.5 seconds" in capsys.readouterr().out


def test_what_runs_behind_ends_with_its_page(tmp_path):
    mark = tmp_path / "alive"
    loop = f"(while true; do touch '{mark}'; sleep 0.05; done) &\nsleep 0.3\n"
    assert checked(tmp_path, f"~~~bash\n{loop}~~~\n") == 0
    mark.unlink()
    time.sleep(0.3)
    assert not mark.exists()


def test_a_folder_to_keep_must_be_empty(tmp_path, capsys):
    path, kept = page_in(tmp_path, "~~~bash\ntouch made\n~~~\n"), tmp_path / "kept"
    assert main([str(path), "--keep", str(kept)]) == 0
    assert len(list(kept.glob("*/made"))) == 1
    assert main([str(path), "--keep", str(kept)]) == 2
    assert "expected an empty folder" in capsys.readouterr().err


def test_needed_pages_run_once_and_first(tmp_path, capsys):
    count = tmp_path / "count"
    page_in(tmp_path, f"~~~bash\necho x >> '{count}'; echo 7 > n\n~~~\n", "first")
    needing = "<!-- needs: first -->\n\n~~~bash\n[ $(cat n) = 7 ]; echo 8 > n\n~~~\n"
    assert checked(tmp_path, needing, needing) == 0
    assert count.read_text() == "x\n"
    assert "3 blocks run" in capsys.readouterr().out


def test_where_a_needed_page_fails_nothing_more_is_run(tmp_path, capsys):
    page_in(tmp_path, "~~~bash\nfalse\n~~~\n", "first")
    assert checked(tmp_path, "<!-- needs: first -->\n~~~bash\ntrue\n~~~\n") == 1
    assert "0 of 1 blocks run" in capsys.readouterr().out


def test_pages_that_need_each_other_are_refused(tmp_path):
    page_in(tmp_path, "<!-- needs: b -->\n", "a")
    page_in(tmp_path, "<!-- needs: a -->\n", "b")
    with pytest.raises(UserError, match="needs itself"):
        in_order([tmp_path / "a.md"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("~~~bash\ntrue\n", "never closed"),
        ("<!-- not run: why -->\n\ntext\n", "before no block"),
        ("<!-- expect: x -->\n", "before no block"),
        ("<!-- not run: why -->\n~~~json\n{}\n~~~\n", "json, expected bash, sh"),
    ],
)
def test_pages_that_cannot_be_meant_are_refused(tmp_path, capsys, text, message):
    path = page_in(tmp_path, text)
    assert main([str(path)]) == 2
    assert message in capsys.readouterr().err


def test_commands_and_flags_must_exist(tmp_path, capsys):
    code = checked(
        tmp_path,
        "<!-- not run: no data -->\n~~~bash\n"
        "srun python train.py --shards s --runn r   # --not-a-flag\n"
        "kgscout eval retrieval \\\n    --k 1 --j 2 && kgscout trian --run x\n"
        'ssh host --command "python -m data_prep kg --oot x"\n~~~\n'
        "Text.\n\n    kgscout train --log wandb --logg\n\n"
        "~~~\nkgscout prep world --out=x --into=y\n~~~\n",
    )
    out = capsys.readouterr().out
    assert code == 1
    for told in (
        ":3: kgscout train has no --runn",
        ":4: kgscout eval retrieval has no --j",
        ":4: no command kgscout trian",
        ":6: kgscout prep has no --oot",
        ":10: kgscout train has no --logg",
        ":13: kgscout prep has no --into",
    ):
        assert told in out
    assert "6 commands read, 6 wrong" in out


def test_commands_in_quotes_and_heredocs():
    code = (
        "kgscout ask out/ --kg a.tsv \"who's\nit; --no\" | grep x\ncat <<'E'\nit's\nE\n"
    )
    (first,) = list(commands_in(code))[:1]
    assert first == (0, ["ask", "out/", "--kg", "a.tsv", "who's\nit; --no"])


def test_tables_are_no_commands():
    rows = "│ answer_hit │ kgscout   │ 0.735 │\nkgscout COMMAND ...\nkgscout\n"
    assert list(commands_in(rows)) == [(2, [])]


def test_flags_of_a_real_help():
    flags = help_of(("retrieve",))
    assert flags is not None and {"--kg", "--k", "--form", "--no-embed"} <= flags
    assert "--calibrate" not in flags  # a description mentions it
    assert help_of(("retreive",)) is None
    assert flags_in("│ --a INT   see --b\n│           --c too\n") == {"--a"}


def test_links_must_lead_somewhere(tmp_path, capsys):
    (tmp_path / "there.md").touch()
    text = "[a](there.md#part) [b](https://x.org/y) [c](gone.md)\n[d](#here)\n"
    assert checked(tmp_path, text) == 1
    assert "page0.md:1: link to gone.md" in capsys.readouterr().out


def test_read_pages_are_not_run(tmp_path, capsys):
    path = page_in(tmp_path, "~~~bash\nkgscout train --run x; false\n~~~\n")
    assert check((), [path], CheckSettings(), FLAGS.get) == 0
    assert "1 commands, 0 of 1 blocks run" in capsys.readouterr().out


def test_line_numbers_of_blocks(tmp_path):
    page = read_page(
        page_in(tmp_path, "a\n\n~~~bash\nx\n~~~\n\n    y\n    z\n\n~~~python\nw\n~~~\n")
    )
    assert [(b.line, b.language) for b in page.blocks] == [(4, "bash"), (11, "python")]
    assert [(b.line, b.code) for b in page.quoted] == [(7, "y\nz\n")]


def test_the_index_names_every_page():
    pages = [read_page(path) for path in sorted(DOCS.glob("*.md"))]
    index = next(page for page in pages if page.path.name == "README.md")
    named = {target for _, target in index.links}
    assert {page.path.name for page in pages} - {"README.md"} <= named
    assert [told for page in pages for told in broken_links(page)] == []
