"""The training benchmark: its peers compute the same, a tiny run ends as it must."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from flax import nnx

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.roofline import dot_flops  # noqa: E402
from benchmarks.train_peers import (  # noqa: E402
    MlpDde,
    ThesisNetwork,
    ThesisTrainer,
    TorchTables,
    Watch,
    plackett_luce,
    thesis_reward,
    torch_question,
    torch_tables,
)
from benchmarks.train_plain import (  # noqa: E402
    PerCandidatePolicy,
    PlainPolicy,
    trained_inputs,
)
from benchmarks.train_world import generated_world  # noqa: E402
from kgscout_jax.data.batches import BatchReader  # noqa: E402
from kgscout_jax.data.tables import Tables  # noqa: E402
from kgscout_jax.learn.reward_host import HostReward, RewardWeights  # noqa: E402
from kgscout_jax.policy.dual_tower import DualTowerConfig  # noqa: E402
from kgscout_jax.policy.module import Policy  # noqa: E402
from kgscout_jax.policy.sampling import plackett_luce_log_prob  # noqa: E402

CONFIG = DualTowerConfig(
    dimension=16,
    heads=4,
    tower_hidden=(12, 8),
    gate_hidden=6,
    combiner_hidden=5,
    ppr_mean=(-7.0, -8.0),
    ppr_std=(2.0, 1.5),
)


@pytest.fixture(scope="module")
def world():
    """Six questions with up to 60 candidates, sizes varied."""
    return generated_world(6, 60, d=16, table=500, varied=True, seed=0)


def perturbed(kind: type[Policy]) -> Policy:
    """A policy whose every parameter, biases too, is random; the same for all kinds."""
    policy = kind.initial(CONFIG, 0)
    rng = np.random.default_rng(1)
    state = jax.tree.map(
        lambda leaf: leaf + 0.1 * rng.normal(size=leaf.shape).astype(np.float32),
        nnx.state(policy, nnx.Param),
    )
    nnx.update(policy, state)
    return policy


def inputs_of(world, rows):
    """A batch of questions, as the network sees it."""
    batch = BatchReader(world.shards, world.split).read(rows)
    return batch.inputs(Tables.of(world.shards))


def test_the_generated_questions_are_consistent(world):
    split = world.split
    assert (split.n_real <= 60).all()
    assert len(set(split.n_real.tolist())) > 1
    assert set(world.rows(59)) < set(world.rows(5))
    # All answers lie two or more hops away: paths have a first and a second hop.
    assert {0, 1} <= set(split.path_edges["directed"].values[:, 3].tolist())
    for row in range(len(split)):
        real = split.candidates[row, : split.n_real[row]]
        assert len(set(real.tolist())) == len(real)
        assert set(split.path_triplets["both"][row].tolist()) <= set(real.tolist())


@pytest.mark.extended
def test_the_torch_network_with_our_weights_has_our_logits(world):
    policy = perturbed(Policy)
    peer = ThesisNetwork(CONFIG)
    peer.copy_weights(nnx.to_pure_dict(nnx.state(policy, nnx.Param)))
    tables = torch_tables(world)
    rows = np.arange(len(world.split))
    ours = np.asarray(jax.jit(lambda x: policy(x))(inputs_of(world, rows)))
    for row in rows:
        question = torch_question(world, int(row), CONFIG)
        with torch.no_grad():
            theirs = peer(
                question.embedding,
                tables.triplets[question.triplets],
                tables.relations[question.relations],
                question.ppr,
            ).numpy()
        n = len(theirs)
        assert n == world.split.n_real[row]
        np.testing.assert_allclose(ours[row, :n], theirs, rtol=2e-4, atol=2e-4)
        assert theirs.std() > 0.01


@pytest.mark.parametrize(
    ("dtype", "error"), [(torch.float32, 6e-8), (torch.float64, 1e-15)]
)
def test_one_query_row_gives_the_literal_logits_and_gradients(world, dtype, error):
    tables = torch_tables(world)
    torch.manual_seed(0)
    one = ThesisNetwork(CONFIG).to(dtype)
    literal = ThesisNetwork(CONFIG, literal=True).to(dtype)
    literal.load_state_dict(one.state_dict())
    for row in range(len(world.split)):
        question = torch_question(world, row, CONFIG)
        inputs = (
            question.embedding,
            tables.triplets[question.triplets],
            tables.relations[question.relations],
            question.ppr,
        )
        found = []
        for peer in (one, literal):
            peer.zero_grad()
            logits = peer(*(x.to(dtype) for x in inputs))
            logits.sin().sum().backward()
            gradients = [p.grad.numpy() for p in peer.parameters()]
            found.append((logits.detach().numpy(), gradients))
        (ours, slopes), (theirs, others) = found
        assert np.abs(ours - theirs).max() <= error
        assert ours.std() > 1e4 * error
        for a, b in zip(slopes, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3, atol=100 * error)


@pytest.mark.parametrize("kind", [PlainPolicy, PerCandidatePolicy])
@pytest.mark.slow
def test_the_unsaving_networks_have_the_same_logits_and_gradients(world, kind):
    inputs = inputs_of(world, np.arange(3))

    def gradients(policy):
        graphdef, params = nnx.split(policy, nnx.Param)

        def total(params):
            logits = nnx.merge(graphdef, params)(inputs)
            return jnp.where(inputs.mask, jnp.sin(logits), 0.0).sum(), logits

        return jax.jit(jax.grad(total, has_aux=True))(params)

    (ours, logits), (theirs, other) = (
        gradients(perturbed(one)) for one in (Policy, kind)
    )
    np.testing.assert_allclose(logits, other, rtol=2e-4, atol=2e-4)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


@pytest.mark.extended
def test_trained_inputs_let_gradients_through(world):
    inputs = inputs_of(world, np.arange(2))
    policy = perturbed(Policy)

    def total(triplets):
        changed = inputs._replace(triplets=triplets.astype(jnp.float32))
        return jnp.where(inputs.mask, policy(changed), 0.0).sum()

    triplets = inputs.triplets.astype(jnp.float32)
    assert not np.asarray(jax.jit(jax.grad(total))(triplets)).any()
    with trained_inputs():
        # Another function object: jit would find the first one's program again.
        found = jax.jit(jax.grad(lambda x: total(x)))(triplets)
    assert np.asarray(found).any()


def test_the_networkx_reward_is_the_host_reward(world):
    rng = np.random.default_rng(0)
    weights = RewardWeights()
    rows = np.arange(len(world.split))
    questions = [torch_question(world, int(row), CONFIG) for row in rows]
    drawn = [
        np.stack(
            [rng.permutation(world.split.n_real[row])[:7] for _ in range(20)]
            # What is on a path is seldom drawn: subsets that have it all, too.
            + [np.resize(np.flatnonzero(question.on_path.numpy()), 7)]
        )
        for row, question in zip(rows, questions, strict=True)
        if question.on_path.any()
    ]
    kept = [q for q in questions if q.on_path.any()]
    used = np.array(
        [r for r, q in zip(rows, questions, strict=True) if q.on_path.any()]
    )
    totals = HostReward(world.split, "directed", weights).total(used, np.stack(drawn))
    for question, subsets, expected in zip(kept, drawn, totals, strict=True):
        found = [thesis_reward(question, set(s.tolist()), weights) for s in subsets]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)
    assert len(np.unique(totals.round(3))) > 10


def test_the_torch_log_probability_is_plackett_luces():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=9).astype(np.float32)
    drawn = np.array([4, 0, 7])
    everything = jnp.ones(9, bool)
    ours = plackett_luce_log_prob(
        jnp.array(logits), everything, jnp.array(drawn), jnp.ones(3, bool)
    )
    theirs = plackett_luce(torch.from_numpy(logits), torch.from_numpy(drawn))
    assert theirs.item() == pytest.approx(float(ours), rel=1e-5)


def test_directional_distances_by_hand(world):
    question = torch_question(world, 0, CONFIG)
    # 0 -> 1 -> 2 and 3 -> 2, topic 0.
    nodes = torch.tensor([[0, 1], [1, 2], [3, 2]])
    question = question._replace(nodes=nodes, topics=[0], n_nodes=4)
    found = MlpDde(16, 8).distances(question)
    is_topic = found[:, 1::2].numpy()
    assert is_topic.shape == (4, 5)
    expected = np.array(
        # topic, one and two hops along, one and two hops against
        [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0.5, 0, 0], [0, 0, 0, 0, 0]]
    )
    np.testing.assert_allclose(is_topic, expected)


@pytest.mark.slow
def test_peers_learn(world):
    """The thesis's peer raises the reward of what it draws, by its own gradient."""
    torch.manual_seed(0)
    question = torch_question(world, 0, CONFIG)
    tables = TorchTables(*torch_tables(world))
    trainer = ThesisTrainer(CONFIG, tables, 7)
    before = [p.detach().clone() for p in trainer.network.parameters()]
    watch = Watch()
    trainer.train([question] * 3, watch)
    moved = [
        not torch.equal(a, b)
        for a, b in zip(before, trainer.network.parameters(), strict=True)
    ]
    assert any(moved)
    assert set(watch.spent) == {"network", "rest", "reward"}
    assert sum(watch.shares().values()) == pytest.approx(1.0)


def test_matmuls_are_counted():
    def work(x, y):
        def turn(carry, _):
            return carry @ y, None

        return jax.lax.scan(turn, x @ y, None, length=3)[0].sum()

    x, y = jnp.ones((2, 5)), jnp.ones((5, 5))
    # One product and three in the loop, 2 * 2 * 5 * 5 each.
    assert dot_flops(jax.make_jaxpr(jax.jit(work))(x, y).jaxpr) == 4 * 100


def run(*flags: str) -> subprocess.CompletedProcess[str]:
    """The benchmark as a command."""
    command = [sys.executable, "benchmarks/train.py", *flags]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False
    )


TINY = (
    "--candidates 40 --dimension 8 --k 5 --batch-size 2 --samples 1 --rounds 1 "
    "--peer-questions 1"
).split()


@pytest.mark.slow
def test_a_run_ends_with_one_json_line(kgscout_cache):
    done = run(*TINY)
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert last["benchmark"] == "train"
    names = {"torch_networkx", "torch_networkx_literal", "torch_mlp_dde"}
    assert set(last["ratios"]) == names
    ours = {"walk, closed form", "MLP, cross-entropy", "closed form"}
    assert names | ours <= set(last["questions_per_second"])
    assert all(ratio > 0 for ratio in last["ratios"].values())
    assert last["roofline"] > 0
    # The compiler's count: folding is less work, if little less of so few candidates.
    assert last["flops_ratio"] > 1


@pytest.mark.slow
def test_ablation_and_linear(tmp_path, kgscout_cache):
    plot = tmp_path / "linear.png"
    sections = ("ablation", "linear")
    done = run(*TINY, "--sections", *sections, "--plot", str(plot))
    assert done.returncode == 0, done.stderr
    last = json.loads(done.stdout.splitlines()[-1])
    assert set(last["exponents"]) == {"candidates", "questions", "rows"}
    assert last["ablation"]["ours"] == 1
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_bad_flags_are_one_line():
    done = run("--candidates", "50")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: --k: found 100, expected fewer than --candidates")
