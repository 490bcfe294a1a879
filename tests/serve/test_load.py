"""What a service loads before the first request, and what it refuses to."""

from __future__ import annotations

import threading
import time

import pytest
from film_world import film_triplets

from kgscout_jax.errors import UserError
from kgscout_jax.policy.registry import jitted_logits
from kgscout_jax.serve.settings import LoadSettings
from kgscout_jax.serve.startup import buckets_up_to, check_paths, compilation, load
from kgscout_jax.utils.buckets import bucket


@pytest.mark.extended
def test_after_loading_nothing_is_compiled_or_embedded_any_more(export, films):
    kg = ((str(films),), (f"large={films}",))
    settings = LoadSettings(
        policy=str(export),
        kg=kg,
        embed_up_to=len(set(film_triplets())),
        keep_products=True,
    )
    scout, graphs = load(settings)
    with compilation(scout, graphs.values(), 4):
        while any(each.name == "compile" for each in threading.enumerate()):
            time.sleep(0.05)
    assert list(graphs) == ["films", "large"]
    compiled = jitted_logits._cache_size()
    for graph in graphs.values():
        assert graph.embeddings.tables
        for size in (1, 2, 3, 4):
            found = scout.retrieve_many(["who directed Alien?"] * size, graph, 5)
            assert [len(each) for each in found] == [5] * size
    assert jitted_logits._cache_size() == compiled > 0


@pytest.mark.parametrize("largest", [1, 20, 32, 100, 1000])
@pytest.mark.parametrize("most", [1, 32, 33, 64, 70, 600, 1000])
def test_buckets_are_those_of_all_sizes(most, largest):
    most = min(most, largest)
    expected = {bucket(size, largest) for size in range(1, most + 1)}
    assert buckets_up_to(most, largest) == sorted(expected)


@pytest.mark.parametrize(
    ("out", "kg", "told"),
    [
        ("EXPORT", "no.tsv", r"no\.tsv: no such file or folder"),
        ("EXPORT", "x=no.tsv", r"no\.tsv: no such file or folder"),
        ("FOLDER", "FILMS", "not an exported policy"),
        ("./nowhere", "FILMS", "nowhere: not an exported policy"),
    ],
)
def test_missing_files_are_refused_at_once(export, films, out, kg, told):
    places = {"EXPORT": str(export), "FILMS": str(films), "FOLDER": str(films.parent)}
    settings = LoadSettings(policy=places.get(out, out), kg=((places.get(kg, kg),),))
    with pytest.raises(UserError, match=told):
        check_paths(settings)
