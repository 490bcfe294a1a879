"""Tables in the forms in which graphs are published and tools export them."""

from __future__ import annotations

import pytest
from graph_facts import facts, write

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


@pytest.mark.parametrize(
    ("file", "text", "expected"),
    [
        pytest.param(
            "net.sif",
            "EGFR\tbinds\tGRB2\tSHC1\nTP53\nGRB2\tbinds\tSOS1\n",
            {"EGFR | binds | GRB2", "EGFR | binds | SHC1", "GRB2 | binds | SOS1"},
            id="SIF: several tails, and a node without an edge",
        ),
        pytest.param(
            "net.sif",
            "a pp b c\nb pd c\n",
            {"a | pp | b", "a | pp | c", "b | pd | c"},
            id="SIF with spaces",
        ),
        pytest.param(
            "conceptnet.tsv",
            "/a/[/r/IsA/,/c/en/ice_cream/n/,/c/en/dessert/]\t/r/IsA\t/c/en/ice_cream/n"
            '\t/c/en/dessert\t{"weight": 1.0}\n',
            {"ice cream | IsA | dessert"},
            id="ConceptNet",
        ),
        pytest.param(
            "openie.tsv",
            "1.000\tAmundsen\twas born in\tBorge\n0.648\tAmundsen\tled\ta voyage\n",
            {"Amundsen | was born in | Borge", "Amundsen | led | a voyage"},
            id="Open IE",
        ),
        pytest.param(
            "nell.tsv",
            "Entity\tRelation\tValue\tProbability\tBest Entity literalString\t"
            "Best Value literalString\n"
            "concept:athlete:tom_brady\tconcept:athleteplaysforteam\t"
            "concept:sportsteam:patriots\t0.9\tTom Brady\tNew England Patriots\n"
            "concept:athlete:tom_brady\tgeneralizations\tconcept:athlete\t1.0\t\t\n"
            "concept:company:apple\tconcept:companyfounded\tconcept:date:n1976\t1\t\t\n",
            {
                "Tom Brady | athleteplaysforteam | New England Patriots",
                "Tom Brady | type | athlete",
                "apple | companyfounded | 1976",
            },
            id="NELL",
        ),
        pytest.param(
            "kgtk.tsv",
            "id\tnode1\tlabel\tnode2\tnode1;label\tlabel;label\tnode2;label\n"
            "e1\tQ20\tP36\tQ585\t'Norway'@en\t'capital'@en\t'Oslo'@en\n"
            "e2\tQ20\tP571\t^0872-01-01T00:00:00Z/9\t'Norway'@en\t'inception'@en\t\n"
            "e3\tQ20\tP2046\t+385207Q712226\t'Norway'@en\t'area'@en\t\n",
            {
                "Norway | capital | Oslo",
                "Norway | inception | 0872",
                "Norway | area | 385207",
            },
            id="KGTK",
        ),
        pytest.param(
            "relationships.csv",
            "id,source,target,description,weight\n"
            "1,ANN,OLD MILL,Ann lives at the Old Mill,2.0\n",
            {"ANN | lives at | OLD MILL"},
            id="GraphRAG",
        ),
        pytest.param(
            "answer.txt",
            "Sure! Here are the triples:\n\n(Ann | knows | Bo)\n- (Bo | is a | cook)\n"
            "(Bo | lives in | Old Mill).\n\nShall I go on?\n",
            {"Ann | knows | Bo", "Bo | is a | cook", "Bo | lives in | Old Mill"},
            id="an answer of a language model",
        ),
        pytest.param(
            "triples.txt",
            "1. Ann -> knows -> Bo\n2. Bo -> is a -> cook\n3. Cy -> knows -> Ann\n",
            {"Ann | knows | Bo", "Bo | is a | cook", "Cy | knows | Ann"},
            id="arrows",
        ),
        pytest.param(
            "samples.tsv",
            "# exported 2024-05-03, by hand\n# two rows\nname\tsite\tpH\n"
            "S1\tBog\t4.1\nS2\tLake\t6.5\n",
            {"S1 | site | Bog", "S2 | site | Lake", "S1 | pH | 4.1", "S2 | pH | 6.5"}
            | {"S1 | type | sample", "S2 | type | sample"},
            id="comments above a header",
        ),
        pytest.param(
            "issues.csv",
            "Summary,Labels,Labels,Points,Status\nLogin fails,ui,bug,3,Open\n"
            "Slow page,ui,,5,Done\nNo mail,,,8,Open\n",
            {"Login fails | Labels | ui", "Login fails | Labels | bug"},
            id="columns of one name side by side (Jira)",
        ),
    ],
)
def test_a_table_is_read_as_its_form_says(tmp_path, file, text, expected):
    found = facts(write(tmp_path / file, text))
    assert expected <= found
    if "Labels" not in text:
        assert found == expected


def test_a_row_with_a_date_is_an_event(tmp_path):
    text = "China\tVisit\tFrance\t2014-03-27\nFrance\tCriticize\tIran\t2014-05-02\n"
    found = facts(write(tmp_path / "train.txt", text))
    assert "China | Visit | France" in found
    assert {"_:train:1 | Visit | France", "_:train:1 | date | 2014-03-27"} <= found


def test_what_looks_like_a_comment_may_be_a_header_or_a_name(tmp_path):
    text = "#metoo\tkind\tmovement\n#fun\tkind\tjoke\nAnn\tkind\tperson\n"
    found = facts(write(tmp_path / "kg.tsv", text))
    assert found == {
        "#metoo | kind | movement",
        "#fun | kind | joke",
        "Ann | kind | person",
    }


def openke(folder):
    write(folder / "entity2id.txt", "3\nAres\t0\nZeus\t1\nMount Olympus\t2\n")
    write(folder / "relation2id.txt", "2\nchild_of\t0\nlives_on\t1\n")
    return folder


def test_a_folder_of_openke_has_numbers_for_names(tmp_path):
    folder = openke(tmp_path)
    write(folder / "train2id.txt", "1\n0 1 0\n")
    write(folder / "test2id.txt", "1\n1\t2\t1\n")
    assert facts(folder) == {
        "Ares | child_of | Zeus",
        "Zeus | lives_on | Mount Olympus",
    }


def test_a_number_without_a_name_is_named_in_the_error(tmp_path):
    folder = openke(tmp_path)
    write(folder / "train2id.txt", "1\n0 7 0\n")
    with pytest.raises(UserError, match=r"train2id\.txt:2: 7 is not in entity2id\.txt"):
        KnowledgeGraph.open(folder)
