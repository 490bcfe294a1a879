"""The policy networks by architecture: the one place that knows them all.

    thesis  ``dual_tower``: dual towers and attention (thesis, section 3.3.4)
    walk    ``walk``: learned walks and products, the default of the demo
    mlp     ``mlp``: the baseline of the literature

It needs jax alone; ``module.Policy`` is the trainable flax module of any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from kgscout_jax.errors import UserError
from kgscout_jax.policy import dual_tower, mlp, walk
from kgscout_jax.policy.config import FirstKernels, NetworkConfig
from kgscout_jax.policy.inputs import PolicyInputs
from kgscout_jax.policy.precision import full_precision
from kgscout_jax.policy.walk_config import WalkConfig
from kgscout_jax.policy.walk_weights import WalkWeights, init_walk

PolicyWeights = dual_tower.DualTowerWeights | WalkWeights | mlp.TripletMlpWeights

FIELD = "kind"
"""Field of a config's JSON that names the architecture; absent for the thesis's."""


class Architecture(NamedTuple):
    """One network: its configuration, and its functions."""

    config: type[NetworkConfig]
    init: Callable[..., Any]
    """(key, config) -> initial weights."""
    outputs: Callable[..., walk.WalkOutputs | Float[Array, "b n"]]
    """(weights, config, inputs) -> scores, before temperature and mask; of the walk
    policy also the logits of nodes and the walkers' weights."""
    needs_topology: bool
    """Whether inputs must have ``nodes`` and ``topics``."""
    first_kernels: Callable[..., FirstKernels] | None = None
    """(weights, config) -> kernels; None where these depend on the question."""


ARCHITECTURES: dict[str, Architecture] = {
    "thesis": Architecture(
        dual_tower.DualTowerConfig,
        dual_tower.init,
        dual_tower.scores,
        False,
        dual_tower.first_kernels,
    ),
    "walk": Architecture(WalkConfig, init_walk, walk.outputs, True),
    "mlp": Architecture(mlp.MlpConfig, mlp.init, mlp.scores, True, mlp.first_kernels),
}


def config_from_json(fields: Mapping[str, Any]) -> NetworkConfig:
    """The configuration in JSON; without ``kind`` it is the thesis's network.

    Raises:
        UserError: the architecture is unknown, or a field is unknown, missing or out of
            range.
    """
    fields = dict(fields)
    name = fields.pop(FIELD, "thesis")
    if not isinstance(name, str) or name not in ARCHITECTURES:
        raise UserError(
            f"policy.{FIELD}: {name!r}, expected one of {', '.join(ARCHITECTURES)}"
        )
    try:
        return ARCHITECTURES[name].config.from_dict(fields)
    except (TypeError, ValueError, OverflowError) as error:  # of a damaged file
        raise UserError(f"policy: {error}") from None


def config_to_json(config: NetworkConfig) -> dict[str, Any]:
    """The configuration as JSON fields: the inverse of ``config_from_json``."""
    name, fields = config.architecture, config.to_dict()
    return fields if name == "thesis" else {FIELD: name, **fields}


def init_weights(key: Key[Array, ""] | None, config: NetworkConfig) -> PolicyWeights:
    """Initial parameters of the network; without a key the kernels are 0."""
    return ARCHITECTURES[config.architecture].init(key, config)


def weight_shapes(config: NetworkConfig) -> PolicyWeights:
    """The shape and dtype of every parameter, as ``jax.ShapeDtypeStruct``."""
    return jax.eval_shape(lambda: init_weights(None, config))


def needs_topology(config: NetworkConfig) -> bool:
    """Whether the network reads ``PolicyInputs.nodes`` and ``topics``."""
    return ARCHITECTURES[config.architecture].needs_topology


def is_general(config: NetworkConfig) -> bool:
    """Whether a network knows no graph by heart, and has an answer head."""
    return (
        isinstance(config, WalkConfig)
        and config.answers > 0
        and "absolute" in config.without
    )


def needs_words(config: NetworkConfig) -> bool:
    """Whether the network reads ``PolicyInputs.words`` and ``word_places``."""
    return isinstance(config, WalkConfig) and config.word_rank > 0


def first_kernels(weights: PolicyWeights, config: NetworkConfig) -> FirstKernels | None:
    """What embeddings meet first; None where that depends on the question.

    ``PolicyInputs.products`` are embeddings times these.
    """
    kernels = ARCHITECTURES[config.architecture].first_kernels
    return None if kernels is None else kernels(weights, config)


class PolicyOutputs(NamedTuple):
    """What a network says of b questions, float32."""

    logits: Float[Array, "b n"]
    """Final logits of all candidates, -inf outside the mask."""
    answers: Float[Array, "b v"] | None = None
    """Logits of all nodes to be an answer, -inf where no candidate touches them; None
    for a network without an answer head."""
    follow: Float[Array, "b u f"] | None = None
    """How readily each walker follows each unique relation, f = steps * 2 * walkers:
    along its edges first, then against them; None without an answer head."""


def has_answers(config: NetworkConfig) -> bool:
    """Whether the network has an answer head."""
    return isinstance(config, WalkConfig) and config.answers > 0


def policy_logits(
    weights: PolicyWeights, config: NetworkConfig, inputs: PolicyInputs
) -> Float[Array, "b n"]:
    """The logits of ``policy_outputs``; under jit nothing else is computed."""
    return policy_outputs(weights, config, inputs).logits


@full_precision
def policy_outputs(
    weights: PolicyWeights, config: NetworkConfig, inputs: PolicyInputs
) -> PolicyOutputs:
    """Final logits of all candidates, and of all nodes where there is an answer head.

    Embeddings are frozen: no gradient flows to ``inputs``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension, v nodes.

    Raises:
        ValueError: arrays are missing or do not fit together.
    """
    inputs = jax.lax.stop_gradient(inputs)
    name = config.architecture
    if needs_topology(config) and (inputs.nodes is None or inputs.topics is None):
        raise ValueError(f"the {name} network needs nodes and topics")
    if needs_words(config) and (inputs.words is None or inputs.word_places is None):
        raise UserError(
            f"this {name} network reads the words of questions, and shards of earlier "
            "versions lack them: prepare them again"
        )
    inputs.check_shapes(config.dimension)
    out = ARCHITECTURES[name].outputs(weights, config, inputs)
    scores = out.scores if isinstance(out, walk.WalkOutputs) else out
    logits = scores * jnp.exp(-weights.log_temperature)
    # Masked entries get no gradient here, and no network divides by n_real.
    logits = jnp.where(inputs.mask, logits, -jnp.inf)
    if isinstance(out, walk.WalkOutputs) and out.answers is not None:
        return PolicyOutputs(logits, out.answers, out.follow)
    return PolicyOutputs(logits)


# Of the module, so that policies of equal configuration are traced and compiled once.
jitted_logits = jax.jit(policy_logits, static_argnames="config")
"""``policy_logits``; compiles once per configuration and shape of the inputs."""
jitted_outputs = jax.jit(policy_outputs, static_argnames="config")
"""``policy_outputs``, likewise."""
