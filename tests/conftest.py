"""What all tests share."""

import os

import pytest
from film_world import export, films, graph, scout  # noqa: F401 (fixtures)
from hypothesis import settings

# Machines are sometimes busy: an example may take as long as it likes.
settings.register_profile("kgscout", deadline=None)
settings.load_profile("kgscout")


@pytest.fixture(scope="session")
def kgscout_cache(tmp_path_factory):
    """$KGSCOUT_CACHE, an empty folder; what is compiled in it is found again."""
    from kgscout_jax.utils.jax_setup import setup_jax

    folder = tmp_path_factory.mktemp("kgscout-cache")
    before = os.environ.get("KGSCOUT_CACHE")
    os.environ["KGSCOUT_CACHE"] = str(folder)
    setup_jax()
    yield folder
    if before is None:
        del os.environ["KGSCOUT_CACHE"]
    else:
        os.environ["KGSCOUT_CACHE"] = before
