"""Files of JSON that hold a record for each entity: its name, then facts about it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kgscout_jax.graph.read.code_columns import code_columns
from kgscout_jax.graph.read.elements import Node
from kgscout_jax.graph.read.json_lines import json_elements

SAMPLE_RECORDS = 1_000
"""Records that tell which fields hold codes."""


@dataclass(frozen=True)
class RecordFields:
    """The fields of the records of a file."""

    names: tuple[str, ...]
    codes: tuple[str, ...]
    """Those that hold a code of each record's entity, see ``code_columns``."""


def record_fields(path: Path) -> RecordFields | None:
    """The fields of a file of records; None for a file of nodes and edges.

    Raises:
        UserError: the file is missing or malformed.
    """
    rows: list[dict[str, str]] = []
    for element in islice(json_elements(path), SAMPLE_RECORDS):
        if not isinstance(element, Node) or not element.facts:
            return None
        counts = Counter(name for name, _ in element.attributes)
        # Of several values none is the code of one entity.
        row = {name: "" if counts[name] > 1 else v for name, v in element.attributes}
        rows.append(row)
    if not rows:
        return None
    names = [*dict.fromkeys(name for row in rows for name in row)]
    columns = [[row.get(name, "") for row in rows] for name in names]
    codes = [names[i] for i in code_columns(names, columns)]
    return RecordFields(tuple(names), tuple(codes))
