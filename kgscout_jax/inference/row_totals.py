"""Who did the most of what rows say: "which country exports the most".

Where rows hold one amount, the most is the largest sum of it, and not the largest
number of rows.
"""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Int

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.edge_kinds import edge_kind, kind_verbs
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.aggregate import column_of
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.row_answers import MAX_ROWS, MAX_TRIPLETS, Rows
from kgscout_jax.inference.row_ends import verbs_of_end
from kgscout_jax.inference.value_answers import MATCH_PROBABILITY
from kgscout_jax.text.kinds import TAIL
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.row_question import AMOUNT_KEYS
from kgscout_jax.text.stems import stem
from kgscout_jax.text.value_words import relation_keys
from kgscout_jax.text.values import is_date, quantity_of

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
        amounts, doers = _amounts(rows), _doers(verb, rows)
        if len(amounts) != 1 or len(doers) != 1 or len(rows.rows) > MAX_ROWS:
            continue
        totals = _totals(rows, doers[0], amounts[0])
        if totals is None:
            return None
        entities, sums = totals
        best = sums.max() if match["most"].casefold() == "most" else sums.min()
        winners = entities[np.isclose(sums, best)]
        side = doers[0], TAIL
        answers = EntitySet.of(winners, side, MATCH_PROBABILITY, counted=False)
        won = np.isin(rows.triplets[:, 2], winners) & (rows.triplets[:, 1] == doers[0])
        return answers and answers.shown_by(
            np.unique(rows.triplets[won, 0]), amounts[0]
        )
    return None


def _amounts(rows: Rows) -> list[int]:
    """The relations to amounts."""
    names = rows.graph.relation_names
    return [
        i
        for i in rows.columns
        if not relation_keys(names[i]).isdisjoint(AMOUNT_KEYS)
        and rows.leads_to_all(_is_amount, i)
    ]


def _is_amount(name: str) -> bool:
    return quantity_of(name) is not None and not is_date(name)


def _doers(verb: str, rows: Rows) -> list[int]:
    """The relations to those who do what a verb says.

    Exporters export, and recipients receive. What a purchase's verb is said of is where
    such edges begin.
    """
    graph = rows.graph
    names = {i: graph.relation_names[i] for i in rows.columns}
    called = [
        i
        for i, name in names.items()
        if any(word.startswith(verb) for word in relation_words(name))
        and not rows.leads_to_all(_is_amount, i)
    ]
    said = called or [i for i, name in names.items() if verb in verbs_of_end(name)]
    verbs = {stem(each) for noun in rows.class_nouns for each in kind_verbs(noun)}
    if said or verb not in verbs:
        return said
    return [i for i in names if _is_head(i, rows)]


def _is_head(column: int, rows: Rows) -> bool:
    """Whether what a relation of rows leads to is the head of the edge of each row."""
    graph = rows.graph
    kinds = [edge_kind(name) for name in graph.relation_names]
    of_kind = [
        i for i, kind in enumerate(kinds) if kind and kind.noun in rows.class_nouns
    ]
    edges = graph.triplets[np.isin(graph.triplets[:, 1], of_kind)].astype(np.int64)
    pairs = edges[:, 0] * len(graph.entities) + edges[:, 2]
    heads = rows.triplets[rows.triplets[:, 1] == column].astype(np.int64)
    others = rows.triplets[rows.triplets[:, 1] != column].astype(np.int64)
    row, first = np.unique(heads[:, 0], return_index=True)
    others = others[np.isin(others[:, 0], row)]
    head = heads[first, 2][np.searchsorted(row, others[:, 0])]
    joined = np.isin(head * len(graph.entities) + others[:, 2], pairs)
    return len(row) == len(rows.rows) and len(np.unique(others[joined, 0])) == len(row)


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
