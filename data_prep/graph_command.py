"""``graph``: builds a GRAPH folder from triplet files, and changes one."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings

if TYPE_CHECKING:
    from kgscout_jax.graph.folder import GraphManifest


@dataclass(frozen=True, kw_only=True)
class GraphSettings(GraphFileSettings):
    """Index triplet files as a GRAPH folder, which opens memory-mapped.

    Formats: .tsv .txt .csv .nt .ttl .nq .trig .rdf .jsonld .graphml .gexf .json .jsonl
    (each also .gz .bz2 .xz .zst) .parquet.

    Example: kgscout graph --kg facts.tsv.gz more.nt --out graph/

    Later: kgscout graph --out graph/ --add new.tsv --remove wrong.tsv

    Once, before many questions: kgscout graph --out graph/ --embed
    """

    out: Path
    """The GRAPH folder to write, or to change."""
    kg: tuple[Path, ...] = ()
    """Triplet files to build a graph from."""
    add: tuple[Path, ...] = ()
    """Triplet files to add to the graph in the folder."""
    remove: tuple[Path, ...] = ()
    """Triplet files to remove from the graph, before any are added."""
    labels: Path | None = None
    """Labels of entities, TSV or CSV: id, name. Ids identify, names are displayed."""
    label_relation: str | None = None
    """A relation whose triplets label their head; default: in RDF files rdfs:label,
    skos:prefLabel and schema:name."""
    relation_names: Path | None = None
    """Names of relations, TSV or CSV: relation, name."""
    memory: float = 2.0
    """Approximate working memory in gigabytes, plus 0.2 for the program itself."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Overwrite an existing graph."""
    verify: bool = False
    """Finally compare every byte of the folder with its checksum."""
    embed: bool = False
    """Finally embed every triplet, so that questions need not; saved in the folder."""
    encoder: str = "all-MiniLM-L6-v2"
    """--embed: the encoder of the policy that will be asked."""
    encoder_backend: Literal["auto", "jax", "torch", "torch-bf16", "openvino-bf16"] = (
        "auto"
    )
    """--embed: the encoder's backend, as in kgscout prep."""

    def __post_init__(self) -> None:
        change = bool(self.add or self.remove)
        if self.kg and change:
            raise UserError(
                "--kg builds a graph, --add and --remove change one: found both"
            )
        standalone = self.verify or self.embed or self.has_names
        if not (self.kg or change or standalone):
            raise UserError(
                "expected --kg to build a graph, or --add, --remove, --labels, "
                "--relation-names, --verify or --embed for the one in --out; found none"
            )
        if self.label_relation is not None and not (self.kg or self.add):
            raise UserError("--label-relation: expected with --kg or --add")

    @property
    def has_names(self) -> bool:
        """Whether names of entities or relations are given."""
        return self.labels is not None or self.relation_names is not None


def graph(settings: GraphSettings) -> None:
    """Build, change or check a folder, and print a summary to standard output."""
    from kgscout_jax.graph.build.driver import build_graph, update_graph
    from kgscout_jax.graph.build.settings import BuildSettings
    from kgscout_jax.graph.folder import GraphFolder

    started = time.perf_counter()
    build_settings = BuildSettings(
        labels=settings.labels,
        relation_names=settings.relation_names,
        label_relation=settings.label_relation,
        columns=settings.read_options.columns,
        properties=settings.properties,
        language=settings.language,
        memory=settings.memory,
    )
    if settings.kg:
        folder = build_graph(
            settings.kg, settings.out, build_settings, overwrite=settings.overwrite
        )
    elif settings.add or settings.remove or settings.has_names:
        folder = update_graph(
            settings.out, build_settings, add=settings.add, remove=settings.remove
        )
    else:
        folder = GraphFolder.open(settings.out)
    if settings.verify:
        folder = GraphFolder.open(settings.out, verify=True)
    seconds = time.perf_counter() - started
    print("\n".join(summary(folder.path, folder.manifest, seconds)))
    if settings.verify:
        print("  every checksum agrees")
    if settings.embed:
        embed(settings)


def embed(settings: GraphSettings) -> None:
    """Embed the graph in the folder, and print how long it took."""
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.text.encoder import SentenceEncoder

    started = time.perf_counter()
    encoder = SentenceEncoder(settings.encoder, backend=settings.encoder_backend)
    KnowledgeGraph.open(settings.out).embed(encoder)
    seconds = time.perf_counter() - started
    print(f"  every triplet is embedded by {settings.encoder}, {seconds:,.1f} seconds")


def summary(path: Path, manifest: GraphManifest, seconds: float) -> list[str]:
    """Lines of the summary: counts, notes, size, seconds and peak memory."""
    counts, notes = manifest["counts"], manifest["notes"]
    size = sum(file["bytes"] for file in manifest["files"].values())
    lines = [
        str(path),
        f"  {counts['triplets']:,} triplets, {counts['entities']:,} entities, "
        f"{counts['relations']:,} relations",
        f"  {counts['duplicates']:,} duplicates dropped, {counts['unnamed']:,} "
        f"entities unnamed, {counts['labels']:,} labelled",
    ]
    remarks = [f"{value:,} {key.replace('_', ' ')}" for key, value in notes.items()]
    if remarks:
        lines.append(f"  {', '.join(remarks)}")
    per_triplet = size / max(counts["triplets"], 1)
    return [
        *lines,
        f"  {size / 1e6:,.1f} MB, {per_triplet:,.1f} bytes a triplet",
        f"  {seconds:,.1f} seconds, {peak_memory() / 1e9:,.2f} GB of memory at most",
    ]


def peak_memory() -> int:
    """Peak resident memory of this process in bytes, mapped files included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
