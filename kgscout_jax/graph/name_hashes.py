"""Vectorised 128-bit hashes of names, without a Python object per name.

The hashed text is the identity of an entity (``types.entity_key``), so two spellings of
one entity have one hash. Interning trusts the 128 bits: the probability of a collision
among a hundred million names is around 1e-23. Look-ups compare names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Int64, UInt64

from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name, entity_key
from kgscout_jax.utils.ragged import offsets_of

LONG = 256
"""Names of more bytes are hashed individually with BLAKE2b."""

BLOCK = 1 << 14
"""Names hashed at once."""

HASH_VERSION = 1
"""Version of the hash function; an index serves one version only."""

_IRREGULAR = np.zeros(256, bool)
_IRREGULAR[0x80:] = True  # only Python knows how its own lower() treats these
_IRREGULAR[[*range(0x09, 0x0E), *range(0x1C, 0x20)]] = True  # white space but the blank
_LOWER = np.arange(256, dtype=np.uint8)
_LOWER[0x41:0x5B] += 0x20
_SEEDS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F], np.uint64)
_FACTORS = np.array([0xBF58476D1CE4E5B9, 0x94D049BB133111EB], np.uint64)
_LENGTHS = np.array([0xD6E8FEB86659FD93, 0xA0761D6478BD642F], np.uint64)
_TAILS = np.array([(1 << 8 * n) - 1 for n in range(8)] + [2**64 - 1], np.uint64)


def irregular_mask(names: Strings) -> Bool[np.ndarray, "n"]:
    """True at names that are not ASCII or have white space to collapse."""
    data, offsets = names.data, names.offsets
    lengths = np.diff(offsets)
    irregular = np.zeros(len(names), bool)
    if not len(data):
        return irregular
    for start in range(0, len(data), 1 << 16):
        block = data[start : start + (1 << 16) + 1]  # one more, for pairs of blanks
        blank = block == 0x20
        flagged = _IRREGULAR[block]
        flagged[:-1] |= blank[:-1] & blank[1:]
        places = np.flatnonzero(flagged) + start
        if len(places):
            irregular[np.searchsorted(offsets, places, side="right") - 1] = True
    filled = np.flatnonzero(lengths)
    for edge in (offsets[:-1][filled], offsets[1:][filled] - 1):
        irregular[filled[data[edge] == 0x20]] = True
    return irregular


def entity_hashes(names: Strings) -> UInt64[np.ndarray, "n 2"]:
    """Hashes of the identities of entities; see ``blank_mask`` for empty ones."""
    return _hashes(names, lower=True, key=entity_key)


def blank_mask(names: Strings) -> Bool[np.ndarray, "n"]:
    """True at names that are empty once white space is collapsed."""
    blank = np.diff(names.offsets) == 0
    for i in np.flatnonzero(irregular_mask(names)):
        blank[i] = not names[int(i)].strip()
    return blank


def _hashes(
    names: Strings, *, lower: bool, key: Callable[[str], str]
) -> UInt64[np.ndarray, "n 2"]:
    irregular = np.flatnonzero(irregular_mask(names))
    data = names.data
    if lower:
        data = _LOWER[data]
    out = hash_bytes(Strings(data, names.offsets))
    if len(irregular):
        keys = [key(names[int(i)]) for i in irregular]
        out[irregular] = hash_bytes(Strings.of(keys))
    return out


def display_names(names: Strings) -> Strings:
    """The display names: white space is collapsed."""
    collapsed = {}
    for i in np.flatnonzero(irregular_mask(names)).tolist():
        spelling = display_name(names[i]).encode("utf-8")
        if spelling != _raw(names, i):
            collapsed[i] = spelling
    if not collapsed:
        return names
    lengths = np.diff(names.offsets)
    for i, raw in collapsed.items():
        lengths[i] = len(raw)
    offsets = offsets_of(lengths)
    data = np.empty(int(offsets[-1]), np.uint8)
    place = 0
    for i in [*sorted(collapsed), len(names)]:
        data[offsets[place] : offsets[i]] = names.data[
            names.offsets[place] : names.offsets[i]
        ]
        if i < len(names):
            data[offsets[i] : offsets[i + 1]] = np.frombuffer(collapsed[i], np.uint8)
        place = i + 1
    return Strings(data, offsets)


def _raw(names: Strings, i: int) -> bytes:
    return names.data[names.offsets[i] : names.offsets[i + 1]].tobytes()


def hash_bytes(names: Strings) -> UInt64[np.ndarray, "n 2"]:
    """Hashes of the bytes of each string, eight bytes of many strings a round."""
    padded = np.concatenate([names.data, np.zeros(8, np.uint8)])
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    out = np.empty((len(names), 2), np.uint64)
    for start in range(0, len(names), BLOCK):
        cuts = names.offsets[start : start + BLOCK + 1]
        out[start : start + BLOCK] = _hash_block(words, cuts)
    for i in np.flatnonzero(np.diff(names.offsets) > LONG):
        digest = hashlib.blake2b(_raw(names, int(i)), digest_size=16).digest()
        out[i] = np.frombuffer(digest, "<u8")
    return out


def _hash_block(
    words: UInt64[np.ndarray, "total"], offsets: Int64[np.ndarray, "n+1"]
) -> UInt64[np.ndarray, "n 2"]:
    """Hashes of a few thousand strings: all arrays fit into the CPU cache.

    Two states of 64 bits absorb eight bytes a round by multiplication and shift, with
    different factors.
    """
    lengths = np.diff(offsets)
    rounds = (lengths + 7) >> 3
    rounds[lengths > LONG] = 0
    order = np.argsort(-rounds, kind="stable")
    # The strings with bytes left in round w are order[:active[w]].
    active = np.cumsum(np.bincount(rounds, minlength=1)[::-1])[::-1][1:]
    starts, rest = offsets[:-1][order], lengths[order]
    states = [rest.astype(np.uint64) * _LENGTHS[i] + _SEEDS[i] for i in (0, 1)]
    for w, count in enumerate(active):
        word = words[starts[:count] + 8 * w]
        word &= _TAILS[np.minimum(rest[:count] - 8 * w, 8)]
        for state, factor in zip(states, _FACTORS, strict=True):
            active_state = state[:count]
            active_state ^= word
            active_state *= factor
            active_state ^= active_state >> np.uint64(31)
    out = np.empty((len(lengths), 2), np.uint64)
    for i, state in enumerate(states):
        # The finishing steps of splitmix64.
        state ^= state >> np.uint64(30)
        state *= _FACTORS[1 - i]
        state ^= state >> np.uint64(27)
        state *= _FACTORS[i]
        out[order, i] = state ^ (state >> np.uint64(33))
    return out
