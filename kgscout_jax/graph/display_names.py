"""Names of relations and of entities in memory, from labels by their ids."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kgscout_jax.graph.relation_names import relation_problem
from kgscout_jax.types import display_name, entity_key


class LabelTable:
    """Labels by id, in memory: the one of the lowest rank, then the first, counts."""

    def __init__(self) -> None:
        self._labels: dict[str, tuple[int, str]] = {}

    def __call__(self, id: str, name: str, rank: int) -> None:
        """Add a label."""
        key = entity_key(id)
        known = self._labels.get(key)
        if known is None or rank < known[0]:
            self._labels[key] = rank, display_name(name)

    def __len__(self) -> int:
        return len(self._labels)

    def get(self, id: str) -> str | None:
        """The label of an id; None without one."""
        found = self._labels.get(entity_key(id))
        return None if found is None else found[1]


def named_entities(ids: Sequence[str], labels: LabelTable) -> list[str]:
    """The name of each entity: its label or its id, all different.

    Of several with one label, all but the first have the id in brackets. A literal
    that is spelled as a label is marked as text.
    """
    names = [labels.get(id) for id in ids]
    taken = {entity_key(id) for id, name in zip(ids, names, strict=True) if name}
    out: dict[int, str] = {}
    used: set[str] = set()
    order = sorted(range(len(ids)), key=lambda i: names[i] is None)
    for i in order:
        name = names[i] or ids[i]
        other = f"{name} (text)" if names[i] is None else f"{name} ({ids[i]})"
        key = entity_key(name)
        # A label may be the id of another entity, which then keeps it.
        if key in used or (key in taken and key != entity_key(ids[i])):
            name = other
        while entity_key(name) in used:
            name += "'"
        used.add(entity_key(name))
        out[i] = name
    return [out[i] for i in range(len(ids))]


def named_relations(
    ids: Sequence[str],
    find: Callable[[str], str | None],
    given: Mapping[str, str] | None = None,
) -> list[str]:
    """The name of each relation, all different.

    Args:
        ids: the relations as files spell them.
        find: the label of an id; it names relations that are identifiers (P31).
        given: names that the user gives, which take precedence.
    """
    out: list[str] = []
    used = set(ids)
    for id in ids:
        name = (given or {}).get(id)
        if name is None and relation_problem(id) == "identifier":
            name = find(id)
        name = display_name(name) if name else id
        if name != id and name in used:
            name = f"{name} ({id})"
        used.add(name)
        out.append(name)
    return out
