"""``kgscout ingest``: documents to a GRAPH folder.

Beside the graph's data the folder holds ``ingest/``:

    texts/              the plain text of each document, which ranges count in
    extractions/        the triplets of each document; a run goes on from these
    replies/            replies of a model
    triplets.tsv        the edges that the graph was built from
    provenance.npz      where each of them comes from (``graph.provenance``)
    names.json          spellings that were joined: name -> entity, how, score
    report.json         what was done

Everything but the extraction is done anew in each run, from all documents in the order
of their names. So a run that was killed, or a change of one document, ends with the
same graph, bit for bit, as one run over the same documents.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.folder import GraphFolder
from kgscout_jax.graph.provenance import (
    FOLDER,
    Document,
    Provenance,
    read_text,
    text_file,
    write_provenance,
)
from kgscout_jax.ingest.chunks import chunk_ranges
from kgscout_jax.ingest.documents import DocumentFile, find_documents
from kgscout_jax.ingest.edges import edges, with_names
from kgscout_jax.ingest.extract import make_extractor
from kgscout_jax.ingest.extract.model import ModelExtractor
from kgscout_jax.ingest.extract.protocol import Extractor, NestedTriplet, Node
from kgscout_jax.ingest.extractions import ChunkedText, Extractions, Spending
from kgscout_jax.ingest.resolution import Alias, resolve
from kgscout_jax.ingest.settings import IngestSettings
from kgscout_jax.types import Triplet
from kgscout_jax.utils.io import read_json, whole_file, write_json, write_lines
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import ProgressBar

Place = tuple[int, int, int, int]
"""Document, chunk, first character, behind the last one."""


def ingest(settings: IngestSettings) -> None:
    """Make or update the graph, and print a summary to standard output.

    Raises:
        UserError: documents cannot be read, nothing was found in them, the model fails,
            or the folder holds something else.
    """
    started = time.perf_counter()
    out, work = settings.out, settings.out / FOLDER
    if out.exists() and not out.is_dir():
        raise UserError(f"{out}: expected a folder to write, found a file")
    if (out / "manifest.json").exists() and not work.is_dir():
        raise UserError(f"{out}: holds a graph that was not made of documents")
    extractor = extractor_of(settings)
    files, others = find_documents(settings.docs)
    extractor.fingerprint  # noqa: B018 (what is missing is said before work starts)
    with locked(work, "kgscout ingest"):
        documents, texts = read_documents(files, settings, work)
        extractions = Extractions(work / "extractions", extractor)
        spending = extractions.complete(texts)
        triplets = placed_triplets(texts, extractions)
        if not triplets:
            raise UserError(f"{len(texts)} documents: no triplets were found in them")
        aliases = resolve_names(triplets, settings) if settings.resolve else {}
        sources = edge_sources(triplets, aliases)
        folder = write_graph(settings.out, documents, sources, aliases)
        extractions.prune(texts)
        report = report_of(folder, texts, others, triplets, aliases, spending, settings)
        report["seconds"] = round(time.perf_counter() - started, 1)
        write_json(work / "report.json", report)
    print("\n".join(summary(settings.out, report)))


def extractor_of(settings: IngestSettings) -> Extractor:
    """The extractor of the settings."""
    endpoint = endpoint_of(settings)
    if endpoint is not None:
        return ModelExtractor(endpoint)
    return make_extractor(settings.extractor or "syntax")


def endpoint_of(settings: IngestSettings) -> Any:
    """The model's endpoint; None without one."""
    if settings.llm is None or settings.model is None:
        return None
    from kgscout_jax.reason.completions import EndpointSettings
    from kgscout_jax.reason.endpoint import Endpoint

    return Endpoint(
        EndpointSettings(
            url=settings.llm,
            model=settings.model,
            key_env=settings.key_env,
            temperature=0.0,
            max_tokens=1024,
            concurrency=settings.concurrency,
            timeout=600,
            cache=settings.out / FOLDER / "replies",
        )
    )


def read_documents(
    files: Sequence[DocumentFile], settings: IngestSettings, work: Path
) -> tuple[list[Document], list[ChunkedText]]:
    """The documents by name, with their texts; those are stored."""
    found: dict[str, tuple[Document, ChunkedText]] = {}
    old = Provenance.open(settings.out) if settings.add else None
    for document in old.documents if old is not None else ():
        assert old is not None
        text = ChunkedText(
            name=document.name, text=old.text(document.name), chunks=document.chunks
        )
        found[document.name] = document, text
    with ProgressBar(len(files), "documents", "documents") as bar:
        for file in files:
            sha256, plain = file.read()
            name = text_file(plain.text)
            try:
                read_text(work, name)
            except UserError:  # missing, or damaged
                write_bytes(work / name, plain.text)
            chunks = chunk_ranges(plain.text, settings.chunk)
            document = Document(
                name=file.name,
                sha256=sha256,
                text=name,
                chunks=chunks,
                pages=plain.pages,
            )
            text = ChunkedText(name=file.name, text=plain.text, chunks=chunks)
            found[file.name] = document, text
            bar.update()
    ordered = [found[name] for name in sorted(found)]
    return [each for each, _ in ordered], [each for _, each in ordered]


def write_bytes(path: Path, text: str) -> None:
    """A text without a change of its line ends."""
    with whole_file(path, "wb") as handle:
        handle.write(text.encode())


def placed_triplets(
    texts: Sequence[ChunkedText], extractions: Extractions
) -> dict[NestedTriplet, list[Place]]:
    """Each triplet with all its places, in the order of the documents."""
    placed: dict[NestedTriplet, list[Place]] = defaultdict(list)
    for number, text in enumerate(texts):
        for chunk, spans in enumerate(extractions.read(text)):
            offset = text.chunks[chunk][0]
            for span in spans:
                place = (number, chunk, offset + span.start, offset + span.end)
                placed[span.triplet].append(place)
    return placed


def leaves(node: Node) -> list[str]:
    """The names of entities in a node."""
    if isinstance(node, str):
        return [node]
    return [*leaves(node.head), *leaves(node.tail)]


def resolve_names(
    triplets: dict[NestedTriplet, list[Place]], settings: IngestSettings
) -> dict[str, Alias]:
    """Names to replace by the name of their entity."""
    from kgscout_jax.text.encoder import SentenceEncoder

    counts: Counter[str] = Counter()
    for triplet, places in triplets.items():
        for name in leaves(triplet):
            counts[name] += len(places)
    encoder = SentenceEncoder(near=False)
    endpoint = endpoint_of(settings)
    judge = None
    if endpoint is not None:
        from kgscout_jax.ingest.judge import ModelJudge

        judge = ModelJudge(endpoint, triplets)
    return resolve(counts, encoder.encode, judge)


def edge_sources(
    triplets: dict[NestedTriplet, list[Place]], aliases: dict[str, Alias]
) -> dict[Triplet, list[Place]]:
    """The edges of the graph in order, with their places."""

    def name(spelling: str) -> str:
        alias = aliases.get(spelling)
        return spelling if alias is None else alias.name

    sources: dict[Triplet, list[Place]] = defaultdict(list)
    for triplet, places in triplets.items():
        node = with_names(triplet, name)
        assert isinstance(node, NestedTriplet)
        for edge in edges(node):
            if edge[0] != edge[2]:
                sources[edge] += places
    return sources


def write_graph(
    out: Path,
    documents: Sequence[Document],
    sources: dict[Triplet, list[Place]],
    aliases: dict[str, Alias],
) -> GraphFolder:
    """Write the graph, unless it is there already, and what belongs to it."""
    work = out / FOLDER
    file, built = work / "triplets.tsv", work / "built.json"
    rows = ["\t".join(map(clean, edge)) for edge in sources]
    write_lines(file, ["head\trelation\ttail", *rows])
    digest = {"triplets": hashlib.sha256(file.read_bytes()).hexdigest()}
    before = None
    with contextlib.suppress(UserError):  # missing, or damaged: built again
        before = read_json(built)
    if (out / "manifest.json").exists() and before == digest:
        folder = GraphFolder.open(out)
    else:
        built.unlink(missing_ok=True)
        folder = build_graph([file], out, overwrite=True)
        write_json(built, digest)
    write_provenance(out, documents, sources)
    table = {spelling: dataclasses.asdict(alias) for spelling, alias in aliases.items()}
    write_json(work / "names.json", table)
    used = {document.text for document in documents}
    for text in (work / "texts").glob("*.txt"):
        if f"texts/{text.name}" not in used:
            text.unlink(missing_ok=True)
    return folder


def clean(name: str) -> str:
    """A name for a cell: white space collapsed, and no quotes that open a cell."""
    text = " ".join(name.split())
    return text.replace('"', "'") if '"' in text else text


def report_of(
    folder: GraphFolder,
    texts: Sequence[ChunkedText],
    others: int,
    triplets: dict[NestedTriplet, list[Place]],
    aliases: dict[str, Alias],
    spending: Spending,
    settings: IngestSettings,
) -> dict[str, Any]:
    """What was done, as JSON fields."""
    nested = {inner for each in triplets for inner in each.hypernodes()}
    counts = folder.manifest["counts"]
    return {
        "documents": len(texts),
        "documents_read": spending.read,
        "other_files": others,
        "chunks": sum(len(text.chunks) for text in texts),
        "facts": len(triplets),
        "hypernodes": len(nested),
        "triplets": counts["triplets"],
        "entities": counts["entities"],
        "relations": counts["relations"],
        "names_joined": dict(Counter(alias.how for alias in aliases.values())),
        "requests": spending.requests,
        "prompt_tokens": spending.prompt_tokens,
        "reply_tokens": spending.reply_tokens,
        "malformed_lines": spending.malformed,
        "cost": spending.cost(settings.input_price, settings.output_price),
    }


def summary(out: Path, report: dict[str, Any]) -> list[str]:
    """Lines for a person."""
    joined = ", ".join(f"{n:,} by {how}" for how, n in report["names_joined"].items())
    lines = [
        str(out),
        f"  {report['documents']:,} documents ({report['documents_read']:,} read now), "
        f"{report['chunks']:,} chunks; {report['other_files']:,} files of other kinds",
        f"  {report['facts']:,} facts, {report['hypernodes']:,} of them hypernodes: "
        f"{report['triplets']:,} triplets, {report['entities']:,} entities, "
        f"{report['relations']:,} relations",
        f"  names joined: {joined or 'none'} (ingest/names.json)",
    ]
    if report["requests"]:
        lines.append(
            f"  {report['requests']:,} requests, {report['prompt_tokens']:,} tokens of "
            f"prompts, {report['reply_tokens']:,} of replies, "
            f"{report['malformed_lines']:,} lines that are no triplets, "
            f"${report['cost']:.4f}"
        )
    return [*lines, f"  {report['seconds']:,.1f} seconds"]
