"""What tests of answers share."""

from __future__ import annotations

import pytest
from scout_factory import shared_world

from kgscout_jax.inference.scout import Scout


@pytest.fixture(scope="module")
def general_scout(kgscout_cache) -> Scout:
    """The ``Scout`` of a policy for any graph."""
    return shared_world("general").scout
