"""Preparing questions: PageRank, candidates and embeddings, each against its peer.

    python benchmarks/data.py
    python benchmarks/data.py --metaqa FOLDER
    python benchmarks/data.py --metaqa FOLDER --webqsp-kg FILE --webqsp-questions FOLDER

Peers are networkx.pagerank, a plain NetworkX and Python implementation (peers.py) and
SentenceTransformer.encode. Both sides get the same questions, drawn with a fixed seed
and with topics of their own. Short runs take turns and the best counts; a peer's run of
a minute is not repeated. Told apart and in no ratio: loading data, building graphs and
matrices, and what is saved because questions share their topics. Embeddings that only
have to be multiplied, not to mean anything, are random. Leaves out shortest paths for
the reward, which the peer has not. Ends with one JSON line; ratios are the peer's
seconds over ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import data_sections
from benchmarks.common import Clock, last_line, peak_memory, seconds, show
from benchmarks.data_sections import Result, Sample
from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError

Section = Literal["ppr", "shared", "candidates", "encoding"]
AIMS = {"ppr": 50, "shared": 200, "candidates": 30, "encoding": None}


@dataclass(frozen=True, kw_only=True)
class DataBenchmark:
    """Measure preparation against its peers, on the built-in world or real data.

    Example: python benchmarks/data.py --metaqa metaqa/
    """

    metaqa: Path | None = None
    """Folder of MetaQA; without one, the built-in world."""
    webqsp_kg: Path | None = None
    """A triplet file, to measure on it as well."""
    webqsp_questions: Path | None = None
    """Folder with the questions over that file, as source kg reads them."""
    sections: tuple[Section, ...] = ("ppr", "shared", "candidates", "encoding")
    """What to measure: ppr (subgraphs), shared (the whole graph), ..."""
    questions: int = 50
    """How many questions both sides get."""
    seed: int = 0
    """Of the draw."""
    repeats: int = 3
    """Timed runs, after one that is not; the best counts. Long runs of a peer: one."""
    clock: Clock = "wall"
    """wall, or cpu: processor time, on a machine that others use as well."""
    strings: int = 1500
    """About how many strings are embedded, repetitions included."""
    encoder: str = "all-MiniLM-L6-v2"
    """Any sentence-transformers model."""
    encoder_backend: str = "torch"
    """What runs our side's encoder; those that are installed are compared apart."""

    def __post_init__(self) -> None:
        for name in ("questions", "repeats", "strings"):
            if getattr(self, name) < 1:
                found = getattr(self, name)
                raise UserError(f"--{name}: found {found}, expected at least 1")
        if (self.webqsp_kg is None) != (self.webqsp_questions is None):
            raise UserError("--webqsp-kg and --webqsp-questions: expected both or none")


MEASURE: dict[Section, Callable[[Sample, DataBenchmark], Result]] = {
    "ppr": data_sections.ppr,
    "shared": data_sections.shared,
    "candidates": data_sections.candidates,
    "encoding": data_sections.encoding,
}
TITLES = {
    "ppr": "PageRank on subgraphs of at most 2,000 triplets",
    "shared": "PageRank on the whole graph",
    "candidates": "Subgraph, PageRank and candidates",
    "encoding": "Embedding the triplets of the subgraphs",
}


def measure(sample: Sample, settings: DataBenchmark) -> dict[str, float]:
    """The ratio of each section on one data set; tables are printed on the way."""
    sample.draw(settings.questions, settings.seed)
    print(
        f"\n{sample.name}: {len(sample.topics)} questions of {sample.n_questions}, "
        f"{len(sample.graph.triplets)} triplets, loaded in "
        f"{seconds(sample.load_seconds)}"
    )
    ratios: dict[str, float] = {}
    for section in settings.sections:
        result = MEASURE[section](sample, settings)
        aim = AIMS[section]
        show(
            f"{TITLES[section]}: {sample.name}",
            ("seconds per question", "ours", result.peer, "ratio", "aim"),
            [
                (
                    f"{len(sample.topics)} questions",
                    seconds(result.ours),
                    seconds(result.theirs),
                    f"{result.ratio:.3g}",
                    str(aim or "–"),
                )
            ],
        )
        print()
        for name, value in result.notes:
            print(f"- {name}: {value}")
        ratios[section] = result.ratio
    return ratios


def run(settings: DataBenchmark) -> None:
    """Measure on each data set, the first without a suffix in the last line."""
    source = "world" if settings.metaqa is None else "metaqa"
    ratios = measure(Sample(source, settings.metaqa, ()), settings)
    if settings.webqsp_kg is not None:
        sample = Sample("kg", settings.webqsp_questions, (settings.webqsp_kg,))
        more = measure(sample, settings)
        ratios |= {f"{name}_webqsp": ratio for name, ratio in more.items()}
    print()
    last_line("data", ratios=ratios, source=source, peak_memory_mb=peak_memory() / 1e6)


def main(args: Sequence[str] | None = None) -> int:
    """Run the benchmark; the exit code."""
    given = sys.argv[1:] if args is None else args
    return guarded(lambda: run(parse(DataBenchmark, given, "benchmarks/data.py")))


if __name__ == "__main__":
    sys.exit(main())
