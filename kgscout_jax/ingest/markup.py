"""Markdown, HTML, reStructuredText and PDF as plain text: a block, then a blank line.

Code, scripts, navigation and pictures are left out. Tables become lines "key: value".
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
ROLE = re.compile(r"\{[\w:.+-]+\}$")
TARGET = re.compile(r"\s*<[^>]*>$")
"""Before and within a reference of MyST: "{ref}`the guide <guide>`"."""
LONGEST_CELL = 200
"""Characters of a table's cell that is a value, and no text."""
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


def table_blocks(rows: list[list[str]], headed: bool) -> list[str]:
    """A table as lines "key: value", which say it of the heading above them.

    A row below a header has its first cell as the heading; a row of two cells without
    one is a line.

    Args:
        rows: the texts of the cells.
        headed: whether the first row names the columns.
    """
    header = rows[0] if headed and rows and all(rows[0][1:]) else None
    blocks = []
    for row in rows[int(headed) :]:
        if header is not None and len(row) == len(header) > 1 and row[0]:
            cells = zip(header[1:], row[1:], strict=True)
            blocks += [row[0], *(f"{key}: {value}" for key, value in cells if value)]
        elif len(row) == 2 and all(row):
            blocks.append(f"{row[0].rstrip(':')}: {row[1]}")
        else:
            blocks += row
    return blocks


def markdown_text(source: str) -> PlainText:
    """The text of Markdown: headings, paragraphs, items and cells, without code."""
    parser = library("markdown_it", "Markdown").MarkdownIt("commonmark").enable("table")
    blocks: list[str] = []
    rows: list[list[str]] | None = None
    """Of the table that is read."""
    for token in parser.parse(source):
        if token.type == "table_open":
            rows = []
        elif token.type == "tr_open" and rows is not None:
            rows.append([])
        elif token.type == "table_close" and rows is not None:
            blocks += table_blocks(rows, headed=True)
            rows = None
        elif token.type == "html_block":
            blocks += html_text(token.content).text.split("\n\n")
        elif token.type == "inline":
            parts = []
            for child in token.children or ():
                if child.type in ("softbreak", "hardbreak"):
                    parts.append(" ")
                elif child.type == "code_inline" and parts and ROLE.search(parts[-1]):
                    # "{class}`~click.Context`", as MyST writes a reference
                    parts[-1] = ROLE.sub("", parts[-1])
                    parts.append(TARGET.sub("", child.content).lstrip("~"))
                elif child.type not in ("image", "html_inline"):
                    parts.append(child.content)
            text = display_name("".join(parts))
            if rows is None:
                blocks.append(text)
            else:
                rows[-1].append(text)
    return joined(blocks)


def html_text(source: str) -> PlainText:
    """The text of a page's main part, or of all of it where none is marked."""
    parser = library("selectolax.lexbor", "HTML").LexborHTMLParser(source)
    root = parser.css_first("main, [role=main], article") or parser.body
    return joined(node_blocks(None if root is None else root.child))


def node_blocks(first: Any) -> list[str]:
    """The texts of the blocks of a node and of all that follow it."""
    blocks: list[list[str]] = [[]]
    # (next node, whether it is within a block): pages may be nested deeper than calls.
    stack = [(first, False)]
    while stack:
        node, within_block = stack.pop()
        if node is None:  # behind the last child
            if within_block:
                blocks.append([])
            continue
        stack.append((node.next, within_block))
        if node.tag == "-text":
            blocks[-1].append(node.text_content or "")
        elif node.tag == "table" and (rows := cell_texts(node)):
            header = node.css_first("tr").css("td")
            for caption in node.css("caption"):
                blocks += [[block] for block in node_blocks(caption.child)]
            lines = table_blocks(rows, headed=not header)
            blocks += [*([line] for line in lines), []]
        elif node.tag not in OMITTED:
            is_block = node.tag in BLOCKS
            if is_block:
                blocks.append([])
            stack.append((node.child, is_block))
    return [display_name("".join(block)) for block in blocks]


def cell_texts(table: Any) -> list[list[str]]:
    """The texts of a table's cells; [] where it lays out a page."""
    if table.css_first("table table, p, ul, ol, div, pre, h1, h2, h3") is not None:
        return []
    rows = []
    for row in table.css("tr"):
        cells = [cell for cell in row.css("th, td") if cell.tag not in OMITTED]
        rows.append([" ".join(filter(None, node_blocks(c.child))) for c in cells])
    short = all(len(cell) <= LONGEST_CELL for row in rows for cell in row)
    return rows if short else []


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
