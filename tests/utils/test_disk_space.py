"""On a full disk every writer says which file, how much, and what to do."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from utils.small_disk import run_on_small_disk

from kgscout_jax.utils.disk_space import NoRoomError, allocate, no_room, room_for
from kgscout_jax.utils.io import WriteError, write_array, write_text

SCRIPT = """
import os, sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
import numpy as np
from text.hash_encoder import HashEncoder
from data_prep.workspace import Workspace
from kgscout_jax.cli.runner import guarded
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.utils.array_writer import ArrayWriter
from kgscout_jax.utils.io import write_array

disk, task, table = Path(sys.argv[1]), sys.argv[3], Path(sys.argv[4])
encoder = HashEncoder()

def run():
    if task == "array":
        write_array(disk / "a.npy", np.ones(1 << 19))
    elif task == "tofile":
        np.ones(1 << 19).tofile(disk / "a.bin")
    elif task == "graph":
        build_graph([table], disk / "graph")
    elif task == "embedding":
        build_graph([table], disk / "graph")
        (disk / "ballast").write_bytes(bytes(int(sys.argv[5])))
        KnowledgeGraph.open(disk / "graph").embed(encoder)
    elif task == "cache":
        texts = [f"string {i}" for i in range(40_000)]
        EmbeddingCache(encoder, disk).embed(texts)
    elif task == "workspace":
        Workspace(disk).write("cut", {"a": np.ones(1 << 19)})

sys.exit(guarded(run))
"""


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "kg.tsv"
    path.write_text("".join(f"h {i}\tr\tt {i % 9}\n" for i in range(9000)))
    return path


@pytest.mark.parametrize(
    ("task", "size", "file"),
    [
        ("array", 1 << 20, "a.npy: the disk is full (4.2 MB needed, "),
        ("tofile", 1 << 20, "the disk is full ("),
        ("graph", 1 << 19, "graph: the disk is full ("),
        ("cache", 1 << 20, ".segment: the disk is full ("),
        ("workspace", 1 << 20, "cut.npz: the disk is full (4.2 MB needed, "),
    ],
)
def test_a_full_disk_is_one_line_that_names_the_file(tmp_path, task, size, file, table):
    done = run_on_small_disk(tmp_path / "disk", size, SCRIPT, "tests", task, str(table))
    assert done.returncode == 2, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert file in line and "free there" in line and "make room, then" in line
    assert "Traceback" not in done.stderr


@pytest.mark.extended
def test_a_graph_that_is_embedded_on_a_full_disk_ends_by_no_signal(tmp_path, table):
    """A sparse file would be mapped, and the first page without room kills."""
    disk, size = tmp_path / "disk", 3 << 20
    free = 40_000  # after the graph and a file beside it; the table has 144,000 bytes
    measured = run_on_small_disk(
        disk,
        size,
        SCRIPT.replace("sys.exit(guarded(run))", "")
        + "build_graph([table], disk / 'graph')\n"
        + "s = os.statvfs(disk); print(s.f_bavail * s.f_frsize)",
        "tests",
        "embedding",
        str(table),
    )
    ballast = int(measured.stdout) - free
    done = run_on_small_disk(
        disk, size, SCRIPT, "tests", "embedding", str(table), str(ballast)
    )
    assert done.returncode == 2, (done.returncode, done.stderr)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert ".triplets.part: the disk is full (144.0 kB needed" in line
    assert line.endswith("free there); make room, then the same command goes on")


def test_room_is_taken_before_it_is_used(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"abc")
    allocate(file, 50_000)
    assert file.stat().st_size == 50_000
    assert file.stat().st_blocks * 512 >= 50_000
    assert file.read_bytes()[:4] == b"abc\0"
    with pytest.raises(NoRoomError, match=r"file: .* \(1,000,000,000\.0 GB needed, "):
        allocate(file, 10**18)
    assert file.stat().st_size == 50_000


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc")
def test_a_file_system_without_a_size_is_not_full():
    with pytest.raises(WriteError, match=r"x.html: cannot be written \(No such file"):
        write_text(Path("/proc/x.html"), "page")


def test_other_errors_pass(tmp_path):
    for error in (ValueError("3"), OSError(errno.EIO, "i"), OSError("2 written")):
        assert no_room(error) is None
        with pytest.raises(type(error)), room_for(tmp_path / "x", 10):
            raise error
    assert no_room(OSError("30 requested and 10 written"))
    write_array(tmp_path / "a.npy", np.ones(3))
    write_text(tmp_path / "a.txt", "x")
