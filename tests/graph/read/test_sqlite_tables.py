"""Databases of SQLite: every table is one, as the sheets of a workbook are."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from graph_facts import facts

from kgscout_jax.errors import UserError
from kgscout_jax.graph.read.folder_files import graph_files

FIRM = """
CREATE TABLE department (id INTEGER PRIMARY KEY, name TEXT, floor INT);
CREATE TABLE employee (
    id INTEGER PRIMARY KEY, name TEXT, department_id INT, photo BLOB
);
CREATE TABLE badge (id INT);
INSERT INTO department VALUES (1, 'Sales', 2), (2, 'IT', 3), (3, 'Legal', NULL);
INSERT INTO employee VALUES
    (1, 'Ann', 1, x'00'), (2, 'Bo', 2, NULL), (3, 'Cy', 2, NULL);
"""


def database(path, script):
    with closing(sqlite3.connect(path)) as base:
        base.executescript(script)
        base.commit()
    return path


def test_tables_are_read_with_what_joins_them(tmp_path):
    path = database(tmp_path / "firm.sqlite", FIRM)
    assert [file.name for file in graph_files([path])] == [
        "department.csv",
        "employee.csv",
    ]
    assert facts(path) == {
        "Sales | type | department", "IT | type | department",
        "Legal | type | department", "Sales | floor | 2", "IT | floor | 3",
        "Ann | type | employee", "Bo | type | employee", "Cy | type | employee",
        "Ann | department | Sales", "Bo | department | IT", "Cy | department | IT",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no database at all" * 99, r"kg\.db: no readable database of SQLite: "),
        (b"", r"kg\.db: expected a table with rows, found none"),
    ],
)
def test_an_error_names_the_database(tmp_path, content, message):
    path = tmp_path / "kg.db"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        graph_files([path])
