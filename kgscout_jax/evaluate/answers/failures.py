"""Where wrong answers come from: the five ways in which a question is lost.

Each wrong answer falls into the first of these that holds, from the reader backwards:

- ``misread``: an answer is among the kept triplets and a path of them leads to it from
  a topic entity, edges walked both ways (thesis, section 4.5);
- ``no_path``: an answer is among the kept triplets, no such path is;
- ``not_in_top_k``: an answer is among the candidates, not among the kept triplets;
- ``lost_by_cut``: an answer is in the graph, not among the candidates: the walk, the
  cut or the choice of candidates lost it;
- ``not_in_graph``: no answer is in the graph.

Beside these: ``no_reply``, where the reader itself gave nothing to judge.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.retrieval.gold import gold_of
from kgscout_jax.evaluate.retrieval.metrics import retrieval_metrics
from kgscout_jax.retrieve.baselines import Ceiling
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.types import Question

FAILURES = {
    "not_in_graph": "answer not in the graph",
    "lost_by_cut": "lost by a cut",
    "not_in_top_k": "not in the top K",
    "no_path": "there, but no path",
    "misread": "there, but misread",
    "no_reply": "no reply",
}
"""Failure -> how tables write it, from the graph to the reader."""

DEFINITIONS = {
    "not_in_graph": "No gold answer is an entity of the knowledge graph.",
    "lost_by_cut": (
        "A gold answer is in the graph, but none among the question's candidates: the "
        "walk or ball around the topics, its cut, or the choice of candidates lost it."
    ),
    "not_in_top_k": (
        "A gold answer is among the candidates, but none among the K triplets kept. "
        "Without retrieval, nothing is kept."
    ),
    "no_path": (
        "A gold answer is among the K triplets kept, but they do not connect it to a "
        "topic entity, edges walked both ways."
    ),
    "misread": (
        "The K triplets kept connect a topic entity to a gold answer, and the reader "
        "answered something else, or nothing."
    ),
    "no_reply": "The reader gave no reply; counted as wrong, and no fault of its own.",
}
"""Failure -> the sentence that defines it."""


def failure_causes(
    shards: Shards, split: Split, rankings: Rankings, ks: Sequence[int]
) -> dict[int, list[str]]:
    """K -> what a wrong answer to each question would be due to, no_reply aside."""
    candidates = Ceiling().rank(shards, split, 1)
    gold = gold_of(shards, split, NameSpace.of(shards))
    reach = retrieval_metrics(candidates, shards, split, [1], gold=gold)
    in_candidates = reach["answer_hit"][1] > 0
    in_graph = np.array([bool(info.answers_in_graph) for info in split.questions])
    found = retrieval_metrics(
        rankings, shards, split, ks, gold=gold if rankings.names is None else None
    )
    return {
        k: _first(
            len(split),
            ("misread", found["path_hit_undirected"][k] > 0),
            ("no_path", found["answer_hit"][k] > 0),
            ("not_in_top_k", in_candidates),
            ("lost_by_cut", in_graph),
        )
        for k in ks
    }


def _first(b: int, *cases: tuple[str, Bool[np.ndarray, "b"]]) -> list[str]:
    """For each question the first case that holds, else not_in_graph."""
    causes = np.full(b, "not_in_graph", dtype=object)
    for name, holds in reversed(cases):
        causes[holds] = name
    return causes.tolist()


def failure_of(cause: str, *, right: bool, missing: bool) -> str | None:
    """The failure of one answer; None where it is right."""
    if missing:
        return "no_reply"
    return None if right else cause


EXAMPLES = 3
"""Questions shown for each failure."""


def examples(
    found: Iterable[tuple[str, int, str, Question, tuple[str, ...]]],
) -> dict[str, list[dict[str, Any]]]:
    """Failure -> its first few questions, each with what was given and what is gold.

    Args:
        found: (retriever, K, failure, question, answers given), the most telling first.
    """
    shown: dict[str, list[dict[str, Any]]] = {name: [] for name in FAILURES}
    for retriever, k, failure, info, given in found:
        if len(shown[failure]) < EXAMPLES and all(
            one["id"] != info.id for one in shown[failure]
        ):
            shown[failure].append(
                {
                    "id": info.id,
                    "question": info.text,
                    "gold": list(info.answers),
                    "given": list(given),
                    "retriever": retriever,
                    "k": k,
                }
            )
    return {name: few for name, few in shown.items() if few}


def shares(failures: Sequence[str | None]) -> dict[str, Any]:
    """How many answers are wrong, and each failure's count and share of those."""
    wrong = [failure for failure in failures if failure is not None]
    return {
        "n": len(failures),
        "wrong": len(wrong),
        "causes": {
            name: {
                "count": wrong.count(name),
                "share": wrong.count(name) / len(wrong) if wrong else None,
            }
            for name in FAILURES
        },
    }
