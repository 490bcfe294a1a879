"""Documents to a graph: read, chunk, extract triplets, resolve names, build."""
