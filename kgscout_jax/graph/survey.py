"""A survey of a graph: sizes, degrees, and names that need attention."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Int64

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.opaque_names import BLOCK, NUMBER, arrow_strings
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.relation_names import relation_problem
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import replace_surrogates

TOP = 10
"""Hubs and relations that are named."""
LONG = 200
"""Characters of a long name."""
COMPONENT_TRIPLETS = 30_000_000
"""The largest graph whose components are counted: they need 30 bytes a triplet."""
LITERAL = rf"{NUMBER}|[a-z]+://\S+"
"""Numbers, dates and addresses."""
OTHER_SCRIPT = (
    r"[\p{Greek}\p{Cyrillic}\p{Armenian}\p{Hebrew}\p{Arabic}\p{Devanagari}\p{Bengali}"
    r"\p{Tamil}\p{Thai}\p{Georgian}\p{Hangul}\p{Hiragana}\p{Katakana}\p{Han}]"
)
QUANTILES = (50, 90, 99)


@dataclass(frozen=True, kw_only=True)
class Hub:
    """An entity with many triplets."""

    name: str
    triplets_in: int
    triplets_out: int


@dataclass(frozen=True, kw_only=True)
class RelationCount:
    """A relation with the number of its triplets."""

    name: str
    triplets: int
    problem: str | None = None
    """See ``relation_problem``."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What a graph is like; counts are of entities unless a name says otherwise.

    ``kgscout inspect --json`` prints every field under its name.
    """

    triplets: int
    entities: int
    relations: int
    duplicates: int
    mean_degree: float
    degree_quantiles: dict[int, int]
    """Percentage -> degree that so many entities do not exceed."""
    largest_degree: int
    single: int
    """Entities of one triplet."""
    unused: int
    """Entities without a triplet."""
    hubs: list[Hub]
    unnamed: int
    unnamed_examples: list[str]
    literals: int
    """Numbers, dates and addresses."""
    heads: int
    """Entities with a triplet of their own."""
    number_heads: int
    """Heads whose name is a whole number."""
    long_names: int
    longest_name: int
    """Characters."""
    other_scripts: int
    """Names with letters that are not Latin."""
    components: int | None
    """None: not counted, the graph is too large."""
    largest_component: int | None
    top_relations: list[RelationCount]
    problem_relations: list[RelationCount] = field(default_factory=list)
    """All relations with a problem, most triplets first."""


def survey(graph: KnowledgeGraph) -> Survey:
    """The survey of a graph in memory or of a GRAPH folder."""
    n, m = len(graph.entities), len(graph.triplets)
    out = np.diff(np.asarray(graph.by_head.offsets))
    into = np.diff(np.asarray(graph.by_tail.offsets))
    degrees = out + into
    unnamed = np.flatnonzero(np.asarray(graph.unnamed_mask))
    used = degrees[degrees > 0]
    quantiles = np.percentile(used, QUANTILES, method="higher") if len(used) else ()
    components, largest = _components(graph, degrees)
    relations = _relation_counts(graph)
    hubs = np.lexsort((np.arange(n), -degrees))[:TOP]
    return Survey(
        triplets=m,
        entities=n,
        relations=len(graph.relations),
        duplicates=graph.duplicates,
        mean_degree=2 * m / max(len(used), 1),
        degree_quantiles={
            q: int(value) for q, value in zip(QUANTILES, quantiles, strict=False)
        },
        largest_degree=int(degrees.max(initial=0)),
        single=int((degrees == 1).sum()),
        unused=int((degrees == 0).sum()),
        hubs=[
            Hub(
                name=str(graph.entities[i]),
                triplets_in=int(into[i]),
                triplets_out=int(out[i]),
            )
            for i in hubs.tolist()
            if degrees[i]
        ],
        unnamed=len(unnamed),
        unnamed_examples=[str(graph.entities[i]) for i in unnamed[:3].tolist()],
        components=components,
        largest_component=largest,
        top_relations=relations[:TOP],
        problem_relations=[each for each in relations if each.problem],
        heads=int((out > 0).sum()),
        **_names(graph, out > 0),
    )


def _relation_counts(graph: KnowledgeGraph) -> list[RelationCount]:
    """All relations, most triplets first."""
    counts = np.zeros(len(graph.relations), np.int64)
    for start in range(0, len(graph.triplets), BLOCK):
        column = np.asarray(graph.triplets[start : start + BLOCK, 1])
        counts += np.bincount(column, minlength=len(counts))
    order = np.lexsort((np.arange(len(counts)), -counts)).tolist()
    names = list(graph.relations)
    return [
        RelationCount(
            name=names[i], triplets=int(counts[i]), problem=relation_problem(names[i])
        )
        for i in order
    ]


def _names(graph: KnowledgeGraph, heads: Bool[np.ndarray, "e"]) -> dict[str, Any]:
    """Counts over the names of entities, block by block."""
    pc = compute()
    literals = long = longest = scripts = numbers = 0
    for start in range(0, len(graph.entities), BLOCK):
        names = graph.entities[start : start + BLOCK]
        texts = arrow_strings(Strings.of(list(map(replace_surrogates, names))))
        lengths = pc.utf8_length(texts).to_numpy(zero_copy_only=False)
        long += int((lengths > LONG).sum())
        longest = max(longest, int(lengths.max(initial=0)))
        literals += _matches(texts, f"(?s)^(?:{LITERAL})$")
        scripts += _matches(texts, OTHER_SCRIPT)
        numbers += _matches(texts.filter(heads[start : start + BLOCK]), r"^\d+$")
    return {
        "literals": literals,
        "number_heads": numbers,
        "long_names": long,
        "longest_name": longest,
        "other_scripts": scripts,
    }


def _matches(texts: Any, pattern: str) -> int:
    """The number of texts with a match."""
    return compute().sum(compute().match_substring_regex(texts, pattern)).as_py() or 0


def _components(
    graph: KnowledgeGraph, degrees: Int64[np.ndarray, "e"]
) -> tuple[int | None, int | None]:
    """The number of connected components with triplets, and the largest one's size."""
    if len(graph.triplets) > COMPONENT_TRIPLETS:
        return None, None
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = np.asarray(graph.triplets)
    n = len(graph.entities)
    ones = np.ones(len(rows), bool)
    edges = coo_array((ones, (rows[:, 0], rows[:, 2])), shape=(n, n))
    labels = connected_components(edges.tocsr(), directed=False)[1]
    sizes = np.bincount(labels[degrees > 0])
    return int((sizes > 0).sum()), int(sizes.max(initial=0))
