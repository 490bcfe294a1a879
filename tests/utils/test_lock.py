"""A lock has one holder at a time, also while its file is removed and made anew."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.utils.lock import LOCK, is_locked, locked

CONTEND = """
import os, sys, time
from pathlib import Path
from kgscout_jax.errors import UserError
from kgscout_jax.utils.lock import is_locked, locked
folder, shares = Path(sys.argv[1]), sys.argv[2] == "shared"
seconds, deadline, acquired = float(sys.argv[3]), time.monotonic(), 0
while time.monotonic() < deadline + seconds:
    try:
        with locked(folder, "test", shared=shares, patience=0):
            # Fails where another process is inside as well.
            holder = folder / "holder"
            if not shares:
                os.close(os.open(holder, os.O_CREAT | os.O_EXCL))
                os.unlink(holder)
            elif holder.exists():
                sys.exit("an exclusive holder beside a shared one")
            acquired += 1
    except UserError:
        pass
    is_locked(folder)
print(acquired)
"""


def race(folder, kinds, seconds=1.5):
    """The number of acquisitions by a process for each kind; fails on two holders."""
    command = [sys.executable, "-c", CONTEND, str(folder)]
    processes = [
        subprocess.Popen(
            [*command, kind, str(seconds)], stdout=subprocess.PIPE, text=True
        )
        for kind in kinds
    ]
    counts = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    return sum(map(int, counts))


def test_of_racing_processes_one_holds_the_lock(tmp_path):
    assert race(tmp_path, ["exclusive"] * 3) > 100
    assert not list(tmp_path.iterdir())


@pytest.mark.extended
def test_shared_and_exclusive_holders_never_meet(tmp_path):
    assert race(tmp_path, ["shared", "exclusive", "shared", "exclusive"]) > 100


def test_looking_at_a_lock_never_refuses_its_next_holder(tmp_path):
    (tmp_path / LOCK).touch()
    with open(tmp_path / LOCK) as probe:
        fcntl.flock(probe, fcntl.LOCK_SH)
        threading.Timer(0.03, probe.close).start()
        with locked(tmp_path, "training"):
            assert is_locked(tmp_path)


def test_a_shared_holder_removes_no_file_that_another_made_since(tmp_path):
    with locked(tmp_path, "part", shared=True):
        # What may happen between the two halves of the conversion to exclusive.
        (tmp_path / LOCK).unlink()
        (tmp_path / LOCK).touch()
    assert (tmp_path / LOCK).exists()


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
