"""KG-RAG on sixty documents with known facts: extraction, answers, their cost.

    python recipes/kg_rag.py OUT [--llm URL --model NAME
        [--title WHICH-MODEL] [--questions N] [--minutes M] [--extract]
        [--concurrency N]]

Offline. Writes the documents of ``kg_rag_corpus.py``, ingests them by ``kgscout
ingest`` with the extractor that needs no server, and compares the triplets with the
facts. KG-Scout (the bundled policy) then answers every question from that graph, and
embedding RAG over chunks is measured by what its chunks hold. With a model: six ways to
answer (``kg_rag_model.py``), and with --extract extraction by the model. OUT/kg_rag.md
has the tables.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kg_rag_corpus import Corpus, compare, write_corpus, write_documents
from kg_rag_model import holds, measure

from kgscout_jax.cli.main import main as kgscout
from kgscout_jax.cli.runner import guarded
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.ingest.extract.protocol import NestedTriplet
from kgscout_jax.ingest.extractions import triplet_of_json
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.types import entity_key
from kgscout_jax.utils.io import read_json, write_json, write_text

TOP_CHUNKS = 20
TRIPLETS = 20


def extracted_triplets(graph: Path) -> list[NestedTriplet]:
    """The triplets that were extracted, before names were joined, each once."""
    found: dict[NestedTriplet, None] = {}
    for file in sorted((graph / "ingest/extractions").rglob("*.json")):
        for chunk in read_json(file)["chunks"]:
            found |= dict.fromkeys(triplet_of_json(node) for node, _, _ in chunk)
    return list(found)


def requests(report: Path, total: Path) -> dict[str, int]:
    """Requests and tokens of all runs: what ``report`` adds to the file ``total``."""
    run = read_json(report)
    spent = read_json(total) if total.exists() else {"requests": 0, "tokens": 0}
    spent["requests"] += run["requests"]
    spent["tokens"] += run["prompt_tokens"] + run["reply_tokens"]
    write_json(total, spent)
    return spent


def ingest(corpus: Corpus, out: Path, *flags: str) -> str:
    """A row of the table of extraction."""
    name = flags[-1] if flags else "syntax"
    graph = out / f"graph_{name}"
    if kgscout(["ingest", str(out / "docs"), "--out", str(graph), *flags]):
        raise SystemExit("kgscout ingest failed")
    spent = requests(graph / "ingest/report.json", out / f"requests_{name}.json")
    match = compare(extracted_triplets(graph), corpus)
    facts = f"{match.found} of {match.facts}"
    dates = f"{match.nested_found} of {match.nested}"
    row = (
        f"| {name} | {match.extracted} | {match.precision:.3f} | {facts} | {dates} | "
        f"{match.recall:.3f} | "
        f"{spent['requests']} | {spent['tokens']:,} |"
    )
    return row


@dataclass
class Evidence:
    """What each way to answer may use, for every question."""

    graph: KnowledgeGraph
    results: list[RetrievalResult]
    chunks: list[list[str]]

    def chunk_text(self, i: int) -> str:
        """The nearest chunks."""
        return "\n\n".join(self.chunks[i])

    def triplets(self, i: int) -> str:
        """The triplets of KG-Scout, one a line."""
        return self.results[i].as_text()

    def with_chunks(self, i: int) -> str:
        """The triplets of KG-Scout, and the chunks of the first ones."""
        provenance = self.graph.provenance
        assert provenance is not None
        first = [sources[0] for sources in self.results[i].provenance[:5] if sources]
        texts = dict.fromkeys(map(provenance.chunk_text, first))
        return "\n\n".join([self.triplets(i), *texts])


def retrieve(corpus: Corpus, graph_folder: Path, scout: Scout) -> Evidence:
    """The triplets of KG-Scout and the nearest chunks for every question."""
    graph = KnowledgeGraph.open(graph_folder)
    graph.embed(scout.encoder)
    provenance = graph.provenance
    assert provenance is not None
    texts = [question.text for question in corpus.questions]
    form = SelectionConfig(form="answers")
    results = scout.retrieve_many(texts, graph, TRIPLETS, selection=form)
    parts = [
        provenance.text(document.name)[start:end]
        for document in provenance.documents
        for start, end in document.chunks
    ]
    cache = EmbeddingCache(scout.encoder)
    rows = cache.embed(parts, what="chunks").astype(np.float32)
    nearest = np.argsort(-(scout.encode(texts).astype(np.float32) @ rows.T), axis=1)
    chunks = [[parts[i] for i in row[:TOP_CHUNKS]] for row in nearest.tolist()]
    return Evidence(graph, results, chunks)


def pages(evidence: Evidence, corpus: Corpus) -> list[str]:
    """Five answers with their pages, as the command line shows them."""
    lines = []
    step = max(len(corpus.questions) // 5, 1)
    for i in range(0, len(corpus.questions), step)[:5]:
        result, question = evidence.results[i], corpus.questions[i]
        said = result.answers or result.best_guesses[:1]
        unsure = "" if result.answers else "not sure; best guess: "
        names = unsure + (", ".join(answer.name for answer in said) or "none")
        gold = ", ".join(question.answers)
        lines.append(f"- **{question.text}** {names} (right: {gold})")
        ranks = [result.triplets.index(t) for a in said[:1] for t in a.path]
        lines += [f"  - {' | '.join(result.triplets[r])}: {result.source_text(r)}"
                  for r in ranks]  # fmt: skip
    return lines


def offline_rows(evidence: Evidence, corpus: Corpus) -> list[str]:
    """What needs no model: answers of KG-Scout, and what evidence holds."""
    questions = corpus.questions
    n = len(questions)
    right = best = 0
    for result, question in zip(evidence.results, questions, strict=True):
        gold = {entity_key(answer) for answer in question.answers}
        named = [entity_key(each.name) for each in result.answers]
        guesses = named or [entity_key(each.name) for each in result.best_guesses]
        right += bool(gold & set(named[:1]))
        best += bool(gold & set(guesses[:1]))
    triplets = [holds(evidence.triplets(i), q) for i, q in enumerate(questions)]
    chunks = [holds("\n".join(evidence.chunks[i]), q) for i, q in enumerate(questions)]
    one = [holds(evidence.chunks[i][0], q) for i, q in enumerate(questions)]

    def words(texts: Sequence[str]) -> float:
        return sum(len(text.split()) for text in texts) / n

    shown = [evidence.triplets(i) for i in range(n)]
    read = ["\n".join(part) for part in evidence.chunks]
    return [
        f"| KG-Scout answers, the surest one right | {right / n:.3f} | |",
        f"| the same, guesses of unsure ones counted | {best / n:.3f} | |",
        f"| KG-Scout's {TRIPLETS} triplets hold an answer | {sum(triplets) / n:.3f} | "
        f"{words(shown):.0f} |",
        f"| the nearest chunk holds an answer | {sum(one) / n:.3f} | "
        f"{words([part[0] for part in evidence.chunks]):.0f} |",
        f"| the {TOP_CHUNKS} nearest chunks hold an answer | {sum(chunks) / n:.3f} | "
        f"{words(read):.0f} |",
    ]


def main() -> None:
    """Run the recipe and write its page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--llm")
    parser.add_argument("--model")
    parser.add_argument("--title", help="what the page calls the model")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--extract", action="store_true")
    parser.add_argument("--concurrency", type=int, default=1)
    args = parser.parse_args()
    corpus = write_corpus()
    write_documents(corpus, args.out / "docs")
    rows = [ingest(corpus, args.out)]
    scout = Scout.from_pretrained()
    evidence = retrieve(corpus, args.out / "graph_syntax", scout)
    offline, answers = offline_rows(evidence, corpus), pages(evidence, corpus)
    model: list[str] = ["Not run with a model."]
    if args.llm and args.model:
        if args.extract:
            row = ingest(
                corpus, args.out, "--concurrency", str(args.concurrency), "--llm",
                args.llm, "--model", args.model,
            )  # fmt: skip
            rows.append(row)
        endpoint = EndpointSettings(
            url=args.llm, model=args.model, temperature=0.0, max_tokens=128,
            timeout=600, concurrency=args.concurrency, cache=args.out / "replies",
        )  # fmt: skip
        model = measure(
            evidence, corpus.questions, scout, endpoint, args.questions, args.minutes,
            args.out, args.title or args.model,
        )  # fmt: skip
    if not args.extract:
        model += ["", "Extraction by a model: not run."]
    hops = sum(question.hops == 2 for question in corpus.questions)
    page = [
        "# KG-RAG on sixty documents",
        "",
        "Written by `recipes/kg_rag.py`. "
        f"{len(corpus.documents)} documents, {len(corpus.facts)} facts and "
        f"{len(corpus.nested)} dates that hang on facts; {len(corpus.questions)} "
        f"questions, {hops} of them of two hops.",
        "",
        "## Extraction",
        "",
        "A triplet is right if both its names are those of a fact, letter for letter "
        "but for case and articles, and its relation has the fact's word; kinds (is a) "
        "are not counted.",
        "",
        "| extractor | triplets | precision | facts | dates | recall | requests "
        "| tokens |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: |",
        *rows,
        "",
        "## Answers without a model",
        "",
        "Of all questions; the policy is kgscout-base, the graph that of `syntax`. "
        "Words are those of the evidence, on average.",
        "",
        "| | share | words |",
        "| :-- | --: | --: |",
        *offline,
        "",
        "Five answers, evenly chosen, with the pages of their paths:",
        "",
        *answers,
        "",
        "## Answers with a model",
        "",
        *model,
        "",
    ]
    write_text(args.out / "kg_rag.md", "\n".join(page))
    print(args.out / "kg_rag.md")


if __name__ == "__main__":
    sys.exit(guarded(main))
