"""Fingerprints (content hashes) of a graph's data and of its names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from kgscout_jax.graph.arrays import NamedTriplets
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.utils.manifest import fingerprint

NAMES_PER_UPDATE, BYTES_PER_UPDATE = 1 << 14, 1 << 24
"""Names, and bytes of names, that are hashed at once."""

_EMBEDDED_FILES = ("triplets.npy", "entities.utf8", "relations.utf8", "labels.utf8")


def data_fingerprint(files: Mapping[str, Mapping[str, Any]]) -> str:
    """The fingerprint of a GRAPH folder's data that embeddings depend on.

    Args:
        files: the files that the folder's manifest lists, with their ``sha256``.
    """
    hashes = {
        name.split("/")[-1]: file["sha256"]
        for name, file in files.items()
        if name.split("/")[-1] in _EMBEDDED_FILES
    }
    return fingerprint(hashes)[:16]


def name_fingerprints(
    graph: NamedTriplets, prefix: Mapping[str, Any] | None = None
) -> dict[str, dict[str, Any]]:
    """Number and sha256 of the names of entities and of relations.

    Args:
        graph: the graph.
        prefix: fingerprints of an earlier state; only as many names as it counts are
            hashed. The result equals ``prefix`` exactly if names were only appended.
    """
    out = {}
    for key, names in (("entities", graph.entities), ("relations", graph.relations)):
        count = len(names)
        if prefix is not None:
            count = min(count, int(prefix.get(key, {}).get("count", 0)))
        out[key] = {"count": count, "sha256": _sha256(names, count)}
    return out


def _sha256(names: Sequence[str], count: int) -> str:
    """The sha256 of the first ``count`` names."""
    digest = hashlib.sha256()
    if isinstance(names, Strings):
        end = int(names.offsets[count]) if count else 0
        for array in (names.offsets[: count + 1], names.data[:end]):
            for low in range(0, len(array), BYTES_PER_UPDATE):
                digest.update(array[low : low + BYTES_PER_UPDATE].tobytes())
        return digest.hexdigest()
    for low in range(0, count, NAMES_PER_UPDATE):
        block = names[low : min(low + NAMES_PER_UPDATE, count)]
        digest.update(json.dumps(block).encode())
    return digest.hexdigest()
