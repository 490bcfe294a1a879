"""What nodes lose by what the relations and classes around them call them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Float32

from kgscout_jax.retrieve.kind_weights import (
    GENERIC_NOUNS,
    all_weights,
    attributes,
    kind_weights,
    named_weights,
    other_roles,
)
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_ends import named_ends
from kgscout_jax.retrieve.node_classes import called_nodes, node_classes
from kgscout_jax.retrieve.type_pairs import TypePairs
from kgscout_jax.text.asked_kind import AskedKind
from kgscout_jax.text.kinds import HEAD, KINDS, NAMED, STATED, is_attribute

PENALTY = 10.0
"""Logits that a node of another kind loses, see ``recipes/answer_kinds.py``: chosen on
graphs that policies had not seen."""
STATED_PENALTY = 20.0
"""The same where classes of nodes say what is of that kind."""
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
_KINDS = [KINDS.index(kind) for kind in ("person", "place", "time")]
"""Kinds but for that of mere things."""
MANY = 10
"""Members from which on a class is one of a whole table."""


class KindPenalties(NamedTuple):
    """What the relations and classes around nodes say of their kind."""

    lost: Float32[np.ndarray, "v"]
    """What each node loses of its logit."""
    called: Bool[np.ndarray, "v"]
    """True at nodes that a class or a relation calls what is asked for."""
    conflict: Bool[np.ndarray, "v"]
    """True at nodes that are called something else, where nothing is called that."""
    stated: bool
    """Whether classes of nodes say what is called so."""
    of_kind: Bool[np.ndarray, "v"]
    """True at nodes that relations call people, places or times."""
    of_other: Bool[np.ndarray, "v"]
    """True at nodes that classes call people, places or times, unless these are asked
    for."""


@dataclass(frozen=True)
class _Sums:
    """Sums over the relations around nodes, of weights at their heads and tails."""

    around: LocalGraph
    unnamed: Bool[np.ndarray, "v"]

    def of(self, weights: Float[np.ndarray, "u 2"]) -> Float[np.ndarray, "v"]:
        """Each relation counts once at each end of a node, whatever its triplets."""
        node, end = self.around.ends
        return np.bincount(node, weights.reshape(-1)[end], minlength=len(self.unnamed))

    def with_records(self, weights: Float[np.ndarray, "u 2"]) -> Float[np.ndarray, "v"]:
        """A record that is called mayor stands for the person that it leads to."""
        own = self.of(weights)
        out = own.copy()
        for side in (0, 1):
            record, beyond = self.around.nodes[:, [side, 1 - side]].T
            others = own[record] - weights[self.around.relation_index, side]
            np.maximum.at(out, beyond, np.where(self.unnamed[record], others, 0.0))
        return out


def kind_penalties(
    asked: AskedKind,
    named: bool,
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    pairs: TypePairs,
) -> KindPenalties:
    """What nodes lose by what the relations around them call them.

    Args:
        asked: what the question asks for.
        named: whether a relation leads to that by name.
        around: the candidates.
        unnamed: True at nodes without a name.
        pairs: types by relations that name two.
    """
    v, sums = len(unnamed), _Sums(around, unnamed)
    by_kind = np.concatenate([kind_weights(relation) for relation in around.relations])
    by_kind = by_kind.reshape(-1, 2, len(KINDS))
    classes = node_classes(around)
    by_kind[around.to_class, HEAD] = 0.0
    by_kind[pairs.relations] = 0.0
    by_class = STATED * classes.kinds(around, v) + NAMED * pairs.kinds
    total = sums.of(by_kind.sum(axis=2)) + by_class.sum(axis=1)
    kind = KINDS.index(asked.kind)
    wrong, doubtful = np.zeros(v, bool), np.zeros(v, bool)
    if asked.kind == "place":
        others = by_kind[..., _NO_PLACES].sum(axis=2) + attributes(around.relations)
        # A class of things is seldom one of places, nor of anything else.
        wrong = sums.of(others) + by_class[:, _NO_PLACES].sum(axis=1) >= MOST * (
            total - by_class[:, KINDS.index("thing")]
        )
        places = sums.of(by_kind[..., kind]) + by_class[:, kind]
        if not asked.or_host:
            doubtful = (places <= 0) & places.any()
    elif asked.kind != "thing":
        match = sums.with_records(by_kind[..., kind]) + by_class[:, kind]
        wrong = _too_few(match, total, FEW)
        doubtful = (total <= 0) & match.any()
    by_name = np.array([named_weights(asked.nouns, each) for each in around.relations])
    said = called_nodes(asked.nouns, classes, around, v)
    stated = bool(said.called.any() or said.likely.any())
    if asked.nouns and not (named or stated or by_name.any()):
        # What a relation calls publishers are no books.
        free = np.array([*map(all_weights, around.relations)]) < NAMED
        by_name = NAMED * (named_ends(asked.nouns, around) & free)
        named = bool(by_name.any())
    by_name[pairs.relations] = 0.0
    strict = sums.with_records(by_name) + NAMED * pairs.named(asked.nouns)
    # Classed as something else, and of another kind.
    other = said.otherwise & (strict < NAMED)
    doubtful &= strict < NAMED  # A home ground is a stadium, though no place by name.
    if named or stated:
        match = strict + STATED * said.called + NAMED * said.likely
        # An actor may be somebody's wife, with a place of birth.
        of_kind = sums.of(by_kind[..., kind])
        others = total if asked.kind == "thing" else total - of_kind
        few = _too_few(match, others, FEW_NAMED) | ((match <= 0) & match.any())
        if asked.kind == "place" and match.max(initial=0.0) < NAMED:
            few &= of_kind <= 0  # A country may have no capital here.
        other_kind = (by_class[:, kind] <= 0) | (asked.kind == "thing")
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
        of_others = sums.of(attributes(around.relations))
        doubtful = (of_others >= MOST * total) & (total > 0)
    wrong &= total > 0
    conflict = np.zeros(v, bool)
    if not (named or stated):
        roles = [other_roles(asked.nouns, each) for each in around.relations]
        conflict = sums.of(np.array(roles)) > 0
        if asked.nouns and asked.nouns.isdisjoint(GENERIC_NOUNS):
            of_many = classes.of_many(MANY, v, around, GENERIC_NOUNS)
            conflict |= said.otherwise & of_many
    penalty = STATED_PENALTY if stated else PENALTY
    lost = np.where(wrong, penalty, np.where(doubtful, DOUBT, 0.0))
    return KindPenalties(
        lost.astype(np.float32),
        (strict >= NAMED) | said.members,
        conflict,
        stated,
        sums.of(by_kind[..., _KINDS].sum(axis=2)) > 0,
        by_class[:, [each for each in _KINDS if each != kind]].sum(axis=1) > 0,
    )


def _too_few(
    match: Float[np.ndarray, "v"], total: Float[np.ndarray, "v"], share: float
) -> Bool[np.ndarray, "v"]:
    """Whether few of the weights match; False where none of any node does."""
    return (match < share * total) & match.any()
