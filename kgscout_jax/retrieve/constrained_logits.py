"""What one question asks for of its candidates, and their logits by it.

Evaluation and ``Scout`` lower the same logits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int

from kgscout_jax.retrieve.kind_mask import KindMask
from kgscout_jax.retrieve.kind_penalties import DOUBT, PENALTY
from kgscout_jax.retrieve.named_relations import DETOUR_DOUBT, DETOUR_WEIGHT
from kgscout_jax.retrieve.opposed_nodes import OpposedNodes
from kgscout_jax.retrieve.value_test import Outcome, ValueTest

ANSWER_SPREAD = 0.05
"""Share of their distances in logits that nodes keep that are answers together."""
TRUST = 10.0
"""Logits by which a node that named steps or a stated relation lead to is ahead of
"there is no answer", and any other node behind it."""
NEAR_PENALTY = 2.0
"""Logits that a node one step from the topic loses where the question names a noun
between the topic and its answer."""
FORM_DOUBT = 25.0
"""Logits by which "there is no answer" is ahead of a node of another form, or of a
class, where no better one is left: no place answers "when"."""
LACK_DOUBT = 8.0
"""The same for all nodes, where the topic lacks the relation that the question says."""
CONFLICT_DOUBT = 10.0
"""The same for a node that is called something else than what is asked for."""


class ConstrainedLogits(NamedTuple):
    """Logits of one question by what it asks for."""

    triplets: Float32[np.ndarray, "n"]
    nodes: Float32[np.ndarray, "v"]
    outcome: Outcome | None
    """What values decided; None where they decided nothing."""
    doubts: Float32[np.ndarray, "v"]
    """By how much "there is no answer" is ahead of a node."""


@dataclass(frozen=True)
class QuestionConstraints:
    """What one question asks for of its candidates."""

    kind: KindMask | None
    """None where nothing here is of another kind."""
    values: ValueTest | None
    """None where no values are compared."""
    starts: Int[np.ndarray, "t"]
    """The topics' nodes."""
    unnamed: Bool[np.ndarray, "v"]
    """True at nodes without a name, such as records that hold a fact together, and at
    files that are not asked for."""
    shared: Bool[np.ndarray, "v"] | None = None
    """Nodes that several topics have in common, or that the question states to be its
    answers; None where that tells nothing."""
    named: Float32[np.ndarray, "v"] | None = None
    """What each node gains by the relations on the way to it that the question names;
    None counts as nothing."""
    detours: Int[np.ndarray, "v"] | None = None
    """Steps on the way to each node that the question has no words for; None counts as
    none."""
    opposed: Sequence[OpposedNodes] = ()
    """What a preposition means, and rules out."""
    classes: Bool[np.ndarray, "v"] | None = None
    """Classes, where none is asked for; None counts as none."""
    unsaid: Float32[np.ndarray, "v"] | None = None
    """See ``unsaid_steps``; None counts as none."""
    near: Bool[np.ndarray, "v"] | None = None
    """Nodes one step from the topic, where the answer lies further away; None counts as
    none."""
    stated: Bool[np.ndarray, "v"] | None = None
    """Those of ``shared`` that one relation leads to, which the question states."""
    chain: Bool[np.ndarray, "v"] | None = None
    """Nodes that the steps lead to which the question names; None where it names no
    chain of them."""
    alike: Bool[np.ndarray, "v"] | None = None
    """Nodes that no word tells apart, see ``alike_nodes``."""
    groups: Int[np.ndarray, "v"] | None = None
    """Of several topics the same by number, see ``ways_to_mentions``."""
    negated: bool = False
    """Whether it negates what triplets deny: "not vegetarian"."""
    lacking: bool = False
    """Whether the topic lacks the relation that the question says."""
    members: bool = False
    """Whether ``stated`` are members of the class that it asks for."""

    @property
    def v(self) -> int:
        """Number of nodes."""
        return len(self.unnamed)

    def logits(
        self,
        logits: Float32[np.ndarray, "n"],
        answers: Float32[np.ndarray, "v"],
        *,
        general: bool,
    ) -> ConstrainedLogits:
        """Logits of the candidates and of the nodes, by what is asked for.

        Args:
            logits: of the candidates.
            answers: of the nodes.
            general: whether the policy is one for any graph: then triplets of another
                kind count less as well, and as answers topics and what only some of
                them lead to.
        """
        if general and self.shared is not None:
            answers = np.where(self.shared, answers, answers - np.float32(PENALTY))
        if self.unnamed.any():
            named = answers - np.float32(PENALTY) * self.unnamed
            # A graph of bare identifiers has no better answers.
            answers = answers if self.unnamed[np.argmax(named)] else named
        if general:
            answers = answers.copy()
            if self.named is not None:
                answers += self.named
            for each in self.opposed:
                answers = each.logits(answers, PENALTY)
            if self.classes is not None:
                answers -= np.float32(PENALTY) * self.classes
            if self.detours is not None:
                answers -= np.float32(DETOUR_WEIGHT) * self.detours
            if self.near is not None:
                answers -= np.float32(NEAR_PENALTY) * self.near
            if self.chain is not None:
                answers = closer_together(answers, self.chain)
            # "Which firms are in Bern" is seldom about Bern.
            answers[self.starts] -= np.float32(DOUBT)
        possible = answers
        if self.kind is not None:
            if general:
                logits = self.kind.triplet_logits(logits)
            lowered = self.kind.node_logits(answers)
            # "Who leads the oldest firm" compares firms, and asks for no firm.
            wrong = self.kind.wrong & (lowered < answers)
            possible = np.where(wrong, -np.inf, lowered)
            answers = lowered
        for together in (self.stated, self.alike):
            if general and together is not None:
                answers = closer_together(answers, together)
        if general and self.groups is not None:
            members = np.where(self.groups >= 0, answers, -np.inf)
            best = self.groups[np.argmax(members)]
            answers = closer_together(answers, self.groups == best)
        found = None
        if self.values is not None:
            found = self.values.outcome(logits, possible)
            logits, answers = self.values.apply(found, logits, answers)
        doubts = self._doubts() if general else np.zeros(self.v, np.float32)
        return ConstrainedLogits(logits, answers, found, doubts)

    def _doubts(self) -> Float32[np.ndarray, "v"]:
        """By how much "there is no answer" is ahead of each node."""
        out = np.zeros(self.v, np.float32)
        if self.lacking:
            out += np.float32(LACK_DOUBT)
        if self.kind is not None:
            out += np.float32(FORM_DOUBT) * self.kind.by_form
            out += np.float32(CONFLICT_DOUBT) * self.kind.conflict
        if self.classes is not None:
            out += np.float32(FORM_DOUBT) * self.classes
        if self.unsaid is not None:
            unsaid = self.unsaid
            if self.members and self.stated is not None:  # Their class says the noun.
                unsaid = np.where(self.stated, np.float32(0), unsaid)
            out += unsaid
        if self.detours is not None:
            out += np.float32(DETOUR_DOUBT) * self.detours
        if self.shared is not None and self.stated is None and self.chain is None:
            out += np.where(self.shared, 0, TRUST).astype(np.float32)
        for said in (self.chain, self.stated):
            if said is not None:
                out += np.where(said, -TRUST, TRUST).astype(np.float32)
        return out


def closer_together(
    logits: Float32[np.ndarray, "v"], nodes: Bool[np.ndarray, "v"]
) -> Float32[np.ndarray, "v"]:
    """Logits, those of ``nodes`` near the best of them: all are answers, or none."""
    best = logits[nodes].max()
    if not np.isfinite(best):
        return logits
    closer = best + np.float32(ANSWER_SPREAD) * (logits - best)
    return np.where(nodes, closer, logits)
