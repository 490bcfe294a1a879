"""Builders of the graphs that `recipes/base_graphs.py` writes, one module a domain."""
