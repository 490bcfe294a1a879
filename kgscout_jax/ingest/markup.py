"""Markdown, HTML, reStructuredText and PDF as plain text: a block, then a blank line.

Code, scripts, navigation and pictures are left out.
"""

from __future__ import annotations

import importlib
import io
import logging
import re
from dataclasses import dataclass
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.types import display_name, replace_surrogates

BLOCKS = frozenset(
    """address article aside blockquote body dd div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hr li main ol p section table tbody td tfoot th
    thead tr ul br""".split()
)
OMITTED = frozenset(
    """script style nav template noscript pre svg math iframe button select textarea
    head""".split()
)
MARK = re.compile(r"[=\-`:.'\"~^_*+#<>]{3,}")
"""A line that underlines a title in reStructuredText."""


@dataclass(frozen=True, slots=True)
class PlainText:
    """The text of a document."""

    text: str
    pages: tuple[int, ...] = ()
    """First character of each page; () for a document without pages."""


def library(module: str, what: str) -> Any:
    """A module that a reader needs; raises UserError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise UserError(
            f"{what}: {module} is not installed: pip install 'kgscout-jax[ingest]'"
        ) from None


def joined(blocks: list[str]) -> PlainText:
    """Blocks with a blank line between them."""
    return PlainText("\n\n".join(block for block in blocks if block))


def markdown_text(source: str) -> PlainText:
    """The text of Markdown: headings, paragraphs, items and cells, without code."""
    parser = library("markdown_it", "Markdown").MarkdownIt("commonmark").enable("table")
    blocks = []
    for token in parser.parse(source):
        if token.type == "html_block":
            blocks += html_text(token.content).text.split("\n\n")
        elif token.type == "inline":
            parts = [
                " " if child.type in ("softbreak", "hardbreak") else child.content
                for child in token.children or ()
                if child.type not in ("image", "html_inline")
            ]
            blocks.append(display_name("".join(parts)))
    return joined(blocks)


def html_text(source: str) -> PlainText:
    """The text of a page's main part, or of all of it where none is marked."""
    parser = library("selectolax.lexbor", "HTML").LexborHTMLParser(source)
    root = parser.css_first("main, [role=main], article") or parser.body
    blocks: list[list[str]] = [[]]

    # (next node, whether it is within a block): pages may be nested deeper than calls.
    stack = [] if root is None else [(root.child, False)]
    while stack:
        node, within_block = stack.pop()
        if node is None:  # behind the last child
            if within_block:
                blocks.append([])
            continue
        stack.append((node.next, within_block))
        if node.tag == "-text":
            blocks[-1].append(node.text_content or "")
        elif node.tag not in OMITTED:
            is_block = node.tag in BLOCKS
            if is_block:
                blocks.append([])
            stack.append((node.child, is_block))
    return joined([display_name("".join(block)) for block in blocks])


def rst_text(source: str) -> PlainText:
    """The text of reStructuredText, by rules: directives and code are left out."""
    blocks: list[str] = []
    inside = False
    for paragraph in re.split(r"\n[ \t]*\n", source):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if not lines:
            continue
        indented = lines[0].startswith((" ", "\t"))
        if inside and indented:
            continue
        inside = lines[0].lstrip().startswith("..") or lines[-1].rstrip().endswith("::")
        if lines[0].lstrip().startswith(".."):
            continue
        kept = [line.strip() for line in lines if not MARK.fullmatch(line.strip())]
        titled = len(kept) < len(lines)
        text = " ".join(kept)
        text = re.sub(r":[\w:.+-]+:`~?([^`<]+?)(\s*<[^`>]*>)?`", r"\1", text)
        text = re.sub(r"`([^`<]+?)\s*<[^`>]*>`_*", r"\1", text)
        text = re.sub(r"``?([^`]+)``?_*", r"\1", text)
        text = re.sub(r"(?<!\w)\*{1,2}([^*\s][^*]*)\*{1,2}(?!\w)", r"\1", text)
        text = re.sub(r"::$", ":", re.sub(r"^([*+-]|#\.|\d+\.)\s+", "", text))
        blocks.append(display_name(text if not titled else text.rstrip(".")))
    return joined(blocks)


def pdf_text(data: bytes, name: str) -> PlainText:
    """The text of a PDF with the place of each page.

    Raises:
        UserError: it is no PDF, or locked, or has no text (a scan).
    """
    pypdf = library("pypdf", "PDF")
    # Its warnings quote the file; what matters becomes an error below.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        read = [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(data)).pages]
    except Exception as error:  # noqa: BLE001 (a broken file raises anything)
        problem = " ".join(str(error).split())[:200]
        raise UserError(f"{name}: cannot be read as a PDF ({problem})") from None
    pages, text = [], ""
    for page in read:
        pages.append(len(text))
        page = re.sub(r"(\w)-\n(?=[a-z])", r"\1", replace_surrogates(page))
        blocks = [display_name(block) for block in re.split(r"\n\s*\n", page)]
        text += "\n\n".join(block for block in blocks if block) + "\n\n"
    if not text.strip():
        raise UserError(f"{name}: a PDF without text, expected one that is no scan")
    return PlainText(text, tuple(pages))
