"""The dual-tower policy network of KG-Scout (thesis, section 3.3.4), folded.

The plain network builds ``x_A = [T_i; Q_trip_i; q; ppr_i]`` for every candidate and
sends n identical query rows through multi-head attention. This one computes the same
function without ever holding an array of shape [b, n, 3d + 2]:

- the n query rows are equal, so the context is computed once per question;
- the key projection is folded into the query: scores are ``T (W_k q_h)``. A key bias
  would add the same number to every candidate's score and cancel in the softmax, so
  there is none. The value and output projections come after pooling;
- of a tower's first layer only the rows for T_i (or R_i) and for the two PPR columns
  differ between candidates: one matmul, a rank-2 term, and one row per question;
- T_i meets one matmul, for tower A and the gate together; so does R_i, for tower B and
  the gate, once per *unique* relation, gathered after. Attention over relations still
  weighs candidates: a softmax over unique relations adds log(multiplicity).

Deviations from the thesis, which leaves these open: sizes and GELU (tanh form);
embeddings are scaled to unit variance; PPR enters as standardised log(ppr + 1e-8);
first layers start with paired weights, see ``pair_question``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Key

from kgscout_jax.errors import UserError
from kgscout_jax.policy.config import (
    COMPUTE_DTYPES,
    FirstKernels,
    PprNetworkConfig,
    check_int,
)
from kgscout_jax.policy.inputs import PolicyInputs, ppr_features
from kgscout_jax.policy.layers import (
    activate,
    add_bias,
    contract,
    counted_softmax,
    matmul,
    product,
)
from kgscout_jax.policy.parameters import (
    DenseWeights,
    Initializer,
    weights_dataclass,
)


@dataclass(frozen=True, kw_only=True)
class DualTowerConfig(PprNetworkConfig):
    """Sizes and constants of the dual-tower network."""

    architecture: ClassVar[str] = "thesis"
    sizes: ClassVar[tuple[str, ...]] = ("heads", "gate_hidden", "combiner_hidden")

    heads: int = 4
    """Of each attention block; divides ``dimension``."""
    tower_hidden: tuple[int, ...] = (256, 64)
    """Widths of the hidden layers of each tower."""
    gate_hidden: int = 128
    """Width of the gate's hidden layer."""
    combiner_hidden: int = 16
    """Width of the combiner's hidden layer."""
    input_scale: float | None = None
    """Unit embeddings are multiplied by this; None: sqrt(dimension), unit variance."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dimension % self.heads:
            raise UserError(
                f"policy.heads: {self.heads} does not divide dimension {self.dimension}"
            )
        object.__setattr__(self, "tower_hidden", tuple(self.tower_hidden))
        if not self.tower_hidden:
            raise UserError("policy.tower_hidden: empty, expected at least one width")
        for width in self.tower_hidden:
            check_int("tower_hidden", width)
        scale = self.input_scale
        if scale is not None and not (math.isfinite(scale) and scale > 0):
            raise UserError(f"policy.input_scale: {scale}, expected above 0 or None")

    @property
    def scale(self) -> float:
        """The number that embeddings are multiplied by."""
        return self.input_scale or math.sqrt(self.dimension)


@weights_dataclass
class MlpWeights:
    """Hidden layers with GELU and a last layer with one output."""

    hidden: tuple[DenseWeights, ...]
    output: DenseWeights


@weights_dataclass
class AttentionWeights:
    """Those of ``nn.MultiheadAttention`` without the key bias; heads split columns."""

    query: DenseWeights
    key_kernel: Float[Array, "d d"]
    value: DenseWeights
    output: DenseWeights


@weights_dataclass
class DualTowerWeights:
    """Every parameter; shapes as in the plain network, input rows in thesis order."""

    triplet_attention: AttentionWeights
    relation_attention: AttentionWeights
    tower_a: MlpWeights
    """Rows [T; Q_trip; q; ppr_head, ppr_tail] of 3d + 2."""
    tower_b: MlpWeights
    """Rows [R; Q_rel; q; ppr_head, ppr_tail] of 3d + 2."""
    gate: MlpWeights
    """Rows [T; R; q] of 3d."""
    combiner: MlpWeights
    """Rows [s_A, s_B, g]."""
    log_temperature: Float[Array, ""]
    """Logits are scores / exp(log_temperature)."""


def init(key: Key[Array, ""] | None, config: DualTowerConfig) -> DualTowerWeights:
    """Initial parameters; first layers see how question and embedding agree."""
    d, draws = config.dimension, Initializer(key)
    return DualTowerWeights(
        triplet_attention=init_attention(draws, d),
        relation_attention=init_attention(draws, d),
        tower_a=pair_question(init_mlp(draws, 3 * d + 2, *config.tower_hidden), 0, d),
        tower_b=pair_question(init_mlp(draws, 3 * d + 2, *config.tower_hidden), 0, d),
        gate=pair_question(init_mlp(draws, 3 * d, config.gate_hidden), d, d),
        combiner=init_mlp(draws, 3, config.combiner_hidden),
        log_temperature=jnp.zeros((), jnp.float32),
    )


def init_attention(draws: Initializer, d: int) -> AttentionWeights:
    """Parameters of the attention of one question over its candidates."""
    return AttentionWeights(
        query=draws.dense(d, d),
        key_kernel=draws.kernel(d, d),
        value=draws.dense(d, d),
        output=draws.dense(d, d),
    )


def init_mlp(draws: Initializer, *widths: int) -> MlpWeights:
    """Parameters of an MLP, from the width of its inputs to that of its last layer."""
    return MlpWeights(
        hidden=tuple(
            draws.dense(*pair, gain=2.0) for pair in itertools.pairwise(widths)
        ),
        output=draws.dense(widths[-1], 1),
    )


def pair_question(mlp: MlpWeights, embedding: int, d: int) -> MlpWeights:
    """The MLP with the question's rows, from 2d, equal to the embedding's up to sign.

    The question's weights become plus (even units) or minus (odd units) those of the
    embedding: units respond to w.(x + q) and w.(x - q), and the difference of their
    curved responses grows with x.q. With independent weights that product, on which
    any ranking by meaning rests, would have to be learned from noise.
    """
    first, *rest = mlp.hidden
    sign = 1.0 - 2.0 * (jnp.arange(first.kernel.shape[1]) % 2)
    rows = first.kernel[embedding : embedding + d] * sign[None]
    kernel = first.kernel.at[2 * d : 3 * d].set(rows)
    return MlpWeights(
        hidden=(DenseWeights(kernel=kernel, bias=first.bias), *rest), output=mlp.output
    )


def question_context(
    weights: AttentionWeights,
    config: DualTowerConfig,
    question: Float[Array, "b d"],
    memory: Float[Array, "b m d"],
    counts: Float[Array, "b m"],
) -> Float[Array, "b d"]:
    """The context of each question: multi-head attention over its candidates.

    Args:
        weights: of the attention block.
        config: of the network.
        question: already scaled.
        memory: keys and values, not scaled, in the compute dtype.
        counts: how often each row of ``memory`` counts; 0 leaves it out.
    """
    b, d = question.shape
    heads, scale = config.heads, config.scale
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    query = add_bias(question @ weights.query.kernel, weights.query.bias)
    query = query.reshape(b, heads, -1)
    key_kernel = weights.key_kernel.reshape(d, heads, -1)
    key_query = jnp.einsum("bhe,dhe->bhd", query, key_kernel)
    # The input scale of the keys joins the usual 1 / sqrt(width of a head).
    key_query = key_query * (scale / math.sqrt(d / heads))
    scores = contract("bmd,bhd->bmh", memory, key_query, dtype)
    shares = counted_softmax(scores, counts[..., None])
    mean = scale * contract("bmh,bmd->bhd", shares, memory, dtype)
    value_kernel = weights.value.kernel.reshape(d, heads, -1)
    value = jnp.einsum("bhd,dhe->bhe", mean, value_kernel).reshape(b, d)
    value = add_bias(value, weights.value.bias)
    return add_bias(value @ weights.output.kernel, weights.output.bias)


def first_kernels(weights: DualTowerWeights, config: DualTowerConfig) -> FirstKernels:
    """What triplets and relations meet; the input scale multiplies these, not T."""
    d = config.dimension
    kernel_a = weights.tower_a.hidden[0].kernel
    kernel_b = weights.tower_b.hidden[0].kernel
    kernel_g = weights.gate.hidden[0].kernel
    triplets = jnp.concatenate([kernel_a[:d], kernel_g[:d]], axis=1)
    relations = jnp.concatenate([kernel_b[:d], kernel_g[d : 2 * d]], axis=1)
    return FirstKernels(triplets * config.scale, relations * config.scale)


def scores(
    weights: DualTowerWeights, config: DualTowerConfig, inputs: PolicyInputs
) -> Float[Array, "b n"]:
    """Scores of all candidates, float32; see ``registry.policy_outputs``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension.
        returns: [b, n].
    """
    d = config.dimension
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    question = inputs.question.astype(jnp.float32) * config.scale
    triplets = inputs.triplets.astype(dtype)
    relations = inputs.relations.astype(dtype)
    mask, counts = inputs.mask, inputs.relation_counts()

    context_a = question_context(
        weights.triplet_attention,
        config,
        question,
        triplets,
        mask.astype(jnp.float32),
    )
    context_b = question_context(
        weights.relation_attention, config, question, relations, counts
    )

    first_a, first_b = weights.tower_a.hidden[0], weights.tower_b.hidden[0]
    first_g = weights.gate.hidden[0]
    kernel_a, kernel_b = first_a.kernel, first_b.kernel
    kernel_g = first_g.kernel
    width = config.tower_hidden[0]
    if inputs.products is None:
        kernels = first_kernels(weights, config)
        triplet_terms = matmul(triplets, kernels.triplets, dtype)
        relation_terms = matmul(relations, kernels.relations, dtype)
    else:
        triplet_terms, relation_terms = inputs.products
    relation_terms = inputs.by_candidate(relation_terms)
    row_a = context_a @ kernel_a[d : 2 * d] + question @ kernel_a[2 * d : 3 * d]
    row_b = context_b @ kernel_b[d : 2 * d] + question @ kernel_b[2 * d : 3 * d]
    row_g = question @ kernel_g[2 * d :]
    row_a, row_b = add_bias(row_a, first_a.bias), add_bias(row_b, first_b.bias)
    row_g = add_bias(row_g, first_g.bias)

    ppr = ppr_features(inputs.ppr, config)
    terms_a, terms_ga = jnp.split(triplet_terms, [width], axis=-1)
    terms_b, terms_gb = jnp.split(relation_terms, [width], axis=-1)
    hidden_a = activate(terms_a, row_a, ppr, kernel_a[3 * d :])
    hidden_b = activate(terms_b, row_b, ppr, kernel_b[3 * d :])
    none = jnp.zeros((0, config.gate_hidden))
    hidden_g = activate(terms_ga + terms_gb, row_g, ppr[..., :0], none)

    score_a = remaining_layers(weights.tower_a, hidden_a, dtype)
    score_b = remaining_layers(weights.tower_b, hidden_b, dtype)
    gate = jax.nn.sigmoid(remaining_layers(weights.gate, hidden_g, dtype))
    features = jnp.stack([score_a, score_b, gate], axis=-1)
    first = weights.combiner.hidden[0]
    row = jnp.broadcast_to(first.bias, (mask.shape[0], first.bias.shape[0]))
    zeros = jnp.zeros((*mask.shape, first.bias.shape[0]))
    hidden = activate(zeros, row, features, first.kernel)
    return remaining_layers(weights.combiner, hidden, dtype)


def remaining_layers(
    mlp: MlpWeights, hidden: Float[Array, "b n w"], dtype: DTypeLike
) -> Float[Array, "b n"]:
    """The output of ``mlp``, from the activations of its first hidden layer."""
    for layer in mlp.hidden[1:]:
        terms = matmul(hidden, layer.kernel, dtype)
        width = terms.shape[-1]
        row = jnp.broadcast_to(layer.bias, (terms.shape[0], width))
        hidden = activate(terms, row, terms[..., :0], jnp.zeros((0, width)))
    return product(hidden, mlp.output.kernel[:, 0]) + mlp.output.bias[0]
