"""Settings that only some networks or estimators read, and who sets one for nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kgscout_jax.errors import UserError
from kgscout_jax.learn.config import TrainConfig

logger = logging.getLogger("kgscout")

SCOPES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("tower_hidden", "gate_hidden", "combiner_hidden", "heads"),
        ("policy", ("thesis",)),
    ),
    **dict.fromkeys(
        (
            "width", "walkers", "walk_steps", "question_hidden", "word_rank",
            "answer_width", "answer_weight", "without",
        ),
        ("policy", ("walk",)),
    ),
    **dict.fromkeys(
        (
            "k_low", "hit_weight", "presence_weight", "path_weight",
            "connectivity_weight", "bce_weight",
        ),
        ("estimator", ("closed_form",)),
    ),
    **dict.fromkeys(
        ("path_direction", "positive_weight", "question_noise"),
        ("estimator", ("closed_form", "bce")),
    ),
    **dict.fromkeys(
        ("reward", "baseline", "staleness", "samples", "normalise_advantage"),
        ("estimator", ("reinforce",)),
    ),
}  # fmt: skip
"""Setting -> the choice that it belongs to, and the values with which it is read."""

NETWORK = frozenset(
    name for name, (choice, _) in SCOPES.items() if choice == "policy"
) - {"answer_weight"} | {"dtype"}
"""Settings of a new network: with ``--init`` they are those of its policy."""


def check_scopes(config: TrainConfig) -> None:
    """Warn of each setting that changes nothing, and refuse budgets that contradict.

    Such a setting differs from its default, and the network or the estimator does not
    read it, or ``--init`` decides it. A run that exists is resumed as it was started.

    Raises:
        UserError: ``k_low`` is set above ``k``.
    """
    if (config.run / "config.json").exists():
        return
    kind = TrainConfig.presets.get(str(config.preset), TrainConfig)
    default = kind(
        shards=config.shards, run=config.run, init=config.init,
        policy=config.policy, estimator=config.estimator,
    )  # fmt: skip
    of_init = NETWORK if config.init is not None else frozenset()
    for name in sorted(of_init):
        value = getattr(config, name)
        if value != getattr(default, name):
            logger.warning(
                "%s %s has no effect, the network is that of --init %s",
                _flag(name), _words(value), config.init,
            )  # fmt: skip
    for name, (choice, values) in SCOPES.items():
        if name in of_init:
            continue
        value, chosen = getattr(config, name), getattr(config, choice)
        if chosen is None:  # the network of an --init that is not read yet
            continue
        if value != getattr(default, name) and chosen not in values:
            logger.warning(
                "%s %s has no effect, it is read with --%s %s only",
                _flag(name), _words(value), choice, " or ".join(values),
            )  # fmt: skip
    # The default is cut to k.
    if config.k_low > config.k and config.k_low != default.k_low:
        raise UserError(
            f"--k-low: found {config.k_low}, expected at most --k {config.k}"
        )


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _words(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
