"""Measures FActScore and SAFE on answers whose altered facts are known.

    python recipes/okgqa_judge.py --llm URL --model NAME --out judge/

Every answer states two facts about an entity of the built-in world in plain English.
In half of the answers one of them is altered: its end is another one that the relation
has elsewhere, and that the graph does not give here. A judge that reads the graph's
triplets should find all facts of the others supported, and one of these not. An answer
counts as flagged where its value is below 1; what the judge failed at is neither.

The same command resumes and repeats no request. With qwen on one core an answer takes
about a minute by FActScore and three by SAFE.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro

from data_prep.sources.world import load
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.okgqa.judges.factscore import FActScore
from kgscout_jax.okgqa.judges.protocol import JUDGED, Item, Judge, Judgement
from kgscout_jax.okgqa.judges.safe import SAFE
from kgscout_jax.okgqa.passages import PassageIndex, triplet_passages
from kgscout_jax.reason.calls import Model
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.utils.io import write_json, write_text
from kgscout_jax.utils.tables import markdown_table

SENTENCES = {
    "location.city.country": "{h} is a city in {t}.",
    "location.city.time_zone": "{h} lies in the time zone {t}.",
    "location.city.state": "{h} lies in the state of {t}.",
    "aviation.airport.city_served": "{h} serves the city of {t}.",
    "aviation.airport.iata_code": "The IATA code of {h} is {t}.",
    "location.country.capital": "The capital of {h} is {t}.",
    "location.country.currency_used": "The currency of {h} is the {t}.",
    "location.country.calling_code": "The calling code of {h} is {t}.",
    "location.country.demonym": "People from {h} are called {t}.",
    "location.country.borders": "{h} borders {t}.",
}
"""Relation of the world -> a fact in plain English."""
RESAMPLES = 1000


@dataclass(frozen=True, kw_only=True)
class JudgeMeasurement:
    """Measure the judges of open answers on planted facts."""

    llm: str
    """Base URL of an OpenAI-compatible server."""
    model: str
    """The judge's name there."""
    out: Path
    """Folder for judge.json, judge.md and the replies."""
    n: int = 60
    """Answers, every second one altered."""
    judges: tuple[Literal["factscore", "safe"], ...] = ("factscore", "safe")
    passages: int = 3
    """Passages that a fact is verified against."""
    searches: int = 2
    """SAFE: searches per fact at most."""
    concurrency: int = 1
    timeout: float = 600.0
    seed: int = 0


@dataclass(frozen=True)
class Planted:
    """An answer, and the fact in it that is not true."""

    entity: str
    answer: str
    altered: str | None
    """The sentence; None where all is as the graph says."""
    truth: str | None
    """What it should say."""


def planted_answers(graph: KnowledgeGraph, n: int, seed: int) -> list[Planted]:
    """``n`` answers of two facts each, every second one with one of them altered.

    More of them begin with the same ones.
    """
    tails: dict[str, list[str]] = {}
    by_head: dict[str, list[tuple[str, str]]] = {}
    known = set()
    for head, relation, tail in map(graph.triplet, range(len(graph.triplets))):
        if relation in SENTENCES:
            tails.setdefault(relation, []).append(tail)
            by_head.setdefault(head, []).append((relation, tail))
            known.add((head, relation, tail))
    heads = sorted(h for h, facts in by_head.items() if len({r for r, _ in facts}) > 1)
    random.Random(seed).shuffle(heads)
    out = []
    for i, head in enumerate(heads[:n]):
        rng = random.Random(f"{seed} {head}")
        facts = dict(rng.sample(by_head[head], len(by_head[head])))
        two = rng.sample(sorted(facts.items()), 2)
        sentences = [SENTENCES[r].format(h=head, t=t) for r, t in two]
        altered = truth = None
        if i % 2:
            place = rng.randrange(2)
            relation, true = two[place]
            choices = sorted({*tails[relation]} - {true, head})
            false = rng.choice(
                [one for one in choices if (head, relation, one) not in known]
            )
            truth = sentences[place]
            altered = sentences[place] = SENTENCES[relation].format(h=head, t=false)
        out.append(Planted(head, " ".join(sentences), altered, truth))
    return out


def detection(
    is_altered: Sequence[bool], judgements: Sequence[Judgement], seed: int
) -> dict[str, Any]:
    """Precision and recall of finding altered answers, with bootstrap intervals.

    Over the answers that were judged; the others are counted by reason.
    """
    judged = [
        (altered, one.value < 1)
        for altered, one in zip(is_altered, judgements, strict=True)
        if one.value is not None
    ]
    table = np.array(judged, bool).reshape(-1, 2)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, max(len(table), 1), (RESAMPLES, len(table)))
    samples = np.array([rates(table[row]) for row in rows]).reshape(-1, 3)
    outcomes = [one.outcome for one in judgements]
    values = dict(zip(("precision", "recall", "accuracy"), rates(table), strict=True))
    return {
        "answers": len(judgements),
        "altered": sum(is_altered),
        "judged": len(table),
        "outcomes": {one: outcomes.count(one) for one in dict.fromkeys(outcomes)},
        "flagged": int(table[:, 1].sum()),
        "rightly_flagged": int(table.all(axis=1).sum()),
        **{
            name: {
                "value": None if np.isnan(value) else value,
                "low": _percentile(samples[:, i], 2.5),
                "high": _percentile(samples[:, i], 97.5),
            }
            for i, (name, value) in enumerate(values.items())
        },
    }


def rates(table: Any) -> tuple[float, float, float]:
    """Precision, recall and accuracy of rows (altered, flagged); nan without any."""
    both = float((table[:, 0] & table[:, 1]).sum())

    def share(count: float, of: float) -> float:
        return count / of if of else float("nan")

    return (
        share(both, float(table[:, 1].sum())),
        share(both, float(table[:, 0].sum())),
        share(float((table[:, 0] == table[:, 1]).sum()), len(table)),
    )


def _percentile(values: Any, q: float) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.percentile(known, q)) if len(known) else None


def measure(settings: JudgeMeasurement) -> dict[str, Any]:
    """The content of judge.json, which is written."""
    graph = load().graph
    answers = planted_answers(graph, settings.n, settings.seed)
    triplets = map(graph.triplet, range(len(graph.triplets)))
    index = PassageIndex(triplet_passages(triplets), by="bm25")
    model = Model(
        EndpointSettings(
            url=settings.llm,
            model=settings.model,
            temperature=0.0,
            concurrency=settings.concurrency,
            timeout=settings.timeout,
            seed=settings.seed,
            cache=settings.out / "replies",
        )
    )
    known: dict[str, Judge] = {
        "factscore": FActScore(model, index.search, settings.passages),
        "safe": SAFE(model, index.search, settings.passages, settings.searches),
    }
    items = [
        Item(question=f"Describe {one.entity}.", answer=one.answer, subject=one.entity)
        for one in answers
    ]
    report: dict[str, Any] = {"model": settings.model, "seed": settings.seed}
    rows: list[dict[str, Any]] = [asdict(one) for one in answers]
    for name in settings.judges:
        judgements = [each[name] for each in known[name].judge(items)]
        is_altered = [one.altered is not None for one in answers]
        report[name] = detection(is_altered, judgements, settings.seed)
        for row, one in zip(rows, judgements, strict=True):
            row[name] = {"value": one.value, "outcome": one.outcome, **one.details}
    report["spending"] = {name: asdict(one) for name, one in model.spending.items()}
    report["answers"] = rows
    write_json(settings.out / "judge.json", report)
    write_text(settings.out / "judge.md", table(report, settings.judges))
    return report


def table(report: dict[str, Any], judges: Sequence[str]) -> str:
    """judge.md."""
    header = ["judge", "answers", "altered", "judged", "flagged", "precision", "recall"]
    rows = []
    for name in judges:
        one = report[name]
        cells = [str(one[key]) for key in ("answers", "altered", "judged", "flagged")]
        for rate in ("precision", "recall"):
            r = one[rate]
            cells.append(
                "–"
                if r["value"] is None
                else f"{r['value']:.2f} [{r['low']:.2f}, {r['high']:.2f}]"
            )
        rows.append([name, *cells])
    failed = {
        name: {k: n for k, n in report[name]["outcomes"].items() if k != JUDGED}
        for name in judges
    }
    note = f"Judge {report['model']}; not judged: {failed}"
    return f"{markdown_table(header, rows)}\n\n{note}\n"


if __name__ == "__main__":
    settings = tyro.cli(JudgeMeasurement)
    print(table(measure(settings), settings.judges))
    sys.exit(0)
