"""``neighbourhood``: the part of a graph around some entities, as a GRAPH folder."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings
from kgscout_jax.utils.checks import check_at_least

if TYPE_CHECKING:
    from kgscout_jax.graph.folder import GraphFolder
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True, kw_only=True)
class NeighbourhoodSettings(GraphFileSettings):
    """Cut the neighbourhood of entities out of a graph or a SPARQL endpoint.

    Example: kgscout neighbourhood --kg GRAPH --entities "Heat" "Alien" --out small/

    Example: kgscout neighbourhood --sparql https://dbpedia.org/sparql
    --entities http://dbpedia.org/resource/Ann_Arbor --keep 2000 --out small/
    """

    kg: tuple[Path, ...] = ()
    """Triplet files, or one GRAPH folder."""
    sparql: str | None = None
    """URL of a SPARQL endpoint, instead of --kg."""
    entities: tuple[str, ...]
    """The entities in the middle: names, ids or, of an endpoint, IRIs or labels."""
    out: Path
    """The GRAPH folder to write."""
    hops: int = 2
    """Steps from the entities, along and against edges."""
    keep: int | None = None
    """At most so many triplets: those of the largest Personalized PageRank."""
    threshold: float = 1e-5
    """Leave out entities of less PageRank."""
    hub_degree: int | None = None
    """--kg: do not walk through entities with more triplets than this."""
    limit: int = 10_000
    """--sparql: the most statements of one reply, and of one entity each way."""
    timeout: float = 60.0
    """--sparql: seconds for one request."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Overwrite an existing graph."""

    def __post_init__(self) -> None:
        if bool(self.kg) == (self.sparql is not None):
            raise UserError(
                f"expected --kg or --sparql, found {'both' if self.kg else 'neither'}"
            )
        if not self.entities or not all(name.strip() for name in self.entities):
            raise UserError("--entities: found no name, expected at least one")
        check_at_least(1, hops=self.hops, keep=self.keep, limit=self.limit)
        if not 0 <= self.threshold < 1:
            raise UserError(
                f"--threshold: found {self.threshold}, expected a number from 0 to 1"
            )
        if self.timeout <= 0:
            raise UserError(f"--timeout: found {self.timeout}, expected more than 0")


def neighbourhood_folder(settings: NeighbourhoodSettings) -> GraphFolder:
    """Write ``settings.out`` and print a summary; returns the folder.

    Raises:
        UserError: the graph or the endpoint cannot be read, an entity is unknown, or
            ``out`` holds a graph already.
    """
    from data_prep.graph_command import summary
    from kgscout_jax.graph.open_graph import open_graph
    from kgscout_jax.graph.walk.neighbourhood import neighbourhood

    started = time.perf_counter()
    if (settings.out / "manifest.json").exists() and not settings.overwrite:
        raise UserError(
            f"{settings.out}: holds a graph already; choose another folder, or give "
            "--overwrite"
        )
    with tempfile.TemporaryDirectory(prefix="kgscout-") as scratch:
        names = list(settings.entities)
        if settings.sparql is not None:
            graph, names = fetched_graph(settings, settings.sparql, Path(scratch))
        else:
            graph = open_graph(settings.kg, options=settings.read_options)
        for name in names:
            if graph.find(name) is None:
                raise UserError(f"--entities: the graph has nothing named {name!r}")
        ids = neighbourhood(
            graph,
            graph.find_all(names),
            hops=settings.hops,
            keep=settings.keep,
            threshold=settings.threshold,
            hub_degree=settings.hub_degree,
        )
        if not len(ids):
            raise UserError(
                "--entities: no triplet is left around them, expected a lower "
                "--threshold"
            )
        folder = write_triplets(
            graph, ids, settings.out, Path(scratch), overwrite=settings.overwrite
        )
    lines = summary(folder.path, folder.manifest, time.perf_counter() - started)
    print("\n".join(lines))
    return folder


def fetched_graph(
    settings: NeighbourhoodSettings, url: str, scratch: Path
) -> tuple[KnowledgeGraph, list[str]]:
    """The statements of an endpoint as a graph, and the ids of the entities."""
    import pyoxigraph as ox

    from kgscout_jax.graph.build.driver import build_graph
    from kgscout_jax.graph.build.settings import BuildSettings
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.graph.read.ntriples import iri_name
    from kgscout_jax.graph.sparql import SparqlEndpoint, fetch_ball, find_entities

    endpoint = SparqlEndpoint(url, timeout=settings.timeout)
    entities = find_entities(endpoint, settings.entities, settings.language)
    statements = fetch_ball(
        endpoint,
        entities,
        hops=settings.hops,
        limit=settings.limit,
        language=settings.language,
    )
    file = scratch / "statements.nt"
    triples = (ox.Triple(*statement) for statement in statements)
    ox.serialize(triples, str(file), format=ox.RdfFormat.N_TRIPLES)
    if not statements:
        raise UserError(f"--entities: {url} has no statement about them")
    build = BuildSettings(language=settings.language)
    folder = build_graph([file], scratch / "fetched", build)
    graph = KnowledgeGraph.of_folder(folder)
    ids = [iri_name(each.value) for each in entities]
    known = [each for each in ids if graph.find(each) is not None]
    if not known:
        raise UserError(f"--entities: {url} has no statement about them")
    return graph, known


def write_triplets(
    graph: KnowledgeGraph,
    ids,
    out: Path,
    scratch: Path,
    *,
    overwrite: bool = False,
) -> GraphFolder:
    """The GRAPH folder of some triplets of a graph, with their labels."""
    from kgscout_jax.graph.build.driver import build_graph
    from kgscout_jax.graph.build.settings import BuildSettings

    rows = graph.triplets[ids].tolist()
    file, labels = scratch / "neighbourhood.jsonl", scratch / "labels.tsv"
    names: dict[str, str] = {}
    with open(file, "w", encoding="utf-8") as handle:
        for h, r, t in rows:
            head, tail = str(graph.ids[h]), str(graph.ids[t])
            names[head], names[tail] = str(graph.entities[h]), str(graph.entities[t])
            record = {"head": head, "relation": str(graph.relations[r]), "tail": tail}
            handle.write(json.dumps(record) + "\n")
    others = {key: name for key, name in names.items() if key != name}
    if others:
        with open(labels, "w", encoding="utf-8") as handle:
            handle.writelines(f"{key}\t{name}\n" for key, name in others.items())
    settings = BuildSettings(labels=labels if others else None)
    return build_graph([file], out, settings, overwrite=overwrite)
