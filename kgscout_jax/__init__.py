"""KG-Scout: the triplets of a knowledge graph that a language model needs."""

__version__ = "0.1.0"
