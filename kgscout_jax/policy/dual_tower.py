"""The policy's configuration, inputs, weights and logits, as functions of arrays.

The dual-tower policy network of KG-Scout (thesis, section 3.3.4), folded. It needs jax
alone: inference loads it without flax, which imports optax. ``network.ScoutPolicy`` is
the trainable module around it.

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
embeddings are scaled to unit variance; PPR enters as standardised log(ppr + 1e-8).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.errors import UserError
from kgscout_jax.policy.config import (
    COMPUTE_DTYPES,
    check_dtype,
    check_positive_int,
    check_ppr,
    from_fields,
    to_fields,
)
from kgscout_jax.policy.layers import (
    activate,
    contract,
    counted_softmax,
    gather_rows,
    matmul,
)

PPR_FLOOR = 1e-8
"""Added to PPR before the logarithm: a node that the walk never reaches has PPR 0."""


@dataclass(frozen=True, kw_only=True)
class PolicyConfig:
    """Sizes and constants of the network; JSON by ``to_dict`` and ``from_dict``."""

    kind: ClassVar[str] = "thesis"

    dimension: int = 384
    """Of the sentence embeddings: d."""
    heads: int = 4
    """Of each attention block; divides ``dimension``."""
    tower_hidden: tuple[int, ...] = (256, 64)
    """Widths of the hidden layers of each tower."""
    gate_hidden: int = 128
    """Width of the gate's hidden layer."""
    combiner_hidden: int = 16
    """Width of the combiner's hidden layer."""
    ppr_mean: tuple[float, float] = (0.0, 0.0)
    """Mean of log(ppr + 1e-8) of heads and of tails over the training candidates."""
    ppr_std: tuple[float, float] = (1.0, 1.0)
    """Standard deviation of the same."""
    input_scale: float | None = None
    """Unit embeddings are multiplied by this; None: sqrt(dimension), unit variance."""
    compute_dtype: str = "float32"
    """Operands of matmuls over candidates: float32 or bfloat16. Sums are float32."""

    def __post_init__(self) -> None:
        for name in ("dimension", "heads", "gate_hidden", "combiner_hidden"):
            check_positive_int(name, getattr(self, name))
        if self.dimension % self.heads:
            raise UserError(
                f"policy.heads: {self.heads} does not divide dimension {self.dimension}"
            )
        object.__setattr__(self, "tower_hidden", tuple(self.tower_hidden))
        if not self.tower_hidden:
            raise UserError("policy.tower_hidden: empty, expected at least one width")
        for width in self.tower_hidden:
            check_positive_int("tower_hidden", width)
        check_ppr(self)
        scale = self.input_scale
        if scale is not None and not (math.isfinite(scale) and scale > 0):
            raise UserError(f"policy.input_scale: {scale}, expected above 0 or None")
        check_dtype(self.compute_dtype)

    @property
    def scale(self) -> float:
        """The number that embeddings are multiplied by."""
        return self.input_scale or math.sqrt(self.dimension)

    def to_dict(self) -> dict[str, Any]:
        """Every field, as JSON knows them (tuples become lists)."""
        return to_fields(self)

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> PolicyConfig:
        """The config that ``to_dict`` wrote.

        Raises:
            UserError: a field is unknown, missing or out of range.
        """
        return from_fields(PolicyConfig, fields)


def ppr_statistics(
    ppr: Float[np.ndarray, "b n 2"], mask: Bool[np.ndarray, "b n"]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """``ppr_mean`` and ``ppr_std`` of a config, from the real candidates of a split.

    A constant or empty column gets standard deviation 1.
    """
    logs = np.log(np.asarray(ppr, np.float64)[np.asarray(mask)] + PPR_FLOOR)
    if not len(logs):
        return (0.0, 0.0), (1.0, 1.0)
    mean, std = logs.mean(axis=0), logs.std(axis=0)
    std = np.where(std > 1e-6, std, 1.0)
    return (float(mean[0]), float(mean[1])), (float(std[0]), float(std[1]))


class PolicyInputs(NamedTuple):
    """What the network sees of b questions; padded entries must be finite.

    Embeddings have unit length and may be float16, float32 or bfloat16.
    """

    question: Float[Array, "b d"]
    triplets: Float[Array, "b n d"]
    relations: Float[Array, "b u d"]
    """Embeddings of each question's unique relation phrases, in any order."""
    relation_index: Int[Array, "b n"] | None
    """Which of them each candidate has, 0 to u - 1; None: u = n, one each, aligned."""
    ppr: Float[Array, "b n 2"]
    """PageRank of head and of tail as they are: the network takes the logarithm."""
    mask: Bool[Array, "b n"]
    nodes: Int[Array, "b n 2"] | None = None
    """Local node ids of head and of tail, 0 to v - 1; the thesis's network needs none.
    """
    topics: Bool[Array, "b v"] | None = None
    """Which of the v local nodes the question is about; the same."""

    @classmethod
    def from_full(
        cls,
        question: Float[Array, "b d"],
        triplets: Float[Array, "b n d"],
        relations: Float[Array, "b n d"],
        ppr: Float[Array, "b n 2"],
        mask: Bool[Array, "b n"],
        nodes: Int[Array, "b n 2"] | None = None,
        topics: Bool[Array, "b v"] | None = None,
    ) -> PolicyInputs:
        """Inputs in which each candidate brings its own relation embedding."""
        return cls(question, triplets, relations, None, ppr, mask, nodes, topics)

    def relation_counts(self) -> Float[Array, "b u"]:
        """How many real candidates have each of the unique relations."""
        real = self.mask.astype(jnp.float32)
        if self.relation_index is None:
            return real
        zeros = jnp.zeros(self.relations.shape[1])
        return jax.vmap(lambda index, one: zeros.at[index].add(one))(
            self.relation_index, real
        )


class DenseWeights(NamedTuple):
    """One affine layer: rows are inputs, columns outputs."""

    kernel: Float[Array, "i o"]
    bias: Float[Array, "o"]


class MlpWeights(NamedTuple):
    """Hidden layers with GELU and a last layer with one output."""

    hidden: tuple[DenseWeights, ...]
    output: DenseWeights


class AttentionWeights(NamedTuple):
    """Those of ``nn.MultiheadAttention`` without the key bias; heads split columns."""

    query: DenseWeights
    key_kernel: Float[Array, "d d"]
    value: DenseWeights
    output: DenseWeights


class PolicyWeights(NamedTuple):
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


def weight_shapes(config: PolicyConfig) -> PolicyWeights:
    """The shape and dtype of every parameter, as ``jax.ShapeDtypeStruct``."""

    def array(*shape: int) -> Any:
        return jax.ShapeDtypeStruct(shape, jnp.float32)

    def dense(inputs: int, outputs: int) -> DenseWeights:
        return DenseWeights(array(inputs, outputs), array(outputs))

    def mlp(inputs: int, *hidden: int) -> MlpWeights:
        widths = (inputs, *hidden)
        layers = tuple(dense(*pair) for pair in itertools.pairwise(widths))
        return MlpWeights(layers, dense(widths[-1], 1))

    d = config.dimension
    attention = AttentionWeights(dense(d, d), array(d, d), dense(d, d), dense(d, d))
    return PolicyWeights(
        triplet_attention=attention,
        relation_attention=attention,
        tower_a=mlp(3 * d + 2, *config.tower_hidden),
        tower_b=mlp(3 * d + 2, *config.tower_hidden),
        gate=mlp(3 * d, config.gate_hidden),
        combiner=mlp(3, config.combiner_hidden),
        log_temperature=array(),
    )


def context_of(
    weights: AttentionWeights,
    config: PolicyConfig,
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
    query = question @ weights.query.kernel + weights.query.bias
    query = query.reshape(b, heads, -1)
    key_kernel = weights.key_kernel.reshape(d, heads, -1)
    folded = jnp.einsum("bhe,dhe->bhd", query, key_kernel)
    # The input scale of the keys joins the usual 1 / sqrt(width of a head).
    folded = folded * (scale / math.sqrt(d / heads))
    scores = contract("bmd,bhd->bmh", memory, folded, dtype)
    shares = counted_softmax(scores, counts[..., None])
    pooled = scale * contract("bmh,bmd->bhd", shares, memory, dtype)
    value_kernel = weights.value.kernel.reshape(d, heads, -1)
    value = jnp.einsum("bhd,dhe->bhe", pooled, value_kernel).reshape(b, d)
    value = value + weights.value.bias
    return value @ weights.output.kernel + weights.output.bias


def policy_logits(
    weights: PolicyWeights, config: PolicyConfig, inputs: PolicyInputs
) -> Float[Array, "b n"]:
    """Final logits of all candidates of b questions, float32, -inf outside the mask.

    Embeddings are frozen: no gradient flows to ``inputs``.

    Shapes:
        inputs: b questions, n candidates, u unique relations, d = dimension.
        returns: [b, n].
    """
    inputs = jax.lax.stop_gradient(inputs)
    d = config.dimension
    check_shapes(inputs, d)
    dtype = COMPUTE_DTYPES[config.compute_dtype]
    question = inputs.question.astype(jnp.float32) * config.scale
    triplets = inputs.triplets.astype(dtype)
    relations = inputs.relations.astype(dtype)
    mask, counts = inputs.mask, inputs.relation_counts()

    context_a = context_of(
        weights.triplet_attention,
        config,
        question,
        triplets,
        mask.astype(jnp.float32),
    )
    context_b = context_of(
        weights.relation_attention, config, question, relations, counts
    )

    # First layers. The input scale multiplies the small kernels, not the large T.
    first_a, first_b = weights.tower_a.hidden[0], weights.tower_b.hidden[0]
    first_g = weights.gate.hidden[0]
    kernel_a, kernel_b = first_a.kernel, first_b.kernel
    kernel_g = first_g.kernel
    width = config.tower_hidden[0]
    triplet_kernel = jnp.concatenate([kernel_a[:d], kernel_g[:d]], axis=1)
    triplet_terms = matmul(triplets, triplet_kernel * config.scale, dtype)
    relation_kernel = jnp.concatenate([kernel_b[:d], kernel_g[d : 2 * d]], axis=1)
    relation_terms = matmul(relations, relation_kernel * config.scale, dtype)
    if inputs.relation_index is not None:
        relation_terms = gather_rows(relation_terms, inputs.relation_index)
    row_a = context_a @ kernel_a[d : 2 * d] + question @ kernel_a[2 * d : 3 * d]
    row_b = context_b @ kernel_b[d : 2 * d] + question @ kernel_b[2 * d : 3 * d]
    row_g = question @ kernel_g[2 * d :]
    row_a, row_b = row_a + first_a.bias, row_b + first_b.bias
    row_g = row_g + first_g.bias

    ppr = jnp.log(inputs.ppr.astype(jnp.float32) + PPR_FLOOR)
    ppr = (ppr - jnp.array(config.ppr_mean)) / jnp.array(config.ppr_std)
    terms_a, terms_ga = jnp.split(triplet_terms, [width], axis=-1)
    terms_b, terms_gb = jnp.split(relation_terms, [width], axis=-1)
    hidden_a = activate(terms_a, row_a, ppr, kernel_a[3 * d :])
    hidden_b = activate(terms_b, row_b, ppr, kernel_b[3 * d :])
    none = jnp.zeros((0, config.gate_hidden))
    hidden_g = activate(terms_ga + terms_gb, row_g, ppr[..., :0], none)

    score_a = remaining_layers(weights.tower_a, hidden_a, dtype)
    score_b = remaining_layers(weights.tower_b, hidden_b, dtype)
    gate = jax.nn.sigmoid(remaining_layers(weights.gate, hidden_g, dtype))
    joined = jnp.stack([score_a, score_b, gate], axis=-1)
    first = weights.combiner.hidden[0]
    row = jnp.broadcast_to(first.bias, (mask.shape[0], first.bias.shape[0]))
    zeros = jnp.zeros((*mask.shape, first.bias.shape[0]))
    hidden = activate(zeros, row, joined, first.kernel)
    combined = remaining_layers(weights.combiner, hidden, dtype)
    logits = combined * jnp.exp(-weights.log_temperature)
    # Masked entries get no gradient here, and nothing above divides by n_real.
    return jnp.where(mask, logits, -jnp.inf)


def check_shapes(inputs: PolicyInputs, dimension: int) -> None:
    """Nothing; raises ValueError where the arrays do not fit together."""
    b, n, _ = inputs.triplets.shape
    u = inputs.relations.shape[1]
    expected = {
        "question": (b, dimension),
        "triplets": (b, n, dimension),
        "relations": (b, n if inputs.relation_index is None else u, dimension),
        "relation_index": (b, n),
        "ppr": (b, n, 2),
        "mask": (b, n),
        "nodes": (b, n, 2),
    }
    for name, shape in expected.items():
        array = getattr(inputs, name)
        if array is not None and array.shape != shape:
            raise ValueError(f"{name}: shape {array.shape}, expected {shape}")


def remaining_layers(
    mlp: MlpWeights, hidden: Float[Array, "b n w"], dtype: DTypeLike
) -> Float[Array, "b n"]:
    """The output of ``mlp``, given the activations of its first hidden layer."""
    for layer in mlp.hidden[1:]:
        terms = matmul(hidden, layer.kernel, dtype)
        width = terms.shape[-1]
        row = jnp.broadcast_to(layer.bias, (terms.shape[0], width))
        hidden = activate(terms, row, terms[..., :0], jnp.zeros((0, width)))
    return hidden @ mlp.output.kernel[:, 0] + mlp.output.bias[0]
