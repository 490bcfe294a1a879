"""Runs one Cypher query in a process of its own that can open nothing.

It is started by its path, reads the query from standard input and prints its nodes and
edges as JSON. After the engine is loaded no file and no connection can be opened, and
time and memory are limited. In the caller's process the engine would also take the
static thread-local storage that other libraries need.
"""

from __future__ import annotations

import json
import resource
import sys
from typing import Any

SECONDS = 10
MEMORY = 2 << 30


def main() -> None:
    """Read a query, print {"nodes", "edges"} or {"error"}."""
    code = sys.stdin.read()
    try:
        import kglite
    except ImportError:
        print(json.dumps({"missing": "kglite"}))
        return
    graph = kglite.KnowledgeGraph()
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
    try:
        graph.cypher(code)
        found: Any = graph.cypher("MATCH (a) RETURN a")
        nodes = [row["a"] for row in found]
        rows: Any = graph.cypher("MATCH (a)-[r]->(b) RETURN a, r, b")
        edges = [(row["a"], row["r"], row["b"]) for row in rows]
    except Exception as error:  # noqa: BLE001 (whatever the engine says is the reply)
        text = str(error) or type(error).__name__
        print(json.dumps({"error": text.splitlines()[0]}))
        return
    print(json.dumps({"nodes": nodes, "edges": edges}, default=str))


if __name__ == "__main__":
    main()
