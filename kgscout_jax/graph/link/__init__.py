"""Entity linking: the entities of a graph that a question is about.

    index = build_index(names, degrees=degrees)        # once; then save and open
    Linker(index).link("who directed the godfather")   # [Link(name="The Godfather")]

Names and aliases are matched by their normalised key, then by words and misspelt words.
A logistic model scores the candidates.
"""

from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.index_build import build_index
from kgscout_jax.graph.link.linker import Linker
from kgscout_jax.graph.link.links import Link, LinkSettings

__all__ = ["Link", "LinkIndex", "LinkSettings", "Linker", "build_index"]
