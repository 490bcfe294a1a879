"""Tables of one entity a row: what their columns and cells say."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from graph_facts import facts, write

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.read.list_cells import list_separator

COUNTRIES = """\
Country;Capital;Population;Languages;Note
Belgium;Brussels;11700000;Dutch, French, German;
Chad;N'Djamena;N/A;Arabic, French;large
Mali;Bamako;21900000;French;NULL
Senegal;Dakar;17700000;French, Arabic;
"""


def test_each_cell_is_a_fact_about_the_entity_of_its_row(tmp_path, caplog):
    with caplog.at_level("INFO", logger="kgscout"):
        found = facts(write(tmp_path / "countries.csv", COUNTRIES))
    assert len(found) == 4 + 3 + 8 + 1 + 4
    assert {
        "Mali | type | country",
        "Belgium | Capital | Brussels",
        "Belgium | Languages | Dutch",
        "Senegal | Languages | Arabic",
        "Chad | Note | large",
    } <= found
    assert "called by its Country: ('Belgium', 'Capital', 'Brussels')" in caplog.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("name,capital\nFrance,Paris\n", {"France | capital | Paris"}),
        (
            "name,capital,people\nFrance,Paris,68\nItaly,Rome,59\n",
            {"France | capital | Paris", "France | people | 68"}
            | {"Italy | capital | Rome", "Italy | people | 59"},
        ),
        (
            "Country,Capital\nChad,NDjamena\nMali,Bamako\nTogo,Lome\n",
            {"Chad | Capital | NDjamena", "Mali | Capital | Bamako"}
            | {"Togo | Capital | Lome"}
            | {f"{name} | type | country" for name in ("Chad", "Mali", "Togo")},
        ),
        # a data frame's index is no column
        (
            ",name,x\n0,Ann,1\n1,Bo,2\n",
            {"Ann | x | 1", "Bo | x | 2"},
        ),
        # the name, wherever it stands, before the first column
        (
            "code,born,full name\n7,1980,Ann Lee\n8,1981,Bo Ray\n9,1982,Cy Dee\n",
            {"Ann Lee | code | 7", "Bo Ray | code | 8", "Cy Dee | code | 9"}
            | {"Ann Lee | born | 1980", "Bo Ray | born | 1981", "Cy Dee | born | 1982"},
        ),
        (
            "id,First Name,Last Name,office\n1,Ann,Lee,A\n2,Ann,Ray,B\n3,Bo,Lee,A\n",
            {"Ann Lee | office | A", "Ann Ray | office | B", "Bo Lee | office | A"},
        ),
        (
            "vorname;nachname;ort\nAnn;Lee;Bern\n",
            {"Ann Lee | ort | Bern"},
        ),
        # a title or a label may be a post or a publisher
        (
            "name,title,born\nAnn,CEO,1\nBo,Cook,2\nCy,Cook,3\n",
            {"Ann | title | CEO", "Bo | title | Cook", "Cy | title | Cook"}
            | {"Ann | born | 1", "Bo | born | 2", "Cy | born | 3"},
        ),
        (
            "album,label,hours,rank\nRed,Oak,1,7\nBlue,Oak,1,8\nGrey,Elm,1,9\n",
            {"Red | label | Oak", "Blue | label | Oak", "Grey | label | Elm"}
            | {"Red | hours | 1", "Blue | hours | 1", "Grey | hours | 1"}
            | {"Red | rank | 7", "Blue | rank | 8", "Grey | rank | 9"}
            | {f"{name} | type | album" for name in ("Red", "Blue", "Grey")},
        ),
        # several books are by one author
        (
            "title,author,year\nEmma,Ann,1815\nUlysses,Bo,1922\nDubliners,Bo,1914\n"
            "Persuasion,Ann,1817\n",
            {"Emma | author | Ann", "Ulysses | author | Bo", "Dubliners | author | Bo"}
            | {"Persuasion | author | Ann", "Emma | year | 1815"}
            | {"Ulysses | year | 1922", "Dubliners | year | 1914"}
            | {"Persuasion | year | 1817"},
        ),
        (
            "title,label\nRed,Oak\nBlue,Fir\nGrey,Elm\n",
            {"Red | label | Oak", "Blue | label | Fir", "Grey | label | Elm"},
        ),
        (
            "id,person,title,pay\n1,Ann,CEO,9\n2,Bo,Cook,8\n3,Cy,Cook,7\n",
            {"Ann | title | CEO", "Bo | title | Cook", "Cy | title | Cook"}
            | {"Ann | pay | 9", "Bo | pay | 8", "Cy | pay | 7"}
            | {f"{name} | type | person" for name in ("Ann", "Bo", "Cy")},
        ),
        # what ids are of names the rows, though it be no "name"
        (
            "tool_id,tool,price,shop\n7,Saw,5,A\n8,Axe,6,B\n9,Hoe,5,A\n",
            {"Saw | tool_id | 7", "Axe | tool_id | 8", "Hoe | tool_id | 9"}
            | {"Saw | price | 5", "Axe | price | 6", "Hoe | price | 5"}
            | {"Saw | shop | A", "Axe | shop | B", "Hoe | shop | A"}
            | {f"{tool} | type | tool" for tool in ("Saw", "Axe", "Hoe")},
        ),
        # cells of equal names are one entity's
        ("name,likes\nAnn,tea\nAnn,jam\n", {"Ann | likes | tea", "Ann | likes | jam"}),
    ],
)
def test_tables_worked_out_by_hand(tmp_path, text, expected):
    assert facts(write(tmp_path / "kg.csv", text)) == expected


def test_ids_of_other_tables_and_of_its_own_are_names(tmp_path):
    staff = write(
        tmp_path / "staff.csv",
        "id,name,department_id,manager_id\n1,Ann,2,\n2,Bo,1,1\n3,Cy,9,1\n",
    )
    departments = write(
        tmp_path / "departments.csv", "id,name,city\n1,Legal,Bern\n2,Sales,Basel\n"
    )
    shops = write(
        tmp_path / "places.csv",
        "shop_id,shop_name,town\n7,Main,Bern\n8,Old,Basel\n9,New,Bern\n",
    )
    assert facts(write(tmp_path / "a.csv", "name,shop_id\nDi,8\n"), shops) == {
        "Di | shop | Old",
        *(f"{name} | type | shop" for name in ("Main", "Old", "New")),
        "Main | shop_id | 7",
        "Old | shop_id | 8",
        "New | shop_id | 9",
        "Main | town | Bern",
        "Old | town | Basel",
        "New | town | Bern",
    }
    assert facts(staff, departments) == {
        "Ann | department | Sales",
        "Bo | department | Legal",
        "Bo | manager | Ann",
        "Cy | department_id | 9",
        "Cy | manager | Ann",
        "Legal | type | department",
        "Sales | type | department",
        "Legal | city | Bern",
        "Sales | city | Basel",
    }


CODES = """\
name,iso,neighbours
France,FR,"ES,DE"
Spain,ES,FR
Germany,DE,FR
Italy,IT,"FR,DE"
Malta,MT,
"""


def test_codes_of_entities_are_names(tmp_path):
    cities = "name,country_code,size\nNice,FR,340\nBonn,DE,330\nRoma,RM,9\n"
    files = {"countries.csv": CODES, "cities.csv": cities.replace("RM", "MT")}
    found = facts(*(write(tmp_path / name, text) for name, text in files.items()))
    assert {
        "France | neighbours | Spain",
        "France | neighbours | Germany",
        "Germany | neighbours | France",
        "Italy | neighbours | Germany",
        "Malta | iso | MT",
        "Nice | country | France",
        "Roma | country | Malta",
    } <= found
    assert not any(" | neighbours | FR" in each for each in found)


def test_ids_of_one_table_only_are_its_entities(tmp_path):
    files = {
        "staff.csv": "id,name,born\n1,Ann,1980\n2,Bo,1981\n3,Cy,1982\n",
        "teams.csv": "id,name,size\n1,Red,5\n2,Blue,6\n",
        "jobs.csv": "job_id,name,lead_id,some_id\n1,Paint,3,1\n2,Sweep,2,2\n",
    }
    found = facts(*(write(tmp_path / name, text) for name, text in files.items()))
    # 1 and 2 may be of staff and of teams
    expected = {"Paint | lead | Cy", "Sweep | lead | Bo", "Paint | some_id | 1"}
    assert expected | {"Paint | job_id | 1"} <= found


def test_values_are_no_codes_where_few_of_them_are(tmp_path):
    text = "name,iso,grade\nFrance,FR,ES\nSpain,ES,A\nItaly,IT,B\nMalta,MT,FR\n"
    found = facts(write(tmp_path / "kg.csv", text))
    assert {"France | grade | ES", "Malta | grade | FR"} <= found


def test_a_table_beside_edges_adds_its_facts(tmp_path):
    edges = write(tmp_path / "edges.tsv", "Ann\tknows\tBo\nBo\tknows\tDi\n")
    people = write(tmp_path / "people.csv", "name,born\nAnn,1980\nBo,1981\n")
    assert facts(edges, people) == {
        "Ann | knows | Bo",
        "Bo | knows | Di",
        "Ann | type | person",
        "Bo | type | person",
        "Ann | born | 1980",
        "Bo | born | 1981",
    }


@pytest.mark.parametrize(
    "text",
    [
        "Ann,works at,Acme,HR\nBo,works at,Beta,IT\nCy,leads,Acme,IT\n",
        "a,b,c,d\no,x,y,z\no,x,y,w\no,u,v,w\n",  # nothing names the rows
        "name,x,y,x\nAnn,1,2,3\n",
        "Ann,Bo\nCy,Di\nEd,Flo\nGus,Ida\n",  # pairs
    ],
)
def test_other_tables_are_refused(tmp_path, text):
    with pytest.raises(UserError, match=r"kg\.csv:1: expected 3 comma-separated"):
        KnowledgeGraph.open(write(tmp_path / "kg.csv", text))


def test_parquet_reads_as_the_same_csv(tmp_path):
    columns = {
        "Country": ["Chad", "Mali", "Togo"],
        "Capital": ["NDjamena", "Bamako", None],
        "People": [17, 21, 8],
        "Languages": ["Arabic;French", "French", "French"],
    }
    rows = [[*columns], *zip(*columns.values(), strict=True)]
    lines = [";;".join("" if v is None else str(v) for v in row) for row in rows]
    text = "\n".join(lines).replace(";;", "\t")
    pq.write_table(pa.table(columns), tmp_path / "countries.parquet")
    expected = facts(write(tmp_path / "countries.tsv", text))
    assert len(expected) == 3 + 2 + 3 + 4
    assert facts(tmp_path / "countries.parquet") == expected
    # Triplets under other names stay triplets.
    triplets = {"a": ["x", "x", "y"], "b": ["r", "r", "r"], "c": ["y", "z", "z"]}
    pq.write_table(pa.table(triplets | {"n": [1, 2, 3]}), tmp_path / "kg.parquet")
    assert facts(tmp_path / "kg.parquet") == {"x | r | y", "x | r | z", "y | r | z"}


def test_names_come_before_codes_and_superiors_are_rows(tmp_path):
    files = {
        "customers.csv": "customer_id,company_name,city\nALF,Alfreds,Bonn\n"
        "BON,Bon app,Lyon\nANA,Trujillo,Lima\n",
        "orders.csv": "order_id,customer_id,freight,day\n10,BON,3,1\n11,ALF,4,1\n"
        "12,BON,5,2\n",
        "staff.csv": "id,name,reports_to\n1,Ann,\n2,Bo,1\n3,Cy,1\n",
    }
    found = facts(*(write(tmp_path / name, text) for name, text in files.items()))
    assert {
        "Alfreds | city | Bonn",
        "10 | customer | Bon app",
        "Bo | reports_to | Ann",
    } <= found


def test_values_as_data_frames_and_r_write_them(tmp_path):
    text = """\
name,height,mass,iso,sex
Yoda,66.0,17.5,YO,male
Rey,NA,NA,RE,NA
Finn,180.0,79.0,NA,NA
Dooku,193.0,,DO,male
"""
    assert facts(write(tmp_path / "kg.csv", text)) == {
        "Yoda | height | 66", "Finn | height | 180", "Dooku | height | 193",
        "Yoda | mass | 17.5", "Finn | mass | 79.0",
        "Yoda | iso | YO", "Rey | iso | RE", "Finn | iso | NA", "Dooku | iso | DO",
        "Yoda | sex | male", "Dooku | sex | male",
    }  # fmt: skip


def test_behind_numbers_a_column_of_different_short_texts_names_the_rows(tmp_path):
    text = """\
series,won,first,full,note
1,0,Ann,Ann Lee,same
1,1,Bob,Bob Ray,same
2,0,Ann,Ann Poe,same
"""
    found = facts(write(tmp_path / "bakers.csv", text))
    assert {"Ann Lee | type | baker", "Ann Poe | series | 2"} <= found
    # Where names repeat, rows have none.
    text = text.replace("Poe", "Lee").replace("Bob R", "A")
    assert "_:b:4 | full | Ann Lee" in facts(write(tmp_path / "b.csv", text))


SALES = """date,customer,product,quantity
2024-01-03,Acme,Desk,4
2024-01-05,Borg,Lamp,10
2024-01-09,Acme,Lamp,4
"""


def test_rows_of_events_are_nodes_without_a_name(tmp_path, caplog):
    with caplog.at_level("INFO", logger="kgscout"):
        found = facts(write(tmp_path / "sales.csv", SALES))
    assert found == {
        f"_:sales:{number} | {relation} | {value}"
        for number, line in enumerate(SALES.splitlines(), 1)
        if number > 1
        for relation, value in zip(
            ("date", "customer", "product", "quantity", "type"),
            (*line.split(","), "sale"),
            strict=True,
        )
    }
    assert "one sale, which has no name: ('_:sales:2', 'date'" in caplog.text
    assert KnowledgeGraph.open(tmp_path / "sales.csv").unnamed_mask.sum() == 3


def test_rows_of_events_refer_to_other_tables(tmp_path):
    sales = SALES.replace("customer", "customer_id").replace("Acme", "C7")
    customers = (
        "customer_id,customer_name,city,since\n"
        "C7,Acme,Bern,1999\nC8,Borg,Rome,2005\nC9,Cyan,Bern,2011\n"
    )
    found = facts(
        write(tmp_path / "sales.csv", sales),
        write(tmp_path / "customers.csv", customers),
    )
    assert {"_:sales:2 | customer | Acme", "Acme | city | Bern"} <= found


def test_rows_of_files_of_one_name_are_apart(tmp_path):
    years = ("2023", "2024")
    for year in years:
        (tmp_path / year).mkdir()
    files = [write(tmp_path / y / "sales.csv", SALES.replace("2024", y)) for y in years]
    found = facts(*files)
    assert len(found) == 2 * len(facts(files[0]))
    dates = {fact.split(" | ")[0] for fact in found if fact.split(" | ")[1] == "date"}
    assert dates == {f"_:sales:{i}" for i in ("2", "3", "4", "2/2", "2/3", "2/4")}


VISITS = """\
visit_id,patient_id,doctor_id,visit_date,diagnosis
V1,P1,D1,2024-01-02,flu
V2,P2,D1,2024-01-03,flu
V3,P1,D2,2024-02-03,gout
"""


def test_rows_that_only_a_number_names_are_events_unless_a_table_has_their_ids(
    tmp_path,
):
    visits = write(tmp_path / "visits.csv", VISITS)
    people = write(tmp_path / "patients.csv", "patient_id,name\nP1,Ann\nP2,Bo\n")
    found = facts(visits, people)
    assert {
        "_:visits:2 | patient | Ann",
        "_:visits:2 | visit_id | V1",
        "_:visits:2 | type | visit",
    } <= found
    bills = write(
        tmp_path / "bills.csv",
        "bill_id,visit_id,sum,paid\nA,V1,30,1\nB,V2,9,2\nC,V3,4,1\n",
    )
    with_bills = facts(visits, people, bills)
    assert {"V1 | patient | Ann", "A | visit | V1"} <= with_bills
    # An item that a code names is what it is.
    parts = "part_id,color,shape,kg\nX1,red,a,3\nX2,blue,b,4\nX3,red,a,5\n"
    assert "X1 | color | red" in facts(write(tmp_path / "parts.csv", parts))
    # So is one with an address of its own.
    homes = "listing_id,address,city,agent,listed_on\n" + "".join(
        f"H{i},{i} Elm St,{city},{agent},2024-01-0{i}\n"
        for i, city, agent in ((1, "A", "Ann"), (2, "A", "Ann"), (3, "B", "Bo"))
    )
    assert "H1 | address | 1 Elm St" in facts(write(tmp_path / "listings.csv", homes))


def test_a_number_of_letters_names_rows_that_an_id_of_digits_counts(tmp_path):
    text = "voyage_id,voyage_no,ship_id,port\n" + "".join(
        f"{i},VN-3{i},{i % 2},{port}\n" for i, port in enumerate(("A", "B", "A", "B"))
    )
    assert "VN-31 | port | B" in facts(write(tmp_path / "voyages.csv", text))


ACTORS = "actor_id,name,born\n1,Ann Lee,1970\n2,Bo Ray,1980\n3,Cy Fox,1990\n"
MOVIES = "movie_id,title,year\n1,Heat Wave,2001\n2,Cold Snap,2005\n3,Dry Spell,2011\n"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("actor_id,movie_id\n1,1\n1,2\n2,2\n", {"Ann Lee | movie | Cold Snap"}),
        (
            "actor_id,movie_id,role\n1,1,Max\n1,2,Sam\n2,2,Kim\n",
            {
                "_:cast:3 | actor | Ann Lee",
                "_:cast:3 | movie | Cold Snap",
                "_:cast:3 | role | Sam",
            },
        ),
        ("movie_id,tag\n1,sad\n1,odd\n2,odd\n", {"Heat Wave | tag | odd"}),
        (
            "actor,movie\nAnn Lee,Heat Wave\nAnn Lee,Cold Snap\n",
            {"Ann Lee | movie | Cold Snap"},
        ),
    ],
)
def test_few_columns_join_the_rows_of_other_tables(tmp_path, table, expected):
    others = [
        write(tmp_path / "actors.csv", ACTORS), write(tmp_path / "movies.csv", MOVIES),
    ]  # fmt: skip
    found = facts(*others, write(tmp_path / "cast.csv", table))
    assert expected <= found
    assert any("_:cast" in each for each in found) == ("role" in table)


NORTHWIND = {
    "Employees": "EmpNo,LastName,FirstName,HireDate,ManagerEmpNo\n"
    "11,Davolio,Nancy,1992-05-01 00:00:00.000,12\n"
    "12,Fuller,Andrew,1992-08-14 00:00:00.000,NULL\n"
    "13,Leverling,Janet,1992-04-01 00:00:00.000,12\n",
    "Territory": "TerritoryCode,TerritoryDescription\nT01,Westboro\nT02,Bedford\n"
    "T03,Boston\n",
    "EmployeeTerritories": "EmpNo,TerritoryCode\n11,T01\n12,T02\n12,T03\n",
    "Orders": "OrderID,EmpNo,Freight\n10248,11,32.38\n10249,11,11.61\n10250,13,65\n",
    "OrderDetails": "OrderID,Product,UnitPrice,Quantity\n10248,Chai,14,12\n"
    "10248,Pavlova,9,10\n10249,Chai,14,9\n10250,Chang,18,40\n",
}
"""Tables of a database in its own style of names; their rows refer to each other."""


def test_tables_of_a_database_refer_to_each_other_by_the_names_of_keys(tmp_path):
    found = facts(
        *(write(tmp_path / f"{name}.csv", text) for name, text in NORTHWIND.items())
    )
    assert {
        "Nancy Davolio | type | employee",
        "Nancy Davolio | HireDate | 1992-05-01",
        "Nancy Davolio | Manager | Andrew Fuller",
        "Andrew Fuller | territory | Boston",
        "Boston | TerritoryCode | T03",
        "10248 | employee | Nancy Davolio",
    } <= found
    assert any(each.endswith("| order | 10249") for each in found)
    assert not any("EmpNo | 1" in each for each in found if "10" in each)


def test_a_row_that_joins_others_is_not_called_by_a_part_of_it(tmp_path):
    cells = (("Hamlet", 1, 7), ("Ophelia", 1, 8), ("Yorick", 2, 7), ("Iago", 2, 8))
    rows = [f"{i},{play},{who},{name}" for i, (name, play, who) in enumerate(cells)]
    text = "\n".join(["role_id,play_id,person_id,character_name", *rows])
    assert {
        "_:roles:2 | character_name | Hamlet",
        "_:roles:2 | person_id | 7",
    } <= facts(write(tmp_path / "roles.csv", text))
    named = text.replace("character_name", "role_name")
    assert "Hamlet | person_id | 7" in facts(write(tmp_path / "roles.csv", named))


@pytest.mark.parametrize(("suffix", "separator"), [("csv", ","), ("tsv", "\t")])
def test_rows_without_any_text_are_no_rows(tmp_path, suffix, separator):
    rows = ["beer,style,abv,ibu", "Alt,Brown,4.8,30", ",,,", "Rye,Porter,5,40", ",,,"]
    text = "\n".join([*rows, "Ale,IPA,6,60"]).replace(",", separator)
    found = facts(write(tmp_path / f"beers.{suffix}", text))
    assert {"Rye | abv | 5", "Alt | style | Brown"} <= found
    assert not any("_:" in each for each in found)


def test_a_row_without_its_name_has_none_or_goes_on_with_the_row_before(tmp_path):
    rows = "x,name,y,z\n1,Ann,2,5\n3,,4,6\n"
    found = facts(write(tmp_path / "kg.csv", rows))
    assert {"Ann | y | 2", "_:kg:3 | y | 4"} <= found
    shop = ("Handle,Title,Vendor,Size,Price\nred-mug,Red Mug,Acme,S,4.50\n"
            "red-mug,,,L,6.20\nblue-jug,Blue Jug,Bolt,S,9.90\n"
            "tin-cup,Tin Cup,Acme,S,3.10\n")  # fmt: skip
    found = facts(write(tmp_path / "shop.csv", shop))
    assert {"Red Mug | Size | S", "Red Mug | Size | L"} <= found
    assert "Red Mug | Price | 6.20" in found


def test_a_name_in_a_directory_may_have_a_comma(tmp_path):
    lee = '"CN=Lee\\, Ann,OU=IT,DC=x"'
    rows = ("Name,Manager,Dept,Started\n"
            f"Bo Ek,{lee},IT,2019\nCy Du,{lee},HR,2020\n"
            f"Di Fu,{lee},HR,2021\n")  # fmt: skip
    found = facts(write(tmp_path / "staff.csv", rows))
    assert "Bo Ek | Manager | Lee, Ann" in found


def test_pages_of_notion_go_by_their_names(tmp_path):
    page = "(https://www.notion.so/{}-1f734aeea84a14aab84571c25051cc43?pvs=21)"
    people = ("Name,Class,Home,Level\n"
              f"Quill,Rogue,Docks {page.format('Docks')},5\n"
              f"Bram,Cleric,Candlemoor {page.format('Candlemoor')},6\n"
              f"Ivo,Mage,Docks {page.format('Docks')},7\n")  # fmt: skip
    played = f"Quill {page.format('Quill')}, Bram {page.format('Bram')}"
    sessions = ("Name,Where,Present,XP\n"
                f'Roots,Docks {page.format("Docks")},"{played}",500\n'
                f'Tides,Docks {page.format("Docks")},"Bram {page.format("Bram")}",400\n'
                f'Ends,Docks {page.format("Docks")},"{played}",900\n')  # fmt: skip
    id = "01fbf0232a284ac5f27ac46f58d1c958"
    files = [write(tmp_path / f"Characters {id}.csv", people),
             write(tmp_path / f"Sessions {id}.csv", sessions)]  # fmt: skip
    found = facts(*files)
    assert {"Quill | Home | Docks", "Quill | type | character"} <= found
    assert {"Roots | Present | Quill", "Roots | Present | Bram"} <= found


def test_a_first_column_without_a_header_names_the_rows(tmp_path):
    rows = (',"Built by",Year,Weight\n"Lady Ann","Acme, Bolt",1908,"33 t"\n'
            'Sir Bo,Bolt,1924,"78 t"\nBlack Cy,Acme,1931,"60 t"\n')  # fmt: skip
    found = facts(write(tmp_path / "Locomotives.csv", rows))
    assert {"Lady Ann | Year | 1908", "Sir Bo | Built by | Bolt"} <= found


def test_a_row_without_its_name_goes_by_its_code(tmp_path):
    rows = ("Year,Title,Maker,Number\n1901,Anchor,Ann Lee,INV.7\n1907,,Bo Ek,INV.8\n"
            "1926,Foghorn,Ann Lee,INV.9\n")  # fmt: skip
    found = facts(write(tmp_path / "objects.csv", rows))
    assert {"Anchor | Year | 1901", "INV.8 | Maker | Bo Ek"} <= found


@pytest.mark.parametrize(
    ("cells", "separator"),
    [
        (["Paris; Rome", "Rome", "Bonn;Bern"], ";"),
        (["a;b", "c"], None),  # once may be a name
        (["a;b", "b"], ";"),
        (["1,200", "3,400", "1,200"], None),
        (["Lee, Ann", "Lee, Bo", "Ray, Cy"], None),
        (["de-CH,fr-CH,it,rm", "de", "fr-FR,oc"], ","),  # one, two and more words
        (["egg, ham, oil", "tea", "ham, rye", "oil, egg, ale, fig"], ","),
        (["Paris, France", "Nice, Nord, France", "Rome, Italy", "Malta"], None),
        (["Paris,France", "Oslo,Norway", "Rome,Italy"], None),
        (["He came, saw and went; " + "x" * 50, "a;b", "c;d"], None),
        ([], None),
    ],
)
def test_what_separates_the_values_of_cells(cells, separator):
    assert list_separator(cells) == separator


def test_a_second_table_of_the_same_ids_is_about_the_same_entities(tmp_path):
    stops = "stop_id,stop_name,lat\nM1,Alameda,38\nM2,Rossio,37\nM3,Chelas,36\n"
    more = "stop_id,opened,zone,m\nM1,1972,L,7\nM3,1998,L,\nM4,2004,1,9\n"
    found = facts(
        write(tmp_path / "details.csv", more), write(tmp_path / "stops.csv", stops)
    )
    assert {
        "Alameda | lat | 38",
        "Alameda | opened | 1972",
        "Chelas | opened | 1998",
        "M4 | opened | 2004",
    } <= found
    assert not any("details" in fact for fact in found)


def test_rows_that_a_key_of_another_table_names_have_no_name(tmp_path):
    games = "code,title,players\nFG-1,Tiny Trams,4\nFG-2,Archive,2\nFG-3,Comet,5\n"
    awards = "game_code,award,year\nFG-1,Golden Geek,2020\nFG-2,As d'Or,2021\n"
    found = facts(
        write(tmp_path / "games.csv", games),
        write(tmp_path / "awards.csv", awards + "FG-3,Golden Geek,2022\n"),
    )
    assert {
        "_:awards:2 | game | Tiny Trams",
        "_:awards:2 | award | Golden Geek",
        "Tiny Trams | code | FG-1",
    } <= found


def test_cells_are_read_without_the_marks_of_their_writers(tmp_path):
    text = (
        "DistinguishedName,Name,Manager,Genres,Owner,IsOpen,Rooms[a]\n"
        "\"CN=Ann,OU=IT,DC=x\",Ann[1],,\"['War', 'Drama']\",–,1,12[2]\n"
        '"CN=Bo,OU=IT,DC=x",Bo,"CN=Ann,OU=IT,DC=x",[\'Drama\'],?,0,7\n'
        '"CN=Cy,OU=IT,DC=x",Cy,"CN=Ann,OU=IT,DC=x",[],Di,1,n.d.\n'
    )
    found = facts(write(tmp_path / "kg.csv", text))
    assert {
        "Bo | Manager | Ann",
        "Ann | Genres | War",
        "Bo | Genres | Drama",
        "Cy | Owner | Di",
        "Ann | IsOpen | yes",
        "Bo | IsOpen | no",
    } <= found
    assert not any("[" in fact.split(" | ")[2] or "–" in fact for fact in found)
    assert sum("| Owner |" in fact or "| Rooms" in fact for fact in found) == 3


def test_addresses_in_tables_are_the_entities_of_other_tables(tmp_path):
    site = "http://x.org/"
    jobs = "kind,uri,preferredLabel,altLabels\n" + "".join(
        f'Job,{site}j{i},{name},"{others}"\n'
        for i, (name, others) in enumerate(
            [("baker", "bread maker\ncraft baker"), ("cook", ""), ("waiter", "a\nb")]
        )
    )
    skills = f"kind,uri,preferredLabel\nSkill,{site}s0,bake\nSkill,{site}s1,serve\n"
    skills += f"Skill,{site}s2,season\n"
    needs = "jobUri,need,level,skillUri\n" + "".join(
        f"{site}j{job},essential,high,{site}s{skill}\n"
        for job, skill in ((0, 0), (1, 2), (2, 1), (1, 1))
    )
    broader = f"kind,uri,wider,widerUri\nJob,{site}j0,Job,{site}j1\n"
    broader += f"Job,{site}j2,Job,{site}j1\nJob,{site}j1,Job,{site}j0\n"
    found = facts(
        write(tmp_path / "jobs.csv", jobs),
        write(tmp_path / "skills.csv", skills),
        write(tmp_path / "needs.csv", needs),
        write(tmp_path / "broader.csv", broader),
    )
    assert {
        "_:needs:2 | jobUri | baker",
        "_:needs:2 | skillUri | bake",
        "baker | widerUri | cook",
        "baker | altLabels | craft baker",
    } <= found


def test_the_one_row_of_a_table_among_others_has_its_name(tmp_path):
    write(
        tmp_path / "agency.txt",
        "agency_id,agency_name,agency_lang\nLT,Low Transit,en\n",
    )
    routes = "route_id,agency_id,route_name,route_type\n" + "".join(
        f"R{i},LT,Line {i},3\n" for i in range(4)
    )
    write(tmp_path / "routes.txt", routes)
    found = facts(tmp_path)
    assert {"Line 1 | agency | Low Transit", "Low Transit | agency_lang | en"} <= found


def test_boat_classes_are_what_class_id_leads_to(tmp_path):
    write(
        tmp_path / "boat_classes.csv", "id,name,crew\n1,Laser,1\n2,Squib,2\n3,Dart,2\n"
    )
    write(
        tmp_path / "boats.csv", "id,name,class_id\n7,Puffin,1\n8,Petrel,2\n9,Tern,2\n"
    )
    assert "Petrel | class | Squib" in facts(tmp_path)


def test_rows_of_a_code_have_the_name_by_which_other_tables_refer_to_them(tmp_path):
    phones = "SKU,Model,Brand,Price\nP-1,Pixel 8,Google,799\nP-2,Moto G,Motorola,159\n"
    sales = "Invoice,Customer,Model,Paid\nI-1,Ann,Moto G,159\nI-2,Bo,Pixel 8,790\n"
    found = facts(
        write(tmp_path / "phones.csv", phones + "P-3,Nokia 3,HMD,99\n"),
        write(tmp_path / "sales.csv", sales + "I-3,Cy,Pixel 8,799\n"),
    )
    assert {
        "Pixel 8 | Brand | Google",
        "Pixel 8 | SKU | P-1",
        "I-3 | Model | Pixel 8",
    } <= found


def test_units_sums_and_merged_cells_are_read_as_people_see_them(tmp_path):
    plants = (
        "Plant,River,Built,Head,Output\n,,year,m,GWh\nStorfoss,Rana,1963,412,540\n"
        "Lillefoss,Rana,1938,18,..\nTotal,Brekka,1944,22,18\nSum,,,,558\n"
    )
    found = facts(write(tmp_path / "plants.csv", plants))
    assert {"Storfoss | Head (m) | 412", "Total | River | Brekka"} <= found
    assert not any(fact.startswith(("Sum", " ")) or ".." in fact for fact in found)
    acts = (
        "Day,Stage,Act,Minutes\nFriday,Lake,Tarn,60\n,,Copper,75\n,Barn,Moth,90\n"
        "Saturday,Lake,Benga,60\n,,Tuiles,50\n"
    )
    found = facts(write(tmp_path / "acts.csv", acts))
    assert {"_:acts:3 | Act | Copper", "_:acts:3 | Stage | Lake"} <= found
    assert {"_:acts:4 | Day | Friday", "_:acts:6 | Day | Saturday"} <= found


def test_blank_cells_of_a_column_that_repeats_are_no_merged_ones(tmp_path):
    text = "Genre,Song,Year,Plays\nRock,Ada,1990,7\n,Bo,1991,9\nRock,Cy,1992,3\n"
    found = facts(write(tmp_path / "songs.csv", text + ",Di,1993,4\n"))
    assert "_:songs:2 | Genre | Rock" in found
    assert not any(fact.startswith("_:songs:3 | Genre") for fact in found)
