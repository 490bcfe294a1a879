"""The peers of training, in PyTorch: the thesis with NetworkX, and an MLP with DDE.

Written as a competent student would, one question at a time: no padding, embedding
tables as float32 in memory, index arrays and reference graphs prepared beforehand and
not timed, fused attention (``need_weights=False``), one query row where all are equal
(``literal``: one per candidate, as the thesis writes it), no gradient for frozen
inputs, the fused AdamW. The thesis's network is that of ``kgscout_jax.policy``,
unfolded: the same widths, activation, scaling and, given the same weights, the same
logits.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import jax
import networkx as nx
import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.common import CLOCKS, Clock
from benchmarks.train_world import World
from kgscout_jax.learn.reward_host import RewardWeights
from kgscout_jax.policy.dual_tower import DualTowerConfig
from kgscout_jax.policy.inputs import PPR_FLOOR


def torch_device() -> torch.device:
    """Where the peers run: where JAX does, if PyTorch can."""
    gpu = jax.default_backend() == "gpu" and torch.cuda.is_available()
    return torch.device("cuda" if gpu else "cpu")


class Watch:
    """Seconds by what they were spent on; a GPU finishes before a lap ends."""

    def __init__(self, clock: Clock = "wall") -> None:
        self.now = CLOCKS[clock]
        self.on_gpu = torch_device().type == "cuda"
        self.spent: dict[str, float] = {}
        self.last = self.now()

    def start(self) -> None:
        """What came before is not counted."""
        self.last = self.now()

    def lap(self, name: str) -> None:
        """The seconds since the last call went to ``name``."""
        if self.on_gpu:
            torch.cuda.synchronize()
        now = self.now()
        self.spent[name] = self.spent.get(name, 0.0) + now - self.last
        self.last = now

    def shares(self) -> dict[str, float]:
        """What part of all seconds each name has."""
        total = sum(self.spent.values())
        return {name: seconds / total for name, seconds in self.spent.items()}


class Question(NamedTuple):
    """One question as the peers read it: n candidates, v local nodes."""

    embedding: Tensor
    """[d]"""
    triplets: Tensor
    """[n], rows of the triplet table."""
    relations: Tensor
    """[n], rows of the relation table."""
    entities: Tensor
    """[n, 2], rows of the entity table."""
    ppr: Tensor
    """[n, 2], standardised logarithms."""
    nodes: Tensor
    """[n, 2], local ids."""
    pairs: list[tuple[int, int]]
    """The same, as Python has them."""
    topics: list[int]
    answers: list[int]
    on_path: Tensor
    """[n], 1 at candidates on a shortest path, walked both ways; else 0."""
    graph: nx.DiGraph
    """Where shortest paths are looked for."""
    n_nodes: int


class TorchTables(NamedTuple):
    """float32 tables."""

    triplets: Tensor
    relations: Tensor
    entities: Tensor


def torch_tables(world: World) -> TorchTables:
    """The tables of a world."""
    every = np.arange(len(world.shards.triplet_embeddings))
    tables = (
        world.shards.triplet_vectors(every),
        world.shards.relation_embeddings.astype(np.float32),
        world.entity_embeddings,
    )
    device = torch_device()
    return TorchTables(*(torch.from_numpy(table).to(device) for table in tables))


def torch_question(world: World, row: int, config: DualTowerConfig) -> Question:
    """One question of a world."""
    split, n = world.split, int(world.split.n_real[row])
    rows = np.asarray(split.candidates[row, :n])
    nodes = np.asarray(split.nodes[row, :n]).astype(np.int64)
    triplets = np.asarray(world.shards.triplets[rows]).astype(np.int64)
    ppr = np.log(split.ppr_of(np.array([row]), n)[0] + PPR_FLOOR)
    ppr = (ppr - np.array(config.ppr_mean)) / np.array(config.ppr_std)
    pairs = [(int(head), int(tail)) for head, tail in nodes]
    graph = nx.DiGraph(pairs)
    # Shards keep of the cut what the reward needs: candidates and shortest paths.
    graph.add_edges_from(split.path_edges["directed"][row][:, 1:3].tolist())
    on_path = np.isin(rows, split.path_triplets["both"][row])
    device = torch_device()

    def tensor(array: np.ndarray) -> Tensor:
        return torch.from_numpy(array).to(device)

    return Question(
        embedding=tensor(split.question_embeddings[row].astype(np.float32)),
        triplets=tensor(rows.astype(np.int64)),
        relations=tensor(triplets[:, 1]),
        entities=tensor(triplets[:, [0, 2]]),
        ppr=tensor(ppr.astype(np.float32)),
        nodes=tensor(nodes),
        pairs=pairs,
        topics=[int(t) for t in split.topics[row] if t >= 0],
        answers=[int(a) for a in split.answers[row] if a >= 0],
        on_path=tensor(on_path.astype(np.float32)),
        graph=graph,
        n_nodes=int(split.n_nodes[row]),
    )


def mlp(*widths: int) -> nn.Sequential:
    """Affine layers with GELU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.GELU(approximate="tanh")]
    return nn.Sequential(*layers[:-1])


class ThesisNetwork(nn.Module):
    """The dual-tower policy of section 3.3.4, for one question.

    All query rows of an attention are the question: one is enough. ``literal`` sends as
    many as there are candidates, as the section writes it; the logits are the same.
    """

    def __init__(self, config: DualTowerConfig, *, literal: bool = False) -> None:
        super().__init__()
        d, self.literal = config.dimension, literal
        self.scale = config.scale
        self.triplet_attention = nn.MultiheadAttention(d, config.heads)
        self.relation_attention = nn.MultiheadAttention(d, config.heads)
        self.tower_a = mlp(3 * d + 2, *config.tower_hidden, 1)
        self.tower_b = mlp(3 * d + 2, *config.tower_hidden, 1)
        self.gate = mlp(3 * d, config.gate_hidden, 1)
        self.combiner = mlp(3, config.combiner_hidden, 1)
        self.log_temperature = nn.Parameter(torch.zeros(()))

    def forward(self, q: Tensor, t: Tensor, r: Tensor, ppr: Tensor) -> Tensor:
        """Logits [n] from q [d], t and r [n, d], ppr [n, 2]."""
        t, r = t * self.scale, r * self.scale
        question = (q * self.scale)[None]
        queries = question.expand(len(t), -1)
        asked = queries if self.literal else question
        q_trip, _ = self.triplet_attention(asked, t, t, need_weights=False)
        q_rel, _ = self.relation_attention(asked, r, r, need_weights=False)
        q_trip, q_rel = q_trip.expand(len(t), -1), q_rel.expand(len(t), -1)
        score_a = self.tower_a(torch.cat([t, q_trip, queries, ppr], dim=1))
        score_b = self.tower_b(torch.cat([r, q_rel, queries, ppr], dim=1))
        gate = torch.sigmoid(self.gate(torch.cat([t, r, queries], dim=1)))
        scores = self.combiner(torch.cat([score_a, score_b, gate], dim=1))[:, 0]
        return scores / torch.exp(self.log_temperature)

    def copy_weights(self, params: Mapping[str, Any]) -> None:
        """Take over the parameters of a ``Policy`` (as plain nested dicts)."""

        def put(to: Tensor, value: Any) -> None:
            to.copy_(torch.from_numpy(np.array(value, np.float32)))

        with torch.no_grad():
            for name in ("triplet_attention", "relation_attention"):
                to, given = getattr(self, name), params[name]
                kernels = given["query"]["kernel"], given["key_kernel"]
                kernels = *kernels, given["value"]["kernel"]
                put(to.in_proj_weight, np.concatenate(kernels, axis=1).T)
                zeros = np.zeros_like(given["query"]["bias"])
                biases = given["query"]["bias"], zeros, given["value"]["bias"]
                put(to.in_proj_bias, np.concatenate(biases))
                put(to.out_proj.weight, np.transpose(given["output"]["kernel"]))
                put(to.out_proj.bias, given["output"]["bias"])
            for name in ("tower_a", "tower_b", "gate", "combiner"):
                given = params[name]
                layers = [given["hidden"][i] for i in sorted(given["hidden"])]
                linear = [m for m in getattr(self, name) if isinstance(m, nn.Linear)]
                for to, layer in zip(linear, [*layers, given["output"]], strict=True):
                    put(to.weight, np.transpose(layer["kernel"]))
                    put(to.bias, layer["bias"])
            put(self.log_temperature, params["log_temperature"])


def plackett_luce(logits: Tensor, drawn: Tensor) -> Tensor:
    """log-probability of drawing ``drawn`` in that order, without replacement."""
    never = torch.ones_like(logits, dtype=torch.bool)
    never[drawn] = False
    order = torch.cat([logits[drawn], logits[never]])
    left = torch.logcumsumexp(order.flip(0), dim=0).flip(0)
    return (order - left)[: len(drawn)].sum()


def thesis_reward(
    question: Question, kept: Iterable[int], weights: RewardWeights
) -> float:
    """The reward of section 3.3.3 for the candidates ``kept``, by NetworkX."""
    graph = nx.DiGraph()
    graph.add_edges_from(question.pairs[i] for i in kept)
    answers = question.answers
    presence = sum(answer in graph for answer in answers) / max(len(answers), 1)
    connectivity = efficiency = coverage = 0.0
    for topic in question.topics:
        reached: dict[int, int] = {}
        if topic in graph:
            reached = nx.single_source_shortest_path_length(graph, topic)
        for answer in answers:
            if answer in reached:
                hops = reached[answer]
                closeness = min(max(0.0, 1.0 - weights.decay * (hops - 1)), 1.0)
                connectivity = max(connectivity, closeness)
                efficiency = max(efficiency, 1.0 / (1.0 + hops))
            if topic == answer:
                coverage = max(coverage, float(answer in graph))
                continue
            if topic not in question.graph or answer not in question.graph:
                continue
            try:
                for path in nx.all_shortest_paths(question.graph, topic, answer):
                    hit = sum(graph.has_edge(u, v) for u, v in itertools.pairwise(path))
                    coverage = max(coverage, hit / (len(path) - 1))
            except nx.NetworkXNoPath:
                pass
    return (
        weights.presence * presence
        + weights.connectivity * connectivity
        + weights.efficiency * efficiency
        + weights.coverage * coverage
    )


class ThesisTrainer:
    """REINFORCE with one sample and the greedy baseline; one update per batch.

    Questions go through one by one. Their gradients are summed over the batch, so that
    this peer does not pay for more updates than the implementation it is measured with.
    """

    def __init__(
        self,
        config: DualTowerConfig,
        tables: TorchTables,
        k: int,
        *,
        literal: bool = False,
    ) -> None:
        self.network = ThesisNetwork(config, literal=literal).to(torch_device())
        self.tables, self.k = tables, k
        self.weights = RewardWeights()
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=5e-4, weight_decay=0.01, fused=True
        )

    def train(self, questions: list[Question], watch: Watch) -> None:
        """One update from ``questions``."""
        for question in questions:
            watch.start()
            logits = self.network(
                question.embedding,
                self.tables.triplets[question.triplets],
                self.tables.relations[question.relations],
                question.ppr,
            )
            watch.lap("network")
            k = min(self.k, len(logits))
            probs = torch.softmax(logits.detach(), dim=0)
            drawn = torch.multinomial(probs, k, replacement=False)
            greedy = torch.topk(logits.detach(), k).indices
            watch.lap("rest")
            reward = thesis_reward(question, drawn.tolist(), self.weights)
            baseline = thesis_reward(question, greedy.tolist(), self.weights)
            watch.lap("reward")
            log_prob = plackett_luce(logits, drawn)
            loss = -(reward - baseline) * log_prob / len(questions)
            watch.lap("rest")
            loss.backward()
            watch.lap("network")
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        watch.lap("rest")


class MlpDde(nn.Module):
    """SubgraphRAG's retriever: an MLP over [q; h; r; t] with directional distances."""

    def __init__(self, d: int, hidden: int, rounds: int = 2) -> None:
        super().__init__()
        self.rounds = rounds
        # Topic or not as a one-hot pair, and as many numbers per round and way.
        distances = 2 * 2 * (1 + 2 * rounds)
        self.score = nn.Sequential(
            nn.Linear(4 * d + distances, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def distances(self, question: Question) -> Tensor:
        """[v, 2 + 4 * rounds]: the one-hot of topics spread along and against edges."""
        topic = torch.zeros(question.n_nodes, 2, device=question.nodes.device)
        topic[:, 0] = 1.0
        topic[question.topics] = topic.new_tensor([0.0, 1.0])
        parts = [topic]
        for source, target in ((0, 1), (1, 0)):
            u, v = question.nodes[:, source], question.nodes[:, target]
            degree = torch.bincount(v, minlength=question.n_nodes).clamp(min=1)
            spread = topic
            for _ in range(self.rounds):
                summed = torch.zeros_like(topic).index_add_(0, v, spread[u])
                spread = summed / degree[:, None]
                parts.append(spread)
        return torch.cat(parts, dim=1)

    def forward(self, question: Question, tables: TorchTables) -> Tensor:
        """Logits [n]."""
        heads, tails = question.nodes[:, 0], question.nodes[:, 1]
        distances = self.distances(question)
        rows = [
            question.embedding.expand(len(heads), -1),
            tables.entities[question.entities[:, 0]],
            distances[heads],
            tables.relations[question.relations],
            tables.entities[question.entities[:, 1]],
            distances[tails],
        ]
        return self.score(torch.cat(rows, dim=1))[:, 0]


class MlpTrainer:
    """Binary cross-entropy on shortest-path triplets, an update per batch.

    Gradients of its questions are summed, as in ``ThesisTrainer``.
    """

    def __init__(self, d: int, hidden: int, tables: TorchTables) -> None:
        self.network = MlpDde(d, hidden).to(torch_device())
        self.tables = tables
        self.optimizer = torch.optim.AdamW(
            self.network.parameters(), lr=1e-3, weight_decay=0.01, fused=True
        )

    def train(self, questions: list[Question], watch: Watch) -> None:
        """One update from ``questions``."""
        for question in questions:
            watch.start()
            logits = self.network(question, self.tables)
            watch.lap("network")
            loss = F.binary_cross_entropy_with_logits(logits, question.on_path)
            watch.lap("reward")
            (loss / len(questions)).backward()
            watch.lap("network")
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        watch.lap("rest")
