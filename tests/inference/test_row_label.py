"""What rows without a name are called where they are answers."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.row_label import row_label

ROWS = [
    ("_:visits:2", "visit_id", "7"), ("_:visits:2", "visit_no", "V-7"),
    ("_:visits:2", "patient", "Ann"), ("_:visits:2", "case_no", "C1"),
    ("_:visits:3", "visit_id", "8"), ("_:visits:3", "case_no", "C1"),
    ("_:visits:4", "patient", "Bo"), ("_:b0", "visit_id", "9"),
    ("_:edges:2", "type", "road"), ("_:edges:2", "currency", "EUR"),
    ("_:edges:2", "from", "Arden"), ("_:edges:2", "to", "Bray"),
    ("_:edges:2", "opened", "1987-05-01"), ("Arden", "road", "Bray"),
    ("Bray", "county", "Wicklow"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("entity", "expected"),
    [
        ("_:visits:2", "V-7"),  # letters go before digits
        ("_:visits:3", "8"),  # another row has the number of its case
        ("_:visits:4", "_:visits:4"),
        ("_:b0", "_:b0"),  # a blank node of RDF is no row
        ("Ann", "Ann"),
        # What has facts of its own, and the day.
        ("_:edges:2", "Arden – Bray, 1987-05-01"),
    ],
)
def test_a_row_is_called_by_its_own_number_or_by_what_it_joins(entity, expected):
    graph = KnowledgeGraph.from_triplets(ROWS)
    found = graph.find(entity)
    assert found is not None and row_label(graph, found) == expected
