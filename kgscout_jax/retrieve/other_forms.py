"""Nodes whose names are of another form than what a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.retrieve.kind_weights import kind_weights
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.amounts import has_other_unit, is_amount
from kgscout_jax.text.asked_kind import AskedKind
from kgscout_jax.text.kinds import KINDS, TAIL, is_measure
from kgscout_jax.text.name_forms import NUMBER_START, is_dated, is_moment, value_mask
from kgscout_jax.text.relation_words import last_word, relation_words
from kgscout_jax.text.units import UNITS
from kgscout_jax.text.value_words import measured_keys, word_key
from kgscout_jax.text.values import CURRENCIES, is_date, is_year, quantity_of

_SIGNS = {"email": "@", "e mail": "@", "website": ".", "homepage": ".", "url": "."}
"""What the names of such nodes hold."""
_AT_TIME = re.compile(r"(?:at )?what time (?!zone)")
_CLOCK = re.compile(
    r"\d[:.h]\d\d|\d ?(?:[ap]\.?m\b|h\b)|\b(?:noon|midnight|o'clock)\b", re.I
)
"""In a time of the day."""
_CURRENCIES = frozenset(
    "usd eur gbp chf jpy cny inr cad aud nzd nok sek dkk pln czk huf brl mxn zar "
    "krw".split()
).union(CURRENCIES)
"""Currencies, as amounts are written with them."""


class Forms(NamedTuple):
    """Which names are of the form that is asked for; many are neither."""

    other: Bool[np.ndarray, "k"]
    """True at names of another form."""
    right: Bool[np.ndarray, "k"]
    """True at names of that form."""


def forms_of_names(
    asked: AskedKind, around: LocalGraph, *, of_day: bool
) -> Forms | None:
    """Forms of the names of ``around.used``; None where none is asked for.

    Args:
        asked: what the question asks for.
        around: its candidates.
        of_day: whether that is a time of the day.
    """
    measured = _is_measured(asked)
    has_sign = not asked.nouns.isdisjoint(_SIGNS)
    if asked.kind == "thing" and not (asked.number or measured or has_sign):
        return None
    other, right = _by_name(asked, around.names)
    if asked.kind == "time":  # 2,024 citations are no year.
        counts = np.isin(around.used, _measuring_tails(around))
        other, right = other | counts, right & ~counts
    if measured:  # No price is 1994.
        dated = _dated(around)
        other |= _other_measures(asked.nouns, around) | dated
        right &= ~dated
    if of_day:
        right = np.array([_CLOCK.search(name) is not None for name in around.names])
        other = ~right
    return Forms(other, right)


def asks_for_time_of_day(question: str) -> bool:
    """Whether a question asks at what time of the day; a time zone is none."""
    return _AT_TIME.match(question.strip().casefold()) is not None


def _dated(around: LocalGraph) -> Bool[np.ndarray, "k"]:
    """True at years to which relations lead that say when something was."""
    dating = [
        kind_weights(relation)[TAIL, KINDS.index("time")] > 0
        or relation_words(relation)[-1:] in (["in"], ["on"], ["since"])
        for relation in around.relations
    ]
    tails = around.nodes[np.array(dating, bool)[around.relation_index], 1]
    out = np.isin(around.used, tails)
    out[out] = [is_year(around.names[i]) for i in np.flatnonzero(out).tolist()]
    return out


def _by_name(asked: AskedKind, names: Sequence[str]) -> Forms:
    """``forms_of_names`` by the names alone."""
    if asked.kind == "time":
        others = np.array([not is_dated(name) for name in names], bool)
        return Forms(others, ~others)
    if sign := next((_SIGNS[noun] for noun in asked.nouns if noun in _SIGNS), ""):
        others = np.array([sign not in name for name in names], bool)
        return Forms(others, ~others)
    if _is_measured(asked):
        others = np.array([_is_no_measure(asked.nouns, name) for name in names], bool)
        return Forms(others, np.zeros_like(others))
    values = value_mask(names)
    if asked.kind == "place":
        values |= measured_mask(names)
    nothing = np.zeros_like(values)
    return Forms(nothing, values) if asked.number else Forms(values, nothing)


def measured_mask(names: Sequence[str]) -> Bool[np.ndarray, "n"]:
    """True at quantities with a unit, and amounts of money: "2.5 L", "40 GBP"."""
    found = [quantity_of(name) if name[:1] in NUMBER_START else None for name in names]
    known = UNITS.keys() | _CURRENCIES
    return np.array([each is not None and each.unit in known for each in found], bool)


def _other_measures(nouns: frozenset[str], around: LocalGraph) -> Bool[np.ndarray, "n"]:
    """True at values to which no relation leads that measures what is asked for.

    No number of servings says how long a dish takes, where others have their minutes.
    """
    keys = {*map(word_key, nouns)}
    fits = [not measured_keys(each).isdisjoint(keys) for each in around.relations]
    measured = around.nodes[np.array(fits, bool)[around.relation_index], 1]
    values = value_mask(around.names)
    return values & ~np.isin(around.used, measured) if len(measured) else values & False


def _measuring_tails(around: LocalGraph) -> Int[np.ndarray, "n"]:
    """Tails of relations that count or measure, and that none leads to which dates."""
    measuring = np.array([is_measure(last_word(r)) for r in around.relations], bool)
    index, tails = around.relation_index, around.nodes[:, 1]
    return np.setdiff1d(tails[measuring[index]], tails[~measuring[index]])


def _is_no_measure(nouns: frozenset[str], name: str) -> bool:
    """Whether a name is no number that measures what ``nouns`` say."""
    # "Room 12" may be the number of a room.
    is_number_of = any(noun.endswith("number") for noun in nouns)
    has_digit = any(map(str.isdigit, name)) if is_number_of else is_amount(name)
    if not has_digit or has_other_unit(name, nouns):
        return True
    is_day = is_moment(name) or is_date(name)
    return is_day and "age" not in nouns


def _is_measured(asked: AskedKind) -> bool:
    """Whether a number is asked for by what it measures: "what is the salary of"."""
    things = asked.kind == "thing" and not asked.number
    return things and any(map(is_measure, asked.nouns))
