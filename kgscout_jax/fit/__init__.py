"""A policy for a graph in one command: questions, training, export, a report."""
