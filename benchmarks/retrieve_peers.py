"""Retrieval as one would write it without this package, and cosine alone by FAISS.

``TorchPeer`` is the same network in plain PyTorch, with the same weights, behind a
ball, ``networkx.pagerank``, a cut and a cosine. Written to be read and fair: attention
of one query, not of equal ones; everything that does not depend on the question is
prepared before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Float32, Int64

from benchmarks.peers import ball, multigraph, rank_nodes
from kgscout_jax.errors import UserError
from kgscout_jax.export.load import Exported
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.policy.inputs import PPR_FLOOR


class TorchNetwork:
    """The policy network of the thesis as it stands there, in PyTorch."""

    def __init__(self, exported: Exported) -> None:
        import jax
        import torch

        self.config = exported.config
        self.weights: Any = jax.tree.map(
            lambda leaf: torch.from_numpy(np.array(leaf, np.float32)), exported.weights
        )

    def logits(
        self,
        question: Float32[np.ndarray, "d"],
        triplets: Float32[np.ndarray, "n d"],
        relations: Float32[np.ndarray, "n d"],
        ppr: Float[np.ndarray, "n 2"],
    ) -> Float32[np.ndarray, "n"]:
        """Of each candidate."""
        import torch

        w, c = self.weights, self.config
        with torch.inference_mode():
            q, t, r = (
                torch.from_numpy(np.ascontiguousarray(rows)) * c.scale
                for rows in (question, triplets, relations)
            )
            logs = torch.log(torch.from_numpy(ppr.astype(np.float32)) + PPR_FLOOR)
            p = (logs - torch.tensor(c.ppr_mean)) / torch.tensor(c.ppr_std)
            each = (len(t), -1)
            score_a, score_b = (
                self.mlp(
                    tower,
                    torch.cat(
                        [x, self.attend(block, q, x).expand(each), q.expand(each), p], 1
                    ),
                )
                for tower, block, x in (
                    (w.tower_a, w.triplet_attention, t),
                    (w.tower_b, w.relation_attention, r),
                )
            )
            gate = torch.sigmoid(self.mlp(w.gate, torch.cat([t, r, q.expand(each)], 1)))
            joined = torch.cat([score_a, score_b, gate], 1)
            out = self.mlp(w.combiner, joined)[:, 0] / torch.exp(w.log_temperature)
            return out.numpy()

    def attend(self, weights: Any, q: Any, x: Any) -> Any:
        """Multi-head attention of one query over the rows of ``x``: [d]."""
        heads = self.config.heads
        query = (q @ weights.query.kernel + weights.query.bias).view(heads, 1, -1)
        key = (x @ weights.key_kernel).view(len(x), heads, -1).permute(1, 2, 0)
        value = x @ weights.value.kernel + weights.value.bias
        value = value.view(len(x), heads, -1).transpose(0, 1)
        shares = (query @ key / math.sqrt(query.shape[-1])).softmax(-1)
        context = (shares @ value).reshape(-1)
        return context @ weights.output.kernel + weights.output.bias

    def mlp(self, weights: Any, x: Any) -> Any:
        """One output for each row."""
        from torch.nn.functional import gelu

        for layer in weights.hidden:
            x = gelu(x @ layer.kernel + layer.bias, approximate="tanh")
        return x @ weights.output.kernel + weights.output.bias


class TorchPeer:
    """Topic and question in, triplets out, with NetworkX and PyTorch."""

    def __init__(
        self,
        exported: Exported,
        graph: KnowledgeGraph,
        triplets: Float[np.ndarray, "m d"],
        relations: Float[np.ndarray, "r d"],
    ) -> None:
        self.network, self.cut = TorchNetwork(exported), exported.preparation
        self.rows = np.asarray(graph.triplets).tolist()
        self.whole = multigraph(self.rows)
        self.triplets, self.relations = triplets, relations
        self.names: list[str] = [str(name) for name in graph.entities]
        self.kinds: list[str] = [str(name) for name in graph.relations]
        self.places = {name.lower(): i for i, name in enumerate(self.names)}

    def retrieve(
        self, question: Float32[np.ndarray, "d"], topic: str, k: int = 100
    ) -> list[tuple[str, str, str, float]]:
        """The best ``k`` triplets with their scores."""
        topics = [self.places[topic.lower()]]
        ids, ppr = self.candidates(question, topics)
        logits = self.network.logits(
            question,
            self.triplets[ids].astype(np.float32),
            self.relations[[self.rows[i][1] for i in ids]].astype(np.float32),
            ppr,
        )
        out = []
        for place in np.argsort(-logits)[:k].tolist():
            head, kind, tail = self.rows[ids[place]]
            names = self.names[head], self.kinds[kind], self.names[tail]
            out.append((*names, float(logits[place])))
        return out

    def candidates(
        self, question: Float32[np.ndarray, "d"], topics: Sequence[int]
    ) -> tuple[Int64[np.ndarray, "n"], Float[np.ndarray, "n 2"]]:
        """Ids of the candidates, and the PageRank of their ends."""
        ids = ball(self.whole, topics, self.cut.hops or 2)
        rows = [self.rows[i] for i in ids]
        rank = rank_nodes(multigraph(rows, both=True), topics)
        ppr = np.array([(rank[head], rank[tail]) for head, _, tail in rows])
        best = np.argsort(-ppr.sum(axis=1), kind="stable")[: self.cut.max_triplets]
        own = np.array(ids)[best]
        cosine = self.triplets[own].astype(np.float32) @ question
        keep = np.argsort(-cosine, kind="stable")[: self.cut.candidates]
        return own[keep], ppr[best][keep]


class FaissPeer:
    """The triplets of a whole graph nearest to the question: exact, by FAISS."""

    def __init__(self, triplets: Float[np.ndarray, "m d"]) -> None:
        """
        Raises:
            UserError: FAISS is not installed.
        """
        faiss = import_faiss()
        self.index = faiss.IndexFlatIP(triplets.shape[1])
        for low in range(0, len(triplets), 1 << 16):
            self.index.add(triplets[low : low + (1 << 16)].astype(np.float32))

    def retrieve(
        self, question: Float32[np.ndarray, "d"], k: int = 100
    ) -> Int64[np.ndarray, "k"]:
        """Ids of the best ``k`` triplets."""
        return self.index.search(question[None], k)[1][0]


def import_faiss() -> Any:
    """The module.

    Raises:
        UserError: it is not installed.
    """
    try:
        import faiss
    except ImportError:
        raise UserError(
            "peer faiss: the package faiss-cpu is not installed; "
            "pip install 'kgscout-jax[bench]', or leave it out of --peers"
        ) from None
    return faiss
