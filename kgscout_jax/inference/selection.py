"""Selection of triplets from a ranking: their number and their order."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from jaxtyping import Float32

from kgscout_jax.errors import UserError
from kgscout_jax.reason.selection import (
    PromptSettings,
    SelectionForm,
    answer_closure,
    check_form,
    check_token_budget,
    pool_size,
    select,
)
from kgscout_jax.utils.checks import check_at_least

if TYPE_CHECKING:
    from kgscout_jax.export.load import Exported
    from kgscout_jax.inference.result import RetrievalResult
    from kgscout_jax.retrieve.budget import Calibration

RetrieverChoice = Literal[
    "scout", "cosine", "prize_triplets", "prize_paths", "prize_subgraph"
]


@dataclass(frozen=True, kw_only=True)
class SelectionConfig:
    """Settings of a selection; the default is the k best, best first."""

    target: float | None = None
    """The fewest triplets that hold an answer with this calibrated probability."""
    form: SelectionForm = "lines"
    """Best first; or joined into paths from the topics, chain by chain; or best first
    with the paths to the best answers among them."""
    token_budget: int | None = None
    """Maximum tokens of a prompt (one_shot) with these triplets."""
    min_probability: float | None = None
    """No answer below this probability of the best one, only guesses; None: as the
    policy was calibrated."""
    retriever: RetrieverChoice = "scout"
    """What ranks the candidates: the policy, their cosine, or prizes by the policy's
    logits and answers (OKGQA). Paths and subgraphs may hold fewer than k triplets."""

    def __post_init__(self) -> None:
        check_form(self.form)
        if self.retriever not in get_args(RetrieverChoice):
            raise UserError(
                f"--retriever: found {self.retriever!r}, expected one of "
                f"{', '.join(get_args(RetrieverChoice))}"
            )
        target, least = self.target, self.min_probability
        if target is not None and not (isinstance(target, Real) and 0 < target < 1):
            raise UserError(
                f"--target: found {target!r:.80}, expected a number between 0 and 1"
            )
        if least is not None and not (isinstance(least, Real) and 0 <= least <= 1):
            raise UserError(
                f"--min-probability: found {least!r:.80}, expected a number from 0 to 1"
            )
        if self.retriever != "scout" and (self.form == "answers" or self.target):
            found = "a target" if self.target else f"--form {self.form}"
            raise UserError(
                f"--retriever {self.retriever}: found {found}, expected none, or "
                "--retriever scout"
            )
        budget = self.token_budget
        if budget is not None and not isinstance(budget, Integral):
            raise UserError(
                f"--token-budget: found {budget!r:.80}, expected a whole number"
            )
        check_at_least(1, token_budget=budget)
        check_token_budget(self.token_budget, PromptSettings())

    def check(self, exported: Exported) -> None:
        """Raise UserError if the policy cannot select so."""
        self.calibration(exported)
        if self.form == "answers" and not exported.has_answers:
            raise UserError(
                f"--form answers: {exported.path} has no answer head, expected a "
                "policy trained with one, or --form lines"
            )

    @property
    def is_joinable(self) -> bool:
        """Whether triplets of several questions can be selected as one: the k best."""
        whole = self.form == "paths" or self.token_budget is not None
        return self.retriever == "scout" and self.target is None and not whole

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

    def positions(
        self,
        ranking: RetrievalResult,
        k: int,
        logits: Float32[np.ndarray, "n"],
        calibration: Calibration | None,
        answer_paths: Sequence[Sequence[int]] = (),
    ) -> tuple[Sequence[int], dict[str, Any]]:
        """(ranks of the selected triplets, facts of the selection) of a question.

        Args:
            ranking: the ``depth(k)`` best triplets, best first; behind them those that
                only the paths to the answers need.
            k: maximum number of triplets.
            logits: logits of all candidates, in any order.
            calibration: required with a target.
            answer_paths: ranks of the triplets on the path to each answer, for the form
                "answers".

        Raises:
            UserError: the token budget is too small for the template and the question.
        """
        report: dict[str, Any] = {}
        if calibration is not None:
            k, report["presence"] = self._fewest(ranking, k, logits, calibration)
            report["target"] = self.target
        if self.form != "paths" and self.token_budget is None:
            if self.form == "lines":
                return range(min(k, len(ranking))), report
            report["form"] = self.form
            return answer_closure(answer_paths, k, len(ranking)), report
        selection = select(
            ranking.question,
            ranking.scored,
            ranking.topics,
            k=k,
            form=self.form,
            token_budget=self.token_budget,
            answer_paths=answer_paths,
            sources=ranking.prompt_sources,
        )
        report |= {"form": self.form, "tokens": selection.prompt.tokens}
        return selection.positions, report

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


def calibration_graph(
    exported: Exported, counts: Mapping[str, int]
) -> Literal["same", "another", "unknown"]:
    """Whether a policy's calibration was made on a graph with these counts.

    Counts may differ by a hundredth, because graphs grow. Exports of earlier versions
    do not say what they were calibrated on.
    """
    graphs = exported.metadata.get("calibration_graphs")
    if not isinstance(graphs, list) or not graphs:
        return "unknown"
    for graph in graphs:
        known = graph if isinstance(graph, dict) else {}
        if all(
            isinstance(known.get(name), int) and abs(known[name] - n) <= n / 100
            for name, n in counts.items()
        ):
            return "same"
    return "another"


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
        sources=tuple(result.sources[i] for i in positions) if result.sources else (),
        triplet_ids=result.triplet_ids[positions],
        selection=selection,
    )
