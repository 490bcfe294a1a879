"""Readers of triplet files and of files that name entities."""

from kgscout_jax.graph.read.triplets import read_triplets

__all__ = ["read_triplets"]
