"""The graphs of data packages that the shipped policy learns from."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kgscout_jax.errors import UserError

RECIPES = Path(__file__).resolve().parents[2] / "recipes"
COURT = {
    "citation_string": "",
    "dates": [{"start": "1750-01-01", "end": "1901-05-02"}],
    "location": "Ohio",
    "system": "state",
    "type": "trial",
}
COURTS = [
    {**COURT, "id": "a", "name": "Court of  Appeals", "type": "appellate"},
    {**COURT, "id": "b", "name": "Mayor's Court", "parent": "a", "appeal_to": "a"},
    {**COURT, "id": "c", "name": "Mayor's Court", "location": "Utah", "parent": "x"},
]


def test_courts_are_told_apart_by_their_place(tmp_path, monkeypatch):
    for package, data in (
        ("courts_db/data/courts", COURTS),
        ("reporters_db/data/reporters", {}),
    ):
        file = tmp_path / f"{package}.json"
        file.parent.mkdir(parents=True)
        (file.parent.parent / "__init__.py").touch()
        file.write_text(json.dumps(data), "utf-8")
    monkeypatch.syspath_prepend(str(RECIPES))
    monkeypatch.syspath_prepend(str(tmp_path))
    from graph_sources.society import courts

    triplets = list(courts().triplets)
    assert [one for one in triplets if one[0].startswith("Mayor")] == [
        ("Mayor's Court", "is located in", "Ohio"),
        ("Mayor's Court", "parent court", "Court of Appeals"),
        ("Mayor's Court", "type of court", "trial court"),
        ("Mayor's Court", "judicial system", "state courts"),
        ("Mayor's Court", "court of appeal", "Court of Appeals"),
        ("Mayor's Court", "abolished in", "1901"),
        ("Mayor's Court, Utah", "is located in", "Utah"),
        ("Mayor's Court, Utah", "type of court", "trial court"),
        ("Mayor's Court, Utah", "judicial system", "state courts"),
        ("Mayor's Court, Utah", "abolished in", "1901"),
    ]


LIBRARY = """
class Model(Base):
    def __init__(self, width, depth): check_width(width)
    def fit(self, x): return centre(x) + scale(x)
    def score(self, x): raise TypeError(x)
    def tell(self, x): raise ValueError(x)

def centre(x, mean=0, axis=None): return scale(x) + norm(x)
def scale(x, by=1): return norm(x)
def norm(x): raise OverflowError(x)
"""


@pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["part", "whole"]
)
def test_a_graph_does_not_depend_on_the_order_of_hashes(whole, tmp_path):
    """Of scikit-learn, or of a module that stands for it."""
    written, path = [], os.environ.get("PYTHONPATH", "")
    if not whole:
        (tmp_path / "sklearn").mkdir()
        (tmp_path / "sklearn" / "__init__.py").touch()
        (tmp_path / "sklearn" / "models.py").write_text(LIBRARY)
        path = os.pathsep.join([str(tmp_path), path])
    for seed in ("1", "2"):
        subprocess.run(
            [
                sys.executable,
                RECIPES / "base_graphs.py",
                tmp_path / seed,
                "--only",
                "classes",
            ],
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
        )
        written.append((tmp_path / seed / "classes.tsv").read_text("utf-8"))
    assert written[0] == written[1]
    rows = [line.split("\t") for line in written[0].splitlines()]
    assert len(rows) > (1_000 if whole else 15)
    assert all(len(row) == 3 and all(map(str.strip, row)) for row in rows)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))
    from graph_sources.package_data import package_folder

    with pytest.raises(UserError, match=r"'no-such' is not installed.*no-deps -r"):
        package_folder("no_such", "no-such")


def test_records_keep_the_facts_behind_unnamed_nodes(monkeypatch):
    from kgscout_jax.graph.opaque_names import opaque_mask

    monkeypatch.syspath_prepend(str(RECIPES))
    from graph_sources.records import with_records

    facts = [
        (f"Firm {i}", relation, f"{relation} of {i}")
        for i in range(40)
        for relation in (
            "homeCountry",
            "founded in",
            "industry",
            "chair",
            "auditor",
            "owner",
            "site",
        )
    ]
    rows = list(with_records(facts, "law", "firm"))
    assert rows == list(with_records(facts, "law", "firm"))
    tails: dict[str, list[tuple[str, str, str]]] = {}
    for row in rows:
        tails.setdefault(row[0], []).append(row)
    restored, behind = set(), 0
    for head, relation, tail in rows:
        if opaque_mask([head])[0]:
            continue
        if opaque_mask([tail])[0]:
            # From the record to the value, and for some relations back to the head.
            values = [row[2] for row in tails[tail] if row[2] != head]
            assert len(values) == 1
            behind, tail = behind + 1, values[0]
        restored.add((head, relation.split(".")[2], tail))
    assert 0 < behind < len(restored)
    names = {"homeCountry": "home_country", "founded in": "founded_in"}
    kept = {head for head, _, _ in restored}
    assert 0 < len(kept) < 40
    assert restored == {
        (head, names.get(relation, relation), tail)
        for head, relation, tail in facts
        if head in kept
    }
