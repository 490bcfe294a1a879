"""Documents to a graph: formats, provenance, hypernodes, resuming, changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from reason.unruly_server import Handler, serving

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.provenance import Provenance
from kgscout_jax.ingest.documents import DocumentFile
from kgscout_jax.ingest.extract.protocol import NestedTriplet
from kgscout_jax.ingest.judge import ModelJudge
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.types import Triplet

TEXTS = {
    "ada.txt": "Ada Lovelace was born in London in 1815. She wrote the first program."
    "\n\nHer father was Lord Byron.",
    "sub/paris.md": "# Paris\n\nParis is the capital of **France**.\nIt lies on the "
    "[Seine](https://x).\n\n```\nRome is the capital of Italy.\n```\n",
    "berlin.html": "<html><head><title>Oslo is in Spain.</title></head><body><nav>Oslo "
    "is in Peru.</nav><main><p>Kai Wegner is the <b>mayor</b> of Berlin.</p></main>",
    "kenya.rst": "Kenya\n=====\n\n.. note:: Oslo is in Chile.\n\n`Kenya "
    "<https://x>`_ borders **Uganda**.\n",
}
BORN = "Ada Lovelace born in London"
Places = dict[Triplet, list[str]]


def write_texts(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def ingest(docs: Path, out: Path, *flags: str) -> KnowledgeGraph:
    assert main(["ingest", str(docs), "--out", str(out), *flags]) == 0
    return KnowledgeGraph.open(out, verify=True)


def triplets_of(graph: KnowledgeGraph) -> set[Triplet]:
    return {graph.triplet(i) for i in range(len(graph))}


def quotes(graph: KnowledgeGraph, triplet: Triplet) -> list[tuple[str, str]]:
    provenance = graph.provenance
    assert provenance is not None
    found = provenance.of(triplet)
    return [(source.document, provenance.quote(source)) for source in found]


def contents(out: Path) -> dict[str, bytes]:
    """The bytes of the graph and of all that tells where it comes from."""
    data = json.loads((out / "manifest.json").read_text())["data"]
    files = [*(out / data).glob("*"), *(out / "ingest/texts").glob("*")]
    files += [out / "ingest" / name for name in ("provenance.npz", "names.json")]
    return {f.relative_to(out).as_posix().replace(data, "v"): f.read_bytes()
            for f in files if f.is_file()}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("ingest")
    docs = write_texts(root / "docs", TEXTS)
    ingest(docs, root / "G")
    return docs, root / "G"


def test_each_format_gives_its_facts_and_no_others(made):
    found = triplets_of(KnowledgeGraph.open(made[1]))
    assert {
        ("Ada Lovelace", "born in", "London"),
        ("Ada Lovelace", "father", "Lord Byron"),
        ("France", "capital", "Paris"),
        ("Paris", "lies on", "Seine"),
        ("Berlin", "mayor", "Kai Wegner"),
        ("Kenya", "borders", "Uganda"),
    } <= found
    assert not any({"Oslo", "Rome", "Italy"} & {*triplet} for triplet in found)


def test_a_date_hangs_on_the_fact_which_is_linked_to_its_parts(made):
    found = triplets_of(KnowledgeGraph.open(made[1]))
    assert {
        (BORN, "in", "1815"),
        (BORN, "has subject", "Ada Lovelace"),
        (BORN, "has object", "London"),
    } <= found
    assert not any(h == "Ada Lovelace" and t == "1815" for h, _, t in found)


def test_every_triplet_knows_the_words_that_state_it(made):
    graph = KnowledgeGraph.open(made[1])
    for triplet in triplets_of(graph):
        assert quotes(graph, triplet), triplet
    assert quotes(graph, ("paris", "lies on", "SEINE")) == [
        ("sub/paris.md", "It lies on the Seine")
    ]
    born = quotes(graph, (BORN, "in", "1815"))
    assert born == [("ada.txt", "Ada Lovelace was born in London in 1815")]
    assert graph.provenance is not None
    source = graph.provenance.of(("Ada Lovelace", "father", "Lord Byron"))[0]
    text = TEXTS["ada.txt"]
    assert text[source.start : source.end] == "Her father was Lord Byron"
    assert source.to_json() == {
        "document": "ada.txt", "chunk": 0, "start": source.start, "end": source.end,
    }  # fmt: skip
    assert graph.provenance.chunk_text(source) == text


def test_a_change_replaces_the_triplets_of_its_document_only(made, tmp_path, capsys):
    docs, out = tmp_path / "docs", tmp_path / "G"
    shutil.copytree(made[0], docs)
    before = triplets_of(ingest(docs, out))
    (docs / "ada.txt").write_text("Ada Lovelace was born in Rome.", encoding="utf-8")
    capsys.readouterr()
    after = triplets_of(ingest(docs, out))
    assert "4 documents (1 read now)" in capsys.readouterr().out
    assert after - before == {("Ada Lovelace", "born in", "Rome")}
    assert all("Ada" in head for head, _, _ in before - after)
    shutil.rmtree(tmp_path / "fresh", ignore_errors=True)
    ingest(docs, tmp_path / "fresh")
    assert contents(out) == contents(tmp_path / "fresh")
    (docs / "ada.txt").unlink()
    assert not any("Ada" in h for h, _, _ in triplets_of(ingest(docs, out)))


def test_documents_are_added_to_those_of_before(made, tmp_path):
    more = write_texts(
        tmp_path / "more", {"oslo.txt": "Oslo is the capital of Norway."}
    )
    shutil.copytree(made[1], tmp_path / "G")
    before = triplets_of(KnowledgeGraph.open(tmp_path / "G"))
    after = triplets_of(ingest(more, tmp_path / "G", "--add"))
    assert after - before == {("Norway", "capital", "Oslo")}
    assert before < after


@pytest.mark.extended
def test_a_killed_run_goes_on_and_ends_with_the_same_graph(made, tmp_path):
    # enough documents for several batches, so that a kill falls between them
    docs = write_texts(
        tmp_path / "docs",
        {f"{i:03}.txt": f"Town{i} lies on River{i}. Anna{i} founded Town{i} in 1{i:03}."
         for i in range(100)},
    )  # fmt: skip
    code = "import sys; from kgscout_jax.cli.main import main; sys.exit(main())"
    out = tmp_path / "G"
    command = [sys.executable, "-c", code, "ingest", str(docs), "--out", str(out)]
    process = subprocess.Popen(command, env={**os.environ, "OMP_NUM_THREADS": "1"})
    stored = out / "ingest" / "extractions"
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and not list(stored.rglob("*.json")):
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (out / "manifest.json").exists()
    done = len(list(stored.rglob("*.json")))
    assert 0 < done < 100
    ingest(docs, out)
    report = json.loads((out / "ingest/report.json").read_text())
    assert report["documents_read"] == 100 - done
    ingest(docs, tmp_path / "whole")
    assert contents(out) == contents(tmp_path / "whole")


def test_spellings_are_joined_and_the_table_undoes_it(tmp_path):
    docs = write_texts(
        tmp_path / "docs",
        {
            "a.txt": "São Paulo is in Brazil. The São Paulo lies on Tietê.",
            "b.txt": "Sao Paulo borders Guarulhos.",
        },
    )
    joined = ingest(docs, tmp_path / "G")
    assert ("São Paulo", "borders", "Guarulhos") in triplets_of(joined)
    table = json.loads((tmp_path / "G/ingest/names.json").read_text())
    assert table == {
        "Sao Paulo": {"name": "São Paulo", "how": "spelling", "score": 1.0}
    }
    apart = ingest(docs, tmp_path / "G", "--no-resolve")
    assert ("Sao Paulo", "borders", "Guarulhos") in triplets_of(apart)
    assert quotes(apart, ("Sao Paulo", "borders", "Guarulhos")) == [
        ("b.txt", "Sao Paulo borders Guarulhos")
    ]


@pytest.mark.usefixtures("own_pictures")
def test_a_page_of_a_pdf_is_named(tmp_path):
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    (tmp_path / "docs").mkdir()
    with PdfPages(tmp_path / "docs/guide.pdf") as pages:
        for text in ("Oslo lies in Norway.", "Rome lies in Italy."):
            figure = Figure()
            figure.text(0.1, 0.5, text)
            pages.savefig(figure)
    graph = ingest(tmp_path / "docs", tmp_path / "G")
    assert graph.provenance is not None
    (source,) = graph.provenance.of(("Rome", "lies in", "Italy"))
    assert (source.document, source.page) == ("guide.pdf", 2)
    assert source.to_json()["page"] == 2
    assert graph.provenance.quote(source) == "Rome lies in Italy"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["missing", "--out", "G"], "missing: no such file or folder"),
        (["x.png", "--out", "G"], "x.png: expected one of .txt"),
        (["docs", "--out", "x.png"], "expected a folder to write, found a file"),
        (["docs", "--out", "G", "--llm", "http://x"], "--llm without --model"),
        (["empty", "--out", "G"], "empty: no documents"),
        (["latin", "--out", "G"], "not UTF-8 text"),
        (["verbless", "--out", "G"], "no triplets were found"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_said_in_one_line(
    tmp_path, monkeypatch, capsys, args, message
):
    monkeypatch.chdir(tmp_path)
    write_texts(tmp_path, {"x.png": "", "docs/a.txt": "A is in B.", "empty/a.png": ""})
    write_texts(tmp_path, {"latin/a.txt": "", "verbless/a.txt": "Nothing here"})
    (tmp_path / "latin/a.txt").write_bytes(b"caf\xe9 is in Rome")
    assert main(["ingest", *args]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1


def test_a_graph_that_was_not_ingested_has_no_provenance(tmp_path):
    assert Provenance.open(tmp_path) is None
    assert KnowledgeGraph.from_triplets([("a", "b", "c")]).provenance is None


def test_ask_names_document_and_characters_of_each_triplet(made, tmp_path, capsys):
    question = ["What is the capital of France?", "--kg", str(made[1]), "--k", "10"]
    page = tmp_path / "page.html"
    capsys.readouterr()
    assert main(["ask", *question, "--json", "--html", str(page)]) == 0
    record = json.loads(capsys.readouterr().out)
    (capital,) = [t for t in record["triplets"] if t["relation"] == "capital"]
    (source,) = capital["provenance"]
    assert source["document"] == "sub/paris.md"
    provenance = Provenance.open(made[1])
    assert provenance is not None
    text = provenance.text("sub/paris.md")
    words = text[source["start"] : source["end"]]
    assert words == "Paris is the capital of France"
    assert all(each["provenance"] for each in record["triplets"])
    assert "sub/paris.md" in page.read_text("utf-8")


def test_a_model_judges_names_that_the_embeddings_leave_in_doubt():
    asked = []

    def script(number: int, body: dict) -> str:
        asked.append(body["messages"][0]["content"])
        return "ok"

    triplets = [NestedTriplet("E. Taylor", "born in", "London")]
    with serving(script) as server:
        settings = EndpointSettings(url=server.url, model="m", temperature=0.0)
        judge = ModelJudge(Endpoint(settings), triplets)
        server.RequestHandlerClass = YesToTaylor
        pairs = [("E. Taylor", "Elizabeth Taylor"), ("Paris", "Parish")]
        assert judge(pairs) == [True, False]
    about = "A: E. Taylor\nknown of A: E. Taylor born in London\nB: Elizabeth Taylor\n"
    assert any(prompt.startswith(f"{about}known of B: nothing") for prompt in asked)
    gone = EndpointSettings(
        url=server.url, model="m", temperature=0.0, retries=0, timeout=5
    )
    with pytest.raises(UserError, match="2 of 2 pairs of names have no reply"):
        ModelJudge(Endpoint(gone), triplets)(pairs)


class YesToTaylor(Handler):
    """Knows one person by two names."""

    def reply(self, body):
        value = super().reply(body)
        same = "Taylor" in body["messages"][-1]["content"]
        value["choices"][0]["message"]["content"] = "Yes." if same else "No."
        return value


ROWS = "Rivers\n\nRhine\n\nLength: 1,230 km\n\nMouth: North Sea\n\nSource: Alps"
TABLES = {
    "a.md": "# Rivers\n\n| River | Length | Mouth |\n|--|--|--|\n| Rhine | 1,230 km | "
    "North Sea |\n\n| | |\n|--|--|\n| Source | Alps |\n",
    "a.html": "<h1>Rivers</h1><table><tr><th>River<th>Length<th>Mouth<tr><td>Rhine"
    "<td>1,230 km<td><b>North</b> Sea</table><table><tr><th>Source:<td>Alps</table>",
}


@pytest.mark.parametrize("name", TABLES)
def test_cells_of_a_table_are_lines_of_key_and_value(tmp_path, name):
    (tmp_path / name).write_text(TABLES[name])
    assert DocumentFile(name=name, path=tmp_path / name).read()[1].text == ROWS


def test_a_table_that_lays_out_a_page_stays_text(tmp_path):
    (tmp_path / "a.html").write_text("<table><tr><td><p>One.</p><td>Two.</table>")
    _, text = DocumentFile(name="a", path=tmp_path / "a.html").read()
    assert text.text == "One.\n\nTwo."


def test_a_reference_in_markdown_is_its_title(tmp_path):
    (tmp_path / "a.md").write_text("See {meth}`~Run.stop`, {ref}`all <x>`, `{y}`.")
    _, text = DocumentFile(name="a", path=tmp_path / "a.md").read()
    assert text.text == "See Run.stop, all, {y}."


def test_a_page_may_be_nested_deeper_than_calls(tmp_path):
    (tmp_path / "a.html").write_text("<div>" * 5000 + "Paris" + "<b>x</b>" * 2)
    _, text = DocumentFile(name="a", path=tmp_path / "a.html").read()
    assert text.text == "Parisxx"


def test_damage_of_what_ingest_wrote_is_noticed_and_mended(made, tmp_path):
    docs, whole = made
    out = shutil.copytree(whole, tmp_path / "G")
    graph = KnowledgeGraph.open(out)
    files = [*(out / "ingest" / "texts").iterdir(), out / "ingest" / "provenance.npz"]
    for file in files:
        file.write_bytes(file.read_bytes()[:-3] + b"xyz")
    with pytest.raises(UserError, match=r"provenance\.npz: damaged"):
        Provenance.open(out)
    extraction = next((out / "ingest" / "extractions").rglob("*.json"))
    extraction.write_text(extraction.read_text().replace("Lovelace", "Byron"))
    assert triplets_of(ingest(docs, out)) == triplets_of(graph)
    assert contents(out) == contents(whole)
    file = out / "ingest" / "texts" / files[0].name
    file.write_bytes(b"other words")
    sources = Provenance.open(out)
    assert sources is not None
    with pytest.raises(UserError, match="damaged; kgscout ingest"):
        [sources.text(each.name) for each in sources.documents]
