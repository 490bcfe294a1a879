"""What the pages name exists: commands, flags, files that are linked."""

from __future__ import annotations

import ast
import contextlib
import functools
import io
import re
from pathlib import Path

import pytest
from project_pages import PAGES, ROOT

from kgscout_jax.cli.main import main

PROGRAMS = {
    "kgscout": (),
    "train.py": ("train",),
    "eval.py": ("eval",),
    "-m data_prep": ("prep",),
    "-m data_prep inspect": ("inspect",),
    "-m data_prep graph": ("graph",),
}
PROGRAM = re.compile(
    r"(?<![\w./-])(kgscout|train\.py|eval\.py|-m data_prep(?: inspect| graph)?)"
    r" +(?=-|[a-z])([^\n|;&<>()`]*)"
)
FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|^(?: {4}.*\n)+|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


def commands_in(text: str) -> set[tuple[tuple[str, ...], frozenset[str]]]:
    """(command, its flags) of each command of this project in a page's code."""
    commands = set()
    for code in CODE.findall(text):
        code = re.sub(r"\\\n\s*", "", code)
        code = re.sub(
            r"(['\"])(.*?)\1", lambda m: m[2] if PROGRAM.search(m[2]) else "''", code
        )
        for program, rest in PROGRAM.findall(code):
            words = (*PROGRAMS[program], *re.split("#|[:,.] ", rest)[0].split())
            size = 0 if words[0].startswith("-") else 1 + (words[0] == "eval")
            commands.add((words[:size], frozenset(FLAG.findall(" ".join(words)))))
    return commands


@functools.cache
def flags_of(command: tuple[str, ...]) -> frozenset[str]:
    """The flags in the boxes of a command's help; empty: there is no such command."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(out):
        patch.setenv("COLUMNS", "200")
        try:
            code = main([*command, "--help"])
        except SystemExit as stop:
            code = stop.code
    options = re.findall(r"^[│ ] (-.*?)(?:   |$)", out.getvalue(), re.M)
    found = {flag for option in options for flag in FLAG.findall(option)}
    return frozenset(found | {"--help", "--version"}) if code == 0 else frozenset()


def problems_of(text: str) -> list[str]:
    """A line for each command or flag that does not exist."""
    problems = []
    for command, flags in sorted(commands_in(text), key=str):
        name, known = " ".join(["kgscout", *command]), flags_of(command)
        if not known:
            problems.append(f"no command {name}")
        problems += [f"{name} has no {flag}" for flag in sorted(flags - known) if known]
    return problems


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_flags_and_links_of_a_page_exist(page):
    text = text_of(page)
    assert problems_of(text) == []
    files = [target.partition("#")[0] for target in LINK.findall(text)]
    files = [file for file in files if file and "://" not in file]
    assert [file for file in files if not (page.parent / file).exists()] == []
    for code in re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        ast.parse(code)


def test_commands_and_flags_that_do_not_exist_are_reported():
    text = (
        "```sh\nsrun python train.py --shards s --runn r   # --not-a-flag\n"
        "kgscout eval retrieval \\\n    --k 1 --j 2 && kgscout trian --run x\n"
        'ssh host --command "python -m data_prep kg --oot x"\n'
        'kgscout ask out/ "is --this a flag?" --k 3 --htm=x\n```\n'
        "`kgscout train --log wandb --logg`\n\n    kgscout prep world --into=y\n"
    )
    assert problems_of(text) == [
        "kgscout ask has no --htm",
        "kgscout eval retrieval has no --j",
        "kgscout prep has no --into",
        "kgscout prep has no --oot",
        "kgscout train has no --logg",
        "kgscout train has no --runn",
        "no command kgscout trian",
    ]


def test_flags_are_read_from_the_help_and_not_from_descriptions():
    flags = flags_of(("retrieve",))
    assert {"--kg", "--k", "--form", "--no-embed"} <= flags
    assert "--calibrate" not in flags


def test_the_index_of_docs_names_every_page():
    index = set(LINK.findall(text_of(ROOT / "docs/README.md")))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} <= index | {"README.md"}


def test_the_index_of_decisions_and_the_site_name_every_chapter():
    page = ROOT / "docs/decisions.md"
    chapters = [
        f"decisions/{file.name}" for file in (ROOT / "docs/decisions").glob("*.md")
    ]
    assert sorted(LINK.findall(text_of(page))) == sorted(chapters)
    site = re.findall(r"- docs/(decisions/\S+)", text_of(ROOT / "mkdocs.yml"))
    assert sorted(site) == sorted(chapters)
