"""The policy networks by kind: the one place that knows them all. It needs jax alone.

    thesis  ``forward``: dual towers and attention (thesis, section 3.3.4)
    walk    ``walk``: learned walks and products, the default of the demo
    mlp     ``mlp``: the baseline of the literature

``modules`` has the trainable module of each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

import jax
from jaxtyping import Array, Float

from kgscout_jax.errors import UserError
from kgscout_jax.policy import dual_tower, mlp, walk
from kgscout_jax.policy.config import KIND

Kind = Literal["thesis", "walk", "mlp"]
AnyConfig = dual_tower.PolicyConfig | walk.WalkConfig | mlp.MlpConfig
AnyWeights = dual_tower.PolicyWeights | walk.WalkWeights | mlp.TripletMlpWeights


class Network(NamedTuple):
    """One kind of network, as functions of its configuration."""

    config: Callable[[Mapping[str, Any]], AnyConfig]
    """From the fields that ``to_dict`` wrote."""
    shapes: Callable[[Any], AnyWeights]
    logits: Callable[..., Float[Array, "b n"]]
    """(weights, config, inputs) -> logits."""
    places: bool
    """Whether inputs need ``nodes`` and ``topics``."""


NETWORKS: dict[str, Network] = {
    "thesis": Network(
        dual_tower.PolicyConfig.from_dict,
        dual_tower.weight_shapes,
        dual_tower.policy_logits,
        places=False,
    ),
    "walk": Network(
        walk.WalkConfig.from_dict, walk.walk_shapes, walk.walk_logits, places=True
    ),
    "mlp": Network(
        mlp.MlpConfig.from_dict, mlp.mlp_shapes, mlp.mlp_logits, places=True
    ),
}


def config_of(fields: Mapping[str, Any]) -> AnyConfig:
    """The configuration in JSON; without a kind it is the thesis's network.

    Raises:
        UserError: the kind is unknown, or a field is unknown, missing or out of range.
    """
    fields = dict(fields)
    kind = fields.pop(KIND, "thesis")
    if kind not in NETWORKS:
        raise UserError(
            f"policy.{KIND}: {kind!r}, expected one of {', '.join(NETWORKS)}"
        )
    return NETWORKS[kind].config(fields)


def fields_of(config: AnyConfig) -> dict[str, Any]:
    """The configuration as JSON knows it: the inverse of ``config_of``."""
    fields = config.to_dict()
    return fields if config.kind == "thesis" else {KIND: config.kind, **fields}


def shapes_of(config: AnyConfig) -> AnyWeights:
    """The shape and dtype of every parameter, as ``jax.ShapeDtypeStruct``."""
    return NETWORKS[config.kind].shapes(config)


def needs_places(config: AnyConfig) -> bool:
    """Whether the network looks at ``PolicyInputs.nodes`` and ``topics``."""
    return NETWORKS[config.kind].places


def logits_of(
    weights: AnyWeights, config: AnyConfig, inputs: dual_tower.PolicyInputs
) -> Float[Array, "b n"]:
    """Final logits of all candidates, float32, -inf outside the mask.

    Shapes: as ``dual_tower.policy_logits``.
    """
    return NETWORKS[config.kind].logits(weights, config, inputs)


def count_of(config: AnyConfig) -> int:
    """How many parameters the network has."""
    return sum(leaf.size for leaf in jax.tree.leaves(shapes_of(config)))
