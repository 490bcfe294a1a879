"""Entity linking: which entities of a graph a question is about.

    index = LinkIndex.build(names, degrees=degrees)    # once; then save and open
    Linker(index).link("who directed the godfather")   # [Link(name="The Godfather")]

Names and aliases are found by their normalised key, then by words and misspelt words,
and on request by embeddings (``vectors``). A logistic model ranks what is found.
"""

from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.linker import Link, Linker, LinkSettings

__all__ = ["Link", "LinkIndex", "LinkSettings", "Linker"]
