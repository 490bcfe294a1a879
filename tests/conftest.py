"""What all tests share."""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from film_world import export, films, graph, scout  # noqa: F401 (fixtures)
from hypothesis import settings
from pictures import own_pictures, pictures_rendered_once  # noqa: F401 (fixtures)

ROOT = Path(__file__).resolve().parents[1]
COMPILE_FAST = (
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1"
)
for variable, value in {
    # A second thread of torch would wait for a core that the other worker has.
    "OMP_NUM_THREADS": "1",
    # Workers, processes that tests start, and later runs compile a function once.
    "JAX_COMPILATION_CACHE_DIR": str(ROOT / ".pytest_cache" / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # Functions run a few times on small arrays: compilation takes longer than they do.
    # With both, a gradient of a small network compiles in a third of the time.
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
    "XLA_FLAGS": COMPILE_FAST,
    # Arrays of different ranks never broadcast by accident.
    "JAX_NUMPY_RANK_PROMOTION": "raise",
}.items():
    os.environ.setdefault(variable, value)


def use_memory() -> None:
    """Let tests write their thousands of small files to memory, where there is room.

    The folder goes with this process; with $TMPDIR they write there, and it stays.
    """
    memory, room, process = Path("/dev/shm"), 4 * 2**30, os.getpid()
    if "TMPDIR" in os.environ or not os.access(memory, os.W_OK):
        return
    if shutil.disk_usage(memory).free < room:
        return
    folder = tempfile.mkdtemp(prefix="kgscout-tests-", dir=memory)
    os.environ["TMPDIR"] = folder  # workers and processes of tests have it too

    def discard() -> None:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(discard)


use_memory()

# Nothing of what is imported for the tests can be freed: the collector, which tracing
# sets off all the time, need not look at it.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


# Machines are sometimes busy: an example may take as long as it likes.
settings.register_profile("kgscout", deadline=None, max_examples=12)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "kgscout"))


@pytest.fixture(scope="session")
def kgscout_cache(tmp_path_factory) -> Iterator[Path]:
    """$KGSCOUT_CACHE, an empty folder."""
    from kgscout_jax.utils.jax_setup import setup_jax

    folder = tmp_path_factory.mktemp("kgscout-cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KGSCOUT_CACHE", str(folder))
        setup_jax()
        yield folder
