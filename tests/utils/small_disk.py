"""A disk of a few kilobytes: a tmpfs in a name space of the process's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def run_on_small_disk(
    folder: Path, size: int, script: str, *args: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python script while ``folder`` is a disk of ``size`` bytes.

    Skips the test where the system mounts nothing for users.
    """
    folder.mkdir(exist_ok=True)
    mounted = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-ec"]
    mount = f'mount -t tmpfs -o size={size} none "$0"; exec "$@"'
    try:
        subprocess.run(
            [*mounted, mount, str(folder), "true"], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no mount in a name space of users: {error}")
    command = [sys.executable, "-c", script, str(folder), *args]
    return subprocess.run(
        [*mounted, mount, str(folder), *command], capture_output=True, text=True
    )
