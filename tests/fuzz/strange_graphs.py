"""Attacks by graphs of strangers on what takes a whole graph: names may be anything.

The graphs have hubs, self-loops, one relation or many, unnamed entities and hostile
text; some have a single triplet.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from film_world import film_triplets
from fuzz.counting import Count, digest
from fuzz.strangers import NASTY
from graph.graph_files import write_tsv
from text.hash_encoder import HashEncoder

from data_prep.synth.generation import generate
from data_prep.synth.settings import SynthSettings
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge.merge import merge_graphs
from kgscout_jax.graph.name_search import names_with
from kgscout_jax.graph.survey import survey
from kgscout_jax.perturb.edges import METHODS, perturb
from kgscout_jax.perturb.link_scorer import LinkScorer
from kgscout_jax.types import Triplet, display_name
from kgscout_jax.verify.verifier import Verifier

NAMES = [name for name in NASTY if display_name(name)]
STATEMENTS = (
    *("{} was directed by {}.", "{} is the {} of {}.", "{}", "Is {} not {}?"),
    *("{} and {}.", "{}. {}. {}", "It is not true that {} did not {}", "1970 {}"),
    "[{}] born in [{}]",
)


def strange_triplets(rng: random.Random) -> list[Triplet]:
    """Triplets of a few dozen names, hostile ones among them."""
    plain = [part for row in film_triplets("Atelier") for part in (row[0], row[2])]
    ends = rng.sample(plain, 8) + rng.sample(NAMES, 6) + ["m.0abc", "m.0xyz", "1999"]
    relations = [*rng.sample(NAMES, 3), "directed_by", "people.person.place_of_birth"]
    relations = relations[: rng.randint(1, 5)]
    rows = [
        (rng.choice(ends), rng.choice(relations), rng.choice(ends))
        for _ in range(rng.choice([1, 2, 30, 80]))
    ]
    return rows + film_triplets("Atelier") * (rng.random() < 0.3)


def statement(rng: random.Random, graph: KnowledgeGraph) -> str:
    """A statement of names of the graph and of other text."""
    words = [*graph.entities[:50], *rng.sample(NASTY, 4), "x" * 3000]
    text = rng.choice(STATEMENTS)
    return text.format(*rng.choices(words, k=text.count("{}")))


def strange_graph_attacks(
    folder: Path,
) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack by graphs of strangers -> the function that runs it."""
    encoder = HashEncoder()

    def questions(graph: KnowledgeGraph, rng: random.Random) -> str:
        settings = SynthSettings(graph=(), out=folder / "none", questions=20)
        made = generate(graph, settings).questions
        return digest([each.record(graph) for own in made.values() for each in own])

    def mistakes(graph: KnowledgeGraph, rng: random.Random) -> str:
        e, r = len(graph.entities), len(graph.relations)
        random_rows = np.random.default_rng(0)
        vectors = random_rows.normal(size=(e, 4)).astype(np.float32)
        matrices = random_rows.normal(size=(r, 4, 4)).astype(np.float32)
        scorer = LinkScorer(vectors, matrices)
        new, _ = perturb(
            np.array(graph.triplets),
            *(rng.choice(METHODS), rng.choice([0.0, 1e-9, 0.5, 1.0])),
            n_entities=e,
            n_relations=r,
            seed=rng.choice([0, 2**31]),
            scores=scorer.relation_scores,
        )
        assert ((new >= 0) & (new < [e, r, e])).all()
        return digest(new)

    def merged(graph: KnowledgeGraph, rng: random.Random) -> str:
        other = KnowledgeGraph.from_triplets(strange_triplets(rng))
        one = merge_graphs({"a": graph, rng.choice(NAMES): other}, encoder)
        two = merge_graphs([other, graph, other], encoder)
        return digest(*(sorted(each.entities) for each in (one, two)))

    def stored(graph: KnowledgeGraph, rng: random.Random) -> str:
        out = folder / "stored"
        shutil.rmtree(out, ignore_errors=True)
        rows = [graph.triplet(i) for i in range(len(graph))]
        safe = [row for row in rows if _is_cell(*row)] or [("a", "b", "c")]
        build_graph([write_tsv(folder / "stored.tsv", safe)], out)
        opened = KnowledgeGraph.open(out)
        assert len(opened) <= len(safe)
        return digest(survey(opened), names_with(opened, rng.choice(NASTY), 5))

    def converted(graph: KnowledgeGraph, rng: random.Random) -> str:
        table = KnowledgeGraph.from_pandas(graph.to_pandas())
        network = KnowledgeGraph.from_networkx(graph.to_networkx())
        assert len(table) == len(network) == len(graph), "triplets were lost"
        return digest(repr(graph), graph.unnamed_mask)

    def verdicts(graph: KnowledgeGraph, rng: random.Random) -> str:
        verifier = Verifier(graph, encoder, cache=folder / "cache")
        return digest([verifier.verify(statement(rng, graph)) for _ in range(5)])

    uses = {
        "synth": questions,
        "perturb": mistakes,
        "several graphs as one": merged,
        "GRAPH folder": stored,
        "pandas and networkx": converted,
        "verify, five statements": verdicts,
    }
    return {
        f"graph of strangers, {name}": lambda count, rng, use=use: _attack(
            use, count, rng
        )
        for name, use in uses.items()
    }


def _is_cell(*names: str) -> bool:
    """Whether UTF-8 and a table of tabs can hold these names."""
    text = "".join(names)
    return text.isprintable() and text.encode("utf-8", "replace").decode() == text


def _attack(
    use: Callable[[KnowledgeGraph, random.Random], str],
    count: int,
    rng: random.Random,
) -> Count:
    result = Count()
    for number in range(count):
        graph = KnowledgeGraph.from_triplets(strange_triplets(rng))
        result.try_(lambda graph=graph: use(graph, rng), None, f"graph {number}")
    return result
