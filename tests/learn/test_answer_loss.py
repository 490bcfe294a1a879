"""The loss of the answer head against sums written out."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kgscout_jax.learn.answer_loss import answer_loss

jitted = jax.jit(answer_loss)


def literal(logits, answers):
    real = {i for i, x in enumerate(logits) if np.isfinite(x)}
    gold = {a for a in answers if a >= 0} & real
    total = sum(np.exp(logits[i]) for i in real)
    share = sum(np.exp(logits[i]) for i in gold) / total if gold else 1.0
    each = [np.logaddexp(0, -logits[i] if i in gold else logits[i]) for i in real]
    return -np.log(share) + sum(each) / (1 + len(gold))


@pytest.mark.parametrize(
    "answers", [[2, -1, -1], [0, 2, 4], [1, -1, -1], [-1, -1, -1], [3, 3, 0]]
)
def test_the_loss_is_the_sum_written_out(answers):
    """Node 1 has no candidate: as an answer it cannot be learned."""
    logits = np.array([0.3, -np.inf, 2.0, -1.5, 0.7])
    loss = jitted(jnp.asarray(logits, jnp.float32), jnp.asarray(answers))
    assert float(loss) == pytest.approx(literal(logits, answers), rel=1e-5)


def test_gradients_are_finite_where_logits_are_not():
    logits = jnp.array([0.3, -jnp.inf, 2.0])
    slope = jax.jit(jax.grad(answer_loss))
    for answers in ([0, -1], [1, -1], [-1, -1]):
        gradient = slope(logits, jnp.array(answers))
        assert np.isfinite(gradient).all() and gradient[1] == 0
    none = jnp.full(3, -jnp.inf)
    assert float(jitted(none, jnp.array([0, -1]))) == 0.0
