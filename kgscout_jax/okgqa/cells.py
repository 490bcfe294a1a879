"""One cell of the table: the answers of one way, and what the judges say of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float64

from kgscout_jax.okgqa.judges.protocol import JUDGED, NO_REPLY, Judgement
from kgscout_jax.okgqa.ladder import OpenAnswer, Way
from kgscout_jax.okgqa.questions import OpenQuestion


@dataclass
class Cell:
    """A way to answer, over all questions in their order."""

    way: Way
    answers: list[OpenAnswer]
    judgements: list[dict[str, Judgement]] = field(default_factory=list)
    """Per question, metric -> judgement."""

    def column(self, metric: str) -> Float64[np.ndarray, "b"]:
        """The values from 0 to 1, nan where there is no judgement."""
        values = (each[metric].value for each in self.judgements)
        return np.array([np.nan if one is None else one for one in values], np.float64)

    def outcomes(self, metric: str) -> dict[str, int]:
        """Outcome -> number of questions, judged ones included."""
        return dict(Counter(each[metric].outcome for each in self.judgements))

    @property
    def missing(self) -> int:
        """Answers and judgements that the same command would ask for again."""
        return sum(one.outcome == NO_REPLY for one in self.answers) + sum(
            one.outcome == NO_REPLY for each in self.judgements for one in each.values()
        )

    def facts(self) -> dict[str, Any]:
        """Figures of the answers themselves."""
        texts = [one.text for one in self.answers if one.text is not None]
        words = [len(text.split()) for text in texts]
        return {
            "answers": len(texts),
            "without_answer": dict(
                Counter(one.outcome for one in self.answers if one.outcome != JUDGED)
            ),
            "words": sum(words) / len(words) if words else None,
            "cut": sum(one.cut for one in self.answers),
            "unmarked": sum(
                one.text is not None and not one.marked for one in self.answers
            ),
        }

    def records(self, questions: Sequence[OpenQuestion]) -> list[dict[str, Any]]:
        """A JSON object per question, for ``questions.jsonl``."""
        return [
            {
                "id": question.id,
                "question": question.text,
                "type": question.type,
                "strategy": self.way.strategy,
                "retriever": self.way.retriever,
                "form": self.way.form,
                "answer": answer.text,
                "outcome": answer.outcome,
                "reasoning": answer.reasoning,
                "judgements": {
                    metric: {
                        "value": one.value, "outcome": one.outcome, **one.details
                    }
                    for metric, one in judgements.items()
                },
            }
            for question, answer, judgements in zip(
                questions, self.answers, self.judgements, strict=True
            )
        ]  # fmt: skip
