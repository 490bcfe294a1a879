"""Entities that are found over the whole graph, without a walk, and what shows them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32, Int

from kgscout_jax.inference.answer_kinds import AnswerKind
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import MAX_ANSWERS, NodeAnswers
from kgscout_jax.inference.relation_sides import Side
from kgscout_jax.inference.scoring import Scores

MAX_EVIDENCE = 100
"""Triplets that are shown for one of them."""


@dataclass(frozen=True, kw_only=True)
class EntitySet:
    """The entities that answer a question, which no walk finds."""

    entities: Int[np.ndarray, "w"]
    relation: int
    """Its triplets show why they are answers."""
    end: int
    """Where they stand in these, ``HEAD`` or ``TAIL``."""
    probability: float
    counted: bool = False
    """Whether their number is the answer."""
    number: str = ""
    """What their values give, where that is the answer."""
    rows: Int[np.ndarray, "r"] | None = None
    """The rows that lead to them; None: they are not what rows hold."""
    measure: int = -1
    """The relation from these rows to what was compared."""

    @staticmethod
    def of(
        entities: Int[np.ndarray, "w"],
        side: Side,
        probability: float,
        *,
        counted: bool,
    ) -> EntitySet | None:
        """The set; None where it is empty, or too long a list.

        Args:
            entities: the answers.
            side: the relation that shows them, and their end.
            probability: of each.
            counted: whether their number is asked for.
        """
        if not len(entities) or (len(entities) > MAX_ANSWERS and not counted):
            return None
        relation, end = side
        return EntitySet(
            entities=entities.astype(np.int32),
            relation=relation,
            end=end,
            probability=probability,
            counted=counted,
        )

    def with_number(self, number: str) -> EntitySet:
        """The set with what its values give as the answer."""
        return replace(self, counted=False, number=number)

    def shown_by(self, rows: Int[np.ndarray, "r"], measure: int) -> EntitySet:
        """The set with the rows that lead to it, and what was compared of them."""
        return replace(self, rows=rows.astype(np.int32), measure=measure)

    @property
    def roots(self) -> Int[np.ndarray, "r"]:
        """The entities around which candidates are found."""
        roots = self.entities[:MAX_ANSWERS]
        return roots if self.rows is None else np.union1d(roots, self.rows)

    def answers(self, candidates: Candidates, scores: Scores) -> NodeAnswers | None:
        """Them as answers, with what shows them; None without an answer head."""
        if scores.follow is None:
            return None
        shown = self.entities[:MAX_ANSWERS]
        nodes = np.flatnonzero(np.isin(candidates.entities, shown))
        slots = self._slots(candidates)
        ends = candidates.nodes[slots, self.end]
        if self.rows is not None:
            ends = self._ends_of_rows(candidates, slots)
        kind: AnswerKind = "count" if self.counted else "set"
        if self.number:
            kind = "number"
        return NodeAnswers(
            nodes=nodes,
            probabilities=np.full(len(nodes), self.probability),
            abstained=False,
            topics=np.empty(0, np.int64),
            follow=scores.follow,
            kind=kind,
            value=str(len(self.entities)) if self.counted else self.number,
            probability=self.probability,
            evidence={
                node: tuple(slots[ends == node][:MAX_EVIDENCE].tolist())
                for node in nodes.tolist()
            },
        )

    def logits(
        self, candidates: Candidates, logits: Float32[np.ndarray, "n"]
    ) -> Float32[np.ndarray, "n"]:
        """The logits of the candidates, with what shows them above the others."""
        slots, raised = self._slots(candidates), logits.copy()
        if len(slots):
            raised[slots] += logits.max() - logits[slots].min() + 1
        return raised

    def _slots(self, candidates: Candidates) -> Int[np.ndarray, "s"]:
        """The candidates that show one of them."""
        relations = candidates.relations[candidates.relation_index]
        if self.rows is not None:
            of_rows = np.isin(candidates.entities[candidates.nodes[:, 0]], self.rows)
            shown = np.isin(relations, (self.relation, self.measure))
            return np.flatnonzero(of_rows & shown)
        answers = np.isin(candidates.entities, self.roots)
        return np.flatnonzero(
            (relations == self.relation) & answers[candidates.nodes[:, self.end]]
        )

    def _ends_of_rows(
        self, candidates: Candidates, slots: Int[np.ndarray, "s"]
    ) -> Int[np.ndarray, "s"]:
        """Of each slot of a row the node that the row leads to."""
        heads, tails = candidates.nodes[slots].T
        relations = candidates.relations[candidates.relation_index[slots]]
        leads = relations == self.relation
        of_row = dict(zip(heads[leads].tolist(), tails[leads].tolist(), strict=True))
        return np.array([of_row.get(head, -1) for head in heads.tolist()], np.int64)
