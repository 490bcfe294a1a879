"""The graph of Debian's packages, on an index of ten stanzas."""

from pathlib import Path

import pytest
from scout_factory import shared_world

HERE = Path(__file__).resolve().parent
INDEX = HERE / "debian_packages.txt"
RECIPES = HERE.parents[1] / "recipes"


@pytest.fixture(autouse=True)
def recipes_on_path(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))


def test_packages_are_reached_breadth_first_and_their_values_named():
    from debian_graph import read_index, selected_packages, triplets_of

    packages = read_index(INDEX)
    names = ["perl", "less", "video", "curl", "git", "libc6", "libcurl4", "zlib1g"]
    assert sorted(selected_packages(packages, 99)) == sorted(names)
    assert sorted(selected_packages(packages, 5)) == sorted(names[:5])
    triplets = list(triplets_of(packages, 99))
    assert [one[1:] for one in triplets if one[0] == "git"] == [
        ("depends on", "libc6"),
        ("depends on", "perl"),
        ("depends on", "git-man"),
        ("recommends", "ca-certificates"),
        ("recommends", "less"),
        ("maintained by", "Jonathan Nieder"),
        ("section", "version control systems"),
        ("priority", "optional"),
        ("version", "1:2.39.5-0"),
        ("architecture", "amd64"),
        ("installed size in kilobytes", "44890"),
        ("description", "fast, scalable, distributed revision control system"),
        ("implemented in", "C"),
        ("implemented in", "Perl (language)"),
        ("user interface", "text mode"),
    ]
    assert ("video", "section", "video (section)") in triplets
    assert ("curl", "used for", "transmission") in triplets
    assert ("libc6", "depends on", "libcrypt1") in triplets
    assert ("libcurl4", "source package", "curl") in triplets
    assert ("less", "maintained by", "Milan Kupcevic") in triplets
    assert ("perl", "maintained by", "Niko Tyni") in triplets


@pytest.mark.parametrize(
    ("query", "answers"),
    [
        (
            {"start": "curl", "follow": ["Depends", "Maintainer"]},
            ["Alessandro Ghedini", "GNU Libc Maintainers", "Mark Brown"],
        ),
        ({"where": {"Depends": "zlib1g"}}, ["curl", "libcurl4"]),
        (
            {"where": {"Depends": "libc6", "Section": "libraries"}},
            ["libcurl4", "zlib1g"],
        ),
        ({"where": {"Source": "curl"}}, ["curl", "libcurl4"]),
        ({"start": "curl", "follow": ["Depends"], "count": True}, ["3"]),
        ({"start": "git", "follow": ["Depends"], "holds": "perl"}, ["yes"]),
        ({"start": "git", "follow": ["Depends"], "holds": "pager"}, ["no"]),
        ({"start": "git", "follow": ["implemented-in"]}, ["C", "Perl"]),
        (
            {"start": "curl", "follow": ["Depends"], "largest": "Installed-Size"},
            ["libc6"],
        ),
    ],
)
def test_right_answers_are_read_from_the_index(query, answers):
    from debian_gold import PackageIndex
    from debian_graph import read_index, selected_packages

    names = selected_packages(read_index(INDEX), 99)
    assert PackageIndex(INDEX.read_text("utf-8"), names).answers(query) == answers


def test_the_kind_in_brackets_does_not_make_an_answer_wrong():
    from debian_gold import is_right

    assert is_right("Perl (language)", ["C", "perl"])
    assert not is_right("git-man (documentation)", ["git-man"])


@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 20])
def test_the_transcript_holds_every_question_and_its_right_answers(
    count, tmp_path, kgscout_cache, monkeypatch
):
    import debian

    first = debian.QUESTIONS.read_text("utf-8").splitlines()[:count]
    (tmp_path / "questions.jsonl").write_text("\n".join(first))
    monkeypatch.setattr(debian, "QUESTIONS", tmp_path / "questions.jsonl")
    debian.run(tmp_path, str(shared_world("walk").policy), INDEX)
    page = (tmp_path / "transcript.md").read_text("utf-8")
    assert page.count("\n### ") == count
    assert "right answers: Alessandro Ghedini; GNU Libc Maintainers; Mark Brown" in page
    assert "right answers: ca-certificates; less\n" in page
    assert "| packages | 8 |" in page
