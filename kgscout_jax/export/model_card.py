"""The model card of an exported policy: what it is, its data, figures and limits."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from kgscout_jax.export.format import STABLEHLO
from kgscout_jax.utils.metric_names import MAIN_METRICS
from kgscout_jax.utils.tables import figure, markdown_table

CUTS = {"ppr": "PageRank", "guided": "a walk that the question guides"}
SELECTIONS = {
    "cosine": "nearest to the question by cosine",
    "hybrid": "best by the better of their places by cosine and by the cut",
}
TRAINING = ("estimator", "k", "reward_direction", "epochs", "batch_size", "seed")
"""Settings of the training on the card."""


def model_card(
    metadata: Mapping[str, Any],
    arguments: Sequence[str],
    outputs: Sequence[str],
    report: Mapping[str, Any] | None,
) -> str:
    """README.md of an export.

    Args:
        metadata: its ``config.json``.
        arguments: names of the arguments of the exported call.
        outputs: names of its outputs.
        report: ``metrics.json`` of an evaluation, if there is one.
    """
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kgscout_jax.export"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["plain"] = plain_text
    return environment.get_template("model_card.md.jinja").render(
        k=metadata["training"]["settings"].get("k", "K"),
        d=metadata["policy"]["dimension"],
        training=training_facts(metadata),
        sets=len(metadata["training"].get("sets", [0])),
        encoder=encoder_facts(metadata["encoder"]),
        arguments=arguments,
        outputs=outputs,
        stablehlo=STABLEHLO in metadata["files"],
        report=report,
        metrics=MAIN_METRICS,
        facts=facts_table,
        counts=question_counts,
        figures=figures_table,
    )


def encoder_facts(encoder: Mapping[str, Any]) -> dict[str, Any]:
    """The rows on the sentence encoder."""
    return {
        "name": encoder["name"],
        "weights sha256": encoder["weights_sha256"],
        "dimension": encoder["dimension"],
        "text normalisation, version": encoder["text_version"],
        "prefix of questions": encoder["query_prefix"] or None,
        "prefix of triplets and relations": encoder["document_prefix"] or None,
    }


def training_facts(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The rows on data and training."""
    training, cut = metadata["training"], metadata["preparation"]
    settings, data = training["settings"], training["data"]
    by_split = data.get("questions", {})
    files = []
    for source in data.get("sources", []):
        if isinstance(source, dict):
            source = {k: str(v)[:12] if k == "sha256" else v for k, v in source.items()}
            files.append(" ".join(map(str, source.values())))
    triplets = data.get("triplets")
    if isinstance(triplets, list):  # of several sets
        triplets = ", ".join(map(str, triplets))
    sets = training.get("sets", [])
    total = sum(each["weight"] for each in sets)
    shares = ", ".join(f"{e['name']} {e['weight'] / total:.0%}" for e in sets) or None
    own = "the question's own subgraph" if cut["hops"] is None else None
    return {
        "source": training["source"],
        "fingerprint of the prepared data": training["fingerprint"],
        "questions": ", ".join(f"{k} {v}" for k, v in by_split.items()) or None,
        "share of training": shares,
        "triplets of the graph": triplets,
        "files (sha256)": ", ".join(files) or None,
        "subgraph": own or f"{cut['hops']} hops around the topics",
        f"cut by {CUTS[cut.get('cut', 'ppr')]} to": cut["max_triplets"] or "not cut",
        "candidates": f"{cut['candidates']} {SELECTIONS[cut.get('select', 'cosine')]}",
        "PageRank walks edges": cut["direction"],
        "checkpoint": f"step {training['step']}",
        **{name: settings[name] for name in TRAINING if name in settings},
    }


def question_counts(report: Mapping[str, Any], metric: str) -> list[int]:
    """The numbers of questions that count for a metric over all K, unique."""
    first = report[report["retrievers"][0]][metric]
    return sorted({first[str(k)]["n"] for k in report["ks"]})


def figures_table(report: Mapping[str, Any], metric: str) -> str:
    """The Markdown table of a metric: a row for each retriever, a column for each K."""
    ks = report["ks"]
    rows = [
        [name, *(figure(report[name][metric][str(k)]) for k in ks)]
        for name in report["retrievers"]
    ]
    return markdown_table(["retriever", *(f"K = {k}" for k in ks)], rows)


def facts_table(facts: Mapping[str, Any]) -> str:
    """A Markdown table of two columns, without values of None."""
    rows = [f"| {k} | {plain_text(v)} |" for k, v in facts.items() if v is not None]
    return "\n".join(["| | |", "|---|---|", *rows])


def plain_text(value: Any) -> str:
    """``value`` with Markdown and HTML markup escaped."""
    plain = html.escape(" ".join(str(value).split()), quote=False)
    return "".join("\\" + c if c in "\\`*_[]|" else c for c in plain)
