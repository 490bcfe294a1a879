"""A graph about films and open questions about it."""

import json

import pytest
from film_world import film_triplets


@pytest.fixture(scope="session")
def film_graph(tmp_path_factory):
    path = tmp_path_factory.mktemp("films") / "kg.tsv"
    path.write_text("".join("\t".join(each) + "\n" for each in film_triplets()))
    return path


@pytest.fixture(scope="session")
def film_questions(tmp_path_factory):
    path = tmp_path_factory.mktemp("films") / "questions.jsonl"
    rows = [
        ("a", "Please describe how Alien came about.", "descriptive", ["Alien"]),
        ("b", "Compare Heat and Ran.", "comparative", ["Heat", "Ran"]),
        ("c", "What is the meaning of it all?", "critical", ["Nowhere"]),
    ]
    names = ("id", "question", "type", "entities")
    lines = (json.dumps(dict(zip(names, row, strict=True))) for row in rows)
    path.write_text("".join(line + "\n" for line in lines))
    return path
