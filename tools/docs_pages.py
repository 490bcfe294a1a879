"""The code blocks of a Markdown page, and what comments in its source say of them.

<!-- needs: tutorial -->        anywhere: the blocks of tutorial.md run first
<!-- not run: needs a GPU -->   before a block: it is not run, and why
<!-- expect: Ridley Scott -->   before a block: what it must print; may be repeated
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kgscout_jax.errors import UserError

Language = Literal["bash", "python"]
LANGUAGES: dict[str, Language] = {"bash": "bash", "sh": "bash", "python": "python"}
"""What a fence calls the language -> who runs it."""

_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+-]*)")
_COMMENT = re.compile(r"<!--\s*([a-z ]+):\s*(.*?)\s*-->")
_BEFORE = ("not run", "expect")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")


@dataclass(frozen=True, kw_only=True)
class Block:
    """One piece of code on a page."""

    page: Path
    line: int
    """Of its first line of code, from 1."""
    language: Language
    code: str
    not_run: str = ""
    """Why it is not run; "" for one that is."""
    expected: tuple[str, ...] = ()
    """What it must print."""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page's code."""

    path: Path
    needs: tuple[str, ...]
    """Names of pages beside this one, without .md, that run first."""
    blocks: tuple[Block, ...]
    """With a language that is known, in their order."""
    quoted: tuple[Block, ...]
    """Indented, or fenced without a language: commands to read, not to run."""
    links: tuple[tuple[int, str], ...]
    """(line, target) of links within the project."""


def read_page(path: Path) -> Page:
    """The page in a Markdown file.

    Raises:
        UserError: there is no such file, a fence is never closed, or a comment of ours
            stands before no block or is unknown.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from None
    needs: list[str] = []
    blocks: list[Block] = []
    quoted = list(_indented(path, lines))
    links: list[tuple[int, str]] = []
    said: list[tuple[str, str, int]] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        fence, comment = _FENCE.match(line), _COMMENT.fullmatch(line.strip())
        if fence is None:
            number += 1
            if comment is not None and comment[1] == "needs":
                needs += [name.strip() for name in comment[2].split(",")]
            elif comment is not None and comment[1] in _BEFORE:
                said.append((comment[1], comment[2], number))
            elif line.strip() and said:
                raise UserError(
                    f"{path}:{said[0][2]}: a comment {said[0][0]!r} before no block"
                )
            links += [(number, target) for target in _LINK.findall(line)]
            continue
        stop = _closing(lines, number, fence[1])
        if stop is None:
            raise UserError(f"{path}:{number + 1}: this block is never closed")
        code = "\n".join(lines[number + 1 : stop]) + "\n"
        language = LANGUAGES.get(fence[2])
        reasons = [text for key, text, _ in said if key == "not run"]
        expected = tuple(text for key, text, _ in said if key == "expect")
        block = Block(
            page=path,
            line=number + 2,
            language=language or "bash",
            code=code,
            not_run="; ".join(reasons),
            expected=expected,
        )
        if language is not None:
            blocks.append(block)
        elif said:
            raise UserError(
                f"{path}:{said[0][2]}: a comment {said[0][0]!r} before a block of "
                f"{fence[2] or 'no language'}, expected {', '.join(LANGUAGES)}"
            )
        elif not fence[2]:
            quoted.append(block)
        said = []
        number = stop + 1
    if said:
        raise UserError(
            f"{path}:{said[0][2]}: a comment {said[0][0]!r} before no block"
        )
    return Page(
        path=path,
        needs=tuple(needs),
        blocks=tuple(blocks),
        quoted=tuple(quoted),
        links=tuple(links),
    )


def _closing(lines: list[str], start: int, fence: str) -> int | None:
    """The line that closes the block that opens at ``start``."""
    for number in range(start + 1, len(lines)):
        text = lines[number].rstrip()
        if text.startswith(fence) and not text.strip(fence[0]):
            return number
    return None


def _indented(path: Path, lines: list[str]) -> Iterator[Block]:
    """Blocks that are code by their indentation, outside of fences."""
    run: list[str] = []
    fence = ""
    for number, line in enumerate([*lines, ""], start=1):
        opened = _FENCE.match(line)
        if fence:
            if line.rstrip().startswith(fence) and not line.rstrip().strip(fence[0]):
                fence = ""
            continue
        if opened is not None:
            fence = opened[1]
        if line.startswith("    "):
            run.append(line[4:])
        elif run:
            code = "\n".join(run) + "\n"
            yield Block(page=path, line=number - len(run), language="bash", code=code)
            run = []


def broken_links(page: Page) -> list[str]:
    """A line for each link to a file that is not there; the web is not asked."""
    told = []
    for line, target in page.links:
        file = target.partition("#")[0]
        if "://" in file or file.startswith("mailto:") or not file:
            continue
        if not (page.path.parent / file).exists():
            told.append(f"{page.path}:{line}: link to {target}, which is not there")
    return told
