"""One thread at a time parses the header of a .npy file."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np
import pytest
from text.hash_encoder import HashEncoder

from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.utils.io import NPY_HEADERS, read_array, write_array


@pytest.mark.parametrize("reader", ["array", "cache"])
def test_a_reader_waits_for_the_header_that_another_one_parses(
    tmp_path, reader, monkeypatch
):
    monkeypatch.setenv("KGSCOUT_CACHE", str(tmp_path / "cache"))
    write_array(tmp_path / "a.npy", np.arange(3))
    cache = EmbeddingCache(HashEncoder())
    cache.embed(["a fact"])
    read = {
        "array": lambda: read_array(tmp_path / "a.npy"),
        "cache": lambda: cache.embed(["a fact"]),
    }[reader]
    with ThreadPoolExecutor(1) as threads:
        with NPY_HEADERS:
            result = threads.submit(read)
            assert wait([result], timeout=0.1).not_done
        assert len(result.result(timeout=60))
