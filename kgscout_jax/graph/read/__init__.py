"""Readers of triplet files and of files that name entities."""
