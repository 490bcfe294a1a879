"""Shares of a job array: each item once, and a name that is i/n."""

from __future__ import annotations

import pytest

from data_prep.partition import Partition
from kgscout_jax.errors import UserError


@pytest.mark.parametrize("text", ["0/2", "3/2", "2", "1/0", "-1/2", "a/b", "1/2/3"])
def test_a_partition_is_i_of_n(text):
    with pytest.raises(UserError, match=r"--part: found '.*', expected i/n"):
        Partition.of(text)


def test_partitions_share_every_item_once():
    items = list(range(11))
    for n in (1, 2, 3, 20):
        partitions = [Partition(i, n) for i in range(1, n + 1)]
        assert sorted(x for one in partitions for x in one.share(items)) == items
        for partition in partitions:
            assert sorted(partition.rotation(items)) == items
        begins = [partition.rotation(items)[0] for partition in partitions]
        assert begins == sorted(begins) and begins[0] == 0
