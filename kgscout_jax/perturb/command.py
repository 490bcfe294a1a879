"""``kgscout perturb``: a graph with mistakes, and how similar it still is."""

from __future__ import annotations

import json
import time
from typing import Any

import numpy as np

from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.perturb.edges import perturb
from kgscout_jax.perturb.folder import folder_writer
from kgscout_jax.perturb.link_scorer import LinkScorer, train_scorer
from kgscout_jax.perturb.settings import PerturbSettings
from kgscout_jax.perturb.similarity import (
    aggregated_triple_score,
    similarity,
    structure_means,
)
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.utils.progress import slow_step

NAMES = {
    "rs": "relation swapping",
    "rr": "relation replacement",
    "er": "edge rewiring",
    "ed": "edge deletion",
}


def perturb_graph(settings: PerturbSettings) -> dict[str, Any]:
    """Write ``settings.out`` and print the measurements, which are also returned.

    Raises:
        UserError: the graph or the encoder is missing or malformed, or ``out`` holds
            something else.
    """
    started = time.perf_counter()
    with folder_writer(
        settings.kg, settings.out, settings.read_options, overwrite=settings.overwrite
    ) as writer:
        source = writer.source
        counts = source.manifest["counts"]
        n_entities, n_relations = counts["entities"], counts["relations"]
        triplets = np.array(source.arrays["triplets"])
        scorer = scorer_of(source, settings.encoder)
        new, remains = perturb(
            triplets,
            settings.method,
            settings.level,
            n_entities=n_entities,
            n_relations=n_relations,
            seed=settings.seed,
            scores=scorer.relation_scores,
        )
        changed = int((~remains | (new != triplets).any(axis=1)).sum())
        new = new[remains]
        how = {
            "method": settings.method,
            "level": settings.level,
            "seed": settings.seed,
        }
        with slow_step("comparing the graphs"):
            one = structure_means(triplets, n_entities)
            two = structure_means(new, n_entities)
        report = {
            "ats": aggregated_triple_score(scorer, new),
            "sc2d": similarity(one.clustering, two.clustering),
            "sd2": similarity(one.degree, two.degree),
            "ats_original": aggregated_triple_score(scorer, triplets),
            **how,
            "triplets": len(new),
            "triplets_original": len(triplets),
            "changed": changed,
            "out": str(settings.out),
        }
        writer.write(new, {"perturbation": how})
    report["seconds"] = round(time.perf_counter() - started, 1)
    print(json.dumps(report) if settings.json else "\n".join(summary(report)))
    return report


def scorer_of(source: GraphFolder, encoder: str) -> LinkScorer:
    """The scorer of a folder's triplets, always the same for the same graph."""
    with slow_step("reading the words of the names"):
        vectors = SentenceEncoder(encoder).word_vectors(list(source.names))
    n_relations = source.manifest["counts"]["relations"]
    return train_scorer(np.array(source.arrays["triplets"]), vectors, n_relations)


def summary(report: dict[str, Any]) -> list[str]:
    """The measurements for people."""
    return [
        f"{report['out']}",
        f"  {NAMES[report['method']]} at level {report['level']:g}: "
        f"{report['changed']:,} of {report['triplets_original']:,} triplets changed, "
        f"{report['triplets']:,} in the graph",
        f"  ATS {report['ats']:.3f} (original {report['ats_original']:.3f}), "
        f"SC2D {report['sc2d']:.3f}, SD2 {report['sd2']:.3f}",
        f"  {report['seconds']:,.1f} seconds",
    ]
