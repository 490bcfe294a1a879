"""Open questions about a graph: written, scored, compared with people's scores."""
