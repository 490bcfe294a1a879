"""Names to ids and back: the names of a shard folder, then names met elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from kgscout_jax.data.shards import Shards
from kgscout_jax.types import Triplet, display_name, entity_key

UNKNOWN = -1
"""The id of a name that is not in a name space."""


class _Known:
    """The names that every fork of a name space shares; indexed on first use."""

    def __init__(self, entities: Sequence[str], relations: Sequence[str]) -> None:
        self.entities = entities
        self.relations = relations

    @cached_property
    def entity_ids(self) -> dict[str, int]:
        return _first_ids(map(entity_key, self.entities))

    @cached_property
    def relation_ids(self) -> dict[str, int]:
        return _first_ids(map(display_name, self.relations))

    @cached_property
    def folded_relation_ids(self) -> dict[str, int]:
        return _first_ids(map(entity_key, self.relations))


def _first_ids(keys: map[str]) -> dict[str, int]:
    ids: dict[str, int] = {}
    for number, key in enumerate(keys):
        ids.setdefault(key, number)
    return ids


class NameSpace:
    """Ids of entities and relations by name, case-insensitive, white space collapsed.

    Ids below the number of known names are the shards' own; a name that is added gets
    the next free id. Relations that differ only in case are two relations in a graph,
    so an exact match comes first.
    """

    def __init__(self, entities: Sequence[str], relations: Sequence[str]) -> None:
        self._known = _Known(entities, relations)
        self._entities: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._entity_names: list[str] = []
        self._relation_names: list[str] = []

    @staticmethod
    def of(shards: Shards) -> NameSpace:
        """The name space of a shard folder."""
        return NameSpace(shards.entities, shards.relations)

    def fork(self) -> NameSpace:
        """A name space with the same known names, to which names can be added apart."""
        other = NameSpace((), ())
        other._known = self._known
        other._entities, other._relations = dict(self._entities), dict(self._relations)
        other._entity_names = list(self._entity_names)
        other._relation_names = list(self._relation_names)
        return other

    @property
    def n_entities(self) -> int:
        """Every entity id is below this."""
        return len(self._known.entities) + len(self._entity_names)

    @property
    def n_relations(self) -> int:
        """Every relation id is below this."""
        return len(self._known.relations) + len(self._relation_names)

    def find_entity(self, name: str) -> int:
        """The id of an entity, or UNKNOWN."""
        key = entity_key(name)
        found = self._known.entity_ids.get(key)
        return self._entities.get(key, UNKNOWN) if found is None else found

    def find_relation(self, name: str) -> int:
        """The id of a relation, or UNKNOWN."""
        found = self._known.relation_ids.get(display_name(name))
        if found is None:
            key = entity_key(name)
            found = self._known.folded_relation_ids.get(key)
            if found is None:
                found = self._relations.get(key, UNKNOWN)
        return found

    def find_triplet(self, triplet: Triplet) -> tuple[int, int, int]:
        """The ids of head, relation and tail, UNKNOWN for each that is not there."""
        head, relation, tail = triplet
        return (
            self.find_entity(head),
            self.find_relation(relation),
            self.find_entity(tail),
        )

    def add_entity(self, name: str) -> int:
        """The id of an entity, a fresh one if its name is new."""
        found = self.find_entity(name)
        if found == UNKNOWN:
            found = self._entities[entity_key(name)] = self.n_entities
            self._entity_names.append(display_name(name))
        return found

    def add_relation(self, name: str) -> int:
        """The id of a relation, a fresh one if its name is new."""
        found = self.find_relation(name)
        if found == UNKNOWN:
            found = self._relations[entity_key(name)] = self.n_relations
            self._relation_names.append(display_name(name))
        return found

    def entity(self, number: int) -> str:
        """The display name of an entity."""
        known = len(self._known.entities)
        if number < known:
            return self._known.entities[number]
        return self._entity_names[number - known]

    def relation(self, number: int) -> str:
        """The display name of a relation."""
        known = len(self._known.relations)
        if number < known:
            return self._known.relations[number]
        return self._relation_names[number - known]
