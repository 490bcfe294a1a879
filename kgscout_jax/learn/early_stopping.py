"""When a run ends before its last epoch: its dev score has stopped rising."""

from __future__ import annotations

from collections.abc import Sequence


def out_of_patience(scores: Sequence[float | None], patience: int | None) -> bool:
    """Whether none of the last ``patience`` epochs has the highest dev score so far.

    Of equal scores the first counts: what is equal has not risen.

    >>> out_of_patience([0.1, 0.3, 0.3, 0.2], 2), out_of_patience([0.1, 0.3, 0.3], 2)
    (True, False)
    """
    known = [score for score in scores if score is not None]
    if patience is None or not known:
        return False
    return len(known) - 1 - known.index(max(known)) >= patience
