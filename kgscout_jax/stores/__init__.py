"""Where a graph lies: the GRAPH folder, FalkorDB or Neo4j, behind five calls."""
