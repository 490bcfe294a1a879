"""Who did the most of what rows say: "which country exports the most".

Where rows hold one amount, the most is the largest sum of it, and not the largest
number of rows.
"""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import column_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.row_answers import MAX_ROWS, MAX_TRIPLETS
from kgscout_jax.inference.rows import Rows
from kgscout_jax.inference.topic_rows import doers
from kgscout_jax.text.row_question import AMOUNT_KEYS
from kgscout_jax.text.stems import stem
from kgscout_jax.text.value_words import relation_keys

_MOST = re.compile(
    r"(?:which|what|who)\b(?: \w+){0,2}? (?:has |have )?(?P<verb>\w+) "
    r"(?:the )?(?P<most>most|least)(?: money| in total| overall)?\W*",
    re.I,
)
"""Nothing stands behind "the most": "sold the most books" counts books."""


def largest_total(text: str, graph: KnowledgeGraph) -> EntitySet | None:
    """Those with the largest or smallest sum; None where no rows say what is meant.

    Args:
        text: the question.
        graph: the graph.
    """
    match = _MOST.fullmatch(text)
    if match is None or len(graph) > MAX_TRIPLETS or not graph.unnamed_mask.any():
        return None
    verb = stem(match["verb"].casefold())
    for rows in Rows.of(text, graph).by_class():
        amounts, ends = _amounts(rows), doers(verb, rows)
        if len(amounts) != 1 or len(ends) != 1 or len(rows.rows) > MAX_ROWS:
            continue
        totals = _totals(rows, ends[0], amounts[0])
        if totals is None:
            return None
        entities, sums = totals
        best = sums.max() if match["most"].casefold() == "most" else sums.min()
        winners = entities[np.isclose(sums, best)]
        won = np.isin(rows.triplets[:, 2], winners) & (rows.triplets[:, 1] == ends[0])
        return rows.answers(np.unique(rows.triplets[won, 0]), ends[0], amounts[0])
    return None


def _amounts(rows: Rows) -> list[int]:
    """The relations to amounts."""
    names = rows.graph.relation_names
    return [
        i for i in rows.numbers if not relation_keys(names[i]).isdisjoint(AMOUNT_KEYS)
    ]


def _totals(
    rows: Rows, doer: int, amount: int
) -> tuple[Int[np.ndarray, "e"], np.ndarray] | None:
    """Each doer and its sum; None where an amount cannot be read."""
    triplets = rows.triplets
    by = triplets[triplets[:, 1] == doer]
    of = triplets[triplets[:, 1] == amount]
    column = column_of(amount, rows.graph)
    read = map(column.read, texts_of(rows.graph.entities, of[:, 2]))
    numbers = [each.number for each in read if each is not None]
    if len(numbers) < len(of):
        return None
    row, place = np.unique(of[:, 0], return_inverse=True)
    per_row = np.bincount(place, numbers, minlength=len(row))
    at = np.searchsorted(row, by[:, 0])
    known = at < len(row)
    known[known] = row[at[known]] == by[known, 0]
    entities, slot = np.unique(by[known, 2], return_inverse=True)
    return entities, np.bincount(slot, per_row[at[known]], minlength=len(entities))
