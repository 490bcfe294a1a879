"""The share of one process of a job array."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgscout_jax.errors import UserError

T = TypeVar("T")


@dataclass(frozen=True)
class Partition:
    """The share of one process of a job array: the i-th of n, from 1."""

    i: int
    n: int

    def __str__(self) -> str:
        return f"{self.i}/{self.n}"

    @staticmethod
    def of(text: str) -> Partition:
        """The partition that "i/n" names; raises UserError unless 1 <= i <= n."""
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        partition = Partition(*map(int, match.groups())) if match else Partition(0, 0)
        if not 1 <= partition.i <= partition.n:
            raise UserError(f"--part: found {text!r}, expected i/n, from 1/n to n/n")
        return partition

    def share(self, items: Sequence[T]) -> Sequence[T]:
        """Every n-th item, from the i-th on."""
        return items[self.i - 1 :: self.n]

    def rotation(self, items: Sequence[T]) -> Sequence[T]:
        """All items, beginning after the shares of the partitions before this one."""
        begin = (self.i - 1) * len(items) // self.n
        return [*items[begin:], *items[:begin]]
