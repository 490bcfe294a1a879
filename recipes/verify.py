"""Fits and measures ``kgscout verify`` on statements planted in graphs.

    python recipes/verify.py fit --kg metaqa.tsv --kg pq.tsv ...
    python recipes/verify.py measure --out figures/verify.json --kg world.tsv ...

``fit`` prints the weights of the relation model; ``measure`` writes precision and
recall of each verdict with the mistakes, and prints the table of recipes/verify.md.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tyro
from scipy.optimize import minimize
from verify_planted import Statement, plant

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.utils.io import write_json
from kgscout_jax.utils.tables import markdown_table
from kgscout_jax.verify.claims import find_claims
from kgscout_jax.verify.relation_model import FEATURES
from kgscout_jax.verify.relation_words import claim_words
from kgscout_jax.verify.verifier import Verifier

VERDICTS = ("supported", "contradicted", "unknown")
NONE = 0.3
"""Share of the statements fitted on whose relation is taken out of its graph."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """Fit the relation model."""

    kg: tyro.conf.UseAppendAction[tuple[Path, ...]]
    n: int = 300
    seed: int = 1
    ridge: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Measure:
    """Measure verdicts."""

    kg: tyro.conf.UseAppendAction[tuple[Path, ...]]
    out: Path | None = None
    n: int = 200
    seed: int = 0


def examples(
    verifier: Verifier, statements: Sequence[Statement], rng: np.random.Generator
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(features of all arcs, True at arcs that the statement states)."""
    graph, finder, model = verifier.graph, verifier.arcs, verifier.model
    linker = linker_of(graph)
    same = equal_relations(graph)
    for statement in statements:
        head, tail = graph.find(statement.head), graph.find(statement.tail)
        for claim in find_claims(statement.text, linker):
            heads = [m for m in claim.mentions if head in m.entities]
            tails = [m for m in claim.mentions if tail in m.entities]
            if not heads or not tails or heads[0] is tails[0]:
                continue
            a, b = sorted((heads[0], tails[0]), key=lambda m: m.start)
            words = claim_words(claim.text, (a.start, a.stop), (b.start, b.stop))
            ends = [
                {x for e in m.entities for p in finder.arcs(e).targets for x in p}
                for m in (a, b)
            ]
            paths = [p for e in b.entities for p in finder.arcs(e).targets]
            ends[1] = {finder.inverse(finder.reverse(p)[0]) for p in paths}
            ends[1] |= {x for p in paths for x in p}
            relations = list(range(len(graph.relations)))
            sign = 1 if a is heads[0] else -1
            good = {(statement.relation, sign)}
            good |= {(r, sign * s) for r, s in same.get(statement.relation, ())}
            if rng.random() < NONE:
                gone = {r for r, _ in good}
                relations = [r for r in relations if r not in gone]
            rows = model.features(words, relations, *ends)
            arcs = [(r, s) for s in (1, -1) for r in relations]
            yield rows, np.array([arc in good for arc in arcs], bool)


def equal_relations(graph: KnowledgeGraph) -> dict[int, list[tuple[int, int]]]:
    """Relations that hold of mostly the same pairs, and the sign of their direction."""
    pairs: dict[int, set[tuple[int, int]]] = {}
    for h, r, t in graph.triplets.tolist():
        pairs.setdefault(r, set()).add((h, t))
    out: dict[int, list[tuple[int, int]]] = {}
    for r, mine in pairs.items():
        for other, theirs in pairs.items():
            for sign in (1, -1):
                turned = theirs if sign > 0 else {(t, h) for h, t in theirs}
                if (r, 1) != (other, sign) and len(mine & turned) > 0.7 * len(mine):
                    out.setdefault(r, []).append((other, sign))
    return out


def fit(settings: tyro.conf.OmitArgPrefixes[Fit]) -> None:
    """Print the weights of the relation model."""
    encoder = SentenceEncoder()
    rng = np.random.default_rng(settings.seed)
    data = []
    for path in settings.kg:
        graph = KnowledgeGraph.open(path)
        statements = plant(graph, settings.n // 2, settings.seed)
        rows = list(examples(Verifier(graph, encoder), statements, rng))
        print(f"{path}: {len(rows)} of {len(statements)}", file=sys.stderr)
        data += rows
    lengths = [len(rows) for rows, _ in data]
    starts = np.r_[0, np.cumsum(lengths)[:-1]]
    features = np.concatenate([rows for rows, _ in data])
    good = np.concatenate([mask for _, mask in data])
    owner = np.repeat(np.arange(len(data)), lengths)
    none = ~np.array([mask.any() for _, mask in data])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        logits = features @ weights
        top = np.maximum(np.maximum.reduceat(logits, starts), 0)
        each = np.exp(logits - top[owner])
        total = np.add.reduceat(each, starts) + np.exp(-top)
        right = np.add.reduceat(each * good, starts) + none * np.exp(-top)
        value = float(np.log(total / right).sum())
        share = each / total[owner] - each * good / right[owner]
        ridge = settings.ridge * weights
        return value + float(weights @ ridge) / 2, features.T @ share + ridge

    start = np.zeros(len(FEATURES))
    found = minimize(loss, start, jac=True, method="L-BFGS-B")
    print(f"loss per statement {found.fun / len(data):.4f}", file=sys.stderr)
    print(json.dumps(dict(zip(FEATURES, found.x.round(2).tolist(), strict=True))))


def measure(settings: tyro.conf.OmitArgPrefixes[Measure]) -> None:
    """Judge planted statements; write figures and mistakes."""
    encoder = SentenceEncoder()
    record, rows = {}, []
    for path in settings.kg:
        graph = KnowledgeGraph.open(path)
        verifier = Verifier(graph, encoder)
        counts: Counter[tuple[str, str]] = Counter()
        mistakes = []
        for statement in plant(graph, settings.n, settings.seed):
            claims = verifier.verify(statement.text)
            verdict = joint(claim.verdict for claim in claims)
            counts[statement.gold, verdict] += 1
            if verdict != statement.gold:
                mistakes.append(
                    [statement.gold, verdict, statement.part, statement.text]
                )
        figures = {name: scores(counts, name) for name in VERDICTS}
        record[path.stem] = {"figures": figures, "mistakes": mistakes}
        rows.append(
            [path.stem]
            + [figures[v][key] for v in VERDICTS for key in ("precision", "recall")]
            + [str(sum(figures[v]["n"] for v in VERDICTS))]
        )
        print(markdown_row(rows[-1]), file=sys.stderr)
        if settings.out:
            write_json(settings.out, record)
    header = ["graph"]
    header += [f"{v}: {key}" for v in VERDICTS for key in ("precision", "recall")]
    cells = [
        [c if isinstance(c, str) else "–" if c is None else f"{c:.3f}" for c in row]
        for row in rows
    ]
    print(markdown_table([*header, "n"], cells))


def joint(verdicts: Iterator[str]) -> str:
    """The verdict on a statement that was cut into several claims."""
    found = set(verdicts)
    if "contradicted" in found:
        return "contradicted"
    return "supported" if found == {"supported"} else "unknown"


def scores(counts: Counter[tuple[str, str]], name: str) -> dict:
    """Precision and recall of one verdict; None where nothing is counted."""
    right = counts[name, name]
    said = sum(n for (_, verdict), n in counts.items() if verdict == name)
    true = sum(n for (gold, _), n in counts.items() if gold == name)
    return {
        "precision": right / said if said else None,
        "recall": right / true if true else None,
        "n": true,
    }


def markdown_row(row: Sequence[object]) -> str:
    """A row for the log."""
    return " ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in row)


if __name__ == "__main__":
    tyro.extras.subcommand_cli_from_dict({"fit": fit, "measure": measure})
