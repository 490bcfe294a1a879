"""Drawings as HTML: a page of its own, or fragments for a page that holds many.

Nothing from the data is ever markup: it travels as JSON in an inert script element,
with every character that HTML or JavaScript could take for an end escaped, and the
script in the page puts it into text nodes and onto a canvas. The page may load nothing:
its Content-Security-Policy forbids it.
"""

from __future__ import annotations

import functools
import json
from html import escape
from pathlib import Path
from typing import Any

from kgscout_jax.show.drawing import drawing_data
from kgscout_jax.show.view import GraphView
from kgscout_jax.types import display_name, replace_surrogates
from kgscout_jax.utils.io import write_text

ASSETS = Path(__file__).parent / "assets"
SCRIPTS = (
    "cytoscape.min.js",
    "layout.js",
    "style.js",
    "elements.js",
    "panel.js",
    "graph.js",
    "start.js",
)
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data: blob:"
)
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def graph_page(view: GraphView) -> str:
    """A whole HTML document with one drawing; it opens from disk, without a network."""
    title = escape(replace_surrogates(display_name(view.title)))
    question = escape(replace_surrogates(display_name(view.question)))
    return f"""{document_head(display_name(view.title), graph_assets())}
<body class="kgv-page">
<header class="kgv-header">
<p class="kgv-title">{title}</p>
<h1>{question}</h1>
{answer_list(view)}</header>
<main>
{graph_fragment(view, "drawing")}
</main>
</body>
</html>
"""


def document_head(title: str, content: str) -> str:
    """The start of a document that may load nothing, up to ``</head>``.

    Args:
        title: as text; it is escaped.
        content: more of the head, as HTML.
    """
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{CONTENT_SECURITY_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="kgscout">
<title>{escape(replace_surrogates(title))}</title>
{content}
</head>"""


def answer_list(view: GraphView) -> str:
    """The answers with probability and path as HTML; "" without any."""

    def text(value: str) -> str:
        return escape(replace_surrogates(display_name(value)))

    lines = [f'<p class="kgv-note">{text(view.answer_note)}</p>\n'] * bool(
        view.answer_note
    )
    if view.answer_lines:
        lines.append('<ol class="kgv-answers">\n')
        for name, probability, path, sources in view.answer_lines:
            way = f"<span>{text(path)}</span>" if path else ""
            way += f"<cite>{text(sources)}</cite>" if sources else ""
            lines.append(
                f"<li><b>{text(name)}</b> <small>{probability:.2f}</small>{way}</li>\n"
            )
        lines.append("</ol>\n")
    return "".join(lines)


def graph_fragment(view: GraphView, id: str) -> str:
    """One drawing to stand in a page that holds :func:`graph_assets` once.

    It is drawn when it comes into sight and given up when it is far away, so a page may
    hold hundreds.

    Args:
        view: what to draw.
        id: the element's id, another one for each drawing of a page.
    """
    label = escape(replace_surrogates(f"Kept triplets: {display_name(view.question)}"))
    return (
        f'<section class="kgv" id="{escape(id)}" aria-label="{label}">'
        f'<script type="application/json">{_inert_json(drawing_data(view))}</script>'
        "<noscript><p>This drawing needs JavaScript.</p></noscript></section>"
    )


@functools.cache
def graph_assets() -> str:
    """The style and the scripts that draw the fragments of a page: once per page."""
    return "\n".join(
        [
            f"<style>\n{_asset('graph.css')}</style>",
            *(f"<script>\n{_asset(name)}</script>" for name in SCRIPTS),
        ]
    )


@functools.cache
def report_scripts() -> tuple[str, ...]:
    """Scripts that draw the questions of a report, each for an element of its own.

    They bring the style and define ``window.kgscoutDraw(element, question)``, which
    draws into the empty element and returns a function that frees the drawing. The
    question's data is ``{id, text, retriever, k, topics, answers, gold, triplets}``
    with ``triplets`` of ``{head, relation, tail, score, onPath}``, best first, and may
    hold ``right`` and ``found``, whether each answer and each gold one was judged right
    and found, and ``rows``, the rows of a table of the triplets to link with.
    """
    style = (
        'document.head.append(Object.assign(document.createElement("style"), '
        f"{{ textContent: {_inert_json(_asset('graph.css'))} }}));\n"
    )
    return (style, *map(_asset, (*SCRIPTS, "question.js")))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")


def write_page(path: Path, view: GraphView) -> None:
    """Write :func:`graph_page` to ``path``, whole or not at all."""
    write_text(path, graph_page(view))


def _inert_json(value: Any) -> str:
    """JSON that holds no character which could end the script element around it."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return replace_surrogates(text).translate(_UNSAFE)
