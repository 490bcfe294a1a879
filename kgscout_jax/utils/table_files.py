"""The tables of a Markdown text beside it: as CSV for programs, as LaTeX for papers.

The text is what is printed, so all three hold the same figures; what has more digits is
a report's ``metrics.json``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kgscout_jax.utils.io import write_text

NUMBER = r"[+\-−]?\d[\d,]*(?:\.\d+)?"
FIGURE = re.compile(
    rf"(?P<arrow>[↑↓] )?(?P<value>{NUMBER})%?(?: ± (?P<std>{NUMBER}))?"
    rf"(?: \[(?P<low>{NUMBER}), (?P<high>{NUMBER})\])?(?: \(.*\))?"
)
"""``0.760``, ``0.760 ± 0.010 [0.700, 0.815]``, ``↑ 15.7%`` or ``40% (2)``."""
FIELDS = ("table", "row", "column", "value", "std", "low", "high", "text")
TEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "−": "$-$", "–": "--", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "±": r"$\pm$",
}  # fmt: skip


class Table(NamedTuple):
    """One table."""

    title: str
    """The heading above it."""
    header: list[str]
    rows: list[list[str]]


def write_tables(out: Path, markdown: str) -> None:
    """Write ``table.md``, ``table.csv`` and ``table.tex`` to the folder ``out``."""
    found = list(markdown_tables(markdown))
    write_text(out / "table.csv", tables_csv(found))
    write_text(out / "table.tex", "\n".join(map(table_tex, found)))
    write_text(out / "table.md", markdown)


def markdown_tables(markdown: str) -> Iterator[Table]:
    """The tables of a text as ``markdown_table`` writes them."""
    title, lines = "", []
    for line in [*markdown.splitlines(), ""]:
        if line.startswith("| "):
            lines.append([_cell(c) for c in re.split(r"(?<!\\)\|", line)[1:-1]])
            continue
        if lines:
            yield Table(title, lines[0], lines[2:])
            lines = []
        if line.startswith("#"):
            title = line.lstrip("# ").replace("`", "")


def tables_csv(tables: list[Table]) -> str:
    """A line for each figure: table, row, column, value, std, low, high, and the text.

    Columns of words are part of the row's name. Percentages are as printed: ``40%`` is
    40. What a figure does not have, std, low or high, is empty.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FIELDS)
    for title, header, rows in tables:
        words = [0] + [i for i in range(1, len(header)) if _holds_words(rows, i)]
        before = [""] * len(header)
        for row in rows:
            row[0] = row[0] or before[0]  # a blank one is that above
            before = row
            name = " / ".join(row[i] for i in words if row[i])
            for i, text in enumerate(row):
                if i not in words:
                    writer.writerow([title, name, header[i], *_numbers(text), text])
    return out.getvalue()


def table_tex(table: Table) -> str:
    """A ``table`` of LaTeX, for a document with the package booktabs."""
    title, header, rows = table
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_tex(title)}}}"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}", r"\toprule"]
    lines += [" & ".join(map(_tex, header)) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _cell(text: str) -> str:
    return text.strip().replace("\\|", "|")


def _holds_words(rows: list[list[str]], i: int) -> bool:
    cells = [row[i] for row in rows if row[i] not in ("", "–")]
    return any(not FIGURE.fullmatch(cell) for cell in cells)


def _numbers(text: str) -> list[str]:
    match = FIGURE.fullmatch(text)
    names = FIELDS[3:-1]
    if match is None:
        return [""] * len(names)
    found = [(match[each] or "").replace(",", "").replace("−", "-") for each in names]
    if match["arrow"] == "↓ ":
        found[0] = f"-{found[0]}"
    return found


def _tex(text: str) -> str:
    match = re.fullmatch(r"(.*) (\[.*\])", text)
    interval = rf" {{\scriptsize {_tex(match[2])}}}" if match else ""
    # A bracket after \\ would be read as an option of the line's end.
    plain = "".join(TEX.get(c, c) for c in (match[1] if match else text))
    return plain.replace("[", "{[}").replace("]", "{]}") + interval
