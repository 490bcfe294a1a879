"""``inspect GRAPH``: what a graph is like, and what to do about its problems."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence

from kgscout_jax.graph.read.options import excerpt
from kgscout_jax.graph.survey import LONG, RelationCount, Survey

EXAMPLES = 5
"""Names of each problem that are printed."""
HUB_SHARE = 0.05
"""The share of all triplets that makes an entity a problem."""
UNNAMED_SHARE = 0.02
NUMBER_SHARE = 0.5
"""The share of numbers among the heads above which they are ids."""
SCRIPT_SHARE = 0.05
FRAGMENTS = 0.8
"""The share of entities in the largest component below which a graph is in pieces."""
MULTILINGUAL = "paraphrase-multilingual-MiniLM-L12-v2"

PROBLEMS = {
    "identifier": "an identifier",
    "letters": "one or two letters",
    "abbreviation": "an abbreviation",
    "general": "says little",
    "script": "not in Latin letters",
}


def to_json(survey: Survey, missing_nodes: int = 0) -> str:
    """The survey as JSON, with the advice."""
    values = dataclasses.asdict(survey)
    values["advice"] = [
        f"{title}: {text}" for title, text in advice(survey, missing_nodes)
    ]
    return json.dumps(values, indent=2, ensure_ascii=False)


def report(survey: Survey, place: str, missing_nodes: int = 0) -> list[str]:
    """The lines of the report."""
    lines = [place]
    lines += [f"  {title:<13} {text}" for title, text in facts(survey)]
    remarks = list(advice(survey, missing_nodes))
    lines += ["", "what to do"]
    if not remarks:
        lines.append("  nothing; the graph can be used as it is")
    for title, text in remarks:
        lines += [f"  {title:<13} {text}"]
    return lines


def facts(survey: Survey) -> Iterator[tuple[str, str]]:
    """Titles and texts of what the graph holds."""
    n = max(survey.entities, 1)
    yield "triplets", f"{survey.triplets:,}; {survey.duplicates:,} duplicates dropped"
    yield "entities", f"{survey.entities:,}; {survey.unused:,} of them in no triplet"
    quantiles = ", ".join(
        f"{share}% have at most {value:,}"
        for share, value in survey.degree_quantiles.items()
    )
    yield (
        "degrees",
        f"{survey.mean_degree:.1f} triplets an entity on average; {quantiles}; "
        f"{survey.single / n:.0%} have one",
    )
    for i, hub in enumerate(survey.hubs[:EXAMPLES]):
        total = hub.triplets_in + hub.triplets_out
        yield (
            "hubs" if i == 0 else "",
            f"{total:>9,}  {excerpt(hub.name, 40)} ({hub.triplets_in:,} in, "
            f"{hub.triplets_out:,} out)",
        )
    if survey.components is not None and survey.largest_component is not None:
        share = survey.largest_component / max(survey.entities - survey.unused, 1)
        yield "components", f"{survey.components:,}; the largest has {share:.1%}"
    yield "unnamed", f"{survey.unnamed:,} ({survey.unnamed / n:.1%})"
    yield "literals", f"{survey.literals:,} ({survey.literals / n:.1%}) numbers, dates"
    yield (
        "long names",
        f"{survey.long_names:,} of more than {LONG} characters; the longest has "
        f"{survey.longest_name:,}",
    )
    yield "relations", f"{survey.relations:,}"
    for each in survey.top_relations:
        problem = "  <- " + PROBLEMS[each.problem] if each.problem else ""
        yield "", f"{each.triplets:>9,}  {excerpt(each.name, 40)}{problem}"


def advice(survey: Survey, missing_nodes: int = 0) -> Iterator[tuple[str, str]]:
    """Titles and texts of what to do about the graph's problems.

    Args:
        survey: of the graph.
        missing_nodes: nodes of edges that its files of nodes lack.
    """
    n, m = max(survey.entities, 1), max(survey.triplets, 1)
    if survey.unnamed / n > UNNAMED_SHARE:
        examples = ", ".join(excerpt(name, 20) for name in survey.unnamed_examples)
        yield (
            "unnamed",
            f"{survey.unnamed / n:.0%} have no name ({examples}): no question names "
            "them, and nobody can read them. Give names: kgscout graph --labels FILE "
            "(id, name), or --label-relation RELATION. Nodes that only join others "
            "need none",
        )
    if survey.number_heads > NUMBER_SHARE * survey.heads:
        yield (
            "numbers",
            f"{survey.number_heads:,} of {survey.heads:,} heads are whole numbers. If "
            "these are ids, give the list of nodes too (kgscout inspect NODES.csv "
            "EDGES.csv), or names: kgscout graph --labels FILE (id, name)",
        )
    if missing_nodes:
        yield (
            "nodes",
            f"{missing_nodes:,} nodes of edges are not among the nodes given, and "
            "their ids are their names. The list of nodes may be cut off",
        )
    for kind, words in PROBLEMS.items():
        found = [each for each in survey.problem_relations if each.problem == kind]
        if found:
            share = sum(each.triplets for each in found) / m
            yield (
                "relations",
                f"{_names(found)}: {words} ({len(found):,} of {survey.relations:,} "
                f"relations, {share:.0%} of the triplets). {_remedy(kind)}",
            )
    hubs = [
        hub for hub in survey.hubs if hub.triplets_in + hub.triplets_out > HUB_SHARE * m
    ]
    if hubs and survey.triplets > 1000:
        names = ", ".join(excerpt(hub.name, 30) for hub in hubs[:EXAMPLES])
        yield (
            "hubs",
            f"{names}: in more than {HUB_SHARE:.0%} of the triplets each. Neighbours "
            "of a hub have little in common; remove triplets that every entity has "
            "(kgscout graph --remove FILE)",
        )
    if survey.other_scripts / n > SCRIPT_SHARE:
        yield (
            "languages",
            f"{survey.other_scripts / n:.0%} of the names are not in Latin letters. "
            f"Prepare with a multilingual encoder: --encoder {MULTILINGUAL}",
        )
    if survey.long_names:
        yield (
            "long names",
            f"{survey.long_names:,} names have more than {LONG} characters. They are "
            "kept whole for people; an embedding is of the beginning",
        )
    if survey.components is not None and survey.largest_component is not None:
        share = survey.largest_component / max(survey.entities - survey.unused, 1)
        if share < FRAGMENTS:
            yield (
                "components",
                f"the graph is in {survey.components:,} pieces: retrieval does not "
                "leave the piece of its topic. If one thing has two spellings, give "
                "both one name",
            )
    if survey.unused:
        yield (
            "entities",
            f"{survey.unused:,} are in no triplet, after removals. Build the folder "
            "again to drop them",
        )


def _remedy(kind: str) -> str:
    """What to do about relations of one kind."""
    if kind == "script":
        return f"Prepare with a multilingual encoder: --encoder {MULTILINGUAL}"
    return "Give names in words: kgscout graph --relation-names FILE (relation, name)"


def _names(relations: Sequence[RelationCount]) -> str:
    """The first names."""
    names = ", ".join(excerpt(each.name, 30) for each in relations[:EXAMPLES])
    return names + (" ..." if len(relations) > EXAMPLES else "")
