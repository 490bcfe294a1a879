"""What the triplets of a question say that its nodes are: Heat has the type Film.

Names of relations often leave open what stands at their ends. Many graphs say it of
each entity, in a triplet whose tail is a class.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.kinds import KINDS, base_noun, names_same, noun_kind
from kgscout_jax.text.question_noun import noun_of_topic
from kgscout_jax.text.relation_words import (
    leads_to_class,
    names_what_it_classes,
    split_words,
)
from kgscout_jax.text.subclasses import is_subclass_relation
from kgscout_jax.text.words import question_words

_BROAD_CLASSES = frozenset(
    "thing entity resource object node item concept agent".split()
)
"""Classes that say nothing."""
_SCHEMES = frozenset(("wordnet", "wikicat", "wikicategory"))
"""What names of classes begin with that say where the class is from."""
_SORTS = frozenset("kind type sort class category species example".split())
"""Words of questions that ask for a class."""
MOST = 0.5
"""Share of a class among those with any at the same ends of the same relations, from
which on a node without a class is likely of it."""
MIN_CLASSED = 0.1
"""Least share of the entities that have a class, values and texts aside: where few have
one, those without are not to blame."""
_CODE = re.compile(r"[A-Z]{0,5}[-_/#]?(?=(?:\D*\d){3})\d[\d\-_/]*")
"""A number behind some letters: ``INV-1042``."""
_DIGITS = "0123456789-_/"
FEW_FACTS = 3
"""Triplets from which on a code without a class is a row of a table."""
FEW_ROWS = 3
"""Members of a class from which on numbers as names tell that it is one of rows."""


@lru_cache(maxsize=1 << 12)
def class_noun(name: str) -> str:
    """What the members of a class are called, in singular.

    >>> class_noun("SoccerClub"), class_noun("Films")
    ('soccer club', 'film')
    >>> class_noun("wordnet_scientist_110560637")
    'scientist'
    """
    words = split_words(name)
    while len(words) > 1 and words[-1].isdigit():
        words = words[:-1]  # the number of a synset, or of a version
    if len(words) > 1 and words[0] in _SCHEMES:
        words = words[1:]
    return " ".join([*words[:-1], *map(base_noun, words[-1:])])


@dataclass(frozen=True)
class NodeClasses:
    """The classes of one question's nodes."""

    slots: Int[np.ndarray, "c"]
    """Triplets that lead to a class."""
    nouns: list[str]
    """What the class of each is called."""

    def kinds(self, around: LocalGraph, v: int) -> Float[np.ndarray, "v k"]:
        """1 at each kind that a class of a node is of."""
        out = np.zeros((v, len(KINDS)))
        heads = around.nodes[self.slots, 0]
        out[heads, [KINDS.index(noun_kind(noun)) for noun in self.nouns]] = 1.0
        return out

    def of_many(
        self, least: int, v: int, around: LocalGraph, generic: Collection[str]
    ) -> Bool[np.ndarray, "v"]:
        """True at nodes whose classes each are one noun and have many members.

        Args:
            least: members of a class.
            v: number of nodes.
            around: the candidates.
            generic: nouns for what is called by others as well; and of a topic.
        """
        out = np.zeros(v, bool)
        heads, tails = around.nodes[self.slots].T
        nouns, index = np.unique(self.nouns, return_inverse=True)
        members = np.bincount(index, minlength=len(nouns))
        plain = np.array([" " not in n and n not in generic for n in nouns], bool)
        tells = ((members >= least) & plain)[index]
        out[heads[tells]] = True
        out[heads[~tells]] = False
        return out if not np.isin(tails, around.starts).any() else np.zeros(v, bool)


def node_classes(around: LocalGraph) -> NodeClasses:
    """The classes that triplets state."""
    slots = np.flatnonzero(around.to_class[around.relation_index])
    names = around.names_of(around.nodes[slots, 1])
    nouns = [class_noun(name) for name in names]
    tells = np.array([noun not in _BROAD_CLASSES for noun in nouns], bool)
    return NodeClasses(slots[tells], [n for n in nouns if n not in _BROAD_CLASSES])


@dataclass(frozen=True)
class CalledNodes:
    """Which nodes are called what a question asks for."""

    called: Bool[np.ndarray, "v"]
    """True where a class says so."""
    likely: Bool[np.ndarray, "v"]
    """True without a class where the nodes at the same ends of relations are so."""
    otherwise: Bool[np.ndarray, "v"]
    """True where classes say something else only."""
    partly: Bool[np.ndarray, "v"]
    """True where they say but a part of the phrase that others are called."""
    members: Bool[np.ndarray, "v"]
    """As ``called``, also where few nodes have a class."""


def called_nodes(
    asked: Collection[str], classes: NodeClasses, around: LocalGraph, v: int
) -> CalledNodes:
    """What classes say of the nodes; nothing where few have one.

    Args:
        asked: what is asked for may be called, in singular.
        classes: of the nodes.
        around: the candidates.
        v: number of nodes.
    """
    nouns = frozenset(asked)
    called, has_class, is_noun, whole = np.zeros((4, v), bool)
    nothing = CalledNodes(*np.zeros((5, v), bool))
    if not nouns:
        return nothing
    heads, tails = around.nodes.T
    there = around.used
    names = around.folded_names
    has_class[heads[classes.slots]] = True
    same = np.array([names_same(noun, nouns) for noun in classes.nouns], bool)
    called[heads[classes.slots[same]]] = True
    narrower = _narrower_classes(nouns, around, v)
    called[heads[classes.slots[narrower[tails[classes.slots]]]]] = True
    # Any triplet may say it: who plays as "goalkeeper" is one.
    forms = {form for noun in nouns for form in _forms(noun)}
    is_noun[there] = [name in forms for name in names]
    is_noun[around.starts] = False
    to_class = np.unique(
        around.relation_index[np.r_[classes.slots, np.flatnonzero(is_noun[tails])]]
    )
    if is_noun.any():
        slots = np.isin(around.relation_index, around.relation_index[is_noun[tails]])
        has_class[heads[slots]] = True
        called[heads[slots & is_noun[tails]]] = True
        # Of "thriller films", those with this genre rather than any film.
        is_phrase = is_noun.copy()
        is_phrase[there] &= [" " in name for name in names]
        whole[heads[is_phrase[tails]]] = True
    entities = around.entities
    if not len(entities) or has_class[entities].mean() < MIN_CLASSED:
        return replace(nothing, members=called)
    node, end = around.ends
    counts = ~np.isin(end // 2, to_class)
    likely = _mean_share(called, has_class, node[counts], end[counts]) >= MOST
    partly = called & ~whole & whole.any()
    otherwise = has_class & ~called
    return CalledNodes(called, likely & ~has_class, otherwise, partly, called)


def _narrower_classes(
    nouns: frozenset[str], around: LocalGraph, v: int
) -> Bool[np.ndarray, "v"]:
    """The classes below those of a name: formations are rock units."""
    out = np.zeros(v, bool)
    below = np.array([is_subclass_relation(each) for each in around.relations], bool)
    below = below[around.relation_index]
    if not below.any():
        return out
    heads, tails = around.nodes[below].T
    names = dict(zip(around.used.tolist(), around.names, strict=True))
    wide = np.unique(tails).tolist()
    out[wide] = [names_same(class_noun(names[i]), nouns) for i in wide]
    while (found := out[tails] & ~out[heads]).any():
        out[heads[found]] = True
    return out


def unasked_classes(
    question: str,
    topics: Sequence[str],
    named: Bool[np.ndarray, "r"],
    around: LocalGraph,
    v: int,
) -> Bool[np.ndarray, "v"]:
    """True at nodes that are but classes, where the question asks for none.

    "Which dishes call for saffron" does not ask that saffron is a spice. Nor does
    "which courts are in Ohio" ask for a type of court, as "what court is it" may.

    Args:
        question: the question.
        topics: names that it mentions.
        named: relations that it names.
        around: the candidates.
        v: number of nodes.
    """
    out = np.zeros(v, bool)
    words = [word.text for word in question_words(question, topics)]
    if not words or any(base_noun(word) in _SORTS for word in words):
        return out
    to_class = np.array([leads_to_class(each) for each in around.relations], bool)
    if not noun_of_topic(question_tokens(question, topics)):
        of_class = [names_what_it_classes(each) for each in around.relations]
        named = named & ~np.array(of_class, bool)
    only = (to_class & ~named)[around.relation_index]
    out[around.nodes[only, 1]] = True
    out[around.nodes[only, 0]] = False
    out[around.nodes[~only].ravel()] = False
    return out


def numbered_nodes(around: LocalGraph, v: int) -> Bool[np.ndarray, "v"]:
    """True at the members of classes that numbers or codes name: rows of visits.

    "What was Ann diagnosed with" asks for none of them, nor who got a loan for
    ``L2023-04``. But "where is Ann" may ask for room ``R101``.
    """
    out = np.zeros(v, bool)
    is_number, is_code = np.zeros((2, v), bool)
    is_number[around.used] = [name.isdigit() for name in around.names]
    is_code[around.used] = [
        name[-1:] in _DIGITS and _CODE.fullmatch(name) is not None
        for name in around.names
    ]
    if not (is_number | is_code)[around.nodes[:, 0]].any():
        return out
    classes = node_classes(around)
    heads, tails = around.nodes[classes.slots].T
    members, numbers = (np.bincount(tails, w, v) for w in (None, is_number[heads]))
    codes = np.bincount(tails, (is_number | is_code)[heads], v)
    is_place = np.zeros(v, bool)
    is_place[tails] = [noun_kind(noun) == "place" for noun in classes.nouns]
    rows = (numbers == members) | ((codes == members) & ~is_place)
    out[heads[(rows & (members >= FEW_ROWS))[tails]]] = True
    if len(heads):  # Beside classed rows, those of a table whose name says no class.
        classed = np.zeros(v, bool)
        classed[heads] = True
        own = around.nodes[:, 0]
        free = is_code & ~classed & (np.bincount(own, minlength=v) >= FEW_FACTS)
        codes_of_rows = np.flatnonzero(free)
        by_letters: dict[str, list[int]] = {}
        for node, name in zip(
            codes_of_rows.tolist(), around.names_of(codes_of_rows), strict=True
        ):
            by_letters.setdefault(name.rstrip(_DIGITS), []).append(node)
        for group in by_letters.values():
            out[group] = len(group) >= FEW_ROWS
    return out


def _mean_share(
    some: Bool[np.ndarray, "v"],
    among: Bool[np.ndarray, "v"],
    node: Int[np.ndarray, "p"],
    end: Int[np.ndarray, "p"],
) -> Float[np.ndarray, "v"]:
    """Per node the share of ``some`` among ``among`` at the ends where it stands."""
    hits, count = (np.bincount(end, each[node]) for each in (some, among))
    share = hits / np.maximum(count, 1)
    ends = np.bincount(node, count[end] > 0, len(some))
    return np.bincount(node, share[end], len(some)) / np.maximum(ends, 1)


def _forms(noun: str) -> tuple[str, ...]:
    """A noun in singular and plural."""
    return noun, f"{noun}s", f"{noun.removesuffix('y')}ies", f"{noun}es"
