"""What rows say that join topics: by hand, and against a plain loop over the rows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.entity_sets import entity_set
from kgscout_jax.inference.topics import search_start

TRANSFERS = """from,to,type,amount,date
Acme,Borg,TRANSFERRED,12000,2023-02-01
Borg,Cyan,TRANSFERRED,5500,2023-02-11
Acme,Cyan,TRANSFERRED,99000,2023-03-05
Dune,Acme,TRANSFERRED,750,2023-04-19
Ella,Acme,OWNS,60,
Ella,Cyan,OWNS,25,
"""
JOBS = """source,target,relation,since,role
Ann Boyle,Fenwick Labs,WORKS_AT,2015,chemist
Tom Hale,Fenwick Labs,WORKS_AT,2019,accountant
Ann Boyle,Tom Hale,MARRIED_TO,2017,
"""
ROADS = """source,target,relation,length_km,surface
Arden,Bray,road,42,asphalt
Bray,Corwick,road,17,gravel
Arden,Dunley,railway,70,
"""
TRADE = """exporter,relation,importer,product,value_musd,year
Norland,EXPORTS_TO,Sudria,timber,120,2020
Norland,EXPORTS_TO,Ostia,salmon,310,2020
Ostia,EXPORTS_TO,Norland,machinery,870,2021
Veldt,EXPORTS_TO,Ostia,copper,660,2021
"""
INVESTMENTS = """Investor,Relationship,Company,Amount (USD),Round,Date
Lyra Capital,INVESTED_IN,Northwind,5000000,Series A,2019-05-02
Orchid Partners,INVESTED_IN,Northwind,20000000,Series B,2021-09-30
Orchid Partners,INVESTED_IN,Palmetto,750000,Seed,2020-01-20
Kestrel AI,ACQUIRED,Palmetto,45000000,,2023-06-01
"""
FRIENDS = """person_a,relation,person_b,since,met_in
Alice Moreau,FRIEND_OF,Bob Stern,2011,Lyon
Alice Moreau,FRIEND_OF,Carla Diaz,2015,Madrid
"""
PACKAGES = """package,relation,dependency,version
curlkit,DEPENDS_ON,zlib,>=1.2
curlkit,DEPENDS_ON,openssl,>=3.0
webby,DEPENDS_ON,curlkit,>=7.5
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("edges")
    texts = {"transfers": TRANSFERS, "jobs": JOBS, "roads": ROADS, "trade": TRADE}
    texts |= {"investments": INVESTMENTS, "friends": FRIENDS, "packages": PACKAGES}
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(text)
    return {name: KnowledgeGraph.open(folder / f"{name}.csv") for name in texts}


def said(question: str, graph: KnowledgeGraph) -> str | None:
    start = search_start(question, graph, None, lambda q, g: linker_of(g).link(q))
    found = entity_set(question, graph, start)
    if found is None:
        return None
    if found.counted:
        return str(len(found.entities))
    names = sorted(str(graph.entities[int(each)]) for each in found.entities)
    return found.number or ", ".join(names)


@pytest.mark.parametrize(
    ("name", "question", "expected"),
    [
        ("transfers", "How much did Acme transfer to Borg?", "12000"),
        ("transfers", "How much money did Borg receive from Acme?", "12000"),
        ("transfers", "When did Acme transfer money to Cyan?", "2023-03-05"),
        ("transfers", "How much money did Acme transfer in total?", "111000"),
        ("transfers", "How much money did Cyan receive?", "104500"),  # owned: 25
        ("transfers", "How many transfers did Acme make?", "2"),
        ("transfers", "How many transfers did Acme receive?", "1"),
        ("transfers", "What is the total amount transferred by Acme?", "111000"),
        # No row says so: the other way, something else, of somebody else.
        ("transfers", "How much did Borg transfer to Acme?", None),
        ("transfers", "When did Acme sue Cyan?", None),
        ("transfers", "When did Borg transfer money to Dune?", None),
        ("jobs", "Since when has Ann Boyle worked at Fenwick Labs?", "2015"),
        ("jobs", "When did Tom Hale join Fenwick Labs?", "2019"),
        ("jobs", "When did Ann Boyle marry Tom Hale?", "2017"),
        ("jobs", "When did Tom Hale leave Fenwick Labs?", None),
        ("roads", "How long is the road from Arden to Bray?", "42"),
        ("roads", "How far is Bray from Arden?", "42"),
        ("roads", "How far is Bray from Dunley?", None),
        ("trade", "What does Norland export to Sudria?", "timber"),
        ("trade", "How much did Ostia export to Norland?", "870"),
        ("trade", "What does Sudria export to Norland?", None),
        ("trade", "What does Norland owe Sudria?", None),
        ("investments", "How much did Lyra Capital invest in Northwind?", "5000000"),
        ("investments", "Who invested in Northwind in 2021?", "Orchid Partners"),
        ("investments", "Who invested in Northwind in 2022?", None),
        ("investments", "When was Palmetto acquired?", "2023-06-01"),
        ("investments", "What is the total amount invested in Palmetto?", "750000"),
        ("investments", "When was Northwind sold?", None),
        ("friends", "Which friend did Alice Moreau meet in Madrid?", "Carla Diaz"),
        ("packages", "Which version of openssl does curlkit need?", ">=3.0"),
        # Tests of what rows say of a topic.
        ("jobs", "Who joined Fenwick Labs after 2016?", "Tom Hale"),
        ("jobs", "Who joined Fenwick Labs after 2020?", None),
        ("jobs", "Who left Fenwick Labs after 2016?", None),
        ("investments", "Who invested in Northwind before 2020?", "Lyra Capital"),
        (
            "investments",
            "Which companies did Orchid Partners invest in after 2020?",
            "Northwind",
        ),
        ("trade", "Which country exported machinery in 2021?", "Ostia"),
        ("trade", "Which countries did Norland export to in 2020?", "Ostia, Sudria"),
        ("trade", "Which country banned machinery in 2021?", None),
        # The most is the largest sum, not the largest number of rows.
        ("trade", "Which country exports the most?", "Ostia"),
        ("trade", "Which country imports the most?", "Ostia"),
        ("trade", "Which country exported the least?", "Norland"),
        ("transfers", "Who sent the most money?", "Acme"),
        ("transfers", "Which company received the most?", "Cyan"),
        ("investments", "Who invested the most?", "Orchid Partners"),
        ("trade", "What does Veldt export?", "copper"),
        ("trade", "Who invested the most?", None),
        ("friends", "Where did Alice Moreau meet Carla Diaz?", "Madrid"),
        ("friends", "Since when are Alice Moreau and Bob Stern friends?", "2011"),
        ("friends", "Where did Bob Stern meet Carla Diaz?", None),
        ("packages", "How many dependencies does curlkit have?", "2"),
    ],
)
def test_rows_worked_out_by_hand(graphs, name, question, expected):
    assert said(question, graphs[name]) == expected


FIRMS = ("Acme", "Borg", "Cyan")
PAYMENTS = st.lists(
    st.tuples(st.sampled_from(FIRMS), st.sampled_from(FIRMS), st.integers(1, 10**6)),
    min_size=1,
    max_size=9,
)


@given(PAYMENTS, st.sampled_from(FIRMS), st.sampled_from(FIRMS))
def test_sums_are_those_of_a_plain_loop(payments, payer, payee):
    graph = KnowledgeGraph.from_triplets([
        (f"_:payments:{number}", relation, value)
        for number, (*ends, amount) in enumerate(payments, start=2)
        for relation, value in zip(
            ("payer", "recipient", "amount"), (*ends, str(amount)), strict=True
        )
    ])  # fmt: skip
    paid = sum(amount for one, _, amount in payments if one == payer)
    expected = str(paid) if paid else None
    assert said(f"How much did {payer} pay in total?", graph) == expected
    sums = {one: 0 for one, _, _ in payments}
    for one, _, amount in payments:
        sums[one] += amount
    best = ", ".join(one for one in sorted(sums) if sums[one] == max(sums.values()))
    assert said("Who paid the most?", graph) == best
    between = sum(n for one, other, n in payments if (one, other) == (payer, payee))
    if payer != payee:
        expected = str(between) if between else None
        assert said(f"How much did {payer} pay to {payee}?", graph) == expected
