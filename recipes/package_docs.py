"""Ten documents of a package on PyPI to a graph, and five questions about it.

    python recipes/package_docs.py OUT

Fetches the source of click by pip, ingests ten of its pages with the extractor that
needs no server, and asks ``QUESTIONS``, which were written before the first run, to the
bundled policy. OUT/package_docs.md has what came out, unedited.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
from pathlib import Path

from kgscout_jax.cli.main import main as kgscout
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.utils.io import write_text

PACKAGE, VERSION = "click", "8.5.1"
PAGES = (
    "advanced arguments commands options parameters prompts quickstart testing "
    "unicode-support why"
).split()
QUESTIONS = (
    "What is Click?",
    "What is Click based on?",
    "What does the runner isolate?",
    "What do arguments support?",
    "What does prompt do?",
)
SHOWN = 5


def documents(out: Path) -> Path:
    """The folder of the ten pages."""
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
         "--no-binary", ":all:", "--dest", str(out), f"{PACKAGE}=={VERSION}"],
        check=True,
    )  # fmt: skip
    folder = out / "docs"
    with tarfile.open(out / f"{PACKAGE}-{VERSION}.tar.gz") as archive:
        for page in PAGES:
            member = archive.extractfile(f"{PACKAGE}-{VERSION}/docs/{page}.md")
            assert member is not None
            write_text(folder / f"{page}.md", member.read().decode())
    return folder


def main() -> None:
    """Run the recipe and write its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    if kgscout(["ingest", str(documents(out)), "--out", str(out / "graph")]):
        raise SystemExit("kgscout ingest failed")
    report = json.loads((out / "graph/ingest/report.json").read_text())
    graph, scout = KnowledgeGraph.open(out / "graph"), Scout.from_pretrained()
    provenance = graph.provenance
    assert provenance is not None
    lines = [
        f"# Ten pages of {PACKAGE} {VERSION}",
        "",
        "Written by `recipes/package_docs.py`: the extractor without a model, the "
        "bundled policy, questions written before the first run, nothing edited. "
        f"{report['documents']} documents, {report['facts']:,} facts, "
        f"{report['hypernodes']:,} hypernodes, {report['triplets']:,} triplets.",
    ]
    for question in QUESTIONS:
        result = scout.retrieve(
            question, graph, SHOWN, selection=SelectionConfig(form="answers")
        )
        said = result.answers or result.best_guesses[:3]
        names = "; ".join(f"{a.name} ({a.probability:.2f})" for a in said) or "nothing"
        unsure = "" if result.answers else "not sure; best guesses: "
        lines += ["", f"## {question}", "", unsure + names, ""]
        for triplet, sources in zip(result.triplets, result.provenance, strict=True):
            lines.append(f"- {' | '.join(triplet)}")
            for source in sources[:1]:
                lines.append(f"  - {source}: “{provenance.quote(source)}”")
    write_text(out / "package_docs.md", "\n".join(lines) + "\n")
    print(out / "package_docs.md")


if __name__ == "__main__":
    main()
