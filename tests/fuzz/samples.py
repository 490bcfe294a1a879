"""Small graphs and data sets in every format that is read."""

from __future__ import annotations

import json

from film_world import film_triplets

ROWS = film_triplets("Atelier d'été")[:12]
N3 = "".join(
    f'<http://e/{h.replace(" ", "_")}> <http://e/{r}> "{t}"@en .\n' for h, r, t in ROWS
)
TURTLE = '@prefix e: <http://e/> .\ne:a e:r e:b ; e:s "x"@en, """y\nz""", 4.5e0 .\n'
NODES = [f'<node id="n{i}"><data key="d0">Film {i}</data></node>' for i in range(4)]
EDGES = [
    f'<edge source="n{i}" target="n{3 - i}"><data key="d1">near</data></edge>'
    for i in range(4)
]
GRAPHML = (
    '<?xml version="1.0" encoding="utf-8"?>\n'
    '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    '<key id="d0" for="node" attr.name="name" attr.type="string"/>\n'
    '<key id="d1" for="edge" attr.name="relation" attr.type="string">'
    "<default>by</default></key>\n"
    '<graph edgedefault="directed">\n' + "\n".join(NODES + EDGES) + "\n"
    "</graph></graphml>"
)
GEXF = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<gexf xmlns="http://gexf.net/1.3">\n<graph>'
    '<attributes class="edge"><attribute id="0" title="relation" type="string">'
    "<default>by</default></attribute></attributes>\n<nodes>\n"
    '<node id="0" label="Alien"/>\n<node id="1" label="Heat"/>\n</nodes><edges>\n'
    '<edge id="0" source="0" target="1"><attvalues><attvalue for="0" value="like"/>'
    '</attvalues></edge>\n<edge id="1" source="1" target="0" label="not like"/>\n'
    "</edges></graph></gexf>"
)
NEO4J_CSV = (
    '"_id","_labels","born","name","_start","_end","_type","roles"\n'
    '"0",":Person:Actor","1964","Keanu",,,,\n"1",":Movie","","The ""Matrix""",,,,\n'
    ',,,,"0","1","ACTED_IN","[""Neo""]"\n'
)
NEO4J_JSON = """\
{"type": "node", "id": "0", "labels": ["Person"], "properties": {"name": "Ann"}}
{"type": "node", "id": "1", "labels": ["City"], "properties": {"title": "Oslo"}}
{"type": "relationship", "id": "0", "label": "IN", "properties": {"since": 2019}, \
"start": {"id": "0", "labels": ["Person"]}, "end": {"id": "1"}}
"""


def table(separator: str, header: tuple[str, ...] = ()) -> str:
    """The films as a text table."""
    rows = [header, *ROWS] if header else ROWS
    return "".join(separator.join(row) + "\n" for row in rows)


TEXTS = {
    "films.tsv": table("\t"),
    "commas.csv": (
        'subject,predicate,object,since\n"A ""b""",in,"c,\nd",1979\ne,in,f,\n'
    ),
    "semicolons.csv": table(";", ("source", "relation", "target")),
    "bars.txt": table("|"),
    "films.nt": N3,
    "films.nq": N3.replace(" .\n", " <http://e/g> .\n"),
    "films.ttl": TURTLE,
    "films.trig": TURTLE.replace("e:a e:r", "e:g { e:a e:r")[:-2] + "}\n",
    "films.graphml": GRAPHML,
    "films.gexf": GEXF,
    "neo4j.csv": NEO4J_CSV,
    "neo4j.jsonl": NEO4J_JSON,
    "fields.jsonl": "".join(
        json.dumps({"head": h, "relation": r, "tail": t, "since": 3}) + "\n"
        for h, r, t in ROWS
    ),
    "array.json": json.dumps(
        [{"head": h, "relation": r, "tail": t} for h, r, t in ROWS], indent=1
    ),
}
"""A file of each text format."""

ROG = {
    "id": "q1", "question": "where is b?", "answer": ["C", "D"], "q_entity": ["B"],
    "a_entity": ["C"], "graph": [["A", "r.one", "B"], ["B", "r.two", "C"]],
}  # fmt: skip
NSM = {
    "id": "q1", "question": "where is b?", "entities": [1],
    "answers": [{"kb_id": "m.3", "text": "Sea"}],
    "subgraph": {"tuples": [[0, 1, 1], [1, 0, 2]], "entities": [99]},
}  # fmt: skip
QUESTION = {"id": 7, "question": "where is b?", "q_entity": "B", "answer": ["C"]}
DATA_SETS = {
    "rog": {"train.jsonl": json.dumps(ROG) + "\n"},
    "nsm": {
        "entity_name.txt": "m.0\tAlpha\nm.1\tNone\nm.2\tsea\nm.3\tSea\n",
        "relations.txt": "r.one\nr.two\n",
        "dev_simple.json": json.dumps(NSM) + "\n",
    },
    "metaqa": {
        "kb.txt": "Alien|directed_by|Ridley Scott\nAlien|release_year|1979\n",
        "1hop_dev.txt": "who directed [Alien]\tRidley Scott\nis [Ran ] it\ta|b\n",
    },
    "pathquestion": {
        "2H-kb.txt": "hello\tp\tb\nb\tn\tx_(y)\n",
        "PQ-2H.txt": "the n of p ?\tx_(y)(x_(y)/z/)\thello#p#b#n#x_(y)#<end>#x_(y)\n",
    },
    "kg": {"train.jsonl": json.dumps(QUESTION) + "\n", "kg.tsv": "a\tr\tb\n"},
}
"""The files of a data set of each source."""
