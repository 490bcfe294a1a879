"""The fast stable order against NumPy's."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kgscout_jax.graph.walk.block_ranking import ranking
from kgscout_jax.utils.stable_order import stable_argsort

FEW_VALUES = st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf])


@given(arrays(np.float32, st.integers(0, 60), elements=FEW_VALUES))
def test_order_is_that_of_numpys_stable_sort(values):
    expected = np.argsort(values, kind="stable")
    np.testing.assert_array_equal(stable_argsort(values), expected)


@given(st.data())
def test_ranking_is_by_block_then_score_then_id(data):
    n = data.draw(st.integers(0, 40))
    blocks = data.draw(arrays(np.int64, n, elements=st.integers(0, 3)))
    ids = data.draw(arrays(np.int64, n, elements=st.integers(0, 20)))
    if data.draw(st.booleans()):
        ids = np.arange(n)
    scores = data.draw(arrays(np.float32, n, elements=FEW_VALUES))
    expected = np.lexsort((ids, -scores, blocks))
    np.testing.assert_array_equal(ranking(blocks, ids, scores), expected)
