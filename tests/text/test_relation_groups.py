"""Names of one relation and of its inverse."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import kgscout_jax.text.relation_groups as groups

LINES = Path(groups.__file__).with_name("relation_groups.txt").read_text("utf-8")


def test_only_names_of_mutual_relations_are_those_of_the_inverse_too():
    mutual, single = set[str](), set[str]()
    for line in LINES.splitlines():
        if line.startswith("#"):
            continue
        names = [
            name.strip(" +*=") for side in line.split("|") for name in side.split(",")
        ]
        assert len({*names}) == len(names), line
        (mutual if line.startswith("=") else single).update(names)
    for name in single - mutual:
        sides = defaultdict(set)
        for other, inverse in groups.names_in_group(name):
            sides[other].add(inverse)
        assert not [other for other, found in sides.items() if len(found) > 1], name
    assert all(
        {inverse for other, inverse in groups.names_in_group(name) if other != name}
        == {False, True}
        for name in mutual - single
        if groups.names_in_group(name)  # of some only questions speak
    )


def test_what_somebody_is_of_another_is_no_name_of_the_other():
    for line in LINES.splitlines():
        if line.startswith(("#", "=")):
            continue
        for side in line.split("|"):
            names = {name.strip(" +*") for name in side.split(",")}
            assert not {f"{name} of" for name in names} & names, line


def test_every_name_of_a_relation_finds_its_group_however_it_is_taken_apart():
    for line in LINES.splitlines():
        names = line.lstrip("=").replace("|", ",").split(",")
        for name in names if not line.startswith("#") else ():
            if not name.strip().startswith("+"):
                relation = "_".join(name.strip(" *").split())
                assert groups.names_in_group(relation), relation


def test_a_verb_is_no_plural_noun():
    names = dict(groups.names_in_group("mentors"))
    assert names["mentored by"] and not names["advises"]
    assert dict(groups.names_in_group("hasMentor"))["mentored by"] is False
    assert dict(groups.names_in_group("works at company"))["employer"] is False
