"""A narrower split against a loop: what stays, and one number for each node."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from split_factory import build_split
from test_batches import random_cases

from kgscout_jax.data.narrow import narrow_split


@pytest.mark.parametrize("n", [1, 4, 9])
@pytest.mark.parametrize("seed", range(3))
def test_candidates_that_stay_and_their_nodes(seed, n):
    cases = random_cases(seed, [3, 12, 7, 1, 20])
    cases = [dataclasses.replace(case, answers=["e1", "e2"]) for case in cases]
    before = build_split(cases, seed=seed).split
    after = narrow_split(before, n)
    assert after.candidates.shape[1] == n
    for row in range(len(before)):
        count = int(before.n_real[row])
        ppr = before.ppr_of(np.array([row]))[0, :count].sum(axis=1)
        by_ppr = sorted(range(count), key=lambda i: (-ppr[i], i))
        best = sorted(range(count), key=lambda i: (min(i, by_ppr.index(i)), i))
        stay = sorted(best[:n])
        assert list(after.candidates[row, : len(stay)]) == [
            before.candidates[row, i] for i in stay
        ]
        assert (after.candidates[row, len(stay) :] == -1).all()
        pairs = {
            *zip(
                before.nodes[row, stay].ravel().tolist(),
                after.nodes[row, : len(stay)].ravel().tolist(),
                strict=True,
            )
        }
        for name in ("topics", "answers"):
            old, new = getattr(before, name)[row], getattr(after, name)[row]
            assert list(old < 0) == list(new < 0)
            pairs |= set(
                zip(old[old >= 0].tolist(), new[new >= 0].tolist(), strict=True)
            )
        for name, edges in before.path_edges.items():
            old, new = edges[row], after.path_edges[name][row]
            np.testing.assert_array_equal(old[:, [0, 3]], new[:, [0, 3]])
            ends = old[:, 1:3].ravel().tolist(), new[:, 1:3].ravel().tolist()
            pairs |= set(zip(*ends, strict=True))
        old, new = zip(*sorted(pairs), strict=True)
        assert list(new) == list(range(int(after.n_nodes[row])))
        assert len(set(old)) == len(old)
        values = before.node_ppr[row], after.node_ppr[row]
        np.testing.assert_array_equal(values[0][list(old)], values[1])


def test_a_split_that_is_narrow_enough_stays_as_it_is():
    split = build_split(random_cases(0, [3, 5])).split
    assert narrow_split(split, split.candidates.shape[1]) is split
