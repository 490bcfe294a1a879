"""The few operations of the policy network whose gradients are worth writing out.

Shared motives: float32 sums whatever the operands' dtype, backwards as well as
forwards; and as few passes over the [b, n, width] arrays as there can be.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int

float32_matmul = partial(jnp.matmul, preferred_element_type=jnp.float32)


def matmul(
    x: Float[Array, "*batch i"], kernel: Float[Array, "i o"], dtype: DTypeLike
) -> Float[Array, "*batch o"]:
    """x @ kernel with operands in ``dtype`` and float32 sums, backwards too.

    Without the custom rule the float32 cotangent would turn the backward matmuls of a
    bfloat16 network into float32 ones.
    """
    return matmul_with_rule(x, kernel, dtype)


@partial(jax.custom_vjp, nondiff_argnums=(2,))
def matmul_with_rule(x: Array, kernel: Array, dtype: DTypeLike) -> Array:
    """``matmul``; apart because type checkers lose the types of custom rules."""
    flat = x.reshape(-1, x.shape[-1]).astype(dtype)
    product = float32_matmul(flat, kernel.astype(dtype))
    return product.reshape(*x.shape[:-1], kernel.shape[-1])


def matmul_forward(x: Array, kernel: Array, dtype: DTypeLike) -> tuple[Array, Any]:
    """The product and what its gradient needs."""
    return matmul_with_rule(x, kernel, dtype), (x, kernel)


def matmul_backward(dtype: DTypeLike, residuals: Any, g: Array) -> tuple[Array, Array]:
    """Cotangents of x and kernel."""
    x, kernel = residuals
    rows, g = x.astype(dtype), g.astype(dtype)
    flat_g = g.reshape(-1, g.shape[-1])
    x_bar = float32_matmul(flat_g, kernel.astype(dtype).T)
    kernel_bar = jax.lax.platform_dependent(
        rows, g, cuda=sum_by_question, rocm=sum_by_question, default=sum_by_row
    )
    return x_bar.reshape(x.shape).astype(x.dtype), kernel_bar.astype(kernel.dtype)


matmul_with_rule.defvjp(matmul_forward, matmul_backward)


def sum_by_row(x: Float[Array, "*batch i"], g: Float[Array, "*batch o"]) -> Array:
    """The sum of the outer products of all rows, [i, o], as one matmul."""
    flat, flat_g = x.reshape(-1, x.shape[-1]), g.reshape(-1, g.shape[-1])
    return float32_matmul(flat.T, flat_g)


def sum_by_question(x: Float[Array, "b *n i"], g: Float[Array, "b *n o"]) -> Array:
    """``sum_by_row`` as a matmul for each question, and the sum of those.

    A kernel is small and its rows are many: as one matmul, a GPU adds up all rows in a
    few blocks of threads, unless its compiler looks for a kernel that splits them.
    """
    each = jnp.einsum("b...i,b...o->bio", x, g, preferred_element_type=jnp.float32)
    # Without the barrier the compiler may turn both back into one matmul.
    return jax.lax.optimization_barrier(each).sum(axis=0)


def product(x: Float[Array, "b *n i"], kernel: Float[Array, "i *o"]) -> Array:
    """x @ kernel in their own dtype, of a matrix or of a vector.

    The rule only changes how a GPU adds up the kernel's gradient.
    """
    return product_with_rule(x, kernel)


@jax.custom_vjp
def product_with_rule(x: Array, kernel: Array) -> Array:
    """``product``, with its rule."""
    return x @ kernel


def product_forward(x: Array, kernel: Array) -> tuple[Array, Any]:
    """The product and what its gradient needs."""
    return product_with_rule(x, kernel), (x, kernel)


def product_backward(residuals: Any, g: Array) -> tuple[Array, Array]:
    """Cotangents of x and kernel."""
    x, kernel = residuals
    (x_bar,) = jax.vjp(lambda x: x @ kernel, x)[1](g)

    def derived(x: Array, g: Array) -> Array:
        return jax.vjp(partial(jnp.matmul, x), kernel)[1](g)[0]

    def on_gpu(x: Array, g: Array) -> Array:
        columns = g[..., None] if kernel.ndim == 1 else g
        return sum_by_question(x, columns).reshape(kernel.shape)

    return x_bar, jax.lax.platform_dependent(
        x, g, cuda=on_gpu, rocm=on_gpu, default=derived
    )


product_with_rule.defvjp(product_forward, product_backward)


def contract(spec: str, x: Array, y: Array, dtype: DTypeLike) -> Array:
    """einsum(spec, x, y) in ``dtype`` with float32 sums, backwards too.

    Only for specs in which each letter stands in two of the three terms. The order of
    operands, here and in the rule, is the one that XLA needs no transpose for.
    """
    return contract_with_rule(spec, x, y, dtype)


@partial(jax.custom_vjp, nondiff_argnums=(0, 3))
def contract_with_rule(spec: str, x: Array, y: Array, dtype: DTypeLike) -> Array:
    """``contract``, with its rule."""
    x, y = x.astype(dtype), y.astype(dtype)
    return jnp.einsum(spec, x, y, preferred_element_type=jnp.float32)


def contract_forward(
    spec: str, x: Array, y: Array, dtype: DTypeLike
) -> tuple[Array, Any]:
    """The contraction and what its gradient needs."""
    return contract_with_rule(spec, x, y, dtype), (x, y)


def contract_backward(
    spec: str, dtype: DTypeLike, residuals: Any, g: Array
) -> tuple[Array, Array]:
    """Cotangents of x and y."""
    x, y = residuals
    terms, out = spec.split("->")
    of_x, of_y = terms.split(",")
    x_bar = contract(f"{of_y},{out}->{of_x}", y, g, dtype)
    y_bar = contract(f"{out},{of_x}->{of_y}", g, x, dtype)
    return x_bar.astype(x.dtype), y_bar.astype(y.dtype)


contract_with_rule.defvjp(contract_forward, contract_backward)


def add_bias(x: Float[Array, "*batch w"], bias: Float[Array, "w"]) -> Array:
    """x + bias, the same bias for every row."""
    return x + jnp.expand_dims(bias, range(x.ndim - 1))


def pre_activation(terms: Array, row: Array, features: Array, kernel: Array) -> Array:
    """terms + row + features @ kernel; so few features that the sum fuses."""
    total = terms + row[:, None]
    for i in range(kernel.shape[0]):
        total = total + features[..., i : i + 1] * kernel[i][None, None]
    return total


def activate(
    terms: Float[Array, "b n w"],
    row: Float[Array, "b w"],
    features: Float[Array, "b n f"],
    kernel: Float[Array, "f w"],
) -> Float[Array, "b n w"]:
    """gelu(terms + row + features @ kernel), row once per question.

    The rule keeps no intermediate, recomputes the sum, and gets the gradients of row
    and kernel from one matmul: these are elementwise passes over memory, not flops.
    """
    return activate_with_rule(terms, row, features, kernel)


@jax.custom_vjp
def activate_with_rule(
    terms: Array, row: Array, features: Array, kernel: Array
) -> Array:
    """``activate``, with its rule."""
    return jax.nn.gelu(pre_activation(terms, row, features, kernel))


def activate_forward(*operands: Array) -> tuple[Array, Any]:
    """The activations and what their gradient needs."""
    return activate_with_rule(*operands), operands


def activate_backward(operands: Any, g: Array) -> tuple[Array, Array, Array, Array]:
    """Cotangents of terms, row, features and kernel."""
    # The barrier keeps XLA from sharing the sum and its tanh with the forward pass,
    # which would write both to memory there and read them here.
    operands, g = jax.lax.optimization_barrier((operands, g))
    _, _, features, kernel = operands
    total = pre_activation(*operands)
    total_bar = jax.vjp(jax.nn.gelu, total)[1](g)[0]
    ones = jnp.ones((*features.shape[:-1], 1), features.dtype)
    columns = jnp.concatenate([features, ones], axis=-1)
    sums = jnp.einsum("bnf,bnw->bfw", columns, total_bar)
    return total_bar, sums[:, -1], total_bar @ kernel.T, sums[:, :-1].sum(axis=0)


activate_with_rule.defvjp(activate_forward, activate_backward)


def gather_rows(
    table: Float[Array, "b u w"], index: Int[Array, "b n"]
) -> Float[Array, "b n w"]:
    """Row ``index[b, n]`` of ``table[b]`` for every candidate."""
    return jax.vmap(lambda rows, i: rows.at[i].get(mode="promise_in_bounds"))(
        table, index
    )


def counted_softmax(
    scores: Float[Array, "b m h"], counts: Float[Array, "b m 1"]
) -> Float[Array, "b m h"]:
    """Softmax over m in which row i counts ``counts[i]`` times; zeros if none does."""
    real = counts > 0
    # Double where: log(0) must not reach the gradient, nor must an empty row's max.
    scores = scores + jnp.log(jnp.where(real, counts, 1.0).astype(jnp.float32))
    peak = jnp.max(jnp.where(real, scores, -jnp.inf), axis=1, keepdims=True)
    peak = jax.lax.stop_gradient(jnp.where(jnp.isfinite(peak), peak, 0.0))
    weights = jnp.where(real, jnp.exp(jnp.where(real, scores - peak, 0.0)), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    return weights / jnp.where(total > 0, total, 1.0)
