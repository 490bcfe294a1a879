"""Attacks by replies of language models: any text is read, or passed over."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from fuzz.counting import Count, digest
from fuzz.mutations import changed_bytes
from fuzz.readers import changed_text
from fuzz.strangers import NASTY

from kgscout_jax.explore import prompts as explore
from kgscout_jax.ingest.extract.notation import parse_triplet
from kgscout_jax.okgqa.judges.facts import fact_lines, sentences
from kgscout_jax.okgqa.judges.geval import sample_score
from kgscout_jax.okgqa.judges.safe import first_line
from kgscout_jax.okgqa.writing.draft import read_object
from kgscout_jax.okgqa.writing.scores import read_scores
from kgscout_jax.pseudo.cypher import code_of, forbidden
from kgscout_jax.pseudo.prompts import read_edit, read_triplets
from kgscout_jax.reason.readers.replies import read_reply

REPLIES = {
    "answers": 'Because.\n```json\n{"ans": ["Ridley Scott", "Eve"]}\n```\nans: Eve',
    "triplets": "((Ann)-[wrote]->(Book))-[in]->(1999)\n(Alien)-[directed by]->(Eve).",
    "scores": '{"naturalness": 7, "relevance": "3.5", "why": [{"y": null}]} Score: 8',
    "facts": "Facts:\n- Alien is a film.\n2. Dr. J. Scott made it in 1979.\n* Eve.",
    "cypher": "```cypher\nCREATE (a:Film {name: 'Alien', year: 1979})-[:BY]->(b {n: 1})"
    "\nMERGE (a)-[r:IN {since: 3}]->(c) // note\nRETURN a\n```",
    "edits": "1. CORRECT by 2, 3\n2. WRONG by 1\nADD 4, 5\n- Alien | directed by | Eve",
    "plans": "node: Alien\nrelation: directed by\nnode: Ridley Scott\n1, 2\nrespond",
}
NESTS = [
    "{",
    "[",
    "(",
    '{"a":',
    "((",
    "```",
    '"',
    "- ",
    "\\",
    "-[",
    ")-[",
    "1",
    "'",
    "<",
]


def read_all(text: str) -> str:
    """What every reader of replies makes of a text; it is text all through."""
    graph = [parse_triplet(line) for line in text.splitlines()[:50]]
    code = code_of(text)
    found = (
        read_reply(text), graph, read_object(text), read_scores(text, ["naturalness"]),
        fact_lines(text), sentences(text), sample_score([text, ""]), first_line(text),
        code, forbidden(code), read_triplets(text), read_edit(text, 3, 5),
        explore.read_plan(text), explore.read_selection(text, 5, 3),
        explore.read_evaluation(text), explore.read_answers(text),
    )  # fmt: skip
    for answer in found[0].answers:
        assert answer.strip()
    json.dumps(read_object(text))
    return digest(*found)


def changed_reply(text: str, rng: random.Random) -> str:
    """A reply with other bytes, hostile text, or something opened often."""
    if rng.random() < 0.3:
        at, piece = rng.randrange(len(text) + 1), rng.choice(NESTS)
        return text[:at] + piece * rng.choice([3, 200, 3000, 20_000]) + text[at:]
    if rng.random() < 0.3:
        words = text.split(" ")
        words[rng.randrange(len(words))] = rng.choice(NASTY)
        return " ".join(words)
    change = changed_text if rng.random() < 0.7 else changed_bytes
    return change(text.encode(), rng).decode("utf-8", "surrogateescape")


def reply_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack by replies -> the function that runs it."""

    def run(name: str, count: int, rng: random.Random) -> Count:
        result = Count()
        for number in range(count):
            text = changed_reply(REPLIES[name], rng)
            result.try_(lambda text=text: read_all(text), None, f"reply {number}")
        return result

    return {
        f"reply of a model, {name}": lambda count, rng, name=name: run(name, count, rng)
        for name in REPLIES
    }
