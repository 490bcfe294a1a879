"""Tiny files of every source."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def put(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        if path.suffix == ".gz":
            data = gzip.compress(data)
        path.write_bytes(data)
    return folder


ROG = [
    {
        "id": "q1",
        "question": "where is b?",
        "answer": ["C", "D"],
        "q_entity": ["B"],
        "a_entity": ["C"],
        "graph": [
            ["A", "r.one", "B"],
            ["a", "r.one", " B"],  # the same triplet by identity
            ["B", "r.two", "C"],
            ["B", "r.two", " "],  # names nothing
        ],
    },
    {
        "id": "q2",
        "question": "and d?",
        "answer": [],
        "q_entity": ["D"],
        "a_entity": [],
        "graph": [],
    },
    {
        "id": "q3",
        "question": "and c?",
        "answer": ["B"],
        "q_entity": ["c"],
        "a_entity": ["B"],
        "graph": [["b", "r.two", "C"], ["C", "r.one", "C"]],
    },
]

NSM = {
    "id": "q1",
    "question": "where is b?",
    "entities": [1],
    "answers": [{"kb_id": "m.3", "text": "Sea"}, {"kb_id": "m.9", "text": "Elsewhere"}],
    "subgraph": {"tuples": [[0, 1, 1], [1, 0, 2], [4, 0, 3]], "entities": [99]},
}
NSM_FILES: dict[str, str | bytes] = {
    "entity_name.txt": "m.0\tAlpha\nm.1\tNone\nm.2\tsea\nm.3\tSea\nm.4\talpha\n",
    "relations.txt": "r.one\nr.two\n",
    "dev_simple.json": lines(NSM),
}

KB = (
    "Alien|directed_by|Ridley Scott\n"
    "Alien|release_year|1979\n"
    "\n"
    "alien|release_year|1979\n"
)
ONE_HOP = (
    "who directed [Alien]\tRidley Scott\n"
    "what is [Password] about\ta|b\n"
    "is [Hello ] it\tb\n"
    "[[REC]] came out when\t2007\n"
)

PQ2 = "the n of hello 's p ?\tx_(y)(x_(y)/z/)\thello#p#b#n#x_(y)#<end>#x_(y)\n"
PQ: dict[str, str | bytes] = {
    "2H-kb.txt": "hello\tp\tb\nb\tn\tx_(y)\n",
    "PQ-2H.txt": PQ2,
    "3H-kb.txt": "b\tn\tx_(y)\nx_(y)\tp\ttest\n",
    "PQ-3H.txt": "deep ?\ttest(test/)\ttest#p#b#n#x_(y)#p#test#<end>#test\n",
}

KG_ROW = {"id": 7, "question": "where is b?", "q_entity": "B", "answer": ["C"]}
