"""The table of the networks' numbers of parameters, from the code."""

from __future__ import annotations

from typing import Any

from kgscout_jax.utils.tables import markdown_table

NETWORKS = ("thesis", "walk", "mlp")


def parameters(_: object) -> str:
    """Numbers of parameters of the networks that ship, at 384 dimensions."""
    from kgscout_jax.policy.registry import ARCHITECTURES

    rows = [
        [f"`--policy {name}`", f"{parameter_count(ARCHITECTURES[name].config()):,}"]
        for name in NETWORKS
    ]
    walk: Any = ARCHITECTURES["walk"].config
    without = parameter_count(walk(answers=0))
    rows.insert(2, ["`--policy walk --answer-width 0`", f"{without:,}"])
    words = parameter_count(walk(word_rank=0))
    rows.insert(3, ["`--policy walk --word-rank 0`", f"{words:,}"])
    return markdown_table(["network", "parameters at 384 dimensions"], rows)


def parameter_count(config: Any) -> int:
    """How many numbers a network has."""
    import jax

    from kgscout_jax.policy.registry import weight_shapes

    return sum(leaf.size for leaf in jax.tree.leaves(weight_shapes(config)))
