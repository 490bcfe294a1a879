"""What records hold that have all that a question names, against brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import named_relations
from kgscout_jax.retrieve.record_nodes import record_nodes
from kgscout_jax.text.words import WORD

COLUMNS = ("home_team", "away_team", "stadium", "referee")
MATCHES = [
    ("Chelsea", "Liverpool", "Stamford Bridge", "Taylor"),
    ("West Ham", "Chelsea", "London Stadium", "Brooks"),
    ("Chelsea", "Luton", "Stamford Bridge", "Jones"),
    ("Newcastle", "Liverpool", "St James Park", "Brooks"),
]


def found(question, topics, rows=MATCHES, columns=COLUMNS, extra=(), table="rows"):
    """(names beside the records, those of a relation that is named); None: nothing.

    ``extra``: triplets beside the records.
    """
    names = {cell for row in rows for cell in row} | {
        x for h, _, t in extra for x in (h, t)
    }
    names = sorted(names)
    place = {name: len(rows) + i for i, name in enumerate(names)}
    cells = [(r, c) for r in range(len(rows)) for c in range(len(columns))]
    columns = (*columns, *(relation for _, relation, _ in extra))
    ends = [(r, place[rows[r][c]]) for r, c in cells]
    ends += [(place[head], place[tail]) for head, _, tail in extra]
    first = len(columns) - len(extra)
    around = LocalGraph(
        columns,
        np.array([*(c for _, c in cells), *range(first, len(columns))]),
        np.array(ends),
        [np.array([place[topic]]) for topic in topics],
        lambda ids: [
            f"_:{table}:{i}" if i < len(rows) else names[i - len(rows)]
            for i in ids.tolist()
        ],
    )
    unnamed = np.arange(len(rows) + len(names)) < len(rows)
    named = named_relations(question, topics, columns).named
    out = record_nodes(question, topics, around, unnamed, ~unnamed, named)

    def named_by(mask):
        return {names[i - len(rows)] for i in np.flatnonzero(mask).tolist()}

    return out and (
        named_by(out.nodes),
        None if out.stated is None else named_by(out.stated),
    )


def test_the_record_of_two_topics_has_the_answer():
    # Brooks refereed both, though not against each other.
    nodes, stated = found("Who refereed Chelsea against Liverpool?", MATCHES[0][:2])
    assert nodes == {"Stamford Bridge", "Taylor"}
    assert stated == {"Taylor"}


def test_what_a_question_names_beside_its_topic_is_a_condition():
    nodes, stated = found(
        "Who was the referee of Chelsea at London Stadium?", ["Chelsea"]
    )
    assert (nodes, stated) == ({"West Ham", "Brooks"}, {"Brooks"})
    # One match at a time: a team that plays at home and away says too little.
    assert found("Who was the referee of Chelsea?", ["Chelsea"]) is None


def test_the_noun_that_is_asked_for_names_the_relation():
    columns = ("customer", "product", "product_code")
    rows = [("Acme", "Desk", "D1"), ("Acme", "Lamp", "L1"), ("Borg", "Lamp", "L1")]
    nodes, stated = found("Which product did Acme buy?", ["Acme"], rows, columns)
    assert nodes == stated == {"Desk", "Lamp"}


def test_what_only_records_have_answers_about_one_that_has_more():
    columns = ("patient", "visit_date", "diagnosis", "fee_usd")
    rows = [("Ann", "2024-01-02", "migraine", "35"), ("Bo", "2024-03-04", "flu", "60")]
    extra = [("Ann", "birth_date", "1970-05-06"), ("Ann", "city", "Bern")]
    what = found("What was Ann diagnosed with?", ["Ann"], rows, columns, extra)
    assert what == ({"migraine"}, {"migraine"})
    when = found("On what date did Ann visit?", ["Ann"], rows, columns, extra)
    assert when == ({"2024-01-02"}, {"2024-01-02"})
    # Who is beside her needs no record.
    extra += [("migraine", "often_has", "Ann")]
    assert found("What diagnosis has Ann?", ["Ann"], rows, columns, extra) is None
    # Of two relations to a date, her own is meant as well.
    assert found("What dates does Ann have?", ["Ann"], rows, columns, extra) is None


def test_a_number_in_the_name_of_the_topic_is_no_condition():
    plane, columns = "Boeing 787-9", ("plane", "airline", "series")
    rows = [(plane, "Alpha Air", "9"), (plane, "Beta Air", "4")]
    both = {"Alpha Air", "Beta Air"}
    assert found(f"Which airline has the {plane}?", [plane], rows, columns)[1] == both


def test_the_table_of_records_says_a_verb():
    rows = [("Emma", "Ann", "2023-01-09"), ("Emma", "Bo", "2023-02-10")]
    columns = ("book", "member", "loaned_on")
    for question, expected in (
        ("Who borrowed Emma?", {"Ann", "Bo"}),
        ("Who wrote Emma?", None),
    ):
        out = found(question, ["Emma"], rows, columns, table="loans")
        assert (out and out[1]) == expected


def test_the_column_of_a_topic_says_a_verb():
    rows = [("Reeves", "Heat", "Neo"), ("Moss", "Heat", "Trinity")]
    for question, expected in (
        ("Who played Neo?", {"Reeves"}),
        ("Who directed Neo?", None),
    ):
        out = found(question, ["Neo"], rows, ("Person", "Movie", "roles"))
        assert (out and out[1]) == expected


def test_no_record_has_both():
    assert (
        found("Who refereed Luton against Newcastle?", ["Luton", "Newcastle"]) is None
    )


CELLS = st.tuples(
    st.sampled_from("abc"), st.sampled_from("def"), st.sampled_from("ghi")
)


@given(st.lists(CELLS, min_size=1, max_size=6), st.data())
def test_records_are_those_of_brute_force(rows, data):
    rows = [tuple(cell * 3 for cell in row) for row in rows]
    topics = data.draw(
        st.lists(st.sampled_from(sorted({*sum(rows, ())})), min_size=2, max_size=2)
    )
    said = data.draw(st.sampled_from(sorted({*sum(rows, ())})))
    question = f"Which thing has {topics[0]}, {topics[1]} and {said}?"
    kept = [row for row in rows if {*topics} <= {*row}]
    words = {*WORD.findall(question)} - {*topics}
    narrow = [row for row in kept if said in row and said not in topics]
    kept = narrow or kept
    expected = {cell for row in kept for cell in row} - {*topics} - words
    out = found(question, topics, rows, ("x", "y", "z"))
    if topics[0] != topics[1]:
        assert (out[0] if out else set()) == expected
