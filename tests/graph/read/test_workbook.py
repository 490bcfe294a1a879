"""Spreadsheets: every sheet is a table, as the CSV file of its name is."""

from __future__ import annotations

import datetime
from pathlib import Path

import openpyxl
import pytest
from graph_facts import facts

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.folder_files import graph_files

TEAMS = [
    ["Report of May"],
    [],
    ["name", None, "floor"],
    ["Sales", None, 2],
    ["IT", None, 3],
]
MAY = datetime.datetime(2019, 5, 1)
STAFF = [
    ["name", "team", "joined", "rate", "remote"],
    ["Ann", "Sales", MAY, 1.5, True],
    ["Bo", "IT", MAY.replace(hour=9), 2.0, False],
    ["Cy & Co", "IT", None, 3.0, True],
]


def workbook(path: Path, sheets: dict[str, list[list]]) -> Path:
    """A file of Excel with these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_sheets_are_tables_of_their_names(tmp_path):
    notes = [["Ask Ann before you change this."], ["Last change: May"]]
    sheets = {"read me": notes, "teams": TEAMS, "staff": STAFF, "x": []}
    book = workbook(tmp_path / "firm.xlsx", sheets)
    files = graph_files([book])
    assert [file.name for file in files] == ["teams.csv", "staff.csv"]
    assert graph_files([book]) == files
    assert facts(book) == {
        "Sales | type | team", "Sales | floor | 2", "IT | type | team",
        "IT | floor | 3", "Ann | team | Sales", "Bo | team | IT",
        "Cy & Co | team | IT", "Ann | joined | 2019-05-01",
        "Bo | joined | 2019-05-01 09:00:00", "Ann | rate | 1.5", "Bo | rate | 2",
        "Cy & Co | rate | 3", "Ann | remote | true", "Bo | remote | false",
        "Cy & Co | remote | true",
    }  # fmt: skip


def test_one_sheet_without_a_name_is_called_by_its_file(tmp_path):
    book = workbook(tmp_path / "cars.xlsx", {"Sheet1": STAFF})
    assert [file.name for file in graph_files([tmp_path])] == ["cars.csv"]
    assert "Ann | type | car" in facts(book)
    # Another content is read again.
    workbook(book, {"Tabelle1": STAFF[:3]})
    assert sum(1 for _ in graph_files([book])[0].open()) == 3


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK", r"kg\.xlsx: no readable spreadsheet: "),
        (None, r"kg\.xlsx: expected a sheet with a header and rows, found none"),
    ],
)
def test_an_error_names_the_spreadsheet(tmp_path, content, message):
    book = tmp_path / "kg.xlsx"
    if content is None:
        workbook(book, {"a": [], "b": [["name", "floor"]]})
    else:
        book.write_bytes(content)
    with pytest.raises(UserError, match=message):
        facts(book)
    with pytest.raises(UserError, match="no such file"):
        facts(tmp_path / "none.xlsx")


def test_an_error_in_a_sheet_names_spreadsheet_and_sheet(tmp_path, monkeypatch):
    edges = [["source", "type", "target"], ["a", "likes", "b"], ["c", "", "d"]]
    workbook(tmp_path / "kg.xlsx", {"Edges": edges, "Notes": [["x"], ["y"]]})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"^kg\.xlsx/Edges\.csv:3: the relation is"):
        facts(tmp_path / "kg.xlsx")
