"""``inspect``: prints a summary of a folder of shards, or of a graph."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from data_prep.accounting import STAGES
from kgscout_jax.data.shards import EMBEDDINGS, QUESTIONS, Shards
from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import GraphFileSettings
from kgscout_jax.graph.read.folder_files import graph_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.utils.io import read_json


@dataclass(frozen=True, kw_only=True)
class InspectSettings(GraphFileSettings):
    """Print what a folder of shards holds and what each cut lost, or what a graph is
    like and what to do about its problems.

    Example: kgscout inspect shards/ --verify

    Example: kgscout inspect nodes.csv edges.csv
    """

    paths: Annotated[
        tyro.conf.Positional[tuple[Path, ...]],
        tyro.conf.arg(metavar="SHARDS|GRAPH|FILE..."),
    ]
    """A folder of shards, a GRAPH folder, or triplet files of one graph, or a folder
    of them."""
    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the report on a graph as JSON."""
    verify: bool = False
    """Also compare every byte with its checksum."""


def inspect(settings: InspectSettings) -> None:
    """Print a summary of the shards or the graph to standard output.

    Raises:
        UserError: a path is missing or damaged, or is neither.
    """
    if not settings.paths:
        raise UserError("expected a folder of shards, a GRAPH folder or triplet files")
    for path in settings.paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    folder = settings.paths[0]
    if graph_files(settings.paths) != [folder] or folder.is_file() or _is_graph(folder):
        inspect_graph(settings)
        return
    if settings.json or settings.read_options != ReadOptions():
        raise UserError(
            f"{folder}: --json, --columns, --properties and --language are "
            "for graphs, expected a GRAPH folder or a triplet file"
        )
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 100)
    shards = Shards.open(folder, verify=settings.verify)
    check_counts(shards)
    manifest = shards.manifest
    encoder, graph = manifest["encoder"], manifest["graph"]
    sizes = {name: file["bytes"] for name, file in manifest["files"].items()}
    n_triplets = len(shards.triplets)
    console.print(f"[bold]{shards.path}[/bold]  ({manifest['source']})")
    console.print(f"  settings   {_pairs(manifest['settings'])}")
    console.print(
        f"  encoder    {encoder['name']}, d = {encoder['dimension']}, weights "
        f"{encoder['weights_sha256'][:12]}, text version {encoder['text_version']}"
    )
    console.print(f"  graph      {_pairs(graph)}")
    console.print(
        f"  kept       {n_triplets:,} triplets, {len(shards.entities):,} entities, "
        f"{len(shards.relations):,} relations"
    )
    candidates = len(shards.triplet_embeddings)
    tables = sum(sizes.get(name, 0) for name in EMBEDDINGS)
    console.print(
        f"  tables     {tables / max(candidates, 1):,.0f} bytes a candidate triplet, "
        f"{candidates:,} of them; {shards.triplet_embeddings.dtype} and relations"
    )
    total = sum(sizes.values())
    questions = sum(counts["questions"] for counts in manifest["splits"].values())
    console.print(
        f"  total      {total / max(questions, 1):,.0f} bytes a question, tables and "
        f"names included, over {questions:,} questions; {total / 1e6:,.1f} MB"
    )
    seconds = {name: stage["seconds"] for name, stage in manifest["stages"].items()}
    console.print(f"  seconds    {_pairs(seconds)}")
    if manifest["missing_splits"]:
        console.print(f"  missing    {', '.join(manifest['missing_splits'])}")
    for name in shards.splits:
        counts = manifest["splits"][name]
        own = {k: v for k, v in sizes.items() if k.startswith(f"{name}/")}
        text = own[f"{name}/{QUESTIONS}"] / max(counts["questions"], 1)
        each = sum(own.values()) / max(counts["questions"], 1)
        console.print()
        console.print(
            f"[bold]{name}[/bold]: {counts['questions']:,} questions of "
            f"{counts['read']:,} read; dropped without an answer "
            f"{counts['dropped_without_answer']:,}; topics not in the graph "
            f"{counts['topics_not_found']:,}; topics found in the text of "
            f"{counts.get('topics_from_text', 0):,}"
        )
        console.print(
            f"  {counts['candidates']:,} candidates, at most {counts['width']:,} a "
            f"question; {each:,.0f} bytes a question without tables "
            f"(arrays {each - text:,.0f}, text {text:,.0f})"
        )
        console.print(_survival_table(counts["survival"]))
    if settings.verify:
        console.print("\nevery checksum agrees")


def check_counts(shards: Shards) -> None:
    """Raise UserError unless the manifest has all that the summary shows."""
    file, manifest = shards.path / "manifest.json", shards.manifest
    fields = ("settings", "graph", "stages", "missing_splits")
    missing = [name for name in fields if name not in manifest]
    counts = ("questions", "read", "dropped_without_answer", "topics_not_found",
              "candidates", "width", "survival")  # fmt: skip
    for split in shards.splits:
        there = manifest["splits"][split]
        missing += [f"splits.{split}.{name}" for name in counts if name not in there]
        for group, row in there.get("survival", {}).items():
            missing += [
                f"splits.{split}.survival.{group}.{kind}.{stage}"
                for kind in ("with_answer", "answers")
                for stage in STAGES
                if stage not in row[kind]
            ]
    if missing:
        raise UserError(f"{file}: damaged, no {missing[0]}")


def _is_graph(path: Path) -> bool:
    """Whether a folder is a GRAPH folder; its manifest is checked on opening."""
    manifest = path / "manifest.json"
    if not manifest.is_file():
        return False
    content = read_json(manifest)
    return isinstance(content, dict) and content.get("format") == "kgscout-graph"


def inspect_graph(settings: InspectSettings) -> None:
    """Print the report on a graph."""
    from data_prep.graph_report import report, to_json
    from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
    from kgscout_jax.graph.read.elements import MISSING
    from kgscout_jax.graph.survey import survey

    notes: dict[str, int] = {}
    graph = KnowledgeGraph.open(
        settings.paths,
        verify=settings.verify,
        options=settings.read_options,
        notes=notes,
    )
    found, missing = survey(graph), notes.get(MISSING, 0)
    if settings.json:
        print(to_json(found, missing))
        return
    print("\n".join(report(found, " ".join(map(str, settings.paths)), missing)))
    if settings.verify:
        print("\nevery checksum agrees")


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(
        f"{key.replace('_', ' ')} {value:,}" if isinstance(value, int | float)
        else f"{key.replace('_', ' ')} {value}"
        for key, value in values.items()
    )  # fmt: skip


def _survival_table(groups: dict[str, Any]):
    """Per hop, the share of questions with an answer and of answers at each stage."""
    from rich import box
    from rich.table import Table

    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title="questions with an answer left by each cut, and share of answers left",
        title_justify="left",
        title_style="",
    )
    for title in ("hop", "questions", "topic"):
        table.add_column(title, justify="right", no_wrap=True)
    for stage in STAGES:
        title = f"answer\n{stage.removeprefix('in ')}"
        table.add_column(title, justify="right", no_wrap=True)
    for stage in STAGES[1:]:
        title = f"share\n{stage.removeprefix('in ')}"
        table.add_column(title, justify="right", no_wrap=True)
    for name, row in groups.items():
        n = max(row["questions"], 1)
        answers = max(row["answers"]["in graph"], 1)
        table.add_row(
            name,
            f"{row['questions']:,}",
            f"{row['topics'] / n:.1%}",
            *(f"{row['with_answer'][stage] / n:.1%}" for stage in STAGES),
            *(f"{row['answers'][stage] / answers:.1%}" for stage in STAGES[1:]),
        )
    return table
