"""Damaged files are refused in one line; nothing under a checksum becomes wrong."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from fuzz.attacks import GROUPS
from fuzz.checked_files import World, attacks
from fuzz.documents import document_attacks
from fuzz.readers import reader_attacks
from fuzz.replies import reply_attacks
from fuzz.small_files import small_file_attacks
from fuzz.structures import structure_attacks
from fuzz.work_folders import work_folder_attacks

pytestmark = pytest.mark.extended

COUNT = 8
"""Inputs of each attack; ``python -m fuzz.attacks --count`` takes more."""
NAMES = [
    "GRAPH folder, bytes", "GRAPH folder, manifest", "embeddings/, bytes",
    "link/, bytes", "embeddings/ and link/, manifests", "shards, bytes",
    "shards, manifest", "export, bytes", "export, config.json",
    "embedding cache, bytes", "pieces of a preparation, bytes",
    "embedded pieces of a preparation, bytes", "questions.jsonl, fields",
    "predictions and question files",
]  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    return World(tmp_path_factory.mktemp("world"))


@pytest.fixture(scope="module")
def readers(tmp_path_factory) -> dict:
    return reader_attacks(tmp_path_factory.mktemp("readers"))


def test_every_attack_is_tested(world):
    assert list(attacks(world)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_damage_is_refused_or_harmless(world, name):
    result = attacks(world)[name](COUNT, random.Random(name))
    assert result.inputs == COUNT
    assert result.refused + result.accepted == COUNT
    assert not result.wrong


def test_changed_graph_files_and_data_sets_are_read_or_refused(readers):
    for name, attack in readers.items():
        result = attack(COUNT, random.Random(name))
        assert result.inputs == result.refused + result.accepted == COUNT, name
        assert not result.wrong


@pytest.mark.parametrize(
    "make",
    [
        *(structure_attacks, small_file_attacks, document_attacks, reply_attacks),
        work_folder_attacks,
    ],
)
def test_what_is_hostile_by_its_form_is_used_or_refused(make, tmp_path):
    for name, attack in make(tmp_path).items():
        result = attack(COUNT // 2, random.Random(name))
        assert result.inputs == result.refused + result.accepted == COUNT // 2, name
        assert not result.wrong


def test_the_groups_are_all_files_of_attacks():
    here = Path(__file__).parent
    files = {file.stem for file in here.glob("*.py") if "_attacks(" in file.read_text()}
    groups = {make.__module__.rpartition(".")[2] for make in GROUPS}
    assert groups == files - {"attacks", Path(__file__).stem}
