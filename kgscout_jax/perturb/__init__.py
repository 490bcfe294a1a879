"""Deliberate mistakes in graphs, and how far a graph is from the one it was."""
