"""Preparing questions: PageRank, candidates and embeddings, each against its peer.

    python benchmarks/data.py
    python benchmarks/data.py --metaqa FOLDER
    python benchmarks/data.py --metaqa FOLDER --webqsp-kg FILE --webqsp-questions FOLDER

Peers are networkx.pagerank, a plain NetworkX and Python implementation (peers.py) and
SentenceTransformer.encode. Both sides get the same questions, drawn with a fixed seed
and with topics of their own. Short runs take turns and the best counts; a peer's run of
a minute is not repeated. Loading data and building graphs are printed apart and are in
no ratio. Embeddings that are only multiplied are random. Shortest paths for the reward,
which the peer lacks, are left out. Ends with one JSON line; ratios are the peer's
seconds over ours.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks import data_sections
from benchmarks.common import last_line, peak_memory, seconds, show
from benchmarks.data_sample import DataBenchmark, Result, Sample, Section
from kgscout_jax.cli.runner import guarded, parse

AIMS = {"ppr": 50, "candidates": 30, "encoding": None}


MEASURE: dict[Section, Callable[[Sample, DataBenchmark], Result]] = {
    "ppr": data_sections.ppr,
    "candidates": data_sections.candidates,
    "encoding": data_sections.encoding,
}
TITLES = {
    "ppr": "PageRank on subgraphs of at most 2,000 triplets",
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
    arguments = sys.argv[1:] if args is None else args
    return guarded(lambda: run(parse(DataBenchmark, arguments, "benchmarks/data.py")))


if __name__ == "__main__":
    sys.exit(main())
