"""How relations read in English, and the frames that questions are made with."""

from __future__ import annotations

from collections import defaultdict

from data_prep.synth.frames import SPLITS, all_frames
from data_prep.synth.phrases import tidy
from data_prep.synth.readings import relation_readings
from data_prep.synth.words import in_number


def test_a_relation_reads_as_noun_and_as_verb():
    def said(relation):
        return {
            (r.kind, r.words, r.particle, r.inverted)
            for r in relation_readings(relation)
        }

    assert said("directed_by") >= {
        ("active", "direct", "", True), ("noun", "director", "", False),
    }  # fmt: skip
    assert ("passive", "born", "in", False) in said("people.person.place_of_birth")
    assert ("noun", "capital", "", True) in said("capital_of")
    assert ("active", "depend", "on", False) in said("depends on")
    assert ("noun", "birth place", "", False) in said("birthPlace")
    assert ("active", "write", "", False) in said("book.author.works_written")


def test_relations_in_other_languages_are_nouns_in_their_own_spelling():
    def own(relation):
        reading = relation_readings(relation)[0]
        return reading.kind, reading.words

    assert own("liegt in") == ("noun", "liegt in")
    assert own("Hauptstadt") == ("noun", "Hauptstadt")
    assert own("Erste_Besteigung") == ("noun", "Erste Besteigung")
    assert [own(name)[1] for name in ("Genre", "BORN_IN", "birthPlace")] == [
        "genre", "born", "birth place",
    ]  # fmt: skip
    assert in_number("Hauptstadt", True) == "Hauptstadt"
    assert in_number("liegt in", True) == "liegt in"


def test_numbers_of_things_are_how_many_there_are():
    def own(relation):
        return relation_readings(relation, counted=True)[0].words

    assert own("employees") == "number of employees"
    assert own("has_pages") == "number of pages"
    assert [own(name) for name in ("revenues", "height", "status")] == [
        "revenues", "height", "status",
    ]  # fmt: skip


def test_a_relation_that_is_no_english_is_said_by_a_better_phrase():
    def own(relation, **options):
        reading = relation_readings(relation, **options)[0]
        return reading.kind, reading.words, reading.particle, reading.inverted

    assert own("run_by") == ("active", "run", "", True)
    assert own("headquartersIn") == ("passive", "headquartered", "in", False)
    assert own("instance of") == ("noun", "type", "", False)
    assert own("inception", dated=True) == ("noun", "inception date", "", False)


def test_one_article_stands_before_a_name_that_has_one():
    assert (
        tidy("what is the height of the The Cradle")
        == "what is the height of The Cradle"
    )
    assert tidy("the The Potato Eaters height") == "The Potato Eaters height"


def test_nouns_inflect_at_their_head():
    assert in_number("place of birth", True) == "places of birth"
    assert [in_number(n, True) for n in ("child", "country", "series")] == [
        "children", "countries", "series",
    ]  # fmt: skip
    assert [in_number(n, False) for n in ("children", "genres", "people")] == [
        "child", "genre", "person",
    ]  # fmt: skip


def test_each_category_of_frames_has_one_for_every_split():
    for category, group in all_frames().items():
        by_split = defaultdict(list)
        for frame in group:
            by_split[frame.split].append(frame)
        for split in SPLITS:
            assert by_split[split], category
        assert len({frame.text for frame in group}) == len(group), category
