"""Attacks on ``kgscout ingest``: documents of strangers, and the folder it works in."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from fuzz.counting import Count, damage_files, digest
from fuzz.mutations import changed_bytes, changed_document
from fuzz.readers import changed_text, put

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.provenance import Provenance
from kgscout_jax.ingest.chunks import chunk_ranges
from kgscout_jax.ingest.documents import DocumentFile
from kgscout_jax.ingest.run import ingest
from kgscout_jax.ingest.settings import IngestSettings

FACTS = "Ada Lovelace was born in London. Paris is the capital of France."
MARKDOWN = f"# Title\n\n{FACTS}\n\n- *one*\n  - two [link](u)\n\n| a | b |\n|---|---|\n"
HTML = (
    "<html><head><title>x</title></head><body><nav>no</nav><main><div><p>Paris is the "
    "<b>capital</b> of France.</p><table><tr><td>a<td>b</table></div></main></html>"
)
RST = (
    f"Title\n=====\n\n.. note:: no\n\n{FACTS}\n\n`Kenya <u>`_ **borders** x::\n\n  code"
)


def pdf() -> bytes:
    """Two pages with a line of text each, the second one compressed."""
    pages = [b"BT /F 12 Tf 50 700 Td (%s) Tj ET" % FACTS.encode()] * 2
    packed = zlib.compress(pages[1])
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    page = b"<</Type/Page/Parent 2 0 R/Contents %d 0 R/Resources<</Font<</F 7 0 R>>>>>>"
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2/MediaBox[0 0 600 800]>>",
        page % 5,
        page % 6,
        b"<</Length %d>>stream\n%s\nendstream" % (len(pages[0]), pages[0]),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream"
        % (len(packed), packed),
        font,
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return out + (
        b"xref\n0 8\n0000000000 65535 f \n%strailer<</Size 8/Root 1 0 R>>\n"
        b"startxref\n%d\n%%%%EOF\n" % (table, len(out))
    )


DOCUMENTS = {
    "a.txt": FACTS.encode(),
    "wide.txt": FACTS.encode("utf-16"),
    "a.md": MARKDOWN.encode(),
    "a.html": HTML.encode(),
    "a.rst": RST.encode(),
    "a.pdf": pdf(),
}
"""A document of each kind that is read differently."""
NESTS = {
    "a.txt": ["(", '"', "a. ", "\n\n", "."],
    "wide.txt": ["\ud800", "\ufeff"],
    "a.md": [
        "> ",
        "- ",
        "*",
        "[",
        "![",
        "<div>",
        "`",
        "| a ",
        "_a",
        "&amp;",
        "](",
        "#",
    ],
    "a.html": ["<div>", "<b>", "<table><tr><td>", "<p>", "<!--", "<svg>", "<a href='"],
    "a.rst": ["``", "`a <", "*", ".. ", "  ", "::\n\n", "|"],
    "a.pdf": ["[", "<<", "(", "/A", "1 0 R "],
}
"""What opens something, and may be repeated."""
LENGTHS = (10, 500, 3000, 40_000)


def changed(name: str) -> Callable[[bytes, random.Random], bytes]:
    """A document with other bytes, lines or pieces, or with one thing opened often."""

    def damage(raw: bytes, rng: random.Random) -> bytes:
        kind = rng.randrange(4)
        if kind == 0:
            return changed_bytes(raw, rng)
        if kind == 1:
            return changed_text(raw, rng)
        piece = rng.choice(NESTS[name]) * rng.choice(LENGTHS)
        opened = piece.encode("utf-8", "surrogatepass")
        at = rng.randrange(len(raw) + 1)
        return raw[:at] + opened + raw[at:]

    return damage


def see_document(folder: Path) -> str:
    """The text of the only document, and its chunks."""
    (file,) = folder.iterdir()
    _, plain = DocumentFile(name=file.name, path=file).read()
    chunks = chunk_ranges(plain.text, 200)
    assert all(0 <= a < b <= len(plain.text) for a, b in chunks)
    return digest(plain.text.encode(), chunks, plain.pages)


class Ingested:
    """A graph of documents, with the folder of its work."""

    def __init__(self, folder: Path) -> None:
        self.docs = put(folder / "docs", {"a.md": MARKDOWN, "b.txt": FACTS})
        self.graph = folder / "ingested"
        self.run(self.graph)

    def run(self, out: Path) -> None:
        """The command, without what it prints."""
        with redirect_stdout(StringIO()):
            ingest(IngestSettings(docs=(self.docs,), out=out, resolve=False))

    def again(self, out: Path) -> str:
        """The graph that the same command leaves, with where it comes from."""
        self.run(out)
        return self.see(out)

    @staticmethod
    def see(out: Path) -> str:
        """The triplets with the words that they come from."""
        graph, provenance = KnowledgeGraph.open(out), Provenance.open(out)
        assert provenance is not None
        rows = [graph.triplet(i) for i in range(len(graph))]
        sources = [[(s, provenance.quote(s)) for s in provenance.of(t)] for t in rows]
        return digest(rows, sources)


def document_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack on documents -> the function that runs it."""
    made: dict[str, Callable[[int, random.Random], Count]] = {}

    def add(name: str, whole: Path, use: Callable[[Path], str], files, damage) -> None:
        made[name] = lambda count, rng: damage_files(
            whole, files, use, count, rng, damage, exact=False
        )

    for name, raw in DOCUMENTS.items():
        place = folder / f"document-{name}"
        place.mkdir()
        (place / name).write_bytes(raw)
        add(f"document, {name}", place, see_document, [place / name], changed(name))
    world = Ingested(folder)
    work = world.graph / "ingest"
    jsons = [work / f"{name}.json" for name in ("built", "names", "report")]
    jsons += sorted((work / "extractions").rglob("*.json"))
    made["work of ingest"] = lambda count, rng: damage_files(
        world.graph, jsons, world.again, count, rng, _document
    )
    sources = [work / "provenance.npz", *sorted((work / "texts").iterdir())]
    made["ingested graph, sources"] = lambda count, rng: damage_files(
        world.graph, sources, world.see, count, rng
    )
    made["ingested graph, mended"] = lambda count, rng: damage_files(
        world.graph, sources, world.again, count, rng
    )
    return made


def _document(raw: bytes, rng: random.Random) -> bytes:
    return changed_document(raw.decode(), rng)
