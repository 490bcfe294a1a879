"""Shard folders of format version 1, converted as they are opened.

They held PageRank once per end of a candidate, ``ppr.npy`` float32[b, n, 2], topics and
answers padded with -1, and an embedding for every triplet. Values are the same, bit for
bit; nodes that are no candidate's end have PageRank 0, for it was not stored.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from jaxtyping import Float32, Int

from kgscout_jax.data.shards import DIRECTIONS, RAGGED
from kgscout_jax.errors import UserError
from kgscout_jax.utils.ragged import Ragged

ROWS = 1024
"""Questions converted at once: 8 MB of PageRank at n = 1000."""


def files_v1() -> list[str]:
    """Names of the array files of a split, without .npy."""
    names = ["question_embeddings", "candidates", "ppr", "nodes", "topics", "answers"]
    names.append("n_nodes")
    for kind in RAGGED:
        for way in DIRECTIONS:
            names += [f"{kind}_{way}", f"{kind}_{way}_offsets"]
    return names


def upgraded(folder: Path, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays of a split's files in version 2, from those in version 1.

    Raises:
        UserError: arrays of one split differ in length.
    """
    out = dict(arrays)
    ppr, candidates, nodes = out.pop("ppr"), out["candidates"], out["nodes"]
    for key in ("candidates", "nodes", "n_nodes"):
        if len(out[key]) != len(ppr):
            raise UserError(
                f"{folder / key}.npy: {len(out[key])} rows, expected {len(ppr)} as in "
                "ppr.npy"
            )
    out["node_ppr"] = node_ppr_of(ppr, candidates, nodes, out["n_nodes"])
    for key in ("topics", "answers"):
        ragged = Ragged.of_padded(out[key])
        out[key], out[f"{key}_offsets"] = ragged.values, ragged.offsets
    return out


def node_ppr_of(
    ppr: Float32[np.ndarray, "b n 2"],
    candidates: Int[np.ndarray, "b n"],
    nodes: Int[np.ndarray, "b n 2"],
    n_nodes: Int[np.ndarray, "b"],
) -> Float32[np.ndarray, "total"]:
    """PageRank per local node, the nodes of one question after those of another."""
    start = np.cumsum(n_nodes, dtype=np.int64) - n_nodes
    out = np.zeros(int(n_nodes.sum(dtype=np.int64)), np.float32)
    for low in range(0, len(ppr), ROWS):
        rows = slice(low, low + ROWS)
        real = np.asarray(candidates[rows]) >= 0
        places = np.asarray(nodes[rows]) + start[rows, None, None]
        out[places[real]] = np.asarray(ppr[rows])[real]
    return out
