"""Which nodes are not of the kind that a question asks for, by the relations around.

A policy that has not seen a graph often stops at the entity between: "when were the
films by Mann released" at a film. But heads of ``directed_by`` are films, and a film is
no year. Where another node may be of the kind that is asked for, such nodes lose
``PENALTY`` of their logit, and triplets at no node of that kind ``TRIPLET_PENALTY``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial

import numpy as np
from jaxtyping import Bool, Float, Float32, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_ends import named_ends
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.retrieve.node_classes import called_nodes, node_classes
from kgscout_jax.retrieve.type_pairs import TypePairs, type_pairs
from kgscout_jax.text.amounts import has_other_unit, is_amount
from kgscout_jax.text.asked_kind import SORT_OF, AskedKind, asked_kind
from kgscout_jax.text.kinds import (
    HEAD,
    KINDS,
    NAMED,
    STATED,
    TAIL,
    base_noun,
    end_nouns,
    is_attribute,
    is_measure,
    names_same,
    noun_kind,
)
from kgscout_jax.text.place_names import place_kinds
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import (
    last_word,
    relation_words,
)
from kgscout_jax.text.value_column import UNITS
from kgscout_jax.text.value_words import measured_keys, word_key
from kgscout_jax.text.values import CURRENCIES, is_date, is_year, quantity_of
from kgscout_jax.text.words import WORD

PENALTY = 10.0
"""Logits that a node of another kind loses, see ``recipes/answer_kinds.py``: chosen on
graphs that policies had not seen."""
STATED_PENALTY = 20.0
"""The same where classes of nodes say what is of that kind."""
TRIPLET_PENALTY = 6.0
"""Logits that a triplet loses: with more, triplets on the way to the answer suffer."""
DOUBT = 3.0
"""Logits that a node loses which no relation calls anything, where others are called
what is asked for; and a value to "which", no place to "where", a topic."""
FEW = 0.2
"""Share of what the relations around a node call it, below which it is of another
kind."""
FEW_NAMED = 0.1
"""The same for nouns that are asked for: a wife has more relations than that one."""
MOST = 0.6
"""Share of people, dates and attributes from which a node is no place."""
_NO_PLACES = [KINDS.index("person"), KINDS.index("time")]
_NUMBER = re.compile(r"[+-]?\d[\d,. ]*(?:[eE][+-]?\d{1,3})?")
_FIRST = frozenset("+-0123456789")
"""What numbers and dates begin with."""
_FLAGS = frozenset(("yes", "no", "true", "false"))
_DAY = r"\d{3,4}-\d\d(?:-\d\d)?"
_YEAR = r"(?:1\d|2[01])\d\d"
_DATED = re.compile(
    rf"(?<![\d.,])(?<![A-Z]_)(?:{_DAY}(?!\d)|{_YEAR}(?![.,]?\d|-\d{{3}})|\d\d?[./]\d\d?[./]\d{{2,4}}\b"
    r"|\d?\d:\d\d\b)"
)
_TIME_WORDS = frozenset(
    "january february march april may june july august september october november "
    "december monday tuesday wednesday thursday friday saturday sunday weekday weekend "
    "mon tue tues wed weds thu thur thurs fri sat sun jan feb mar apr jun jul aug sep "
    "sept oct nov dec spring summer autumn fall winter morning noon afternoon evening "
    "night midnight daily weekly monthly yearly annually".split()
)
_BETWEEN_TIMES = frozenset("early late mid to and or from until every on in of".split())
_SIGNS = {"email": "@", "e mail": "@", "website": ".", "homepage": ".", "url": "."}
"""What the names of such nodes hold."""
_AT_TIME = re.compile(r"(?:at )?what time (?!zone)")
_CLOCK = re.compile(
    r"\d[:.h]\d\d|\d ?(?:[ap]\.?m\b|h\b)|\b(?:noon|midnight|o'clock)\b", re.I
)
"""In a time of the day."""
_PLACES = {
    "country": frozenset(("country", "nation")),
    "city": frozenset(("city", "town", "village", "municipality")),
    "continent": frozenset(("continent",)),
}
"""Nouns for places, none of which is one of another group."""
_ROLES = frozenset(
    "author director producer composer publisher translator editor illustrator "
    "narrator reviewer photographer distributor actor writer screenwriter "
    "cinematographer designer coach referee conductor".split()
)
"""What several have done for one work or club, each something else."""
MANY = 10
"""Members from which on a class is one of a whole table."""
GENERIC_NOUNS = frozenset(
    "person human people individual member employee worker staff user contact owner "
    "thing object item one everything anything everyone anyone something entity "
    "product work company firm organization organisation institution group body "
    "animal species creature plant food device vehicle system project place location "
    "area type kind option example element".split()
)
"""Nouns for many things, which are called by others as well."""
_SORT = re.compile(rf"{SORT_OF}([a-z]+)")
_MOMENT = re.compile(rf"[+-]?{_DAY}(?:T[\d:.Z+-]*)?")


def is_number(name: str) -> bool:
    """Whether the name of an entity is a number."""
    return _NUMBER.fullmatch(name.strip()) is not None


def is_value(name: str) -> bool:
    """Whether the name of an entity is a number or a date."""
    if name.lstrip()[:1] not in _FIRST:
        return False
    return is_number(name) or _MOMENT.fullmatch(name.strip()) is not None


def value_mask(names: Sequence[str]) -> Bool[np.ndarray, "n"]:
    """``is_value`` of each name."""
    # Signs and digits come before this character.
    return np.array([name < ":" and is_value(name) for name in names], bool)


def is_dated(name: str) -> bool:
    """Whether a name holds a date, a year or a time of the day, or is one of the year.

    >>> [is_dated(name) for name in ("1815-12-10", "2008 NBA Finals", "Bern", "12,000")]
    [True, True, False, False]
    >>> is_dated("23:40"), is_dated("late spring"), is_dated("Hot Springs")
    (True, True, False)
    """
    if _DATED.search(name):
        return True
    words = {word.removesuffix("s") for word in WORD.findall(name.casefold())}
    return not words.isdisjoint(_TIME_WORDS) and words <= _TIME_WORDS | _BETWEEN_TIMES


@dataclass(frozen=True)
class KindMask:
    """Which nodes of one question's candidates are of another kind than it asks for."""

    penalties: Float32[np.ndarray, "v"]
    """``PENALTY`` at nodes of another kind, ``DOUBT`` where nothing tells the kind."""
    nodes: Int[np.ndarray, "n 2"]
    """Of head and tail of each candidate."""
    starts: Int[np.ndarray, "t"]
    """The topics' nodes, none of which is an answer."""
    by_form: Bool[np.ndarray, "v"]
    """True at nodes whose names are of another form: a date is no place."""
    called: Bool[np.ndarray, "v"]
    """True at nodes that a class or a relation calls what is asked for."""
    conflict: Bool[np.ndarray, "v"]
    """True at nodes that are called something else, where nothing is called that: no
    author is who "translated" a book."""
    guessed: Bool[np.ndarray, "v"]
    """True at what may be called so as well, where things are asked for that no node is
    surely called: what has side effects may be a drug, and others may be one."""

    @property
    def wrong(self) -> Bool[np.ndarray, "v"]:
        """True at nodes of another kind."""
        return self.penalties >= PENALTY

    def without(self, nodes: Bool[np.ndarray, "v"]) -> KindMask:
        """The mask of the others: these are of the kind that is asked for."""
        penalties = np.where(nodes, np.float32(0), self.penalties)
        return replace(
            self,
            penalties=penalties,
            by_form=self.by_form & ~nodes,
            conflict=self.conflict & ~nodes,
        )

    def node_logits(self, logits: Float32[np.ndarray, "v"]) -> Float32[np.ndarray, "v"]:
        """Logits of the answer head, lower at nodes of another kind.

        Where no node within ``PENALTY`` of the best one may be of that kind, the names
        of relations may mean something else. Then only nodes of another form lose.
        """
        lowered = logits - self.penalties
        if self.wrong[np.argmax(lowered)]:
            return logits - np.float32(PENALTY) * self.by_form
        return lowered

    def triplet_logits(
        self, logits: Float32[np.ndarray, "n"]
    ) -> Float32[np.ndarray, "n"]:
        """Logits of the candidates, lower where neither end may be the answer."""
        possible = ~self.wrong
        possible[self.starts] = False
        return logits - np.float32(TRIPLET_PENALTY) * ~possible[self.nodes].any(axis=1)


def kind_mask(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    *,
    flagged: bool = False,
) -> KindMask | None:
    """What is of another kind; None where the question, or nothing here, tells it.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        flagged: whether the question asks for what flags say: yes and no may decide.
    """
    asked = asked_kind(question, topics) or kind_of_class(question, topics)
    if asked is None or not len(around.nodes):
        return None
    named = any(_leads_to(asked.nouns, relation) for relation in around.relations)
    pairs = type_pairs(around, len(unnamed))
    named = named or bool(pairs.named(asked.nouns).any())
    if asked.or_named and named:
        asked = replace(asked, kind="thing")
    penalties, called, conflict, stated, of_kind = _penalties(
        asked, named, around, unnamed, pairs
    )
    if stated and not any(
        named_weights(asked.nouns, r)[TAIL] for r in around.relations
    ):
        asked = replace(asked, number=False)  # "how many tracks", by ``track_no``
    by_form = np.zeros(len(unnamed), bool)
    # A time zone is no date, and "what time" asks for one of the day.
    of_day = _AT_TIME.match(question.strip().casefold()) is not None
    vague = not of_day and any("time" in noun.split() for noun in asked.nouns)
    there = around.used
    if asked.kind != "thing" or asked.number or _has_form(asked):
        years = np.zeros(len(unnamed), bool)
        if _is_measured(asked):
            years = _years(around, len(unnamed))
        lost, kept = _by_name(asked, around.names)
        if asked.kind == "time":  # 2,024 citations are no year.
            measured = np.isin(around.used, _measuring_tails(around))
            lost, kept = lost | measured, kept & ~measured
        if _is_measured(asked):
            lost |= _other_measures(asked.nouns, around)
        if of_day:
            kept = np.array([_CLOCK.search(name) is not None for name in around.names])
            lost = ~kept
        # No price is 1994.
        dated = np.flatnonzero(years[there])
        dated = dated[[is_year(around.names[i]) for i in dated.tolist()]]
        lost[dated], kept[dated] = True, False
        penalties[there[lost]] = np.maximum(penalties[there[lost]], PENALTY)
        penalties[there[kept]] = 0.0
        by_form[there[lost]] = not vague
    elif asked.which:
        values = there[value_mask(around.names) | _measured(around.names)]
        if named or stated:  # No aircraft is 2002, where others are called so.
            others = values[penalties[values] >= DOUBT]
            penalties[others], by_form[others] = PENALTY, True
        else:
            penalties[values] = np.maximum(penalties[values], DOUBT)
    if sort := _SORT.search(question.casefold()):  # A ship is no kind of ship.
        noun = base_noun(sort[1])
        same = np.array([base_noun(name) == noun for name in around.folded_names])
        penalties[there[same]], by_form[there[same]] = PENALTY, True
    if not flagged:  # no planet is "no"
        flags = there[np.array([name in _FLAGS for name in around.folded_names], bool)]
        penalties[flags], by_form[flags] = PENALTY, True
    elsewhere = _other_places(asked.nouns, around, len(unnamed))
    penalties[elsewhere], by_form[elsewhere] = PENALTY, True
    some = penalties[there]
    if ((some >= PENALTY).all() and not by_form.any()) or not (
        some.any() or called.any() or conflict.any()
    ):
        return None
    called &= penalties == 0
    guesses = asked.kind == "thing" and bool(asked.nouns) and not stated
    guessed = ~of_kind & guesses
    return KindMask(
        penalties, around.nodes, around.starts, by_form, called, conflict, guessed
    )


def kind_of_class(question: str, topics: Sequence[str]) -> AskedKind | None:
    """What "which car is the best" asks for, where ``car`` is its topic; None for other
    questions.
    """
    small = {base_noun(word) for word in WORD.findall(question) if word.islower()}
    classes = small & {base_noun(topic.casefold()) for topic in topics}
    found = asked_kind(question, []) if classes else None
    if found is None or not found.which or classes.isdisjoint(found.nouns):
        return None
    return found


def _years(around: LocalGraph, v: int) -> Bool[np.ndarray, "v"]:
    """True at tails of relations that say when something was."""
    dating = [
        kind_weights(relation)[TAIL, KINDS.index("time")] > 0
        or relation_words(relation)[-1:] in (["in"], ["on"], ["since"])
        for relation in around.relations
    ]
    out = np.zeros(v, bool)
    out[around.nodes[np.array(dating)[around.relation_index], 1]] = True
    return out


def _other_places(
    nouns: frozenset[str], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """True at places of another kind: at cities, where a country is asked for.

    Relations called ``city`` lead to one; of countries and continents the names are
    known, and what lies in one of those that are asked for is none of them.
    """
    out = np.zeros(v, bool)
    wanted = [noun for noun, places in _PLACES.items() if not nouns.isdisjoint(places)]
    if len(wanted) != 1:
        return out
    (asked,) = wanted
    last = [base_noun(last_word(r)) for r in around.relations]
    right = np.array([noun in _PLACES[asked] for noun in last], bool)
    other = np.array([any(n in each for each in _PLACES.values()) for n in last], bool)
    heads, tails = around.nodes.T
    kinds = [place_kinds(name) for name in around.folded_names]
    called = np.zeros(v, bool)
    called[around.used] = [asked in each for each in kinds]
    out[around.used] |= [bool(each) for each in kinds]
    topics = np.zeros(v, bool)
    topics[around.starts] = True
    if asked != "city" and (called & ~topics).any():
        within = np.array([needs_no_word(each) for each in around.relations], bool)
        out[heads[within[around.relation_index]]] = True
    out |= _other_levels(asked, around, topics) & ~called
    out[called | topics] = False
    out[tails[(other & ~right)[around.relation_index]]] = True
    out[tails[right[around.relation_index]]] = False
    return out


def _other_levels(
    asked: str, around: LocalGraph, topics: Bool[np.ndarray, "v"]
) -> Bool[np.ndarray, "v"]:
    """True at the country, where a city is asked for that lies in it, and at the city,
    where the country is: what lies where is known, whatever the names."""
    within = np.array([needs_no_word(each) for each in around.relations], bool)
    heads, tails = around.nodes[within[around.relation_index]].T
    near, far, between = np.zeros((3, len(topics)), bool)
    near[tails[topics[heads]]] = True
    near &= ~topics
    far[tails[near[heads]]] = True
    far &= ~(near | topics)
    between[heads[near[heads] & far[tails]]] = True
    return far if asked == "city" else between


def _has_form(asked: AskedKind) -> bool:
    """Whether names of what is asked for are of a form: numbers, addresses."""
    return _is_measured(asked) or not asked.nouns.isdisjoint(_SIGNS)


def _by_name(
    asked: AskedKind, names: Sequence[str]
) -> tuple[Bool[np.ndarray, "n"], Bool[np.ndarray, "n"]]:
    """Which names rule a node out, and which rule it in; many say nothing."""
    if asked.kind == "time":
        others = np.array([not is_dated(name) for name in names], bool)
        return others, ~others
    if sign := next((_SIGNS[noun] for noun in asked.nouns if noun in _SIGNS), ""):
        others = np.array([sign not in name for name in names], bool)
        return others, ~others
    if _is_measured(asked):
        others = np.array([_is_no_measure(asked.nouns, name) for name in names], bool)
        return others, np.zeros_like(others)
    values = value_mask(names)
    if asked.kind == "place":
        values |= _measured(names)
    nothing = np.zeros_like(values)
    return (nothing, values) if asked.number else (values, nothing)


_CURRENCIES = frozenset(
    "usd eur gbp chf jpy cny inr cad aud nzd nok sek dkk pln czk huf brl mxn zar "
    "krw".split()
).union(CURRENCIES)
"""Currencies, as amounts are written with them."""


def _measured(names: Sequence[str]) -> Bool[np.ndarray, "n"]:
    """True at quantities with a unit, and amounts of money: "2.5 L", "40 GBP"."""
    found = [quantity_of(name) if name[:1] in _FIRST else None for name in names]
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
    is_day = _MOMENT.fullmatch(name.strip()) is not None or is_date(name)
    return is_day and "age" not in nouns


def _is_measured(asked: AskedKind) -> bool:
    """Whether a number is asked for by what it measures: "what is the salary of"."""
    things = asked.kind == "thing" and not asked.number
    return things and any(map(is_measure, asked.nouns))


def _penalties(
    asked: AskedKind,
    named: bool,
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    pairs: TypePairs,
) -> tuple[
    Float32[np.ndarray, "v"],
    Bool[np.ndarray, "v"],
    Bool[np.ndarray, "v"],
    bool,
    Bool[np.ndarray, "v"],
]:
    """What nodes lose by what the relations around them call them, which are called
    what is asked for, which something else, whether classes of nodes say that, and
    which relations call people, places or times.

    Args:
        asked: what the question asks for.
        named: whether a relation leads to that by name.
        around: the candidates.
        unnamed: True at nodes without a name.
        pairs: types by relations that name two.
    """
    v, nodes, relation_index = len(unnamed), around.nodes, around.relation_index
    # Each relation counts once at each end of a node, however many triplets it has.
    node, end = around.ends

    def sums(weights: Float[np.ndarray, "u 2"]) -> Float[np.ndarray, "v"]:
        return np.bincount(node, weights.reshape(-1)[end], minlength=v)

    def matches(weights: Float[np.ndarray, "u 2"]) -> Float[np.ndarray, "v"]:
        # A record that is called mayor stands for the person that it leads to.
        match = sums(weights)
        out = match.copy()
        for side in (0, 1):
            record, beyond = nodes[:, side], nodes[:, 1 - side]
            others = match[record] - weights[relation_index, side]
            np.maximum.at(out, beyond, np.where(unnamed[record], others, 0.0))
        return out

    by_kind = np.concatenate([kind_weights(relation) for relation in around.relations])
    by_kind = by_kind.reshape(-1, 2, len(KINDS))
    classes = node_classes(around)
    by_kind[around.to_class, HEAD] = 0.0
    by_kind[pairs.relations] = 0.0
    by_class = STATED * classes.kinds(around, v) + NAMED * pairs.kinds
    total = sums(by_kind.sum(axis=2)) + by_class.sum(axis=1)
    wrong, doubtful = np.zeros(v, bool), np.zeros(v, bool)
    if asked.kind == "place":
        others = by_kind[..., KINDS.index("person")] + by_kind[..., KINDS.index("time")]
        others += _attributes(around.relations)
        place, thing = KINDS.index("place"), KINDS.index("thing")
        # A class of things is seldom one of places, nor of anything else.
        wrong = sums(others) + by_class[:, _NO_PLACES].sum(axis=1) >= MOST * (
            total - by_class[:, thing]
        )
        places = sums(by_kind[..., place]) + by_class[:, place]
        if not asked.or_host:
            doubtful = (places <= 0) & places.any()
    elif asked.kind != "thing":
        kind = KINDS.index(asked.kind)
        match = matches(by_kind[..., kind]) + by_class[:, kind]
        wrong = _too_few(match, total, FEW)
        doubtful = (total <= 0) & match.any()
    by_name = np.array([named_weights(asked.nouns, each) for each in around.relations])
    said = called_nodes(asked.nouns, classes, around, v)
    stated = said.called.any() or said.likely.any()
    if asked.nouns and not (named or stated or by_name.any()):
        # What a relation calls publishers are no books.
        free = np.array([_weights(each, bool) for each in around.relations]) < NAMED
        by_name = NAMED * (named_ends(asked.nouns, around) & free)
        named = bool(by_name.any())
    by_name[pairs.relations] = 0.0
    strict = matches(by_name) + NAMED * pairs.named(asked.nouns)
    # Classed as something else, and of another kind.
    other = said.otherwise & (strict < NAMED)
    called = (strict >= NAMED) | said.members
    doubtful &= strict < NAMED  # A home ground is a stadium, though no place by name.
    if named or stated:
        match = strict + STATED * said.called + NAMED * said.likely
        # An actor may be somebody's wife, with a place of birth.
        of_kind = sums(by_kind[..., KINDS.index(asked.kind)])
        others = total if asked.kind == "thing" else total - of_kind
        other_kind = by_class[:, KINDS.index(asked.kind)] <= 0
        other_kind |= asked.kind == "thing"
        few = _too_few(match, others, FEW_NAMED) | ((match <= 0) & match.any())
        if asked.kind == "place" and match.max(initial=0.0) < NAMED:
            few &= of_kind <= 0  # A country may have no capital here.
        wrong |= few | (other & other_kind)
        doubtful |= (total <= 0) & (match <= 0) & match.any() | other | said.partly
    elif (strict >= NAMED).any() and other.any():
        doubtful = doubtful | other
    elif (
        asked.kind == "thing"
        and asked.nouns
        and not any(map(is_attribute, asked.nouns))
    ):
        # Which band made the album? No genre.
        attributes = sums(_attributes(around.relations))
        doubtful = (attributes >= MOST * total) & (total > 0)
    wrong &= total > 0
    conflict = np.zeros(v, bool)
    if not (named or stated or asked.nouns.isdisjoint(_ROLES)):
        roles = np.array([_other_roles(asked.nouns, r) for r in around.relations])
        conflict = sums(roles) > 0
    if not (named or stated) and asked.nouns and asked.nouns.isdisjoint(GENERIC_NOUNS):
        conflict |= said.otherwise & classes.of_many(MANY, v, around, GENERIC_NOUNS)
    penalty = STATED_PENALTY if stated else PENALTY
    lost = np.where(wrong, penalty, np.where(doubtful, DOUBT, 0.0))
    of_kind = sums(
        by_kind[..., [*map(KINDS.index, ("person", "place", "time"))]].sum(2)
    )
    return lost.astype(np.float32), called, conflict, bool(stated), of_kind > 0


def _too_few(
    match: Float[np.ndarray, "v"], total: Float[np.ndarray, "v"], share: float
) -> Bool[np.ndarray, "v"]:
    """Whether few of the weights match; False where none of any node does."""
    return (match < share * total) & match.any()


@cache
def kind_weights(relation: str) -> Float[np.ndarray, "2 k"]:
    """Weights of the nouns at a relation's heads and tails, by their kind."""
    out = np.zeros((2, len(KINDS)))
    for side, nouns in enumerate(end_nouns(relation)):
        for noun, weight in nouns.items():
            out[side, KINDS.index(noun_kind(noun))] += weight
    return out


@lru_cache(maxsize=1 << 14)
def _leads_to(asked: frozenset[str], relation: str) -> bool:
    """Whether a relation leads to what is asked for.

    A "source package" is a package, and others may be packages too. "Includes company"
    and "starred actors" begin with a verb.
    """
    return any(
        noun in asked
        or (noun.partition(" ")[0].endswith(("s", "ed")) and names_same(noun, asked))
        for nouns in end_nouns(relation)
        for noun in nouns
    )


@lru_cache(maxsize=1 << 14)
def named_weights(asked: frozenset[str], relation: str) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that name what is asked."""
    return _weights(relation, partial(names_same, asked=asked))


@lru_cache(maxsize=1 << 14)
def _other_roles(asked: frozenset[str], relation: str) -> tuple[bool, bool]:
    """Whether a relation calls its heads and tails by another role than is asked for.

    An author is no translator.
    """
    forms = frozenset[str]().union(*map(word_forms, asked & _ROLES))
    if not forms.isdisjoint(relation_forms(relation)):
        return False, False
    head, tail = (
        any(weight >= NAMED and noun in _ROLES for noun, weight in nouns.items())
        for nouns in end_nouns(relation)
    )
    return head, tail


@cache
def attribute_weights(relation: str) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that name properties."""
    return _weights(relation, is_attribute)


def _weights(relation: str, is_meant: Callable[[str], bool]) -> tuple[float, float]:
    """Weights of the nouns at a relation's heads and tails that are meant."""
    head, tail = (
        sum(weight for noun, weight in nouns.items() if is_meant(noun))
        for nouns in end_nouns(relation)
    )
    return head, tail


def _attributes(relations: Sequence[str]) -> Float[np.ndarray, "u 2"]:
    return np.array([attribute_weights(relation) for relation in relations])
