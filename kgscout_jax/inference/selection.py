"""How much of a ranking is kept for a question, and in which order it is written."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from kgscout_jax.errors import UserError
from kgscout_jax.reason.selection import Form, check_form, pool_size, select

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.retrieve.budget import Calibration


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """What is asked beside the most triplets; the default is the k best, best first."""

    target: float | None = None
    """The fewest triplets that hold an answer with this calibrated chance."""
    form: Form = "lines"
    """Best first, or closed into paths from the topics, chain by chain."""
    token_budget: int | None = None
    """The most tokens that a prompt (thesis) with these triplets may have."""

    def __post_init__(self) -> None:
        check_form(self.form)
        if self.target is not None and not 0 < self.target < 1:
            raise UserError(
                f"--target: {self.target}, expected a number between 0 and 1"
            )
        if self.token_budget is not None and self.token_budget < 1:
            raise UserError(f"--token-budget: {self.token_budget}, expected at least 1")

    def depth(self, k: int) -> int:
        """How many of the best triplets are looked at to keep ``k``."""
        return pool_size(k, self.form)

    def calibration(self, exported: Exported) -> Calibration | None:
        """What ``target`` needs of the policy; None where none is asked for.

        Raises:
            UserError: it was exported without a calibration, or that is damaged.
        """
        if self.target is None:
            return None
        from kgscout_jax.retrieve.budget import Calibration

        value = exported.about.get("calibration")
        if value is None:
            raise UserError(
                f"--target: {exported.path} holds no calibration, expected a policy "
                "exported with --calibrate SPLIT"
            )
        return Calibration.from_dict(value, f"{exported.path}: calibration")

    def of(
        self,
        found: RetrievalResult,
        k: int,
        logits: Float32[np.ndarray, "n"],
        calibration: Calibration | None,
    ) -> RetrievalResult:
        """What is kept of the ``depth(k)`` best triplets of a question.

        Args:
            found: the best triplets, best first.
            k: how many are kept at most.
            logits: of all candidates, in any order.
            calibration: needed where there is a target.

        Raises:
            UserError: the token budget does not even hold the words and the question.
        """
        if self == SelectionConfig():
            return found
        told: dict[str, Any] = {}
        if self.target is not None:
            assert calibration is not None
            k, told["presence"] = self._budget(found, k, logits, calibration)
            told["target"] = self.target
        if self.form == "lines" and self.token_budget is None:
            return taken(found, range(min(k, len(found))), told)
        chosen = select(
            found.question,
            found.scored,
            found.topics,
            k=k,
            form=self.form,
            token_budget=self.token_budget,
        )
        told |= {"form": self.form, "tokens": chosen.prompt.tokens}
        return taken(found, chosen.positions, told)

    def _budget(
        self,
        found: RetrievalResult,
        k: int,
        logits: Float32[np.ndarray, "n"],
        calibration: Calibration,
    ) -> tuple[int, float]:
        """The fewest triplets, at most k, that reach the target, and their chance."""
        from kgscout_jax.retrieve.budget import budgets, thresholds

        assert self.target is not None
        n = np.array([min(k, len(found))])
        if not n[0]:
            return 0, 0.0
        best = found.scores[None, : n[0]]
        presence = calibration.presence(best, thresholds(logits[None]), n)
        fewest = int(budgets(presence, n, self.target)[0])
        return fewest, round(float(presence[0, fewest - 1]), 4)


def taken(
    found: RetrievalResult, positions: Any, told: dict[str, Any]
) -> RetrievalResult:
    """Some of the triplets, in this order, and what is told of them."""
    positions = list(positions)
    matches = found.relation_match
    return dataclasses.replace(
        found,
        triplets=tuple(found.triplets[i] for i in positions),
        scores=found.scores[positions],
        relation_match=tuple(matches[i] for i in positions) if matches else (),
        selection=told,
    )
