"""Questions of people over tables of allotments, of beers, of ascents, of contracts and
of servers."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

PLOTS = """Plot,Tenant,Section,Tenancy start,Shed,Greenhouse,Crops,Committee role
A1,Moira Fensome,Riverside,2009-04-01,Y,N,"Potatoes, Rhubarb",Chair
A2,Hamid Rahimi,Riverside,2018-03-15,Y,Y,"Tomatoes, Garlic",
A3,Colin Tapscott,Riverside,2003-04-01,N,N,"Leeks, Onions",
A4,Piotr Zielinski,Riverside,2021-05-01,N,Y,"Beetroot, Dill",
B1,Sandra Whitlock,Orchard End,1998-04-01,Y,Y,"Apples, Garlic",Treasurer
B2,Dev Malhotra,Orchard End,2022-06-01,N,N,Chillies,
B3,Jean Ollerenshaw,Orchard End,2011-10-01,Y,N,"Dahlias, Leeks",
"""
BEERS = """Beer,Style,ABV %,IBU,Season,Brewer,Hop,Cost
Tidewrack,Pale ale,4.2,32,Summer,Jo Marwood,Cascade,4.10
Old Capstan,Porter,5.4,28,Winter,Alf Renshaw,Fuggle,4.60
Gannet,IPA,6.1,58,Summer,Jo Marwood,Citra,5.20
Lantern,Stout,7.4,40,Winter,Sid Okoro,,5.90
Skua,Pale ale,3.8,24,Summer,Sid Okoro,Cascade,3.90
Yule,Dark ale,6.9,30,Winter,Jo Marwood,Fuggle,5.50
"""
ASCENTS = """Peak,Height (m),Range,Party leader,Hut,First climbed by
Ortler,3905,Ortler Alps,Lottie Vane,Payer Hut,Josef Pichler
Eiger,3967,Bernese Alps,Fraser Nairn,Mittellegi Hut,Charles Barrington
Jungfrau,4158,Bernese Alps,Keith Arrowsmith,Rottal Hut,Johann Meyer
Marmolada,3343,Dolomites,Lottie Vane,,Paul Grohmann
"""
CONTRACTS = """id,title,supplier,category,status
CT-2001,Road repairs,Tarmac West,works,active
CT-2002,School meals,Greenleaf,food,active
CT-2003,Winter gritting,Tarmac West,works,terminated
CT-2004,Bakery orders,Greenleaf,food,terminated
CT-2005,Office cleaning,BrightClean,services,terminated
CT-2006,Payroll,Nimbus IT,software,active
"""
SERVERS = """Hostname,Environment,Data center,Operating system
web-prd-01,production,Ashburn IAD3,Debian 12
web-stg-01,staging,Frankfurt FRA2,Debian 12
mq-prd-01,production,Frankfurt FRA2,Debian 11
mq-stg-02,staging,Ashburn IAD3,Debian 11
log-prd-03,production,Dublin DUB1,Debian 12
"""


@pytest.fixture(scope="module")
def graphs(tmp_path_factory) -> dict[str, KnowledgeGraph]:
    folder = tmp_path_factory.mktemp("tables")
    tables = {"plots": PLOTS, "beers": BEERS, "ascents": ASCENTS}
    tables |= {"contracts": CONTRACTS, "servers": SERVERS}
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    return {name: KnowledgeGraph.open([folder / f"{name}.csv"]) for name in tables}


@pytest.mark.parametrize(
    ("table", "question", "answers"),
    [
        ("plots", "Which tenants grow garlic at Orchard End?", {"Sandra Whitlock"}),
        ("plots", "Which plots have both a shed and a greenhouse?", {"A2", "B1"}),
        ("plots", "Which plots have a greenhouse but no shed?", {"A4"}),
        ("plots", "Which plots have neither a shed nor a greenhouse?", {"A3", "B2"}),
        ("plots", "Does Hamid Rahimi have a greenhouse on his plot?", {"yes"}),
        ("plots", "Which tenant has held a plot for the longest?", {"Sandra Whitlock"}),
        ("beers", "Which winter beers did Jo Marwood brew?", {"Yule"}),
        ("beers", "Which is our most bitter beer?", {"Gannet"}),
        ("beers", "How strong is Gannet?", {"6.1"}),
        ("beers", "How many stouts are in the collection?", {"1"}),
        ("ascents", "Which peaks has Lottie Vane led?", {"Ortler", "Marmolada"}),
        ("ascents", "Which hut did they use for the Ortler?", {"Payer Hut"}),
        ("contracts", "Who is the supplier of CT-2003?", {"Tarmac West"}),
        ("contracts", "Which contract has the id CT-2002?", {"School meals"}),
        ("contracts", "What is the id of Payroll?", {"CT-2006"}),
        (
            "contracts",
            "Which terminated contracts does Greenleaf have?",
            {"Bakery orders"},
        ),
        ("contracts", "Which works contracts does Greenleaf have?", set()),
        ("servers", "Which production servers are in Ashburn?", {"web-prd-01"}),
    ],
)
def test_what_people_ask_of_a_table(general_scout, graphs, table, question, answers):
    result = general_scout.retrieve(question, graphs[table])
    assert {each.name for each in result.answers} == answers
