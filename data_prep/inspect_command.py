"""``inspect SHARDS``: prints a summary of a folder of shards."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from data_prep.accounting import STAGES
from kgscout_jax.data.shards import EMBEDDINGS, QUESTIONS, Shards


@dataclass(frozen=True, kw_only=True)
class InspectSettings:
    """Print the content of a folder of shards, and the losses of each cut.

    Example: python -m data_prep inspect shards/ --verify
    """

    shards: tyro.conf.Positional[Path]
    """The folder."""
    verify: bool = False
    """Also compare every byte with its checksum."""


def inspect(settings: InspectSettings) -> None:
    """Print a summary of the folder to standard output."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    console.width = max(console.width, 100)
    shards = Shards.open(settings.shards, verify=settings.verify)
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
