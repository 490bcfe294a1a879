"""The help of a command: its options in groups, without what tyro says of None."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

NO_VALUE = re.compile(r" ?\(default: (None)?\)")
COLUMN = 22
"""Where descriptions begin."""


class Capture(io.StringIO):
    """Takes what is printed; box-drawing characters as on the stream it stands for."""

    encoding: str = ""

    def __init__(self, encoding: str | None) -> None:
        super().__init__()
        self.encoding = (encoding or "").lower()


def tidy_help(text: str, groups: Mapping[str, str]) -> str:
    """The help as people read it.

    Args:
        text: the help that tyro prints, without colours.
        groups: a title -> the names of its fields, separated by white space. Options in
            none come last.
    """
    lines = text.splitlines()
    edges = [i for i, line in enumerate(lines) if line.startswith("╭")]
    if not edges:  # a terminal without box-drawing characters
        return text
    title_of = {
        f"--{name.replace('_', '-')}": title
        for title, names in groups.items()
        for name in names.split()
    }
    others = "other options" if groups else "options"
    boxes: dict[str, list[str]] = {
        title: [] for title in ("arguments", *groups, others)
    }
    width = len(lines[edges[0]]) - 4
    for edge in edges:
        options = lines[edge].startswith("╭─ options ")
        for words, description in entries(lines[edge + 1 :]):
            names = re.findall(r"--[\w-]+", words)
            title = next((title_of[name] for name in names if name in title_of), others)
            box = boxes[title if options else "arguments"]
            box.extend(entry(words, NO_VALUE.sub("", description), width))
    out = [
        part
        for line in lines[: edges[0]]
        for part in textwrap.wrap(line, width + 4, break_on_hyphens=False) or [""]
    ]
    for title, content in boxes.items():
        if content:
            out.append(f"╭─ {title} ".ljust(width + 3, "─") + "╮")
            out += [f"│ {line.ljust(width)} │" for line in content]
            out.append("╰".ljust(width + 3, "─") + "╯")
    return "\n".join([*out, ""])


def entries(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(its words, its description) of each argument in a box, up to its lower edge."""
    found: list[list[str]] = []
    for line in lines:
        if not line.startswith("│"):
            break
        content = line.strip("│").rstrip()
        if content[1:2].strip():
            parts = re.split(r" {2,}", content.strip(), maxsplit=1)
            if found and found[-1][0].count("[") > found[-1][0].count("]"):
                parts = [found.pop()[0] + parts[0], *parts[1:]]  # choices of two lines
            found.append(parts)
        elif content.strip():
            found[-1].append(content.strip())
    for words, *description in found:
        yield words, " ".join(description)


def entry(words: str, description: str, width: int) -> list[str]:
    """The lines of one argument."""
    # The option's own name first, and what it takes once.
    words = re.sub(r"^(--\S+) (\S+), (--\S+) \2$", r"\3, \1 \2", words)
    text = textwrap.wrap(description, width - COLUMN, break_on_hyphens=False) or [""]
    if len(words) <= COLUMN - 2:
        first, *text = text
        return [words.ljust(COLUMN) + first, *(" " * COLUMN + line for line in text)]
    return [*textwrap.wrap(words, width), *(" " * COLUMN + line for line in text)]
