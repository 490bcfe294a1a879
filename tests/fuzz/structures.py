"""Attacks by structure: graph files nested deeply, or with bombs and traps of a format.

A bomb is small and claims to be large; a trap names a file of the machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from fuzz.counting import Count, damage_files
from fuzz.readers import put, seen
from fuzz.samples import TEXTS

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.options import ReadOptions

SECRET = "machine-secret-of-the-attacked"
"""Text of a file that no graph file may bring in."""
DOCTYPES = [
    '<!DOCTYPE g [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;">'
    '<!ENTITY e "&d;&d;&d;&d;&d;&d;&d;&d;">]>',
    '<!DOCTYPE g [<!ENTITY e SYSTEM "file://{secret}">]>',
    '<!DOCTYPE g [<!ENTITY % p SYSTEM "file://{secret}"> %p;]>',
    '<!DOCTYPE g SYSTEM "file://{secret}">',
    '<!DOCTYPE g [<!ENTITY e "&e;">]>',
]
NESTS = {
    "graphml": ["<graph>", "<node id='x'>", "<data key='d0'>", "<!--", "<a b='"],
    "gexf": [
        "<nodes>",
        "<node id='x'>",
        "<attvalues>",
        "<nodes><node id='y' label='z'>",
    ],
    "ttl": ["[ e:p ", "( ", "[", "<<", "e:a e:b [ e:c ", "@prefix x: <", '"""', "# "],
    "trig": ["{ ", "e:g { ", "[ e:p ", "( ", "<http://e/"],
    "nt": ["<http://e/", '"\\u0041', "<< ", "_:", '"x"^^<'],
    "nq": ["<http://e/", '"\\U0010FFFF', "_:b "],
    "json": ["[", '{"a":', '[{"head":', '"\\ud800'],
    "jsonl": ["[", '{"a":', '{"properties":{"a":', '{"type":"node","id":'],
    "csv": ['"', ",", '""', "a,", '"\n'],
    "txt": ["|", '"', "|\n"],
    "tsv": ["\t", '"', "\t\n"],
}
"""Suffix -> what opens something, and may be repeated."""
LENGTHS = (50, 900, 5000, 60_000)


def structured(name: str, secret: Path) -> Callable[[bytes, random.Random], bytes]:
    """A graph file with one thing opened often, or with declarations of XML."""
    suffix = name.rsplit(".", 1)[1]

    def damage(raw: bytes, rng: random.Random) -> bytes:
        if suffix in ("graphml", "gexf") and rng.random() < 0.5:
            doctype = rng.choice(DOCTYPES).replace("{secret}", str(secret))
            body = raw.decode().replace("?>", f"?>{doctype}", 1)
            for old in rng.sample(["Film", "Alien", "near", "like"], 2):
                body = body.replace(old, "&e;")
            coding = rng.choice(["utf-8", "utf-8", "utf-16", "latin-1", "cp1252"])
            if rng.random() < 0.5:
                body = body.replace("utf-8", coding).replace("UTF-8", coding)
            return body.encode(coding, "replace")
        piece = rng.choice(NESTS[suffix]) * rng.choice(LENGTHS)
        at = rng.randrange(len(raw) + 1)
        return raw[:at] + piece.encode() + raw[at:]

    return damage


def structure_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack by structure -> the function that runs it."""
    secret = put(folder / "secrets", {"secret": SECRET}) / "secret"
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    for name, text in TEXTS.items():
        file = put(folder / f"structure-{name}", {name: text}) / name

        def use(copy: Path, name: str = name) -> str:
            options = ReadOptions(properties=True)
            graph = KnowledgeGraph.open(copy / name, options=options)
            names = [*graph.entities, *graph.relations]
            assert not any(SECRET in each for each in names), "a file was read"
            assert sum(map(len, names)) < 1 << 26, "names of 64 MiB"
            return seen(graph)

        made[f"nested graph file, {name}"] = lambda count, rng, file=file, use=use: (
            damage_files(
                *(file.parent, [file], use, count, rng),
                damage=structured(file.name, secret),
                exact=False,
            )
        )
    return made
