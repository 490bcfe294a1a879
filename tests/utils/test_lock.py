"""A lock has one holder at a time, also while its file is removed and made anew."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.utils.lock import is_locked, locked

CONTEND = """
import os, sys, time
from pathlib import Path
from kgscout_jax.errors import UserError
from kgscout_jax.utils.lock import locked
folder, deadline, acquired = Path(sys.argv[1]), time.monotonic() + 1.5, 0
while time.monotonic() < deadline:
    try:
        with locked(folder, "test"):
            # Fails where another process is inside as well.
            os.close(os.open(folder / "holder", os.O_CREAT | os.O_EXCL))
            os.unlink(folder / "holder")
            acquired += 1
    except UserError:
        pass
print(acquired)
"""


def test_of_racing_processes_one_holds_the_lock(tmp_path):
    command = [sys.executable, "-c", CONTEND, str(tmp_path)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    counts = [int(process.communicate()[0]) for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert sum(counts) > 100
    assert not list(tmp_path.iterdir())


def test_a_second_holder_is_refused_and_told_who_holds(tmp_path):
    with locked(tmp_path, "training"):
        assert is_locked(tmp_path)
        with (
            pytest.raises(UserError, match="another training is writing here"),
            locked(tmp_path, "training"),
        ):
            pass
        with locked(tmp_path, "training", name=".other"):
            assert is_locked(tmp_path, ".other")
    assert not is_locked(tmp_path)
    assert not list(tmp_path.iterdir())


def test_shared_holders_exclude_an_exclusive_one_only(tmp_path):
    with (
        locked(tmp_path, "part", shared=True),
        locked(tmp_path, "part", shared=True),
        pytest.raises(UserError),
        locked(tmp_path, "whole", patience=0.1),
    ):
        pass
    with locked(tmp_path, "whole"):
        pass


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match="cannot be written"),
        locked(tmp_path / "file" / "below", "test"),
    ):
        pass
