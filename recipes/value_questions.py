"""What it is worth to compare values: superlatives, comparisons, choices.

    python recipes/value_questions.py GRAPH=QUESTIONS ... --into FIGURES.json

Right first answers of a policy, with and without ``retrieve.value_test``, on those dev
and test questions of ``kgscout synth`` that compare values (QUESTIONS, topics given),
and on questions that name two entities, made from the values of GRAPH (topics linked).
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from kgscout_jax import KnowledgeGraph, Scout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.errors import UserError
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference import search
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.text.values import is_date, is_number, value_of
from kgscout_jax.utils.io import read_json_lines, write_json

SHAPES = ("superlative", "comparison")
PAIRS = 40
"""Questions of two names a graph, half of them yes or no."""
LEAST = 20
"""Entities with a value that a relation has at least, to be asked about."""
K = 30


class Asked(NamedTuple):
    """A question with its answers; topics are None where they are linked."""

    shape: str
    text: str
    answers: frozenset[str]
    topics: list[str] | None


def of_synth(folder: Path) -> Iterator[Asked]:
    """The questions of a folder that compare values."""
    for split in ("dev", "test"):
        for _, row in read_json_lines(folder / f"{split}.jsonl"):
            if row.get("shape") in SHAPES:
                answers = frozenset(row["answer"])
                yield Asked(row["shape"], row["question"], answers, row["q_entity"])


def of_two(graph: KnowledgeGraph, seed: int = 0) -> Iterator[Asked]:
    """Questions that name two entities whose values differ, and the value."""
    values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for head, relation, tail in map(graph.triplet, range(len(graph))):
        if is_number(tail) or is_date(tail):
            values[relation][head].add(tail)
    single: dict[str, dict[str, float]] = {}
    for relation, heads in sorted(values.items()):
        one_each = {
            head: value_of(*of_head)
            for head, of_head in heads.items()
            if len(of_head) == 1
        }
        if len(one_each) >= LEAST:
            single[relation] = one_each
    rng = random.Random(seed)
    for i in range(PAIRS if single else 0):
        relation = rng.choice([*single])
        one, other = rng.sample([*single[relation]], 2)
        ahead = single[relation][one] - single[relation][other]
        if not ahead:
            continue
        high, phrase = bool(rng.getrandbits(1)), relation_phrase(relation)
        word = "higher" if high else "lower"
        if i % 2:
            answer = one if (ahead > 0) == high else other
            text = f"Which has the {word} {phrase}, {one} or {other}?"
            yield Asked("choice", text, frozenset([answer]), None)
        else:
            answer = "yes" if (ahead > 0) == high else "no"
            text = f"Is the {phrase} of {one} {word} than that of {other}?"
            yield Asked("yes or no", text, frozenset([answer]), None)


def outcomes(
    scout: Scout, graph: KnowledgeGraph, asked: Sequence[Asked]
) -> list[tuple[str, bool, bool, float]]:
    """(shape, whether it is said, whether the first answer is right, P) of each."""
    topics = [each.topics for each in asked]
    results = scout.retrieve_many([a.text for a in asked], graph, K, topics=topics)
    found = []
    for each, result in zip(asked, results, strict=True):
        best = (*result.answers, *result.best_guesses)[:1]
        right = bool(best) and best[0].name in each.answers
        p = best[0].probability if best else 0.0
        found.append((each.shape, not result.abstained, right, p))
    return found


def main(words: Sequence[str] | None = None) -> int:
    """Measure and write; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", nargs="+", metavar="GRAPH=QUESTIONS")
    parser.add_argument("--policy", default=None, help="export; default kgscout-base")
    parser.add_argument("--into", type=Path, required=True)
    args = parser.parse_args(words)
    found: dict[str, list[tuple[str, bool, bool, float]]] = {"with": [], "without": []}
    try:
        scout = Scout.from_pretrained(args.policy)
        for pair in args.pairs:
            file, _, folder = pair.partition("=")
            graph = open_graph([Path(file)])
            asked = [*of_synth(Path(folder)), *of_two(graph)]
            found["with"] += outcomes(scout, graph, asked)
            with patch.object(search, "value_start", lambda *_: None):
                found["without"] += outcomes(scout, graph, asked)
            print(f"{file}: {len(asked)} questions", flush=True)
    except UserError as error:
        parser.exit(2, f"error: {error}\n")
    measured = [
        {"shape": shape, "values": name, **shares(rows, shape)}
        for shape in (*SHAPES, "choice", "yes or no", "all")
        for name, rows in found.items()
    ]
    graphs = [Path(pair.partition("=")[0]).stem for pair in args.pairs]
    write_json(
        args.into, {"kind": "values", "graphs": graphs, "k": K, "measured": measured}
    )
    return 0


def shares(rows: list[tuple[str, bool, bool, float]], shape: str) -> dict[str, Any]:
    """What became of the questions of one shape."""
    chosen = [row[1:] for row in rows if shape in ("all", row[0])]
    said, right, p = np.array(chosen, np.float64).reshape(-1, 3).T
    return {
        "questions": len(chosen),
        "right": int(right.sum()),
        "said": int(said.sum()),
        "said_right": int((said * right).sum()),
        "mean_probability": round(float(p.mean()), 3) if len(p) else None,
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
