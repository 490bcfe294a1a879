"""Attacks on the small files that people write: questions, scores, keys, aliases."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from film_world import film_triplets
from fuzz.counting import Count, damage_files, digest
from fuzz.mutations import changed_bytes, changed_document
from fuzz.readers import changed_text, put

from kgscout_jax.graph.build.driver import build_graph, update_graph
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.aliases import read_aliases
from kgscout_jax.okgqa.passages import read_documents
from kgscout_jax.okgqa.questions import read_questions
from kgscout_jax.okgqa.writing.agreement import read_human
from kgscout_jax.serve.access import read_keys

OPEN_CSV = (
    "question,id,type,placeholders,dbpedia_entities_re,naturalness\n"
    "\"Who made Alien?\",1,descriptive,\"{'a': 'Alien'}\","
    "\"{'a': 'http://dbpedia.org/resource/Alien_(film)'}\",high\n"
    '"What is ""Heat""?",2,explanatory,"{""a"": ""Heat""}",,\n'
)
OPEN_LINES = "".join(
    json.dumps({"id": i, "question": f"Why {i}?", "type": "why", "entities": ["Alien"]})
    + "\n"
    for i in range(3)
)
METRICS = ("naturalness", "relevance")
HUMAN = "id,evaluator,naturalness,relevance\n1,Ann,7,3.5\n2,Ann,,10\n1,Bob,1,2\n"
PASSAGES = (
    '{"title": "Alien", "text": "A film. It is old."}\n{"title": "b", "text": "c"}\n'
)
ALIASES = "Alien\tthe alien film\nHeat\tHeat (1995)\nRidley Scott\tSir Ridley\n"
KEYS = "# ours\n0123456789abcdef  # a person\n\nfedcba9876543210\n"
CELLS = ["{" * 3000, "[" * 90_000, "(" * 500, "x" * 200_000, "1" * 5000, '"' * 7, "{1:"]
"""Cells that parsers of cells find hard."""


def changed_table(raw: bytes, rng: random.Random) -> bytes:
    """A text table with other bytes, lines or pieces, or with a cell that is hard."""
    if rng.random() < 0.7:
        return changed_text(raw, rng)
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(CELLS).encode() + raw[at:]


def changed_line(raw: bytes, rng: random.Random) -> bytes:
    """JSON lines of which one has other values."""
    lines = raw.splitlines()
    at = rng.randrange(len(lines))
    lines[at] = changed_document(lines[at].decode(), rng)
    return b"\n".join([*lines, b""])


def small_file_attacks(
    folder: Path,
) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack on a small file -> the function that runs it."""
    graph = KnowledgeGraph.from_triplets(film_triplets("Atelier"))
    readers: dict[str, tuple[str, Callable[[Path], object], Callable]] = {
        "open.csv": (OPEN_CSV, read_questions, changed_table),
        "open.jsonl": (OPEN_LINES, read_questions, changed_line),
        "human.csv": (HUMAN, lambda file: read_human(file, METRICS), changed_table),
        "passages.jsonl": (PASSAGES, read_documents, changed_line),
        "aliases.tsv": (
            ALIASES, lambda file: read_aliases(file, graph.find_every), changed_table,
        ),
        "keys": (KEYS, read_keys, changed_table),
    }  # fmt: skip
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    for name, (text, read, damage) in readers.items():
        place = put(folder / f"small-{name}", {name: text})
        made[f"small file, {name}"] = _attack(place, name, read, damage)
    made["small file, update of a GRAPH folder"] = _updates(folder)
    return made


def _attack(
    place: Path, name: str, read: Callable[[Path], object], damage: Callable
) -> Callable[[int, random.Random], Count]:
    def use(copy: Path) -> str:
        return digest(read(copy / name))

    return lambda count, rng: damage_files(
        place, [place / name], use, count, rng, damage, exact=False
    )


def _updates(folder: Path) -> Callable[[int, random.Random], Count]:
    """Files of triplets to add or remove, and of labels, for a GRAPH folder."""
    rows = ["\t".join(row) + "\n" for row in film_triplets("Atelier")]
    files = {
        "kg.tsv": "".join(rows[2:]),
        "add.tsv": "".join(rows[:4]),
        "remove.tsv": "".join(rows[5:8]),
        "labels.tsv": "Alien\tAlien (1979)\nHeat\tHeat (film)\n",
    }
    place = put(folder / "updates", files)
    build_graph([place / "kg.tsv"], place / "graph")

    def use(copy: Path) -> str:
        settings = BuildSettings(labels=copy / "labels.tsv")
        update_graph(
            copy / "graph",
            settings,
            add=[copy / "add.tsv"],
            remove=[copy / "remove.tsv"],
        )
        graph = KnowledgeGraph.open(copy / "graph", verify=True)
        return digest(sorted(graph.triplet(i) for i in range(len(graph))))

    changed = [place / name for name in ("add.tsv", "remove.tsv", "labels.tsv")]
    return lambda count, rng: damage_files(
        place, changed, use, count, rng, _either, exact=False
    )


def _either(raw: bytes, rng: random.Random) -> bytes:
    return (changed_bytes if rng.random() < 0.4 else changed_table)(raw, rng)
