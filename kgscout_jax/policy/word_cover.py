"""What the words of a question say of paths: which of them a path's relations explain.

A sentence embedding blurs a question over several relations. Here each word of the
question is compared with each relation, and what a path has explained so far travels
with it over the candidate graph: a node's *cover* is, for each word, how well some
relation on the best path to it matches the word. "The capital of the country of X":
after one hop, ``country`` is explained; only after two, ``capital`` is as well. This
depends on likenesses rather than on weights learned by heart, so it holds on graphs
that the policy was not trained on.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped

from kgscout_jax.policy.layers import gather_rows
from kgscout_jax.policy.parameters import Initializer, weights_dataclass
from kgscout_jax.policy.topology import sum_at

PLACE_WIDTH = 4
"""Columns of ``place_features``."""
NEAR = 8.0
"""Words: the scale of distances from a topic's name."""
MATCH_SLOPE = 12.0
MATCH_POINT = 0.4
"""Before training a word is explained half by a relation of this cosine."""
RIVALRY = 4.0
"""Before training a relation that is .1 less like a word than another counts 2/3."""
ABSENT = 1e-3
"""Added to how well the graph explains a word, whose logarithm is taken."""
SHARPNESS = 10.0
"""Before training, how much better paths count among those that end in a node."""
GAIN_SHARPNESS = 30.0
"""How much better steps count among those that start from a node."""
COVER_SCALE = 5.0
"""Shares of a question's words that a path explains vary by about a fifth."""
BEHIND = -0.5
"""How far a node that no path of so many steps reaches is behind the best one."""
SMALL = 1e-9
"""The least sum of weights that is divided by."""
UNREACHED = -1e9
"""The share of a path that does not exist."""


@weights_dataclass
class CoverWeights:
    """Parameters: d = dimension, r = rank, s = steps, c = walkers."""

    left: Float[Array, "d r"]
    """Of words; with ``right``, of relations, a learned likeness beside the cosine."""
    right: Float[Array, "d r"]
    log_slope: Float[Array, ""]
    point: Float[Array, ""]
    log_rivalry: Float[Array, ""]
    """How much a relation counts less than the one most like the word."""
    importance: Float[Array, "d"]
    """Of words: some carry the relation, others do not."""
    importance_place: Float[Array, "p"]
    attention: Float[Array, "d sc"]
    """Which words each walker listens to at each step."""
    attention_place: Float[Array, "p sc"]
    gain: Float[Array, "sc"]
    """What the likeness to these words adds to a walker's readiness."""
    log_sharpness: Float[Array, ""]


def init_cover(
    draws: Initializer, dimension: int, rank: int, steps: int, walkers: int
) -> CoverWeights:
    """Initial parameters."""
    sc = steps * walkers
    return CoverWeights(
        left=draws.kernel(dimension, rank),
        right=0.1 * draws.kernel(dimension, rank),
        log_slope=jnp.log(jnp.float32(MATCH_SLOPE)),
        point=jnp.float32(MATCH_POINT),
        log_rivalry=jnp.log(jnp.float32(RIVALRY)),
        importance=jnp.zeros(dimension, jnp.float32),
        importance_place=jnp.zeros(PLACE_WIDTH, jnp.float32),
        attention=draws.kernel(dimension, sc, gain=0.1),
        attention_place=jnp.zeros((PLACE_WIDTH, sc), jnp.float32),
        gain=jnp.ones(sc, jnp.float32),
        log_sharpness=jnp.log(jnp.float32(SHARPNESS)),
    )


def cover_width(steps: int) -> int:
    """Columns of ``covers``."""
    return 5 * steps - 1


def place_features(
    distances: Int[Array, "b l"], known: Bool[Array, "b l"]
) -> Float[Array, "b l 4"]:
    """Where words stand: before or after a topic's name, how far, or unknown."""
    far = distances.astype(jnp.float32)
    columns = [
        (distances == 0).astype(jnp.float32),
        jnp.maximum(far, 0.0) / NEAR,
        jnp.maximum(-far, 0.0) / NEAR,
        1.0 / jnp.maximum(jnp.abs(far), 1.0),
    ]
    return jnp.stack(columns, axis=-1) * known[..., None]


def likeness(
    weights: CoverWeights,
    words: Float[Array, "b l d"],
    relations: Float[Array, "b u d"],
) -> Float[Array, "b u l"]:
    """How alike relations and words are: the cosine, and a learned form."""
    words = words.astype(jnp.float32)
    relations = relations.astype(jnp.float32)
    d = words.shape[-1]
    key = words + (words @ weights.left) @ weights.right.T * d**0.5
    return jnp.einsum("bud,bld->bul", relations, key)


def word_matches(
    weights: CoverWeights,
    alike: Float[Array, "b n l"],
    mask: Bool[Array, "b n"],
    known: Bool[Array, "b l"],
) -> tuple[Float[Array, "b n l"], Float[Array, "b l"]]:
    """How well each candidate's relation explains each word, and any candidate does.

    In (0, 1): by likeness, and less so where another relation is more like the word.

    Args:
        weights: the parameters.
        alike: ``likeness`` of each candidate's relation and each word.
        mask: True at real candidates.
        known: True at words.
    """
    slope, rivalry = jnp.exp(weights.log_slope), jnp.exp(weights.log_rivalry)
    best = jnp.where(mask[..., None], alike, -1.0).max(axis=1, keepdims=True)
    match = jax.nn.sigmoid(slope * (alike - weights.point))
    match = match * jnp.exp(rivalry * jnp.minimum(alike - best, 0.0))
    any_match = jax.nn.sigmoid(slope * (best - weights.point))
    return match * known[:, None], any_match[:, 0] * known


def word_importance(
    weights: CoverWeights,
    words: Float[Array, "b l d"],
    places: Float[Array, "b l p"],
    any_match: Float[Array, "b l"],
    known: Bool[Array, "b l"],
) -> Float[Array, "b l"]:
    """The share of each word of a question; zeros where there is none.

    Words that no relation of the graph explains hardly count: "the *same* director".
    """
    scale = words.shape[-1] ** 0.5
    score = scale * words.astype(jnp.float32) @ weights.importance
    score = score + places @ weights.importance_place + jnp.log(any_match + ABSENT)
    share = jax.nn.softmax(jnp.where(known, score, -1e9), axis=1)
    return jnp.where(known, share, 0.0)


def readiness(
    weights: CoverWeights,
    alike: Float[Array, "b u l"],
    words: Float[Array, "b l d"],
    places: Float[Array, "b l p"],
    known: Bool[Array, "b l"],
    walkers: int,
) -> Float[Array, "b u f"]:
    """What the words add to each walker's logit for each relation.

    f = steps * 2 * walkers, as in ``WalkerWeights.output``; equal along and against.
    """
    scale = words.shape[-1] ** 0.5
    score = scale * words.astype(jnp.float32) @ weights.attention
    score = score + places @ weights.attention_place
    share = jax.nn.softmax(jnp.where(known[..., None], score, -1e9), axis=1)
    share = share * known[..., None]
    terms = jnp.einsum("bul,blf->buf", jnp.exp(weights.log_slope) * alike, share)
    terms = terms * weights.gain[None, None]
    b, u, _ = terms.shape
    terms = terms.reshape(b, u, -1, 1, walkers)
    return jnp.concatenate([terms, terms], axis=3).reshape(b, u, -1)


def covers(
    weights: CoverWeights,
    matches: Float[Array, "b n l"],
    importance: Float[Array, "b l"],
    nodes: Int[Array, "b n 2"],
    topics: Bool[Array, "b v"],
    mask: Bool[Array, "b n"],
    steps: int,
) -> Float[Array, "b v w"]:
    """How much of the question the best path of 1, 2, ... steps to each node explains.

    Columns for each step: the share of the words beside the largest of any node;
    whether the node is reached; by how much the largest grows at that step; the share
    beside the largest of any step. Then, for each step but the last, how much more of
    the question one more step from the node explains: where that is much, the question
    goes on, and the node is no answer.

    Shapes:
        matches: of each candidate's relation and each word, in (0, 1).
        returns: w = ``cover_width(steps)``.
    """
    b, v = topics.shape
    n = nodes.shape[1]
    arriving_at = jnp.concatenate([nodes[..., 1], nodes[..., 0]], axis=1)
    coming_from = jnp.concatenate([nodes[..., 0], nodes[..., 1]], axis=1)
    both_ways = jnp.concatenate([matches, matches], axis=1)
    real = jnp.concatenate([mask, mask], axis=1)
    floor = jnp.full((v, 2), UNREACHED, jnp.float32)
    sharpness = jnp.exp(weights.log_sharpness)

    def turned(rows: Shaped[Array, "b m"]) -> Shaped[Array, "b m"]:
        """The rows of each way's other direction: it arrives where this one starts."""
        return jnp.concatenate([rows[:, n:], rows[:, :n]], axis=1)

    def best_of(
        values: Float[Array, "b m 2"],
    ) -> tuple[Float[Array, "b v 2"], Float[Array, "b m 2"]]:
        """The largest value at each node arrived at, a constant, and each value's way
        below it."""
        fixed = jax.lax.stop_gradient(values)
        best = jax.vmap(lambda i, x: floor.at[i].max(x))(arriving_at, fixed)
        return best, values - gather_rows(best, arriving_at)

    def step(
        state: tuple[Float[Array, "b v l"], Bool[Array, "b v"]], _: None
    ) -> tuple[tuple[Array, Array], tuple[Array, Array, Array]]:
        cover, reached = state
        before = jnp.einsum("bvl,bl->bv", cover, importance)
        of_nodes = [cover, before[..., None], reached[..., None].astype(jnp.float32)]
        at_start = gather_rows(jnp.concatenate(of_nodes, axis=-1), coming_from)
        here = (at_start[..., -1] > 0) & real
        path = jnp.maximum(at_start[..., :-2], both_ways)
        share = jnp.einsum("bml,bl->bm", path, importance)
        more = share - at_start[..., -2]
        # What counts where a way starts is turned, so that one scatter serves both.
        masked = jnp.stack([share, turned(more)], axis=-1)
        present = jnp.stack([here, turned(here)], axis=-1)
        best, below = best_of(jnp.where(present, masked, UNREACHED))
        sharp = jnp.stack([sharpness, jnp.float32(GAIN_SHARPNESS)])[None, None]
        weight = jnp.exp(sharp * jnp.where(present, below, 0.0)) * present
        of_paths, of_gains = weight[..., :1], weight[..., 1:]
        rows = [path * of_paths, of_paths, masked[..., 1:] * of_gains, of_gains]
        sums = sum_at(jnp.concatenate(rows, axis=-1), arriving_at, v)
        gain = sums[..., -2] / jnp.maximum(sums[..., -1], SMALL)
        cover = sums[..., :-3] / jnp.maximum(sums[..., -3:-2], SMALL)
        reached = best[..., 0] > UNREACHED / 2
        share = jnp.einsum("bvl,bl->bv", cover, importance)
        return (cover, reached), (share, reached, gain)

    start = jnp.zeros((b, v, importance.shape[1]), jnp.float32), topics
    _, (shares, reached, gains) = jax.lax.scan(step, start, length=steps)
    largest = jnp.where(reached, shares, 0.0).max(axis=2, keepdims=True)
    behind = jnp.where(reached, shares - largest, BEHIND)
    short = jnp.where(reached, shares - largest.max(axis=0, keepdims=True), BEHIND)
    growth = jnp.diff(largest, axis=0, prepend=0.0)
    columns = [
        COVER_SCALE * behind,
        reached.astype(jnp.float32),
        COVER_SCALE * jnp.broadcast_to(growth, shares.shape),
        COVER_SCALE * short,
        COVER_SCALE * gains[1:],
    ]
    return jnp.moveaxis(jnp.concatenate(columns), 0, -1)
