"""The oracle of every test of Personalized PageRank: networkx, nearly exact."""

import networkx as nx


def networkx_pagerank(edges, restart, direction, *, nodes=(), alpha=0.85) -> dict:
    """PageRank of the nodes of a multigraph; 0 throughout without a restart node."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from([*nodes, *restart])
    graph.add_edges_from(edges)
    if direction == "both":
        graph.add_edges_from((tail, head) for head, tail in edges)
    if not len(restart):
        return dict.fromkeys(graph, 0.0)
    return nx.pagerank(
        graph,
        alpha=alpha,
        personalization=dict.fromkeys(restart, 1.0),
        tol=1e-12,
        max_iter=5000,
    )
