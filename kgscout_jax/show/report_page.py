"""Pages of reports from jinja2 templates, in one style, with one head."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgscout_jax.show.page import ASSETS, document_head

if TYPE_CHECKING:
    from jinja2 import Environment


def report_page(
    template: Path, *, title: str, style: Path | None = None, **values: Any
) -> str:
    """The page that a template makes of ``values``, ready for a UTF-8 file.

    The template has ``head`` and ``title``, and may import ``table`` of
    ``tables.html``. Values are escaped; one that is missing is an error.

    Args:
        template: the file, beside those that it includes.
        title: the page's title.
        style: CSS of the page, after ``page.css``, which all reports share.
        values: what the template shows.
    """
    from markupsafe import Markup

    files = [ASSETS / "page.css", *([style] if style else [])]
    css = "\n".join(file.read_text(encoding="utf-8") for file in files)
    head = Markup(document_head(title, f"<style>\n{css}</style>"))
    page = _templates(template.parent).get_template(template.name)
    text = page.render(title=title, head=head, **values)
    # "?" for lone surrogates, which no UTF-8 file can hold
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _templates(folder: Path) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader([folder, ASSETS]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
