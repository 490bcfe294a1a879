"""``kgscout eval answers``: of a run, or of a file of predictions."""

from __future__ import annotations

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.settings import AnswerSettings


def eval_answers(settings: AnswerSettings) -> int:
    """The exit code of an evaluation: 1 if it stopped early or all requests failed.

    Raises:
        UserError: neither predictions nor a run are named, or they cannot be read.
    """
    if settings.run is None and settings.shards is None:
        if settings.predictions is None:
            raise UserError(
                "neither --predictions nor --run, expected one (see --help)"
            )
        if settings.engine != "local":
            raise UserError(
                f"--engine: found {settings.engine} with --predictions, expected --run "
                "and --shards: a file is judged in this process"
            )
        from kgscout_jax.evaluate.answers.predictions import evaluate_predictions

        evaluate_predictions(settings)
        return 0
    from kgscout_jax.utils.jax_setup import setup_jax

    setup_jax()
    from kgscout_jax.evaluate.answers.run import evaluate_answers

    return evaluate_answers(settings)
