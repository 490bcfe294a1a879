"""Properties of nodes that say how a node is drawn, as graph editors export them."""

from __future__ import annotations

from collections.abc import Iterable

from kgscout_jax.graph.read.header import plain

_ALWAYS = frozenset(("fx", "fy", "vx", "vy", "viz", "graphics"))
"""Names that mean nothing but drawing (D3, Gephi)."""
_PLACES = frozenset(("x", "y", "z"))
_BESIDE_PLACES = frozenset(
    (
        *_PLACES,
        *("r", "g", "b", "a", "alpha", "opacity", "color", "colour", "fill", "stroke"),
        *("size", "shape", "width", "height", "radius", "font", "fixed", "selected"),
        *("locked", "visible", "pinned", "label_visible", "label_size", "index"),
    )
)


def drawing_names(names: Iterable[str]) -> frozenset[str]:
    """Those of a node's properties that say how it is drawn.

    A color or a size may be a fact; it is drawing where the node has a place, x and y.
    """
    by_plain = {name: plain(name) for name in names}
    placed = {"x", "y"} <= set(by_plain.values())
    drawn = _ALWAYS | _BESIDE_PLACES if placed else _ALWAYS
    return frozenset(name for name, known in by_plain.items() if known in drawn)
