"""Name -> id by binary search over sorted, memory-mapped hashes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int32, UInt64

from kgscout_jax.graph.name_hashes import entity_hashes
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import entity_key


@dataclass(frozen=True, eq=False)
class NameIndex:
    """Finds entities by the identity of a name; several may share a name."""

    names: Strings
    """Name of each entity, or empty."""
    hashes: UInt64[np.ndarray, "n"]
    """First 64 bits of the hashes of the names, ascending."""
    ids: Int32[np.ndarray, "n"]
    """The entity of each hash."""

    def find(self, name: str) -> list[int]:
        """Ids of all entities with this name, ascending; names are compared."""
        key = entity_key(name)
        try:
            first_half = entity_hashes(Strings.of([key]))[0, 0]
        except UnicodeEncodeError:  # a lone surrogate, which JSON allows: no match
            return []
        low = np.searchsorted(self.hashes, first_half)
        high = np.searchsorted(self.hashes, first_half, side="right")
        candidates = self.ids[low:high].tolist()
        return sorted(i for i in candidates if entity_key(self.names[i]) == key)

    def ids_of(self, hashes: UInt64[np.ndarray, "k 2"]) -> Int32[np.ndarray, "k"]:
        """Ids of entities by 128-bit hashes, -1 for unknown ones; names must be unique.

        Both halves are compared: the stored one, and the other computed from the name
        on disk.
        """
        out = np.full(len(hashes), -1, np.int32)
        place = np.searchsorted(self.hashes, hashes[:, 0])
        open_rows = np.arange(len(hashes))
        while True:  # repeats while names share the first half of their hash
            open_rows = open_rows[place[open_rows] < len(self.hashes)]
            equal = self.hashes[place[open_rows]] == hashes[open_rows, 0]
            open_rows = open_rows[equal]
            if not len(open_rows):
                return out
            ids = self.ids[place[open_rows]]
            stored = entity_hashes(self.names.take(ids))
            match = stored[:, 1] == hashes[open_rows, 1]
            out[open_rows[match]] = ids[match]
            open_rows = open_rows[~match]
            place[open_rows] += 1
