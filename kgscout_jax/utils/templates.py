"""Texts from jinja2 templates."""

from __future__ import annotations

from typing import Any


def text_from_template(
    template: str, *, trim_blocks: bool = False, **values: Any
) -> str:
    """The text that a template makes of ``values``; nothing is escaped.

    Args:
        template: the template's text.
        trim_blocks: the line end after a block is left out.
        **values: by their names in the template.

    Raises:
        jinja2.UndefinedError: the template needs a value that is missing.
    """
    from jinja2 import StrictUndefined, Template

    return Template(
        template,
        undefined=StrictUndefined,
        trim_blocks=trim_blocks,
        keep_trailing_newline=True,
    ).render(**values)
