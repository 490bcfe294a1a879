"""Reader of a file of aliases."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import open_text

logger = logging.getLogger("kgscout")


def read_aliases(
    path: Path, find: Callable[[str], Iterable[int]]
) -> list[tuple[str, int]]:
    """(alias, entity) per line ``name TAB alias`` of a plain or .gz file.

    Names that are not in the graph are skipped; the log has their number.

    Args:
        find: returns the entities of a name, possibly none.

    Raises:
        UserError: a line is not two filled columns, or no name is in the graph.
    """
    aliases: list[tuple[str, int]] = []
    lines = skipped = 0
    with open_text(path) as handle:
        for number, line in enumerate(handle, start=1):
            if not line.strip():
                continue
            cells = line.rstrip("\r\n").split("\t")
            if len(cells) != 2 or not all(map(str.strip, cells)):
                raise UserError(
                    f"{path}:{number}: expected name TAB alias, found {len(cells)} "
                    f"column{'s' * (len(cells) != 1)}"
                    + (", one of them empty" if len(cells) == 2 else "")
                )
            lines += 1
            entities = list(find(cells[0]))
            skipped += not entities
            aliases += [(cells[1].strip(), int(entity)) for entity in entities]
    if lines and not aliases:
        raise UserError(f"{path}: none of its {lines} names is in the graph")
    if skipped:
        logger.info("%s: %d of %d names are not in the graph", path, skipped, lines)
    return aliases
