"""The evidence of a question that was asked in steps: that of its steps, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.types import Answer, Triplet


def joined_evidence(
    results: Sequence[RetrievalResult], answers: Sequence[Answer], budget: int
) -> RetrievalResult:
    """The best triplets of several results, with the paths of the answers.

    Args:
        results: of questions to one graph; the first is the pattern for what is not
            evidence.
        answers: each with its path. One of which the triplets are too many, or not
            among those of the results, has none in the outcome.
        budget: maximum number of triplets.
    """
    places = dict[Triplet, tuple[float, int, int]]()
    for which, result in enumerate(results):
        pairs = zip(result.triplets, result.scores.tolist(), strict=True)
        for rank, (triplet, score) in enumerate(pairs):
            if triplet not in places or places[triplet][0] < score:
                places[triplet] = (score, which, rank)
    kept, faithful = dict[Triplet, None](), list[Answer]()
    for answer in answers:
        path = [each for each in answer.path if each in places]
        whole = len(path) == len(answer.path)
        if whole and len({*kept, *path}) <= budget:
            kept.update(dict.fromkeys(path))
        else:
            answer = replace(answer, path=())
        faithful.append(answer)
    by_score = sorted(places, key=lambda each: -places[each][0])
    for triplet in by_score:
        if len(kept) >= budget:
            break
        kept.setdefault(triplet)
    order = [places[each] for each in by_score if each in kept]
    picked = [(results[which], rank) for _, which, rank in order]

    def column(name: str) -> tuple:
        if not all(getattr(each, name) for each, _ in picked):
            return ()
        return tuple(getattr(each, name)[rank] for each, rank in picked)

    return replace(
        results[0],
        answers=tuple(faithful),
        triplets=column("triplets"),
        scores=np.array([score for score, *_ in order], np.float32),
        relation_match=column("relation_match"),
        sources=column("sources"),
        provenance=column("provenance"),
        triplet_ids=np.array(
            [each.triplet_ids[rank] for each, rank in picked], np.int32
        ),
        n_candidates=max(each.n_candidates for each in results),
    )
