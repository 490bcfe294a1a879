"""Runs the code blocks of these pages as tests: ``make check-docs``.

The blocks of a page run from top to bottom in a folder of their own, Python ones in one
namespace, each shell one in a shell of its own. Comments in a page's source:

<!-- needs: tutorial -->        anywhere: its folder starts as a copy of tutorial.md's
<!-- not run: needs a GPU -->   before a block: it is not run, and why
<!-- expect: Ridley Scott -->   before a block: what it must print; may be repeated
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sybil import Document, Example, Region, Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.integration.pytest import SybilItem
from sybil.parsers.markdown.lexers import FencedCodeBlockLexer

LIMIT = 600
"""Seconds that a block may take."""
SHELL = """set -eEuo pipefail
trap 'echo "failed: line $((LINENO - 2)) of the block" >&2' ERR
"""
COMMENT = re.compile(r"<!--\s*(needs|not run|expect):\s*(.*?)\s*-->")
BEFORE_BLOCK = re.compile(r"(?:<!--[^>]*-->\s*)*\Z")

os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["HF_HUB_OFFLINE"] = "1"  # the pages promise to run without a network
FOLDERS: dict[Path, Path] = {}
"""Page -> folder where its blocks run; pages that have begun."""
FAILED: set[Path] = set()


def blocks(document: Document) -> Iterator[Region]:
    """The fenced blocks of a page that a shell or Python runs.

    Raises:
        ValueError: a comment of ours stands before no such block.
    """
    count = 0
    for region in FencedCodeBlockLexer("bash|sh|python")(document):
        before = BEFORE_BLOCK.search(document.text, 0, region.start)
        comments = COMMENT.findall(before[0]) if before else []
        region.lexemes["comments"] = [each for each in comments if each[0] != "needs"]
        count += len(region.lexemes["comments"])
        region.parsed, region.evaluator = region.lexemes["source"], run_block
        yield region
    comments = [each for each in COMMENT.findall(document.text) if each[0] != "needs"]
    if len(comments) != count:
        raise ValueError(f"{document.path}: a comment stands before no block")


def texts(example: Example, key: str) -> list[str]:
    """What the comments before a block say."""
    return [text for name, text in example.region.lexemes["comments"] if name == key]


def needs_of(page: Path) -> list[Path]:
    """The pages that a page needs."""
    comments = COMMENT.findall(page.read_text("utf-8"))
    return [page.with_name(f"{name}.md") for key, name in comments if key == "needs"]


def depth_of(page: Path) -> int:
    """Length of the longest chain of pages that a page needs."""
    return max((1 + depth_of(needed) for needed in needs_of(page)), default=0)


@pytest.fixture
def page_folder(request, tmp_path_factory, monkeypatch, capfd) -> Path:
    """Where the page's blocks run: the working directory."""

    def folder_of(page: Path) -> Path:
        if page not in FOLDERS:
            folder = tmp_path_factory.mktemp(page.stem)
            for needed in needs_of(page):
                if needed not in FOLDERS:  # this page is run alone
                    monkeypatch.chdir(folder_of(needed))
                    for example in SYBIL.parse(needed):
                        example.namespace["capfd"] = capfd
                        if not texts(example, "not run"):
                            run_block(example)
                shutil.copytree(FOLDERS[needed], folder, dirs_exist_ok=True)
                FAILED.update({page} if needed in FAILED else ())
            FOLDERS[page] = folder
        return FOLDERS[page]

    folder = folder_of(request.path)
    monkeypatch.chdir(folder)
    return folder


def run_block(example: Example) -> None:
    """Run a block in its page's folder, unless an earlier one has failed."""
    page = Path(example.path)
    if page in FAILED:
        pytest.skip("an earlier block of the page, or of one it needs, has failed")
    FAILED.add(page)
    with time_limit(LIMIT):
        if example.region.lexemes["language"] == "python":
            PythonEvaluator()(example)
        else:
            run_shell(example.parsed)
    printed = "".join(example.namespace["capfd"].readouterr())
    print(printed)
    for text in texts(example, "expect"):
        assert text in printed, f"did not print {text!r}"
    FAILED.remove(page)


@contextlib.contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in what takes longer."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"took more than {seconds} seconds")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def run_shell(code: str) -> None:
    """Run shell code; what it leaves running in the background ends with it."""
    process = subprocess.Popen(
        ["bash", "--noprofile", "--norc", "-c", SHELL + code],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        status = process.wait()
        assert status == 0, f"the shell has ended with code {status}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def pytest_collection_modifyitems(items: list[SybilItem]) -> None:
    """Put pages that others need first, and skip what a page says is not run."""
    items.sort(key=lambda item: depth_of(item.path))
    for item in items:
        for reason in texts(item.example, "not run"):
            reason = f"line {item.example.line}: {reason}"
            item.add_marker(pytest.mark.skip(reason=reason))


# Sybil's own filter cannot read the tracebacks within an exception group.
SybilItem._traceback_filter = lambda self, excinfo: excinfo.traceback

SYBIL = Sybil(
    parsers=[blocks],
    pattern="*.md",
    setup=lambda namespace: namespace.update(__name__="__main__"),
    fixtures=["capfd", "page_folder"],
)
pytest_collect_file = SYBIL.pytest()
