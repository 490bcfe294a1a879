"""Questions that need two graphs: a Freebase-like one and the built-in world.

    python recipes/several_graphs.py --freebase webqsp_union/kg.tsv --world world.tsv \\
        --single webqsp_union/dev.jsonl --out OUT

Writes OUT/questions.jsonl (the same every time), OUT/results.json and the page, which
--page names. recipes/base.sh writes world.tsv. Measured are each graph
alone, both merged (``scout.retrieve(question, {name: graph})``) and the fusion of two
retrievals by reciprocal ranks, with one policy; questions of one graph, to see what a
second graph costs; and planted schemas, for the thresholds of the merge.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from several_graphs_planted import planted_tables

from kgscout_jax import KnowledgeGraph, RetrievalResult, Scout
from kgscout_jax.evaluate.bootstrap import Estimate, bootstrap_means
from kgscout_jax.graph.opaque_names import opaque_mask
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import write_json, write_lines
from kgscout_jax.utils.progress import ProgressBar
from kgscout_jax.utils.tables import markdown_table
from kgscout_jax.utils.templates import text_from_template

PER_KIND = 14
CUTOFFS = (10, 30, 100)
RRF = 60
"""The constant of reciprocal rank fusion (Cormack and others, 2009)."""
NATION, BIRTH = "people.person.nationality", "people.person.place_of_birth"
KINDS = {
    "capital": (NATION, "location.country.capital",
                "What is the capital of the country that {} is a citizen of?"),
    "currency": (NATION, "location.country.currency_used",
                 "Which currency is used in the home country of {}?"),
    "calling code": (NATION, "location.country.calling_code",
                     "What is the calling code of the country of {}?"),
    "neighbours": (NATION, "location.country.borders",
                   "Which countries border the home country of {}?"),
    "languages": (NATION, "location.country.languages_spoken",
                  "Which languages are spoken in the home country of {}?"),
    "time zone": (BIRTH, "location.city.time_zone",
                  "In which time zone lies the city where {} was born?"),
}  # fmt: skip
"""Kind -> relation of the Freebase-like graph, of the world, wording."""

Row = dict[str, Any]
Found = tuple[list[tuple[str, str, str]], list[str]]
"""Ranked triplets and answers, names without the graph in brackets."""


def questions_of(freebase: KnowledgeGraph, world: KnowledgeGraph) -> list[Row]:
    """PER_KIND questions of each kind, whose answer no edge of Freebase states.

    A person has one value of the first relation, and the topic stands in the first
    graph only; at most two persons share a value.
    """
    pairs = values_by_relation(freebase)
    facts = values_by_relation(world)
    beside: dict[str, set[str]] = defaultdict(set)
    for head, _, tail in map(freebase.triplet, range(len(freebase))):
        beside[entity_key(head)].add(entity_key(tail))
        beside[entity_key(tail)].add(entity_key(head))
    rows: list[Row] = []
    for kind, (first, second, wording) in KINDS.items():
        chosen: list[Row] = []
        used: dict[str, int] = defaultdict(int)
        people = sorted(pairs[first].items())
        random.Random(kind).shuffle(people)
        for person, places in people:
            answers = facts[second].get(entity_key(places[0]), [])
            apart = not any(entity_key(a) in beside[entity_key(places[0])]
                            for a in answers)  # fmt: skip
            if (
                len(places) == 1
                and answers
                and apart
                and used[places[0]] < 2
                and world.find(person) is None
                and not opaque_mask([person])[0]
            ):
                used[places[0]] += 1
                name = freebase.entities[freebase.find_all([person])[0]]
                chosen.append({
                    "id": f"{kind}-{len(chosen)}",
                    "question": wording.format(name),
                    "q_entity": [name],
                    "answer": sorted(answers),
                    "bridge": places[0],
                })  # fmt: skip
            if len(chosen) == PER_KIND:
                break
        rows += chosen
    return rows


def values_by_relation(graph: KnowledgeGraph) -> dict[str, dict[str, list[str]]]:
    """Relation -> key of a head -> its tails."""
    out: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in map(graph.triplet, range(len(graph))):
        out[relation][entity_key(head)].append(tail)
    return out


def found_in(result: RetrievalResult, names: Sequence[str] = ()) -> Found:
    """The triplets and answers of a result, without the names of graphs in brackets."""

    def plain(name: str) -> str:
        for graph in names:
            name = name.removesuffix(f" ({graph})")
        return entity_key(name)

    triplets = [(plain(h), r, plain(t)) for h, r, t in result.triplets]
    answers = result.answer_entities or result.answers or result.best_guesses
    return triplets, [plain(answer.name) for answer in answers]


def fused(lists: Sequence[Found]) -> Found:
    """Triplets and answers by the sum of 1 / (RRF + rank) over the lists."""
    out = []
    for which in (0, 1):
        score: dict[object, float] = defaultdict(float)
        for each in lists:
            for rank, item in enumerate(dict.fromkeys(each[which]), start=1):
                score[item] += 1 / (RRF + rank)
        out.append(sorted(score, key=lambda item: -score[item]))
    return out[0], out[1]


def measures(found: Found, row: Row) -> list[float]:
    """answer_hit@K, both_facts@K (nan without a bridge), Hits@1."""
    triplets, answers = found
    gold = {entity_key(name) for name in row["answer"]}
    hits, both = [], []
    for k in CUTOFFS:
        best = triplets[:k]
        hits.append(float(any({h, t} & gold for h, _, t in best)))
        if "bridge" in row:
            bridge = entity_key(row["bridge"])
            first = {entity_key(row["q_entity"][0]), bridge}
            ends = [{h, t} for h, _, t in best]
            second = any(each - gold == {bridge} and each & gold for each in ends)
            both.append(float(first in ends and second))
        else:
            both.append(np.nan)
    return [*hits, *both, float(bool(answers) and answers[0] in gold)]


COLUMNS = [f"{name}@{k}" for name in ("answer_hit", "both_facts") for k in CUTOFFS]
COLUMNS.append("Hits@1")


def measured(
    scout: Scout, graphs: Mapping[str, KnowledgeGraph], rows: Sequence[Row]
) -> dict[str, np.ndarray]:
    """Method -> a row of COLUMNS for each question."""
    k, form = max(CUTOFFS), SelectionConfig(form="lines")
    values: dict[str, list[list[float]]] = defaultdict(list)
    with ProgressBar(len(rows), "asking", "questions") as bar:
        for row in rows:
            text = str(row["question"])
            alone = [found_in(scout.retrieve(text, graph, k, selection=form))
                     for graph in graphs.values()]  # fmt: skip
            merged = scout.retrieve(text, graphs, k, selection=form)
            both = found_in(merged, list(graphs))
            for name, found in zip(graphs, alone, strict=True):
                values[f"{name} alone"].append(measures(found, row))
            values["fusion by reciprocal ranks"].append(measures(fused(alone), row))
            values["merged"].append(measures(both, row))
            bar.update()
    return {name: np.array(each) for name, each in values.items()}


def table(values: Mapping[str, np.ndarray]) -> str:
    """A row for each method, with 95% intervals, and merged against fusion."""
    rows = {name: bootstrap_means(each) for name, each in values.items()}
    gain = values["merged"] - values["fusion by reciprocal ranks"]
    rows["merged - fusion, paired"] = bootstrap_means(gain)
    used = [i for i, each in enumerate(rows["merged"]) if each.n]
    body = [[name, *(cell(each[i]) for i in used)] for name, each in rows.items()]
    return markdown_table(["method", *(COLUMNS[i] for i in used)], body)


def cell(estimate: Estimate) -> str:
    """A mean and its interval."""
    return f"{estimate.value:.3f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def main() -> None:
    """Write the questions, measure, and write results and page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    for name in ("freebase", "world", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--single", type=Path, help="questions of the Freebase graph")
    parser.add_argument("--limit", type=int, default=100, help="of --single")
    parser.add_argument("--policy", help="default: kgscout-base")
    parser.add_argument("--page", type=Path, help="recipes/several_graphs.md")
    options = parser.parse_args()
    paths = {"freebase": options.freebase, "world": options.world}
    graphs = {name: KnowledgeGraph.open(path) for name, path in paths.items()}
    rows = questions_of(*graphs.values())
    write_lines(options.out / "questions.jsonl", map(json.dumps, rows))
    scout = Scout.from_pretrained(options.policy)
    sets = {"two graphs": rows}
    if options.single is not None:
        lines = options.single.read_text(encoding="utf-8").splitlines()
        sets["one graph"] = [json.loads(line) for line in lines[: options.limit]]
    tables, raw = {}, {}
    for name, questions in sets.items():
        values = measured(scout, graphs, questions)
        raw[name] = {method: each.tolist() for method, each in values.items()}
        tables[name] = table(values), len(questions)
    planted = planted_tables(graphs["world"], scout.encoder)
    write_json(options.out / "results.json", {"columns": COLUMNS, "values": raw})
    text = page(tables, planted, options.policy or "kgscout-base")
    write_lines(options.page or options.out / "several_graphs.md", text.splitlines())
    print(text)


def page(
    tables: Mapping[str, tuple[str, int]], planted: Sequence[str], policy: str
) -> str:
    """The page of the recipe."""
    template = Path(__file__).with_name("several_graphs.md.jinja").read_text("utf-8")
    one, n_one = tables.get("one graph", ("not run", 0))
    two, n_two = tables["two graphs"]
    return text_from_template(
        template, two=two, n_two=n_two, one=one, n_one=n_one,
        links=planted[0], facts=planted[1], policy=policy,
    )  # fmt: skip


if __name__ == "__main__":
    main()
