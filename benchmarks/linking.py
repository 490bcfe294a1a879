"""Entity linking: how often it finds a question's topics, and how fast it is.

    python benchmarks/linking.py --data FOLDER
    python benchmarks/linking.py --data FOLDER --fit
    python benchmarks/linking.py --names 1e6

FOLDER holds any of ``webqsp_union`` (kg.tsv, train.jsonl, dev.jsonl), ``metaqa``
(kb.txt and its questions) and ``pathquestion``. The dev questions of each are linked by
their text alone, a second time with one word misspelt, and those of MetaQA in lower
case and with the topic in brackets. Questions without topics are left out. Speed is
measured on a graph of ``--names`` random names with power-law degrees: building, bytes,
memory, milliseconds per question; in three of ten questions the name lacks one
character. Processor time is printed beside wall time: they differ on a busy machine.

Columns per set: ``top1``, the first link is a topic; ``all``, every topic is among the
links; ``any``, at least one is; ``links``, mean number of links; and how first links
matched, as correct/all. ``--fit`` fits the scoring weights on the train questions,
prints them and uses them. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.linking_fit import fit_weights, misspell, training_examples
from data_prep.sources import load_source
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link import Linker, LinkIndex, build_index
from kgscout_jax.graph.link.graph_index import open_or_build_index
from kgscout_jax.graph.link.scoring import FEATURES
from kgscout_jax.types import Question, entity_key

SETS = ("webqsp_union", "metaqa", "pathquestion")
TRAIN_QUESTIONS = {
    "webqsp_union": (5000, 400),
    "metaqa": (600, 300),
    "pathquestion": (150, 0),
}
"""Train questions to fit on: unchanged, and misspelt."""
FORMS = ("who directed {}", "what films did {} act in", "what is the capital of {}")
FORMS += ("when was {} born", "which person wrote films that share actors with {}")

Examples = list[tuple[str, set[str]]]
"""Text and topic keys of each question."""


def load(folder: Path, name: str) -> tuple[KnowledgeGraph, dict[str, list[Question]]]:
    """The graph of a set, and its questions that have topics, per split."""
    path = folder / name
    if name == "webqsp_union":
        loaded = load_source("kg", path, [path / "kg.tsv"])
    else:
        loaded = load_source(name, path)
    questions = {
        split: [q for q in rows if q.topics] for split, rows in loaded.questions.items()
    }
    return loaded.graph, questions


def question_texts(questions: Sequence[Question], form: str) -> Examples:
    """The questions as ``plain``, ``misspelt``, ``lower`` or ``bracketed`` text."""
    rng = np.random.default_rng(0)
    out = []
    for q in questions:
        text = q.text
        if form == "misspelt":
            text = misspell(text, rng)
        elif form == "lower":
            text = text.lower()
        elif form == "bracketed":
            text = text.replace(q.topics[0], f"[{q.topics[0]}]", 1)
        out.append((text, {entity_key(topic) for topic in q.topics}))
    return out


def measure_links(linker: Linker, examples: Examples) -> dict[str, Any]:
    """The shares, the matches and the milliseconds of some questions."""
    top1 = all_ = any_ = links = 0
    how: dict[str, list[int]] = {}
    seconds, cpu_seconds = [], []
    for text, topics in examples:
        start, cpu_start = time.perf_counter(), time.process_time()
        answer = linker.link(text)
        seconds.append(time.perf_counter() - start)
        cpu_seconds.append(time.process_time() - cpu_start)
        names = [entity_key(link.name) for link in answer]
        correct = bool(names) and names[0] in topics
        top1 += correct
        all_ += topics <= set(names)
        any_ += bool(topics & set(names))
        links += len(answer)
        counts = how.setdefault(answer[0].how if answer else "none", [0, 0])
        counts[0] += correct
        counts[1] += 1
    n = len(examples)
    p50, p99 = (np.percentile(seconds, [50, 99]) * 1e3).tolist()
    cpu50, cpu99 = (np.percentile(cpu_seconds, [50, 99]) * 1e3).tolist()
    shares = {"top1": top1, "all": all_, "any": any_, "links": links}
    return {
        "n": n,
        **{key: round(value / n, 4) for key, value in shares.items()},
        "how": {key: how[key] for key in sorted(how)},
        "ms_p50": round(p50, 2),
        "ms_p99": round(p99, 2),
        "cpu_ms_p50": round(cpu50, 2),
        "cpu_ms_p99": round(cpu99, 2),
    }


def fit_on_train(
    sets: dict[str, tuple[LinkIndex, dict[str, list[Question]]]],
) -> np.ndarray:
    """Scoring weights fitted on the train questions of the sets, printed."""
    training = []
    for name, (index, questions) in sets.items():
        linker = Linker(index)
        ids = {entity_key(text): i for i, text in enumerate(index.names)}
        rows = list(questions.get("train", ()))
        np.random.default_rng(1).shuffle(rows)  # pyright: ignore[reportArgumentType]
        plain, misspelt = TRAIN_QUESTIONS[name]
        forms = [("plain", rows[:plain]), ("misspelt", rows[:misspelt])]
        if name == "metaqa":
            forms.append(("lower", rows[plain : 2 * plain]))
        for form, subset in forms:
            pairs = [
                (text, [ids.get(topic, -1) for topic in sorted(topics)])
                for text, topics in question_texts(subset, form)
            ]
            training += training_examples(linker, pairs)
    weights = fit_weights(training)
    for feature, weight in zip(FEATURES, weights.tolist(), strict=True):
        print(f"    {feature:14} {weight:7.2f}")
    return weights


def accuracy(folder: Path, fit: bool) -> dict[str, Any]:
    """The outcome per set and form of its dev questions."""
    sets = {}
    for name in SETS:
        if (folder / name).is_dir():
            graph, questions = load(folder, name)
            sets[name] = (open_or_build_index(graph), questions)
    if not sets:
        raise UserError(f"{folder}: none of the folders {', '.join(SETS)} is there")
    weights = fit_on_train(sets) if fit else None
    out: dict[str, Any] = {}
    print(
        f"{'set':26}{'n':>6}  top1   all   any links  ms p50 cpu p99  right first links"
    )
    for name, (index, questions) in sets.items():
        linker = Linker(index, weights=weights)
        forms = ["plain", "misspelt", *(["lower", "bracketed"] * (name == "metaqa"))]
        for form in forms:
            row = measure_links(linker, question_texts(questions["dev"], form))
            out[f"{name}/{form}"] = row
            how = ", ".join(f"{key} {a}/{b}" for key, (a, b) in row["how"].items())
            shares = " ".join(f"{row[key]:.3f}" for key in ("top1", "all", "any"))
            print(
                f"{name + ' ' + form:26}{row['n']:6}  {shares} {row['links']:5.2f} "
                f"{row['ms_p50']:7.2f} {row['cpu_ms_p99']:6.1f}  {how}"
            )
    return out


def random_words(count: int, rng: np.random.Generator, syllables: int) -> list[str]:
    """``count`` words that could be names."""
    heads = [*"bcdfghklmnprstvwz", "th", "sh", "br", "st", "gr", "kr", "ch"]
    cores = [*"aeiou", "ai", "ea", "io"]
    ends = ["", "n", "r", "s", "l"]
    parts = np.array([a + b for a in heads for b in cores])
    words: dict[str, None] = {}
    while len(words) < count:
        sizes = rng.integers(1, syllables + 1, count)
        choices = parts[rng.integers(len(parts), size=(count, syllables))]
        closing = rng.integers(len(ends), size=count)
        for row, size, end in zip(choices.tolist(), sizes, closing, strict=True):
            words["".join(row[:size]).title() + ends[end]] = None
    return list(words)[:count]


def random_names(count: int, rng: np.random.Generator) -> list[str]:
    """``count`` different names of people and works; some words are very common."""
    given, family = random_words(4000, rng, 3), random_words(40_000, rng, 4)
    nouns = random_words(20_000, rng, 3)
    titles = (
        "The {0} of {1}",
        "{0} {1}",
        "{1}",
        "{0}: The {1}",
        "{1} in {0}",
        "{0}-{1}",
    )

    def some() -> Iterator[str]:
        while True:
            common = rng.zipf(1.3, (2, 10_000)) - 1
            rest = rng.integers(40_000, size=(3, 10_000))
            for a, b, c, d, t in zip(*common, *rest, strict=True):
                yield f"{given[a % 4000]} {family[c]}"
                yield titles[t % 6].format(nouns[b % 20_000], nouns[d % 20_000])

    names: dict[str, None] = {}
    for name in some():
        names[name] = None
        if len(names) == count:
            break
    return list(names)


def timing(count: int, questions: int) -> dict[str, Any]:
    """Seconds, bytes and milliseconds on generated names."""
    rng = np.random.default_rng(0)
    names = random_names(count, rng)
    degrees = np.minimum(rng.zipf(1.6, count), 1_000_000)
    start = time.perf_counter()
    index = build_index(names, degrees=degrees)
    build = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "link"
        index.save(folder)
        size = sum(f.stat().st_size for f in folder.iterdir())
        text = sum(f.stat().st_size for f in folder.glob("names_*"))
        start = time.perf_counter()
        linker = Linker(LinkIndex.open(folder))
        opened = time.perf_counter() - start
        examples: Examples = []
        for at, form in zip(
            rng.integers(count, size=questions),
            rng.integers(len(FORMS), size=questions),
            strict=True,
        ):
            name = names[at].lower()
            if rng.random() < 0.3:
                cut = int(rng.integers(1, len(name)))
                name = name[:cut] + name[cut + 1 :]
            examples.append((FORMS[form].format(name), {entity_key(names[at])}))
        start = time.perf_counter()
        linker.link(examples[0][0])
        first = time.perf_counter() - start
        row = measure_links(linker, examples)
    figures = {
        "names": count,
        "build_seconds": round(build, 1),
        "open_seconds": round(opened, 4),
        "first_link_seconds": round(first, 4),
        "megabytes": round(size / 2**20, 1),
        "megabytes_of_names": round(text / 2**20, 1),
        "peak_megabytes": round(memory),
        **{key: row[key] for key in row if key not in ("all", "any", "links", "how")},
    }
    print("\n".join(f"{key:>22}  {value}" for key, value in figures.items()))
    return figures


def main() -> int:
    """Parse the options and run what they ask for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, help="folder with the sets")
    parser.add_argument("--fit", action="store_true", help="fit the scoring weights")
    parser.add_argument(
        "--names", type=float, default=1e6, help="generated; 0 for none"
    )
    parser.add_argument("--questions", type=int, default=2000, help="that are timed")
    options = parser.parse_args()
    out: dict[str, Any] = {"benchmark": "linking"}
    try:
        if options.data is not None:
            out["accuracy"] = accuracy(options.data, options.fit)
        if options.names >= 1:
            out["timing"] = timing(int(options.names), options.questions)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
