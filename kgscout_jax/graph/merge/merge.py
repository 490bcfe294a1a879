"""Merges graphs: one graph in memory whose triplets know where they stand.

Entities that several graphs hold become one (``entity_links``), so that a walk crosses
from graph to graph, and every retriever works on the result as on any graph. Triplets
that state one fact in two schemas share the number of a fact (``equal_facts``). The
result does not depend on the order of the graphs.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import match_rows
from kgscout_jax.graph.fingerprint import name_fingerprints
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge.entity_links import link_entities
from kgscout_jax.graph.merge.equal_facts import equal_facts
from kgscout_jax.graph.merge.members import Members
from kgscout_jax.graph.merge.named_graph import NamedGraph
from kgscout_jax.graph.merge.relation_meanings import relation_roles
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.types import entity_key
from kgscout_jax.utils.progress import slow_step

Graphs = Sequence[KnowledgeGraph] | Mapping[str, KnowledgeGraph]


def merge_graphs(
    graphs: Graphs, encoder: SentenceEncoder | None = None
) -> KnowledgeGraph:
    """The graphs as one, in memory, with ``members``.

    Args:
        graphs: at least one; a mapping names them, otherwise a GRAPH folder's name or
            "graph 1", "graph 2", ... does.
        encoder: embeds relations, to find facts that two schemas put in other words;
            None: only relations of the same words state the same.

    Raises:
        UserError: there is no graph, or something else is among them.
    """
    named = graph_names(graphs)
    if len(named) == 1:
        return named[0][1]
    with slow_step("merging the graphs"):
        ordered = sorted(named, key=lambda each: (*_content(each[1]), each[0]))
        return _merge(ordered, encoder)


def graph_names(graphs: Graphs) -> list[tuple[str, KnowledgeGraph]]:
    """(name, graph) of each graph, all names different.

    Raises:
        UserError: there is no graph, or something else is among them.
    """
    if isinstance(graphs, Mapping):
        named = [(str(name), graph) for name, graph in graphs.items()]
    else:
        named = [(_name(graph, i), graph) for i, graph in enumerate(graphs, start=1)]
    for _, graph in named:
        if not isinstance(graph, KnowledgeGraph) or graph.members is not None:
            raise UserError(f"graphs: expected KnowledgeGraphs, found {graph!r:.80}")
    if not named:
        raise UserError("graphs: expected at least one, found none")
    seen: Counter[str] = Counter()
    out = []
    for name, graph in named:
        seen[name] += 1
        out.append((f"{name} {seen[name]}" if seen[name] > 1 else name, graph))
    return out


def _name(graph: KnowledgeGraph, number: int) -> str:
    folder = getattr(graph, "folder", None)
    return f"graph {number}" if folder is None else folder.resolve().name


def _content(graph: KnowledgeGraph) -> tuple[int, str]:
    """What orders graphs, whatever order they are given in: the largest comes first."""
    names = json.dumps(name_fingerprints(graph), sort_keys=True)
    digest = hashlib.sha256(names.encode())
    digest.update(np.ascontiguousarray(graph.triplets).tobytes())
    return -len(graph), digest.hexdigest()


def _merge(
    named: Sequence[tuple[str, KnowledgeGraph]], encoder: SentenceEncoder | None
) -> KnowledgeGraph:
    """The graphs as one, in this order."""
    embed = None if encoder is None else EmbeddingCache(encoder).embed
    (_, first), *others = named
    base, relations = NamedGraph.of(first), list(first.relations)
    maps = [np.arange(len(first.entities), dtype=np.int32)]
    owners = [0] * len(first.entities)
    for number, (_, graph) in enumerate(others, start=1):
        each = NamedGraph.of(graph)
        ids = link_entities(
            base, each, relation_roles(relations, graph.relations, embed)
        )
        new = np.flatnonzero(ids < 0)
        ids[new] = len(base.names) + np.arange(len(new))
        maps.append(ids)
        owners += [number] * len(new)
        relations = list(dict.fromkeys([*relations, *graph.relations]))
        base = _union(base, each, new, _with_ids(graph, ids, relations))
    held = _member_rows(
        base.triplets,
        [
            _with_ids(graph, ids, relations)
            for (_, graph), ids in zip(named, maps, strict=True)
        ],
    )
    facts = equal_facts(base.triplets, relations, held >= 0, embed)
    states = np.zeros(held.shape, bool)
    np.logical_or.at(states, facts, held >= 0)
    members = Members(
        names=tuple(name for name, _ in named),
        graphs=tuple(graph for _, graph in named),
        entities=tuple(maps),
        triplets=held,
        relations=_positions(relations, [graph.relations for _, graph in named]),
        facts=facts,
        fact_mask=states[facts],
    )
    names = distinct_names(base.names, [members.names[i] for i in owners])
    return KnowledgeGraph(names, relations, base.triplets, members=members)


def _union(
    base: NamedGraph,
    graph: NamedGraph,
    new: Int[np.ndarray, "n"],
    triplets: Int32[np.ndarray, "m 3"],
) -> NamedGraph:
    """``base`` with the entities ``new`` of ``graph``, and with its triplets."""
    rows = np.concatenate([base.triplets, triplets])
    rows = rows[np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return NamedGraph(
        names=[*base.names, *(str(graph.names[i]) for i in new.tolist())],
        ids=[*base.ids, *(str(graph.ids[i]) for i in new.tolist())],
        unnamed_mask=np.concatenate([base.unnamed_mask, graph.unnamed_mask[new]]),
        triplets=rows[first],
    )


def _with_ids(
    graph: KnowledgeGraph, entities: Int32[np.ndarray, "e"], relations: Sequence[str]
) -> Int32[np.ndarray, "m 3"]:
    """The triplets of a graph with the ids of another, in their own order."""
    number = {name: i for i, name in enumerate(relations)}
    table = np.array([number[name] for name in graph.relations], np.int32)
    rows = np.asarray(graph.triplets)
    columns = entities[rows[:, 0]], table[rows[:, 1]], entities[rows[:, 2]]
    return np.stack(columns, axis=1)


def _member_rows(
    triplets: Int32[np.ndarray, "m 3"], members: Sequence[Int32[np.ndarray, "k 3"]]
) -> Int32[np.ndarray, "m g"]:
    """The row of each triplet in each member, or -1."""
    out = np.full((len(triplets), len(members)), -1, np.int32)
    for i, rows in enumerate(members):
        order = np.lexsort((rows[:, 2], rows[:, 1], rows[:, 0]))
        out[match_rows(triplets, rows[order]), i] = order
    return out


def _positions(
    names: Sequence[str], tables: Sequence[Sequence[str]]
) -> Int32[np.ndarray, "n g"]:
    """The position of each name in each table, or -1."""
    places = [{name: i for i, name in enumerate(table)} for table in tables]
    rows = [[each.get(name, -1) for each in places] for name in names]
    return np.array(rows, np.int32).reshape(len(names), len(tables))


def distinct_names(names: Sequence[str], sources: Sequence[str]) -> list[str]:
    """The names, all different: those of several entities say their graph in brackets.

    Args:
        names: of the entities.
        sources: the graph of each entity.
    """
    count = Counter(map(entity_key, names))
    out, used = [], set(count)
    for name, source in zip(names, sources, strict=True):
        if count[entity_key(name)] > 1:
            number, plain = 1, name
            name = f"{plain} ({source})"
            while entity_key(name) in used:
                number += 1
                name = f"{plain} ({source} {number})"
            used.add(entity_key(name))
        out.append(name)
    return out
