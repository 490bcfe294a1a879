"""Parents, children, couples, siblings and genders among the candidates of a question.

A graph of people holds fathers and mothers, and people ask for aunts.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.text.kin_words import (
    Gender,
    Kin,
    gender_of,
    is_gender_relation,
    kin_relation,
)

Pairs = Int[np.ndarray, "p 2"]
_OTHER: dict[Gender, Gender] = {"male": "female", "female": "male"}


def genders_around(around: LocalGraph, v: int) -> dict[Gender, Bool[np.ndarray, "v"]]:
    """Of each gender the nodes that a relation says to be of it; ``v``: of nodes."""
    out: dict[Gender, Bool[np.ndarray, "v"]] = {
        "male": np.zeros(v, bool),
        "female": np.zeros(v, bool),
    }
    for number, relation in enumerate(around.relations):
        if not is_gender_relation(relation):
            continue
        heads, tails = around.nodes[around.relation_index == number].T
        ends = np.unique(tails)
        for tail, name in zip(ends.tolist(), around.names_of(ends), strict=True):
            if (gender := gender_of(name)) is not None:
                out[gender][heads[tails == tail]] = True
    return out


class Family:
    """What the candidates of a question say of kinship."""

    def __init__(self, around: LocalGraph, v: int) -> None:
        """``v``: number of nodes."""
        self.v = v
        self.genders = genders_around(around, v)
        pairs: dict[str, list[Pairs]] = {step: [] for step in "pcsb"}
        for number, relation in enumerate(around.relations):
            kin = kin_relation(relation)
            if kin is None:
                continue
            triplets = around.nodes[around.relation_index == number]
            if kin.names_head:
                triplets = triplets[:, ::-1]
            pairs[kin.step].append(triplets)
            if kin.gender is not None:
                self.genders[kin.gender][triplets[:, 1]] = True
        joined = {
            step: np.concatenate([*p, np.zeros((0, 2), int)])
            for step, p in pairs.items()
        }
        parents = np.concatenate([joined["p"], joined["c"][:, ::-1]])
        self.pairs: dict[str, Pairs] = {
            "p": parents,
            "c": parents[:, ::-1],
            "s": np.concatenate([joined["s"], joined["s"][:, ::-1]]),
            "b": np.concatenate([joined["b"], joined["b"][:, ::-1]]),
        }

    def relatives(
        self, start: Bool[np.ndarray, "v"], kin: Kin
    ) -> Bool[np.ndarray, "v"]:
        """Relatives of the nodes of ``start``, without these."""
        nodes = start
        for number, step in enumerate(kin.steps):
            nodes = self._step(nodes, step)
            if not number and kin.side is not None:
                nodes = self._of_gender(nodes, kin.side)
        nodes = nodes & ~start
        if kin.gender is None:
            return nodes
        if kin.steps[-1] == "s":  # The spouses of one person are mostly of one gender.
            return nodes & ~self.genders[_OTHER[kin.gender]]
        return self._of_gender(nodes, kin.gender)

    def _step(self, nodes: Bool[np.ndarray, "v"], step: str) -> Bool[np.ndarray, "v"]:
        """What one step of ``Kin.steps`` leads to from these nodes."""
        out = np.zeros(self.v, bool)
        source, target = self.pairs[step].T
        out[target[nodes[source]]] = True
        if step == "b":
            out |= self._step(self._step(nodes, "p"), "c")
            out &= ~nodes
        return out

    def _of_gender(
        self, nodes: Bool[np.ndarray, "v"], gender: Gender
    ) -> Bool[np.ndarray, "v"]:
        """Those known to be of a gender; if none is, those not known to be of the
        other."""
        known = nodes & self.genders[gender]
        return known if known.any() else nodes & ~self.genders[_OTHER[gender]]
