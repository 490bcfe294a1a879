"""Golden inputs and outputs, which check that an export still computes the same."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float, Int

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.export.format import GOLDEN
from kgscout_jax.policy.config import NetworkConfig
from kgscout_jax.policy.inputs import NO_WORD, PolicyInputs
from kgscout_jax.policy.registry import (
    PolicyWeights,
    has_answers,
    jitted_outputs,
    needs_topology,
    needs_words,
)
from kgscout_jax.utils.io import NPZ_DAMAGE, read_arrays

INPUTS = ("question", "triplets", "relations", "ppr", "mask")
"""Arguments of the exported call, in their order."""
TOPOLOGY = ("nodes", "topics")
"""Its further arguments, if the network needs them: local node ids of head and tail,
int32, below v; and a mask of topics over the v nodes, bool."""
WORD_INPUTS = ("words", "word_places")
"""Its further arguments, if the network reads the words of questions: embeddings of
each by itself, and their distances from a topic's name, int32."""
TOLERANCE = {"float32": 1e-3, "bfloat16": 5e-2}
"""Largest error of logits by compute dtype, relative to the largest golden logit.
Another machine sums in another order; other weights differ by more."""
REAL_COUNTS = (7, 4, 0)
"""Real candidates of the golden questions: all of n, some, none."""


def argument_names(config: NetworkConfig) -> tuple[str, ...]:
    """Names of the arguments of the exported call, in their order."""
    topology = TOPOLOGY if needs_topology(config) else ()
    return (*INPUTS, *topology, *(WORD_INPUTS if needs_words(config) else ()))


def output_names(config: NetworkConfig) -> tuple[str, ...]:
    """Names of the outputs of the exported call: one array, or a tuple of two."""
    return ("logits", "answers") if has_answers(config) else ("logits",)


class Golden(NamedTuple):
    """Inputs of the exported call, with padding and an empty question."""

    question: Float[np.ndarray, "b d"]
    triplets: Float[np.ndarray, "b n d"]
    relations: Float[np.ndarray, "b n d"]
    ppr: Float[np.ndarray, "b n 2"]
    mask: Bool[np.ndarray, "b n"]
    logits: Float[np.ndarray, "b n"]
    nodes: Int[np.ndarray, "b n 2"] | None = None
    topics: Bool[np.ndarray, "b v"] | None = None
    answers: Float[np.ndarray, "b v"] | None = None
    """Logits of the nodes, of a network with an answer head."""
    words: Float[np.ndarray, "b l d"] | None = None
    word_places: Int[np.ndarray, "b l"] | None = None

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of ``golden.npz``."""
        return {k: v for k, v in self._asdict().items() if v is not None}

    @property
    def arguments(self) -> tuple[np.ndarray, ...]:
        """The arguments of the exported call."""
        arrays = self.arrays
        names = (*INPUTS, *TOPOLOGY, *WORD_INPUTS)
        return tuple(arrays[name] for name in names if name in arrays)

    @property
    def inputs(self) -> PolicyInputs:
        """The inputs of the network."""
        return PolicyInputs.from_full(*map(jnp.asarray, self.arguments))


def make_golden(weights: PolicyWeights, config: NetworkConfig) -> Golden:
    """Realistic inputs, from a fixed seed, with the network's logits."""
    generator = np.random.default_rng(0)
    b, n, d = len(REAL_COUNTS), max(REAL_COUNTS), config.dimension
    mask = np.arange(n) < np.array(REAL_COUNTS)[:, None]

    def unit(*shape: int) -> np.ndarray:
        x = generator.normal(size=(*shape, d))
        return (x / np.linalg.norm(x, axis=-1, keepdims=True)).astype(np.float32)

    question, triplets, relations = unit(b), unit(b, n), unit(b, n)
    mean, std = getattr(config, "ppr_mean", (-8.0,)), getattr(config, "ppr_std", (2.0,))
    logs = generator.normal(mean, std, size=(b, n, 2))
    ppr = np.minimum(np.exp(logs), 1.0).astype(np.float32)
    real = mask[..., None]
    golden = Golden(
        question=question,
        triplets=np.where(real, triplets, np.float32(0)),
        relations=np.where(real, relations, np.float32(0)),
        ppr=np.where(real, ppr, np.float32(0)),
        mask=mask,
        logits=np.zeros((b, n), np.float32),
    )
    if needs_topology(config):
        nodes = generator.integers(0, n, size=(b, n, 2)).astype(np.int32)
        golden = golden._replace(
            nodes=np.where(real, nodes, np.int32(0)), topics=np.eye(b, n, dtype=bool)
        )
    if needs_words(config):
        places = np.tile(np.array([-2, 0, 1, NO_WORD], np.int32), (b, 1))
        known = (places != NO_WORD)[..., None]
        golden = golden._replace(
            words=np.where(known, unit(*places.shape), np.float32(0)),
            word_places=places,
        )
    outputs = jitted_outputs(weights, config, golden.inputs)
    logits = np.asarray(outputs.logits)
    answers = None if outputs.answers is None else np.asarray(outputs.answers)
    finite = np.isfinite(logits[mask]).all()
    if not finite or (answers is not None and np.isnan(answers).any()):
        raise UserError("the policy's logits are not finite, expected a trained policy")
    return golden._replace(logits=logits, answers=answers)


def read_golden(file: Path, config: NetworkConfig) -> Golden:
    """The arrays in ``golden.npz``; raises UserError if they do not fit the config."""
    try:
        arrays = read_arrays(file)
    except NPZ_DAMAGE as error:
        problem = first_line(error)
        raise UserError(f"{file}: not a whole .npz file ({problem})") from None
    names = (*argument_names(config), *output_names(config))
    if missing := [name for name in names if name not in arrays]:
        raise UserError(f"{file}: no {', '.join(missing)}")
    golden = Golden(**{name: arrays[name] for name in names})
    b, n = golden.mask.shape if golden.mask.ndim == 2 else (0, 0)
    v = 0 if golden.topics is None or not b else golden.topics.shape[-1]
    d, dtype = config.dimension, np.float32
    width = 0 if golden.word_places is None else golden.word_places.shape[-1]
    expected = {
        "question": ((b, d), dtype),
        "triplets": ((b, n, d), dtype),
        "relations": ((b, n, d), dtype),
        "ppr": ((b, n, 2), dtype),
        "mask": ((b, n), bool),
        "nodes": ((b, n, 2), np.int32),
        "topics": ((b, v), bool),
        "words": ((b, width, d), dtype),
        "word_places": ((b, width), np.int32),
        "logits": ((b, n), dtype),
        "answers": ((b, v), dtype),
    }
    for name, array in golden.arrays.items():
        shape, dtype = expected[name]
        if array.shape != shape or array.dtype != dtype or not array.size:
            raise UserError(
                f"{file}: {name} is {array.dtype} {array.shape}, expected "
                f"{np.dtype(dtype)} {shape}, not empty"
            )
    return golden


def check_outputs(
    file: Path,
    logits: np.ndarray,
    answers: np.ndarray | None,
    golden: Golden,
    tolerance: float,
) -> None:
    """Raise UserError unless the outputs are the golden ones, within tolerance."""
    check_logits(file, "logits", logits, golden.logits, golden.mask, tolerance)
    if golden.answers is not None:
        if answers is None:
            raise UserError(
                f"{file}: no logits of answers, expected them beside logits"
            )
        real = np.isfinite(golden.answers)
        check_logits(file, "answers", answers, golden.answers, real, tolerance)


def check_logits(
    file: Path,
    name: str,
    logits: np.ndarray,
    expected: np.ndarray,
    mask: np.ndarray,
    tolerance: float,
) -> None:
    """Raise UserError unless ``logits`` are as expected where the mask is True."""
    if not np.array_equal(np.isneginf(logits), ~mask):
        raise UserError(f"{file}: {name} are not -inf exactly where they must be")
    largest = float(np.abs(expected[mask]).max(initial=1e-3))
    difference = float(np.abs(logits[mask] - expected[mask]).max(initial=0.0))
    if not difference <= tolerance * largest:  # rejects nan too
        raise UserError(
            f"{file}: its {name} differ by {difference:.2g} from those in {GOLDEN}, "
            f"expected at most {tolerance * largest:.2g}: parameters, settings or code "
            "are not those that were exported"
        )
