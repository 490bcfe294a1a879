"""The answers of a policy's answer head, for the rows of a batch.

The row scout is answered from all candidates of a question, whatever K. In other rows
the network sees their K triplets only, those that are candidates. Probabilities are on
one scale for all rows: that of the export, or one fitted on dev with all candidates.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.answers.evidence import LISTED, SCOUT, GraphAnswers, Source
from kgscout_jax.evaluate.answers.failures import failure_causes
from kgscout_jax.evaluate.answers.kept import kept_candidates
from kgscout_jax.export.bundled import folder_of
from kgscout_jax.export.format import is_exported, read_config
from kgscout_jax.learn.trained_policy import TrainedPolicy
from kgscout_jax.reason.readers.protocol import Reading
from kgscout_jax.retrieve.answer_scale import AnswerScale, fit_answer_scale
from kgscout_jax.retrieve.baselines import Ceiling
from kgscout_jax.retrieve.split_answers import (
    SplitAnswers,
    calibrate_answers,
    check_answers,
    gold_counts,
    split_answers,
)
from kgscout_jax.types import Answer
from kgscout_jax.utils.engine import HERE, Engine


class GraphReader:
    """Reads the questions of a split with a policy's answer head."""

    name = "graph"

    def __init__(
        self,
        trained: TrainedPolicy,
        shards: Shards,
        split: Split,
        scale: AnswerScale | None = None,
        engine: Engine = HERE,
    ) -> None:
        """Set what is read; without a scale one is fitted.

        Args:
            trained: a policy with an answer head.
            shards: the folder of the split.
            split: the questions of the batch.
            scale: the probabilities; None to fit them on dev, or, where the split is
                dev or there is none, on each half of the questions for the other.
            engine: what calls the policy.

        Raises:
            UserError: the policy has no answer head, or nothing can be fitted.
        """
        check_answers(trained.policy)
        self.policy, self.shards, self.split = trained.policy, shards, split
        self.engine = engine
        self.everything: SplitAnswers | None = None
        fit_on_dev = split.name != "dev" and "dev" in shards.splits
        if scale is not None:
            self.scales = (scale,)
            where = "calibration of the export"
        elif fit_on_dev:
            on_dev = calibrate_answers(self.policy, shards, "dev", engine=engine)
            self.scales = (on_dev,)
            where = "fitted here"
        else:
            self.scales = cross_fitted_scales(self._all_candidates(), split)
            where = "each half of the questions on the scale of the other"
        self.context = scale_context(self.scales, where)

    def read(
        self, source: Source, k: int, n: int
    ) -> tuple[list[Reading], list[GraphAnswers]]:
        """Readings of the first ``n`` questions, and the answers behind them."""
        if source.name == SCOUT:
            found = self._all_candidates()
        else:
            kept = kept_candidates(self.shards, self.split, source.table, k)
            found = split_answers(
                self.policy, self.shards, self.split, np.arange(n),
                kept=kept[:n], paths=LISTED, engine=self.engine,
            )  # fmt: skip
        both = [self._question(found, i) for i in range(n)]
        return [reading for reading, _ in both], [answers for _, answers in both]

    @cached_property
    def causes(self) -> list[str]:
        """What a wrong answer from all candidates would be due to."""
        ranking = Ceiling().rank(self.shards, self.split, 1)
        return failure_causes(self.shards, self.split, ranking, [1])[1]

    def _all_candidates(self) -> SplitAnswers:
        if self.everything is None:
            rows = np.arange(len(self.split))
            self.everything = split_answers(
                self.policy,
                self.shards,
                self.split,
                rows,
                paths=LISTED,
                engine=self.engine,
            )
        return self.everything

    def _question(self, found: SplitAnswers, i: int) -> tuple[Reading, GraphAnswers]:
        """The reading of question ``i``: the nodes from the threshold on."""
        scale = self.scales[i % len(self.scales)]
        n = int((found.entities[i] >= 0).sum())
        probability = scale.probability(
            found.logits[i, :n], found.margins[i, :n], found.doubts[i, :n]
        )
        order = np.argsort(-probability, kind="stable")
        names = [self.shards.entities[e] for e in found.entities[i, order].tolist()]
        least = scale.least(float(probability.max(initial=0.0)))
        listed = (probability[order] >= least) & found.of_set[i, order]
        listed[:1] = True
        with_path = order < LISTED
        answers = GraphAnswers(
            best=tuple(
                Answer(
                    name=names[place],
                    probability=float(probability[j]),
                    path=self._triplets(i, found.paths[i][j]),
                )
                for place, j in enumerate(order.tolist())
                if with_path[place]
            ),
            is_answer=tuple(found.is_answer[i, order[with_path]].tolist()),
            abstention=scale.abstention,
        )
        reading = Reading(
            id=self.split.questions[i].id,
            answers=tuple(itertools.compress(names, listed)),
            outcome="graph" if names else "not_available",
            seconds=float(found.seconds[i]),
        )
        return reading, answers

    def _triplets(self, i: int, slots: Sequence[int]) -> tuple[Any, ...]:
        """Names of the candidates ``slots`` of question ``i``."""
        ids = self.split.candidates[i, list(slots)]
        entities, relations = self.shards.entities, self.shards.relations
        return tuple(
            (entities[head], relations[relation], entities[tail])
            for head, relation, tail in self.shards.triplets[ids].tolist()
        )


def export_scale(run: Path) -> AnswerScale | None:
    """The calibration in an export; None in one without, or in a run."""
    run = folder_of(run)
    if not is_exported(run):
        return None
    value = read_config(run)[0].get("answer_scale")
    return (
        None if value is None else AnswerScale.from_dict(value, f"{run}: answer_scale")
    )


def cross_fitted_scales(
    found: SplitAnswers, split: Split
) -> tuple[AnswerScale, AnswerScale]:
    """Scales of the even and of the odd questions, each fitted on the others.

    Raises:
        UserError: a half has no answer among its best nodes.
    """
    even, odd = (
        fit_answer_scale(
            found.logits[other::2],
            found.margins[other::2],
            found.is_answer[other::2],
            gold_counts(split, np.arange(other, len(split), 2)),
            split=split.name,
            doubts=found.doubts[other::2],
            of_set=found.of_set[other::2],
        )
        for other in (1, 0)
    )
    return even, odd


def scale_context(scales: Sequence[AnswerScale], where: str) -> dict[str, Any]:
    """How the probabilities came about, for ``metrics.json`` and the reports."""
    fitted = "not fitted"
    if any(scale.questions for scale in scales):
        count = sum(scale.questions for scale in scales)
        fitted = f"{where}, {count} questions of {scales[0].split}"
    thresholds = " and ".join(f"{scale.threshold:.2f}" for scale in scales)
    return {
        "probabilities": fitted,
        "answers_from": thresholds,
        "scales": [scale.to_dict() for scale in scales],
    }
