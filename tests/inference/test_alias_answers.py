"""What a question calls by another name and asks for by its class, end to end."""

from __future__ import annotations

import pytest

from kgscout_jax import KnowledgeGraph, Scout

STREETS = ("Elm St", "Oak Ave", "High Rd", "Mill Ln")
GRAPH = KnowledgeGraph.from_triplets([
    (f"HX-{i}", relation, tail)
    for i, street in enumerate(STREETS)
    for relation, tail in (
        ("type", "listing"), ("address", f"{i + 4} {street}"),
        ("price", f"{i + 3}50000"), ("agent", ("Ann Lee", "Bo Ray")[i % 2]),
    )
] + [
    ("Ann Lee", "nickname", "Turbo"), ("Ann Lee", "born_on", "1970-02-03"),
])  # fmt: skip


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which listing is at 5 Oak Ave?", "HX-1"),
        ("Which listing has the address 5 Oak Ave?", "HX-1"),
        ("Who is the agent of 5 Oak Ave?", "Bo Ray"),
        ("How much is 5 Oak Ave?", "450000"),
        ("What is the address of HX-1?", "5 Oak Ave"),
        ("When was Turbo born?", "1970-02-03"),
        ("Who is nicknamed Turbo?", "Ann Lee"),
        ("Who goes by the name Turbo?", "Ann Lee"),
        ("What does Turbo stand for?", "Ann Lee"),
        ("What is the real name of the person known as Turbo?", "Ann Lee"),
        ("What is Ann Lee also known as?", "Turbo"),
        ("What is the nickname of Ann Lee?", "Turbo"),
    ],
)
def test_what_goes_by_an_address_or_a_nickname(question, answer):
    result = Scout.from_pretrained().retrieve(question, GRAPH)
    assert [each.name for each in result.answers] == [answer]
    assert result.answers[0].path
