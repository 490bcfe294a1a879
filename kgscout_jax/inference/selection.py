"""Selection of triplets from a ranking: their number and their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32

from kgscout_jax.errors import UserError
from kgscout_jax.reason.selection import Form, check_form, pool_size, select
from kgscout_jax.utils.checks import check_at_least

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.retrieve.budget import Calibration


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """Settings of a selection; the default is the k best, best first."""

    target: float | None = None
    """The fewest triplets that hold an answer with this calibrated probability."""
    form: Form = "lines"
    """Best first, or joined into paths from the topics, chain by chain."""
    token_budget: int | None = None
    """Maximum tokens of a prompt (thesis) with these triplets."""

    def __post_init__(self) -> None:
        check_form(self.form)
        if self.target is not None and not 0 < self.target < 1:
            raise UserError(
                f"--target: found {self.target}, expected a number between 0 and 1"
            )
        check_at_least(1, token_budget=self.token_budget)

    def depth(self, k: int) -> int:
        """The number of best triplets that the selection of ``k`` considers."""
        return pool_size(k, self.form)

    def calibration(self, exported: Exported) -> Calibration | None:
        """The policy's calibration, which ``target`` needs; None without a target.

        Raises:
            UserError: the export has no calibration, or a damaged one.
        """
        if self.target is None:
            return None
        from kgscout_jax.retrieve.budget import Calibration

        value = exported.metadata.get("calibration")
        if value is None:
            raise UserError(
                f"--target: {exported.path} holds no calibration, expected a policy "
                "exported with --calibrate SPLIT"
            )
        return Calibration.from_dict(value, f"{exported.path}: calibration")

    def apply(
        self,
        ranking: RetrievalResult,
        k: int,
        logits: Float32[np.ndarray, "n"],
        calibration: Calibration | None,
    ) -> RetrievalResult:
        """The selection from the ``depth(k)`` best triplets of a question.

        Args:
            ranking: the best triplets, best first.
            k: maximum number of triplets.
            logits: logits of all candidates, in any order.
            calibration: required with a target.

        Raises:
            UserError: the token budget is too small for the template and the question.
        """
        if self == SelectionConfig():
            return ranking
        report: dict[str, Any] = {}
        if calibration is not None:
            k, report["presence"] = self._fewest(ranking, k, logits, calibration)
            report["target"] = self.target
        if self.form == "lines" and self.token_budget is None:
            return subset(ranking, range(min(k, len(ranking))), report)
        selection = select(
            ranking.question,
            ranking.scored,
            ranking.topics,
            k=k,
            form=self.form,
            token_budget=self.token_budget,
        )
        report |= {"form": self.form, "tokens": selection.prompt.tokens}
        return subset(ranking, selection.positions, report)

    def _fewest(
        self,
        ranking: RetrievalResult,
        k: int,
        logits: Float32[np.ndarray, "n"],
        calibration: Calibration,
    ) -> tuple[int, float]:
        """The fewest triplets, at most k, that reach the target, and their presence."""
        from kgscout_jax.retrieve.budget import budgets, thresholds

        assert self.target is not None
        n = np.array([min(k, len(ranking))])
        if not n[0]:
            return 0, 0.0
        best = ranking.scores[None, : n[0]]
        presence = calibration.presence(best, thresholds(logits[None]), n)
        fewest = int(budgets(presence, n, self.target)[0])
        return fewest, round(float(presence[0, fewest - 1]), 4)


def subset(
    result: RetrievalResult, positions: Iterable[int], selection: Mapping[str, Any]
) -> RetrievalResult:
    """The triplets at ``positions``, in this order; ``selection`` describes them."""
    positions = list(positions)
    matches = result.relation_match
    return dataclasses.replace(
        result,
        triplets=tuple(result.triplets[i] for i in positions),
        scores=result.scores[positions],
        relation_match=tuple(matches[i] for i in positions) if matches else (),
        selection=selection,
    )
