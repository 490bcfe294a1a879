"""The model card of an exported policy: what it is, its data, figures and limits."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

CARD_METRICS = ("answer_hit", "answer_recall", "path_hit", "path_triplet_recall")
"""Those of ``metrics.json`` that the card shows."""

FRONT = """\
---
library_name: kgscout-jax
tags:
- knowledge-graph
- knowledge-graph-question-answering
- retrieval
- jax
---
"""

WHAT = """\
# KG-Scout policy

Given a question and the knowledge-graph triplets around its entities, this network
scores every triplet at once; the highest {k} are what a language model then reads to
answer. It sees frozen sentence embeddings of the question, of each triplet and of its
relation, and the Personalized PageRank of head and tail.
"""

LOADING = """\
## Loading it

With the package, from this folder or by its name on the Hugging Face hub:

```python
from kgscout_jax.export.write import from_pretrained

exported = from_pretrained(".")
logits = exported.logits(exported.golden.inputs)  # [questions, candidates]
```

Without it, by JAX alone; any number of questions and of candidates from 1:

```python
import jax.export
import numpy as np

with open("policy.stablehlo", "rb") as handle:
    policy = jax.export.deserialize(bytearray(handle.read()))
golden = np.load("golden.npz")
names = ({names})
logits = policy.call(*(golden[name] for name in names))
```

| argument | | |
|---|---|---|
| `question` | float32[b, {d}] | embedding of the question, unit length |
| `triplets` | float32[b, n, {d}] | of the linearised triplets, unit length |
| `relations` | float32[b, n, {d}] | of each one's relation phrase, unit length |
| `ppr` | float32[b, n, 2] | Personalized PageRank of head and of tail |
| `mask` | bool[b, n] | True at real candidates; padding must be finite |
{places}
The result is float32[b, n]: the higher the better, -inf where the mask is False. The
embeddings must come from this encoder, and no other:
"""

LIMITS = """\
## Limits

- Logits rank the candidates of one question. They are no probabilities and cannot be
  compared between questions.
- What is not among the candidates cannot be found: a subgraph is cut by hops and by
  PageRank, candidates by cosine with the question. The `ceiling` of an evaluation says
  how much of the answers is left.
- Trained on one data set, on its relations and its kind of question; on another graph
  measure before relying on it.
- It understands text as far as its sentence encoder does, in that encoder's languages.
- It repeats what the graph says, true or not. Names are passed on as they stand: text
  in them reaches the language model that reads the triplets.
"""


def model_card(about: Mapping[str, Any], report: Mapping[str, Any] | None) -> str:
    """README.md of an export.

    Args:
        about: its ``config.json``.
        report: ``metrics.json`` of an evaluation, if there is one.
    """
    settings = about["training"]["settings"]
    encoder = about["encoder"]
    parts = [
        FRONT + WHAT.format(k=text(settings.get("k", "K"))),
        training(about),
        measured(report),
        loading(about["policy"]),
        facts(
            {
                "name": encoder["name"],
                "weights sha256": encoder["weights_sha256"],
                "dimension": encoder["dimension"],
                "text normalisation, version": encoder["text_version"],
                "prefix of questions": encoder["query_prefix"] or None,
                "prefix of triplets and relations": encoder["document_prefix"] or None,
            }
        ),
        LIMITS,
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


PLACES = """\
| `nodes` | int32[b, n, 2] | head and tail as nodes of the question, from 0 to v - 1 |
| `topics` | bool[b, v] | True at the nodes that the question is about |
"""


def loading(policy: Mapping[str, Any]) -> str:
    """The section on loading, with the arguments of this kind of network."""
    from kgscout_jax.export.load import arguments_of
    from kgscout_jax.policy.registry import config_from_json

    names = arguments_of(config_from_json(policy))
    return LOADING.format(
        d=policy["dimension"],
        names=", ".join(f'"{name}"' for name in names),
        places=PLACES if "nodes" in names else "",
    )


CUTS = {"ppr": "PageRank", "guided": "a walk that the question guides"}
CHOICES = {
    "cosine": "nearest to the question by cosine",
    "hybrid": "best by the better of their places by cosine and by the cut",
}


def training(about: Mapping[str, Any]) -> str:
    """The section on data and training."""
    trained, cut = about["training"], about["preparation"]
    settings, data = trained["settings"], trained["data"]
    by_split = data.get("questions", {})
    files = []
    for source in data.get("sources", []):
        if isinstance(source, dict):
            source = {k: str(v)[:12] if k == "sha256" else v for k, v in source.items()}
            files.append(" ".join(map(str, source.values())))
    own = "the question's own subgraph" if cut["hops"] is None else None
    names = ("estimator", "k", "reward_direction", "epochs", "batch_size", "seed")
    return "## Data and training\n\n" + facts(
        {
            "source": trained["source"],
            "fingerprint of the prepared data": trained["fingerprint"],
            "questions": ", ".join(f"{k} {v}" for k, v in by_split.items()) or None,
            "triplets of the graph": data.get("triplets"),
            "files (sha256)": ", ".join(files) or None,
            "subgraph": own or f"{cut['hops']} hops around the topics",
            f"cut by {CUTS[cut.get('cut', 'ppr')]} to": cut["max_triplets"]
            or "not cut",
            "candidates": f"{cut['candidates']} {CHOICES[cut.get('select', 'cosine')]}",
            "PageRank walks edges": cut["direction"],
            "checkpoint": f"step {trained['step']}",
            **{name: settings[name] for name in names if name in settings},
        }
    )


def measured(report: Mapping[str, Any] | None) -> str:
    """The section on figures; says so where there are none."""
    title = "## Figures\n\n"
    if report is None:
        return title + "Not measured when it was exported."
    from kgscout_jax.utils.tables import figure, markdown_table

    context, ks = report["context"], report["ks"]
    parts = [
        f"Measured on the {text(report['split'])} split of "
        f"{text(context.get('measured_on'))}, with 95% bootstrap intervals."
    ]
    for metric in CARD_METRICS:
        rows = [
            [name, *(figure(report[name][metric][str(k)]) for k in ks)]
            for name in report["retrievers"]
        ]
        counts = {report[rows[0][0]][metric][str(k)]["n"] for k in ks}
        if counts == {0}:
            continue
        count = ", ".join(map(str, sorted(counts)))
        parts += [
            f"`{metric}`: {text(report['definitions'][metric])} n = {count}.",
            markdown_table(["retriever", *(f"K = {k}" for k in ks)], rows),
        ]
    return title + "\n\n".join(parts)


def facts(table: Mapping[str, Any]) -> str:
    """A Markdown table of two columns, without what is None."""
    rows = [f"| {k} | {text(v)} |" for k, v in table.items() if v is not None]
    return "\n".join(["| | |", "|---|---|", *rows])


def text(value: Any) -> str:
    """``value`` as text that neither Markdown nor HTML takes for its own."""
    plain = html.escape(" ".join(str(value).split()), quote=False)
    return "".join("\\" + c if c in "\\`*_[]|" else c for c in plain)
