"""Words for what is from a country: "Swiss firms" names Switzerland."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from kgscout_jax.text.place_names import FILE, places
from kgscout_jax.utils.io import sha256_file


@cache
def demonyms_sha256() -> str:
    """Checksum of the list."""
    return sha256_file(FILE)


def demonym_aliases(find: Callable[[str], Iterable[int]]) -> Iterator[tuple[str, int]]:
    """(alias, entity) for each country of a graph: such words, and its other names.

    Args:
        find: returns the entities of a name, possibly none.

    >>> cities = {"Georgia": [4], "United Kingdom": [7]}
    >>> list(demonym_aliases(lambda name: cities.get(name, [])))[-2:]
    [('Britain', 7), ('British', 7)]
    """
    for names, words in places():
        found = {name: [*find(name)] for name in names}
        for entity in {entity for entities in found.values() for entity in entities}:
            other = [name for name, entities in found.items() if not entities]
            yield from ((alias, entity) for alias in (*other, *words))
