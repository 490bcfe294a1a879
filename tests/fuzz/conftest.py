"""A scout that is fast: most hostile text never reaches the network of the encoder."""

import pytest
from film_world import export_initial
from text.hash_encoder import HashEncoder

from kgscout_jax.export.load import load_exported
from kgscout_jax.inference.scout import Scout


@pytest.fixture(scope="session")
def hash_scout(kgscout_cache, tmp_path_factory) -> Scout:
    """A scout whose encoder hashes strings; ``scout`` has the model."""
    encoder = HashEncoder()
    out = tmp_path_factory.mktemp("hash") / "policy"
    return Scout(load_exported(export_initial(encoder.identity, out, seed=1)), encoder)
