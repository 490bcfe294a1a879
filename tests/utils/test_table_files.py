"""Tables of a Markdown text as CSV and LaTeX."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.utils.table_files import markdown_tables, write_tables
from kgscout_jax.utils.tables import markdown_table

TEXT = "\n\n".join(
    [
        "# Retrieval on `test`",
        "## hits_at",
        markdown_table(
            ["hops", "retriever", "n", "K = 10"],
            [
                ["1", "none", "1,020", "–"],
                ["", "a_b | c", "20", "0.760 ± 0.010 [0.700, 0.815]"],
                ["2", "gain", "3", "↓ 12.5%"],
                ["", "change", "3", "−0.1 [−0.2, +0.1]"],
            ],
        ),
        "some words | with a bar",
    ]
)


@pytest.fixture
def folder(tmp_path):
    write_tables(tmp_path, TEXT)
    return tmp_path


def test_the_csv_has_a_line_for_each_figure(folder):
    with (folder / "table.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert (folder / "table.md").read_text() == TEXT
    assert [row["row"] for row in rows[1::2]] == [
        "1 / none",
        "1 / a_b | c",
        "2 / gain",
        "2 / change",
    ]
    assert {row["table"] for row in rows} == {"hits_at"}
    assert [row["value"] for row in rows[::2]] == ["1020", "20", "3", "3"]
    names = "value", "std", "low", "high"
    assert [[row[name] for name in names] for row in rows[1::2]] == [
        ["", "", "", ""],
        ["0.760", "0.010", "0.700", "0.815"],
        ["-12.5", "", "", ""],
        ["-0.1", "", "-0.2", "+0.1"],
    ]


def test_the_latex_is_a_table_with_its_characters_escaped(folder):
    text = (folder / "table.tex").read_text()
    assert text.startswith("\\begin{table}") and text.endswith("\\end{table}\n")
    assert "\\caption{hits\\_at}" in text and "{lrrr}" in text
    assert (
        r"a\_b | c & 20 & 0.760 $\pm$ 0.010 {\scriptsize {[}0.700, 0.815{]}} \\" in text
    )
    assert r"$\downarrow$ 12.5\% \\" in text and r"$-$0.1" in text


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), min_size=3,
                 max_size=3),
        min_size=1,
        max_size=4,
    )
)  # fmt: skip
def test_what_a_table_holds_is_read_back(rows):
    rows = [[" ".join(cell.split()) for cell in row] for row in rows]
    if any("\\" in cell for row in rows for cell in row):
        return  # only bars are escaped
    (table,) = markdown_tables("# t\n\n" + markdown_table(["a", "b", "c"], rows))
    assert table.rows == rows and table.header == ["a", "b", "c"]
