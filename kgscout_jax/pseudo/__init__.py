"""Pseudo-graphs that a language model writes, verified against graphs (PG&AKV)."""
