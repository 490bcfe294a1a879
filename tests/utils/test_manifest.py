"""Typed JSON files, and checks of settings: messages name the file and the field."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.manifest import (
    check_files,
    file_entry,
    fingerprint,
    read_record,
)


@dataclass(frozen=True, kw_only=True)
class Record:
    version: int
    files: dict[str, dict[str, int]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"version": "2", "files": {}}', "version: expected `int`, found `str`"),
        ('{"version": 2, "files": {"a": 1}}', r"files\[...\]: expected `object`"),
        ('{"files": {}}', "missing required field `version`"),
        ("[]", "expected `object`, found `array`"),
        ("{", "not valid JSON"),
    ],
)
def test_an_unfit_record_names_file_and_field(tmp_path, text, message):
    file = tmp_path / "manifest.json"
    file.write_text(text)
    with pytest.raises(UserError, match=message) as caught:
        read_record(file, Record)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


def test_a_record_is_read_with_its_types(tmp_path):
    file = tmp_path / "manifest.json"
    file.write_text('{"version": 2, "files": {"a": {"bytes": 3}}, "more": 1}')
    assert read_record(file, Record) == Record(version=2, files={"a": {"bytes": 3}})


def test_files_are_compared_with_what_is_listed(tmp_path):
    file = tmp_path / "data"
    file.write_bytes(bytes(200_000))
    listed = {"data": file_entry(file, ends=True)}
    assert json.loads(json.dumps(listed)) == listed
    check_files(tmp_path, listed, verify=True)
    middle = bytearray(200_000)
    middle[100_000] = 1
    file.write_bytes(middle)
    check_files(tmp_path, listed)
    with pytest.raises(UserError, match="checksum differs"):
        check_files(tmp_path, listed, verify=True)
    file.write_bytes(middle[:-1])
    with pytest.raises(UserError, match="199999 bytes, expected 200000"):
        check_files(tmp_path, listed)
    file.unlink()
    with pytest.raises(UserError, match="missing"):
        check_files(tmp_path, listed)


def test_a_fingerprint_does_not_depend_on_the_order_of_fields():
    assert fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2], "a": 1})
    assert fingerprint({"a": 1}) != fingerprint({"a": 2})


def test_a_number_below_the_least_is_named_as_its_flag():
    check_at_least(1, k=1, token_budget=None)
    with pytest.raises(
        UserError, match=r"^--token-budget: found 0, expected at least 1$"
    ):
        check_at_least(1, token_budget=0)
    with pytest.raises(
        UserError, match=r"^policy\.width: found -1, expected at least 2$"
    ):
        check_at_least(2, "policy.", width=-1)
