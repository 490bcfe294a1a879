"""The same facts with unnamed records between their ends, as Freebase has them.

Much of what is asked of a public graph lies behind a node without a name: Freebase's
mediators, Wikidata's statements, blank nodes. ``with_records`` turns a fact such as
(ABN AMRO, homeCountry, Netherlands) into two, company to record and record to country,
for some of the relations. A policy that has seen such graphs passes through records.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

Triplet = tuple[str, str, str]
RELATIONS = 0.6
"""Share of the relations whose facts become records."""
HEADS = 0.5
"""Share of the heads whose facts are kept: a record takes two or three triplets."""


def with_records(
    triplets: Sequence[Triplet], domain: str, head: str
) -> Iterator[Triplet]:
    """Triplets with dotted relations, records between the ends of some.

    Args:
        triplets: of a graph from ``base_graphs.py``.
        domain: first part of the relations' names.
        head: what most heads are, the second part.
    """
    for subject, relation, value in triplets:
        if _draw("head", subject) >= HEADS:
            continue
        name = snake_case(relation)
        if _draw(domain, relation) >= RELATIONS:
            yield subject, f"{domain}.{head}.{name}", value
            continue
        record = _record(subject, relation, value)
        yield subject, f"{domain}.{head}.{name}", record
        yield record, f"{domain}.{name}_record.{name}", value
        if _draw("inverse", relation) < 0.5:
            yield record, f"{domain}.{name}_record.{head}", subject


def snake_case(relation: str) -> str:
    """camelCase, spaced and dotted names in one spelling."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", relation)
    return re.sub(r"\W+", "_", spaced).lower().strip("_")


def _digest(*words: str) -> bytes:
    return hashlib.sha256("\t".join(words).encode()).digest()


def _draw(*words: str) -> float:
    """A number in [0, 1) that depends on the words alone."""
    return int.from_bytes(_digest(*words)[:6], "big") / 2**48


def _record(*words: str) -> str:
    """A name as of a Freebase mediator."""
    number = int.from_bytes(_digest(*words)[:5], "big")
    letters = "0123456789bcdfghjklmnpqrstvwxyz_"
    return "m.0" + "".join(letters[number >> 5 * i & 31] for i in range(7))
