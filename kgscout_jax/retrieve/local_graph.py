"""The candidates of one question as a graph of its own, with names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int

from kgscout_jax.graph.walk.block_keys import unique_keys
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.text.relation_words import is_class_relation


@dataclass(frozen=True)
class LocalGraph:
    """n triplets between nodes; what rules read of a question's candidates."""

    relations: Sequence[str]
    """Names of the relations."""
    relation_index: Int[np.ndarray, "n"]
    """Which of them each triplet has."""
    nodes: Int[np.ndarray, "n 2"]
    """Of head and tail of each triplet."""
    mentions: Sequence[Int[np.ndarray, "g"]]
    """The topics' nodes: those that the same words of the question name together."""
    names_of: Callable[[Int[np.ndarray, "k"]], list[str]]
    """The names of nodes."""
    whole: RelationIndex | None = None
    """The relations of the whole graph."""
    decimal_commas: bool = False
    """Whether values of the whole graph have decimal commas."""

    @cached_property
    def used(self) -> Int[np.ndarray, "k"]:
        """The nodes of triplets, ascending."""
        return np.flatnonzero(np.bincount(self.nodes.ravel()))

    @cached_property
    def names(self) -> list[str]:
        """The names of ``used``, read once for all rules."""
        return self.names_of(self.used)

    @cached_property
    def folded_names(self) -> list[str]:
        """``names``, casefolded."""
        return [name.casefold() for name in self.names]

    @cached_property
    def entities(self) -> Int[np.ndarray, "j"]:
        """The nodes at the ends of relations where heads of triplets stand, ascending.

        Values and texts stand where nothing has triplets of its own.
        """
        node, end = self.ends
        is_head = np.bincount(self.nodes[:, 0], minlength=node.max(initial=-1) + 1) > 0
        has_heads = np.bincount(end, is_head[node]) > 0
        return np.unique(node[has_heads[end]])

    @cached_property
    def to_class(self) -> Bool[np.ndarray, "r"]:
        """True at the relations whose tails are classes of their heads."""
        return np.array([*map(is_class_relation, self.relations)], bool)

    @cached_property
    def ends(self) -> tuple[Int[np.ndarray, "p"], Int[np.ndarray, "p"]]:
        """(node, end) of each node at each end where it stands, once.

        An end is 2 * relation at its heads, and one more at its tails.
        """
        width = 2 * len(self.relations)
        end = self.relation_index[:, None] * 2 + np.array([0, 1])
        keys = (self.nodes * width + end).ravel()
        cells = (int(self.nodes.max(initial=0)) + 1) * width
        node, end = np.divmod(unique_keys(keys, cells), width)
        return node, end

    def tail_shares(self, nodes: Bool[np.ndarray, "v"]) -> Float64[np.ndarray, "r"]:
        """Of each relation the share of its tails, each counted once, that are among
        these nodes; 0 without tails."""
        node, end = self.ends
        is_tail = end % 2 == 1
        relation, width = end[is_tail] // 2, len(self.relations)
        inside = np.bincount(relation, nodes[node[is_tail]], width)
        return inside / np.maximum(np.bincount(relation, minlength=width), 1)

    @cached_property
    def starts(self) -> Int[np.ndarray, "t"]:
        """The topics' nodes, ascending."""
        nodes = [node for mention in self.mentions for node in mention.tolist()]
        return np.unique(np.array(nodes, np.int64))

    def topic_mask(self, v: int) -> Bool[np.ndarray, "v"]:
        """True at the topics' nodes, of v nodes."""
        out = np.zeros(v, bool)
        out[self.starts] = True
        return out
