"""What the records hold that have everything a question names.

"Who refereed Chelsea against Luton" asks for one match, and a match is a node without a
name between what is known of it. "Which customers bought a desk from Ann" names with
``desk`` what the records of Ann's orders hold as well, whether it is a topic or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool

from kgscout_jax.graph.row_id import table_of_row
from kgscout_jax.retrieve.kind_mask import kind_of_class
from kgscout_jax.retrieve.kind_weights import kind_weights, named_weights
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.shared_nodes import neighbours
from kgscout_jax.text.asked_kind import asked_kind
from kgscout_jax.text.kinds import KINDS, TAIL, base_noun, singular
from kgscout_jax.text.name_forms import is_value
from kgscout_jax.text.relation_phrases import relation_forms, word_forms
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.words import FUNCTION_WORDS, WORD, question_words

_PERSON = KINDS.index("person")
_DOERS = ("er", "or", "ee", "ist", "man")
"""What nouns for those end with who do something."""
_PLACES = frozenset("position place rank ranking placing finish standing".split())
"""What relations to places in a ranking end with."""
_FIRST = ("1", "1st", "first", "1.")
_PARTS = frozenset(("role", "character"))
"""What people play."""


class RecordNodes(NamedTuple):
    """What the records hold that a question is about."""

    nodes: Bool[np.ndarray, "v"]
    """Nodes beside them that may be answers."""
    stated: Bool[np.ndarray, "v"] | None
    """Those that a relation leads to which the question names; None: there are none."""


def record_nodes(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    possible: Bool[np.ndarray, "v"],
    named: Bool[np.ndarray, "r"],
) -> RecordNodes | None:
    """The possible nodes beside records with every topic, and with what else is named.

    None where no record has all of it. Where the question names but one thing, that
    must stand in records alone, for one reason, and the question name a relation of
    theirs.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        possible: False at nodes that are no answers.
        named: relations that the question names.
    """
    if not around.mentions or not unnamed.any():
        return None
    records = unnamed.copy()
    is_topic = around.topic_mask(len(unnamed))
    asked = asked_kind(question, topics) or kind_of_class(question, topics)
    nouns = frozenset[str]() if asked is None else asked.nouns
    mentions = 0
    for mention in around.mentions:
        topic = np.zeros_like(unnamed)
        topic[mention] = True
        beside = neighbours(topic, around)
        called = {base_noun(name.casefold()) for name in around.names_of(mention)}
        if not nouns.isdisjoint(called) and not (unnamed & beside).any():
            continue  # "Which boat" names no boat.
        records &= beside
        mentions += 1
    if not records.any() or not mentions:
        return None
    held = neighbours(records, around) & ~unnamed & ~is_topic
    # A series 9 is not named by "Boeing 787-9".
    rest = question.casefold()
    for topic in topics:
        rest = rest.replace(topic.casefold(), " ; ")
    conditions = _named_in(rest, held, around)
    ranking = _ranking(around)
    conditions |= _outcomes(question, topics, records, held, around, ranking)
    kept = _with_conditions(records, conditions, around, named | ranking)
    nodes = neighbours(kept, around) & possible & ~unnamed & ~is_topic & ~conditions
    heads, tails = around.nodes.T
    of_records = np.unique(around.relation_index[kept[heads] & ~is_topic[tails]])
    leading = np.zeros_like(named)
    if asked is not None and asked.nouns:
        leading = named & [leads_to(each, asked.nouns) for each in around.relations]
    if leading.any():
        named = _best_named(question, topics, leading, around)
    elif asked is not None and asked.kind == "person":
        people = [_leads_to_person(i, around) for i in of_records.tolist()]
        if not (named[of_records] & np.array(people, bool)).any():
            doers = _doers(question, topics, kept, around)
            named = doers if doers.any() else named
    said = np.flatnonzero(named[around.relation_index] & kept[around.nodes[:, 0]])
    stated_by = np.zeros_like(named)
    stated_by[around.relation_index[said]] = True
    stated = np.zeros_like(unnamed)
    stated[around.nodes[said, 1]] = True
    stated &= nodes
    if mentions == 1 and kept.sum() == records.sum():
        # A team that plays at home and away stands in matches for two reasons.
        beside = is_topic[around.nodes].any(axis=1) & records[around.nodes].any(axis=1)
        ways = np.unique(around.relation_index[beside])
        alone = not (neighbours(is_topic, around) & ~unnamed).any()
        # A patient has a town, but nothing has a medication except visits.
        own = ~unnamed[around.nodes[:, 0]] & stated_by[around.relation_index]
        own |= is_topic[around.nodes[:, 0]] & named[around.relation_index]
        # An airline that a flight with the aircraft joins with it also operates it.
        own |= (is_topic[around.nodes] & stated[around.nodes[:, ::-1]]).any(axis=1)
        only = alone or (stated.any() and not own.any())
        nodes = stated if only and len(ways) == 1 else np.zeros_like(nodes)
    if not nodes.any():
        return None
    return RecordNodes(nodes, stated if stated.any() else None)


def leads_to(relation: str, nouns: frozenset[str]) -> bool:
    """Whether a relation calls its tails, or is called, one of these nouns.

    >>> leads_to("directed_by", frozenset(["director"]))
    True
    >>> leads_to("showstopper", frozenset(["showstopper"]))
    True
    >>> leads_to("order_id", frozenset(["order"]))
    True
    """
    is_called = _joined_label(relation) in _joined(nouns)
    return is_called or named_weights(nouns, relation)[TAIL] > 0


@lru_cache(maxsize=1 << 14)
def _joined_label(relation: str) -> str:
    """What a relation is called, in singular and as one word.

    A showstopper is one word of a question, and more of a relation. An order is what
    ``order_id`` leads to, and a customer what ``customer_name`` does.
    """
    words = relation_words(relation)
    is_label = words[-1:] in (["id"], ["name"])
    return "".join(singular(words[: -1 if is_label else None]))


@lru_cache(maxsize=1 << 10)
def _joined(nouns: frozenset[str]) -> frozenset[str]:
    """Nouns as one word each."""
    return frozenset(noun.replace(" ", "") for noun in nouns)


def _doers(
    question: str,
    topics: Sequence[str],
    records: Bool[np.ndarray, "v"],
    around: LocalGraph,
) -> Bool[np.ndarray, "r"]:
    """The one relation of records to people, where the question says what they are.

    Who "borrowed" a book is who a row of ``loans`` leads to, and who "plays" Neo stands
    in the row whose ``role`` that is.
    """
    out = np.zeros(len(around.relations), bool)
    names = [around.names[i] for i in np.flatnonzero(records[around.used]).tolist()]
    tables = {table for name in names if (table := table_of_row(name))}
    words = [word_forms(word.text) for word in question_words(question, topics)]
    said = [forms for table in tables for forms in map(word_forms, WORD.findall(table))]
    is_topic = around.topic_mask(len(records))
    of_records, to_topic = records[around.nodes[:, 0]], is_topic[around.nodes[:, 1]]
    by = np.unique(around.relation_index[of_records & to_topic]).tolist()
    names_by = [str(around.relations[i]) for i in by]
    forms = [relation_forms(each) for each in names_by if leads_to(each, _PARTS)]
    in_table = said and not any(one.isdisjoint(each) for each in said for one in words)
    by_topic = all(any(not one.isdisjoint(each) for each in forms) for one in words)
    if not (in_table or (words and by_topic)):
        return out
    used = np.unique(around.relation_index[of_records & ~to_topic]).tolist()
    people = [i for i in used if _leads_to_person(i, around)]
    out[people] = len(people) == 1
    return out


def _leads_to_person(index: int, around: LocalGraph) -> bool:
    return bool(kind_weights(str(around.relations[index]))[TAIL, _PERSON] > 0)


def _best_named(
    question: str,
    topics: Sequence[str],
    named: Bool[np.ndarray, "r"],
    around: LocalGraph,
) -> Bool[np.ndarray, "r"]:
    """Those of the relations that most words of the question name.

    "On what date did Ann visit" names ``visit_date``, and no ``date_of_birth``.
    """
    words = [word_forms(word.text) for word in question_words(question, topics)]
    forms = [relation_forms(each) for each in around.relations]
    said = [sum(not word.isdisjoint(each) for word in words) for each in forms]
    counts = np.where(named, said, 0)
    return named & (counts == counts.max())


def _with_conditions(
    records: Bool[np.ndarray, "v"],
    conditions: Bool[np.ndarray, "v"],
    around: LocalGraph,
    named: Bool[np.ndarray, "r"],
) -> Bool[np.ndarray, "v"]:
    """The records that lead to a condition by each relation by which some do.

    A number that several relations lead to is one by those that the question names: in
    "series 1" the first series, of any episode.
    """
    heads, tails = around.nodes.T
    leads = records[heads] & conditions[tails]
    if not leads.any():
        return records
    names = dict(zip(around.used.tolist(), around.names, strict=True))
    for node in np.unique(tails[leads]).tolist():
        to_node = leads & (tails == node)
        several = len(np.unique(around.relation_index[to_node])) > 1
        if several and is_value(names[node]):
            leads &= ~to_node | named[around.relation_index]
    for number in np.unique(around.relation_index[leads]):
        with_it = np.zeros_like(records)
        with_it[heads[leads & (around.relation_index == number)]] = True
        if (records & with_it).any():
            records = records & with_it
    return records


def _named_in(
    question: str, nodes: Bool[np.ndarray, "v"], around: LocalGraph
) -> Bool[np.ndarray, "v"]:
    """Those nodes whose names a casefolded question says, in singular or plural."""
    text = in_singular(question)
    out = np.zeros_like(nodes)
    for node, name in zip(around.used.tolist(), around.folded_names, strict=True):
        if nodes[node] and name not in FUNCTION_WORDS:
            out[node] = in_singular(name) in text
    return out


def _outcomes(
    question: str,
    topics: Sequence[str],
    records: Bool[np.ndarray, "v"],
    held: Bool[np.ndarray, "v"],
    around: LocalGraph,
    ranking: Bool[np.ndarray, "r"],
) -> Bool[np.ndarray, "v"]:
    """The cells of records that say a verb of the question as a noun: those who "won"
    have ``winner`` as their result, or the place 1."""
    out, first = np.zeros((2, len(held)), bool)
    said = [_plain_forms(word.text) for word in question_words(question, topics)]
    for node, name in zip(around.used.tolist(), around.folded_names, strict=True):
        first[node] = name in _FIRST
        if held[node] and name.isalpha() and name.endswith(_DOERS):
            forms = _plain_forms(name)
            out[node] = any(not forms.isdisjoint(each) for each in said)
    if any("win" in each for each in said):
        heads, tails = around.nodes.T
        placed = tails[ranking[around.relation_index] & records[heads]]
        out[placed[first[placed]]] = True
    return out & held


def _plain_forms(word: str) -> set[str]:
    """The forms of a word without those of related ones."""
    return {form for form in word_forms(word) if not form.startswith("~")}


def _ranking(around: LocalGraph) -> Bool[np.ndarray, "r"]:
    """The relations to places in a ranking."""
    last = (relation_words(each)[-1:] for each in around.relations)
    return np.array([bool(_PLACES.intersection(each)) for each in last], bool)


def in_singular(text: str) -> str:
    """The words of a casefolded text between blanks, nouns in singular."""
    return f" {' '.join(map(base_noun, WORD.findall(text)))} "
