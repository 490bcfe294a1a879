"""Maps names to ids and back: the names of a shard folder, then added names."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache

from kgscout_jax.data.shards import Shards
from kgscout_jax.types import Triplet, display_name, entity_key

UNKNOWN = -1
"""The id of a name that is not in a name space."""


class Names:
    """Names of entities or relations by id: fixed names, then added names."""

    def __init__(self, fixed: Sequence[str], *keys: Callable[[str], str]) -> None:
        """``keys``: functions of a name, strictest first; added names use the last."""
        self.fixed, self.keys = fixed, keys
        # Computed on first use, and shared by forks.
        self.index = cache(lambda key: _first_ids(map(key, fixed)))
        self.added_ids: dict[str, int] = {}
        self.added: list[str] = []

    def __len__(self) -> int:
        """The number of names: an upper bound of the ids."""
        return len(self.fixed) + len(self.added)

    def __getitem__(self, number: int) -> str:
        """The display name of an id."""
        n = len(self.fixed)
        return self.fixed[number] if number < n else self.added[number - n]

    def find(self, name: str) -> int:
        """The id of a name, or UNKNOWN."""
        for key in self.keys:
            number = self.index(key).get(key(name))
            if number is not None:
                return number
        return self.added_ids.get(self.keys[-1](name), UNKNOWN)

    def add(self, name: str) -> int:
        """The id of a name; a new name gets a new id."""
        number = self.find(name)
        if number == UNKNOWN:
            number = self.added_ids[self.keys[-1](name)] = len(self)
            self.added.append(display_name(name))
        return number

    def fork(self) -> Names:
        """A copy to which names can be added without changing this one."""
        other = copy.copy(self)
        other.added_ids, other.added = dict(self.added_ids), list(self.added)
        return other


def _first_ids(keys: map[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for number, key in enumerate(keys):
        ids.setdefault(key, number)
    return ids


class NameSpace:
    """Ids of entities and relations by name, case-insensitive, white space collapsed.

    Ids below the number of the shards' names are theirs; an added name gets the next
    free id. Relations that differ only in case are different relations, so an exact
    match comes first.
    """

    def __init__(self, entities: Sequence[str], relations: Sequence[str]) -> None:
        self.entities = Names(entities, entity_key)
        self.relations = Names(relations, display_name, entity_key)

    @staticmethod
    def of(shards: Shards) -> NameSpace:
        """The name space of a shard folder."""
        return NameSpace(shards.entities, shards.relations)

    def fork(self) -> NameSpace:
        """A copy to which names can be added without changing this one."""
        other = copy.copy(self)
        other.entities, other.relations = self.entities.fork(), self.relations.fork()
        return other

    def find_triplet(self, triplet: Triplet) -> tuple[int, int, int]:
        """The ids of head, relation and tail, UNKNOWN for each missing one."""
        head, relation, tail = triplet
        find = self.entities.find
        return find(head), self.relations.find(relation), find(tail)

    def add_triplet(self, triplet: Triplet) -> tuple[int, int, int]:
        """The ids of head, relation and tail; new names get new ids."""
        head, relation, tail = triplet
        add = self.entities.add
        return add(head), self.relations.add(relation), add(tail)
