"""Cypher of models as pseudo-triplets: what runs, what is refused, what is salvaged."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.pseudo.cypher import ENGINE, code_of, forbidden, read_cypher

if find_spec("kglite") is None:
    pytest.skip("the extra pgakv is not installed", allow_module_level=True)

FILM = """Here it is:
```cypher
// the film
CREATE (f:Film {name: "Cast Away; a film", release_year: 2000});
CREATE (d:Person {name: 'Robert Zemeckis', born: date('1952-05-14')});
CREATE (f)-[:DIRECTED_BY {since: 1999}]->(d)
RETURN f, d
```
Done."""


def test_nodes_edges_and_properties_become_triplets():
    found = read_cypher(FILM)
    assert found.outcome == "ran" and not found.cause
    assert set(found.triplets) == {
        ("Cast Away; a film", "directed_by", "Robert Zemeckis"),
        ("Cast Away; a film", "directed_by_since", "1999"),
        ("Cast Away; a film", "release_year", "2000"),
        ("Robert Zemeckis", "born", "1952-05-14"),
    }


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        ("LOAD CSV FROM 'file:///etc/passwd' AS row CREATE (a {name: row})", "clause"),
        ("CREATE (a {name: 'x'}) WITH a MATCH (b) DETACH DELETE b", "clause"),
        ("CALL db.labels()", "clause"),
        ("UNWIND range(1, 1000000000) AS i CREATE (a {name: i})", "clause"),
        ("CREATE (a {name: 'x', all: range(1, 1000000000)})", "function"),
        ("CREATE (a {name: 'x'}) //\nLOAD CSV FROM 'f' AS r", "clause"),
        ("/* */ lOaD CSV FROM 'f' AS r RETURN r", "clause"),
        ("CREATE (a {name: '" + "x" * 20_000 + "'})", "too long"),
    ],
)
def test_nothing_but_create_and_merge_runs(code, cause):
    found = read_cypher(code)
    assert (found.outcome != "ran", found.cause) == (True, cause)


def test_the_engine_itself_can_open_no_file(tmp_path):
    file = tmp_path / "secret.csv"
    file.write_text("secret\n")
    code = f"LOAD CSV FROM 'file://{file}' AS row CREATE (a:X {{name: row[0]}})"
    process = subprocess.run(
        [sys.executable, "-I", str(ENGINE)],
        input=code.encode(),
        capture_output=True,
        check=True,
    )
    assert "error" in json.loads(process.stdout) and b"secret\n" not in process.stdout


@given(st.text(alphabet="CREATLODV ()[]{}'\"`/*\n:;->a1", max_size=60))
def test_what_runs_has_no_other_clause(text):
    code = code_of(text)
    cause, _ = forbidden(code)
    if not cause:
        assert "LOAD" not in code.upper().split()


@pytest.mark.parametrize(
    ("code", "triplets"),
    [
        (
            "CREATE (a:X {name: 'A'})-[:HAS PART]->(b:Y {name: \"B\"})",
            [("A", "has_part", "B")],
        ),
        (
            "CREATE (a:X {name: 'A'}) CREATE (b:Y {name: 'B'})\n"
            "CREATE (a)-[:KNOWS]-(b) CREATE (a)<-[:LIKES]-(b) CREATE (c:",
            [("A", "knows", "B"), ("B", "likes", "A")],
        ),
        ("MATCH (a {name: 'A'}), (b {name: 'B'}) CREATE (a)-[:R]->(b)",
         [("A", "r", "B")]),
    ],
)  # fmt: skip
def test_patterns_of_broken_queries_are_read(code, triplets):
    found = read_cypher(code)
    assert found.outcome == "patterns" and found.cause in ("syntax", "clause")
    assert list(found.triplets) == triplets


def test_text_without_facts_is_nothing():
    found = read_cypher("I do not know.")
    assert found.outcome == "nothing" and not found.triplets
