"""Damage: changed bytes of a file, and changed values of a JSON document."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**70), 10**400, 0.5, 1e308, "", "x",
    "0" * 64, "../..", "a\x00b", "\ud800", "é" * 300, [], {}, [[]], [None], {"": None},
    {"x": {"x": []}}, [1, "a"], "v9999", "1e9", "NaN",
]  # fmt: skip


def changed_bytes(raw: bytes, rng: random.Random) -> bytes:
    """A copy that differs: a bit flipped, or bytes lost, added, zeroed, repeated."""
    if not raw:
        return b"\x00"
    while True:
        at, length = rng.randrange(len(raw)), rng.choice([1, 2, 7, 64, 4096])
        kind = rng.randrange(8)
        if kind < 3:
            out = bytearray(raw)
            out[at] ^= 1 << rng.randrange(8)
        else:
            rest = raw[at + length :]
            middle = {
                3: b"",
                4: bytes(length),
                5: rng.randbytes(length),
                6: raw[at : at + length] * 2,
                7: b"",
            }[kind]
            out = raw[:at] + middle + (b"" if kind == 7 else rest)
        if bytes(out) != raw:
            return bytes(out)


def flipped_bit(raw: bytes, rng: random.Random) -> bytes:
    """A copy with one bit flipped."""
    out = bytearray(raw)
    out[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
    return bytes(out)


def changed_json(document: Any, rng: random.Random) -> Any:
    """A copy with one to three values replaced, removed, renamed or added."""
    out = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(_places(out))
        if not places:
            return rng.choice(VALUES)
        holder, key = rng.choice(places)
        kind = rng.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[f"{key}_"] = holder.pop(key)
        elif kind == 2 and isinstance(holder[key], int | float | str):
            old = holder[key]
            holder[key] = [old] if rng.random() < 0.5 else str(old)
        else:
            holder[key] = copy.deepcopy(rng.choice(VALUES))
    return out


def changed_document(text: str, rng: random.Random) -> bytes:
    """A JSON document with changed values, or now and then changed bytes."""
    if rng.random() < 0.25:
        return changed_bytes(text.encode(), rng)
    return json.dumps(changed_json(json.loads(text), rng)).encode()


def _places(value: Any):
    """(container, key) of every value, containers of few first."""
    keys = value.keys() if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])
