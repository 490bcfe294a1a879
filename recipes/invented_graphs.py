"""Graphs of invented facts, and what people ask about them: no policy has seen either.

    python recipes/invented_graphs.py OUT [--policy RUN]

``invented_graphs.json`` has eight domains: names, facts between them, and questions as
people word them, each with the path to its answers. OUT/DOMAIN gets the graph
``kg.tsv``, the questions and their shards, and what the policy makes of them. Words of
relations are those of real graphs of each kind, and differ from those of the questions.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from kgscout_jax.cli.runner import guarded
from kgscout_jax.export.bundled import FOLDER
from kgscout_jax.utils.io import write_json, write_lines

DATA = Path(__file__).with_suffix(".json")
EACH = 14
"""Questions of each wording."""
TRIES = 60
"""Draws of topics until a question has an answer."""
MOST_ANSWERS = 25
CLASS = "="
"""Before a name from which a path starts though no topic of the question: a class."""
Triplet = tuple[str, str, str]


class Domain:
    """One graph with questions about it."""

    def __init__(self, definition: dict, seed: str) -> None:
        self.random = random.Random(seed)
        self.definition = definition
        self.names = {
            kind: self._names(value) for kind, value in definition["names"].items()
        }
        self.triplets = sorted(
            {*itertools.chain(*map(self._facts, definition["facts"]))}
        )
        self.steps: dict[tuple[str, str], list[str]] = defaultdict(list)
        for head, relation, tail in self.triplets:
            self.steps[head, relation].append(tail)
            self.steps[tail, f"^{relation}"].append(head)

    def _names(self, value: str | list) -> list[str]:
        """Listed names, "from..to", or [count, first words, last words, separator]."""
        if isinstance(value, list):
            count, first, last, *separator = value
            pairs = itertools.product(first.split("|"), last.split("|"))
            names = [(separator or [" "])[0].join(pair) for pair in pairs]
            return self.random.sample(names, count)
        if ".." not in value:
            return value.split("|")
        low, _, high = value.removesuffix("-date").partition("..")
        numbers = [str(i) for i in range(int(low), int(high) + 1)]
        if not value.endswith("-date"):
            return numbers
        return [f"{year}-{m:02}-{d}" for year in numbers for m, d in ((3, 14), (9, 27))]

    def _facts(self, fact: str) -> list[Triplet]:
        """Triplets of "head relation tail [most] [share%]": of so many heads."""
        head, relation, tail, *more = fact.split()
        share = [each for each in more if each.endswith("%")]
        most = [each for each in more if each not in share]
        out = []
        for name in self.names[head]:
            if share and self.random.random() * 100 >= int(share[0].rstrip("%")):
                continue
            count = self.random.randint(1, int(most[0])) if most else 1
            tails = self.random.sample(self.names[tail], count)
            out += [(name, relation, each) for each in tails if each != name]
        return out

    def questions(self) -> list[dict]:
        """Questions with topics and answers, none twice."""
        found: dict[str, dict] = {}
        for line in self.definition["questions"]:
            wording, _, path = line.partition(" = ")
            for _ in range(EACH):
                question = self.question(wording, path)
                if question is not None:
                    found.setdefault(question["question"], question)
        return list(found.values())

    def question(self, wording: str, path: str) -> dict | None:
        """A question of this wording, or None where no drawn topic has answers."""
        legs, _, rest = path.partition(" ; ")
        starts = [leg.split() for leg in legs.split(" & ")]
        for _ in range(TRIES):
            named = {
                kind: self.random.choice(self.names[kind])
                for kind, *_ in starts
                if not kind.startswith(CLASS)
            }
            ends = [
                self.reached({named.get(kind, kind.removeprefix(CLASS))}, steps)
                for kind, *steps in starts
            ]
            topics = [*named.values()]
            answers = self.reached(set.intersection(*ends), rest.split()) - {*topics}
            if 0 < len(answers) <= MOST_ANSWERS:
                hops = max(len(steps) for _, *steps in starts) + len(rest.split())
                return {
                    "question": wording.format(**named),
                    "q_entity": topics,
                    "answer": sorted(answers),
                    "hop": hops,
                }
        return None

    def reached(self, names: set[str], steps: list[str]) -> set[str]:
        """The ends of these steps from any of the names; "^relation" goes back."""
        for step in steps:
            names = {end for name in names for end in self.steps.get((name, step), [])}
        return names


def write(
    folder: Path, triplets: Iterable[Triplet], splits: Mapping[str, Iterable[dict]]
) -> None:
    """``kg.tsv``, and ``questions/`` with a file of each split."""
    (folder / "questions").mkdir(parents=True, exist_ok=True)
    write_lines(folder / "kg.tsv", ["\t".join(triplet) for triplet in triplets])
    for split, questions in splits.items():
        lines = [json.dumps(question) for question in questions]
        write_lines(folder / "questions" / f"{split}.jsonl", lines)


def numbered(questions: Iterable[dict], prefix: str) -> list[dict]:
    """The questions with their ids."""
    return [{"id": f"{prefix}-{i}", **each} for i, each in enumerate(questions)]


def main(words: list[str] | None = None) -> int:
    """Write and measure; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--policy", type=Path, default=FOLDER, help="run or export")
    parser.add_argument("--into", type=Path, help="write the figures to this file")
    args = parser.parse_args(words)
    measured = []
    for domain, definition in json.loads(DATA.read_text("utf-8")).items():
        folder = args.out / domain
        graph = Domain(definition, domain)
        test = numbered(graph.questions(), domain)
        write(folder, graph.triplets, {"test": test})
        made = ["--kg", folder / "kg.tsv", "--input", folder / "questions"]
        kgscout("prep kg --overwrite", *made, "--out", folder / "shards")
        run = ["--run", args.policy, "--split", "test", "--shards", folder / "shards"]
        kgscout("eval retrieval --k 10 30 100", *run, "--out", folder / "retrieval")
        kgscout(
            "eval answers --reader graph --k 100", *run, "--out", folder / "answers"
        )
        measured.append(figures(domain, folder))
        print(json.dumps(measured[-1]))
    if args.into:
        write_json(args.into, {"kind": "invented", "measured": measured})
    return 0


def kgscout(command: str, *words: str | Path) -> None:
    """Run a command of KG-Scout, with more words behind."""
    every = [sys.executable, "-m", "kgscout_jax", *command.split(), *map(str, words)]
    subprocess.run(every, check=True)


def figures(domain: str, folder: Path) -> dict:
    """What the table shows of a domain."""
    retrieval = json.loads((folder / "retrieval" / "metrics.json").read_text("utf-8"))
    answers = json.loads((folder / "answers" / "metrics.json").read_text("utf-8"))
    hits = {
        f"{name}@{k}": round(retrieval[name]["answer_hit"][k]["value"], 4)
        for name in ("kgscout", "cosine", "bm25", "ppr")
        for k in ("10", "30")
    }
    (row,) = (row for row in answers["table"] if row["retriever"] == "scout")
    return {
        "set": domain,
        "questions": row["n"],
        "answer_hit": hits,
        "hits@1": round(row["hits@1"] / 100, 4),
        "macro_f1": round(row["macro_f1"] / 100, 4),
    }


if __name__ == "__main__":
    sys.exit(guarded(main))
