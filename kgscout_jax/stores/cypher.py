"""Stores that speak Cypher: FalkorDB, and Neo4j by Bolt.

Nodes are ``(:Entity {key, name, vector})``, triplets ``-[:TRIPLET {name}]->``: one type
of edge, because a type cannot be a parameter. Whatever comes from a graph or a question
is a parameter; no query is put together from it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from kgscout_jax.errors import UserError
from kgscout_jax.stores.protocol import NodeMatch, Step, batches
from kgscout_jax.types import Triplet, display_name, entity_key

Run = Callable[[str, dict[str, Any]], list[list[Any]]]
"""A query and its parameters to rows."""
BATCH = 1000

INDEX = "CREATE INDEX FOR (n:Entity) ON (n.key)"
INDEX_STATES = "CALL db.indexes() YIELD status RETURN status"
INDEX_SECONDS = 600
NEO4J_INDEX = "CREATE INDEX entity_keys IF NOT EXISTS FOR (n:Entity) ON (n.key)"
NEO4J_VECTOR_INDEX = """\
CREATE VECTOR INDEX entity_vectors IF NOT EXISTS FOR (n:Entity) ON (n.vector) \
OPTIONS $options"""
BY_TEXT = """\
MATCH (n:Entity) WHERE n.key CONTAINS $text OR $text CONTAINS n.key
RETURN n.name, size(n.key)
ORDER BY abs(size(n.key) - size($text)), n.key LIMIT $limit"""
FORWARD = """\
MATCH (n:Entity)-[r:TRIPLET]->(m:Entity) WHERE n.key IN $keys
WITH n, r, m ORDER BY n.key, m.key
RETURN r.name, count(r), head(collect(n.name)), head(collect(m.name))"""
BACKWARD = """\
MATCH (m:Entity)-[r:TRIPLET]->(n:Entity) WHERE n.key IN $keys
WITH n, r, m ORDER BY m.key, n.key
RETURN r.name, count(r), head(collect(m.name)), head(collect(n.name))"""
HEADS = """\
MATCH (n:Entity)-[r:TRIPLET]->(m:Entity) WHERE n.key IN $keys AND r.name IN $names
RETURN n.name, r.name, m.name ORDER BY n.key, r.name, m.key LIMIT $limit"""
TAILS = """\
MATCH (m:Entity)-[r:TRIPLET]->(n:Entity) WHERE n.key IN $keys AND r.name IN $names
RETURN m.name, r.name, n.name ORDER BY m.key, r.name, n.key LIMIT $limit"""
ADD = """\
UNWIND $rows AS row
MERGE (h:Entity {key: row.head_key}) ON CREATE SET h.name = row.head
MERGE (t:Entity {key: row.tail_key}) ON CREATE SET t.name = row.tail
MERGE (h)-[:TRIPLET {name: row.relation}]->(t)"""
EXPORT = """\
MATCH (h:Entity)-[r:TRIPLET]->(t:Entity)
RETURN h.name, r.name, t.name ORDER BY h.key, r.name, t.key SKIP $skip LIMIT $limit"""


def whole_words(text: str) -> str:
    """The words of a text between spaces, to look for names in."""
    words = " ".join(re.findall(r"[^\W_]+", text))
    return f" {words} "


class CypherStore:
    """A store behind queries; subclasses know the dialect of vectors."""

    product: str
    near: str
    set_vectors: str

    def __init__(self, run: Run, refusals: tuple[type[Exception], ...]):
        """
        Args:
            run: runs a query.
            refusals: what the client raises where the database cannot or will not.
        """

        def checked(query: str, values: dict[str, Any]) -> list[list[Any]]:
            try:
                return run(query, values)
            except refusals as error:
                problem = " ".join(str(error).split())
                raise UserError(f"{self.product}: {problem}") from None

        self.run = checked

    def nodes_by_text(self, text: str, limit: int) -> list[NodeMatch]:
        """Nodes that the text names by whole words, or whose names hold the text,
        nearest in length first.
        """
        key = entity_key(text)
        words = whole_words(key)
        # more than asked for: part of a word is no name
        rows = self.run(BY_TEXT, {"text": key, "limit": 4 * limit})
        found = [
            NodeMatch(name, min(size, len(key)) / max(size, len(key), 1))
            for name, size in rows
            if size >= len(key) or whole_words(entity_key(name)) in words
        ]
        return found[:limit]

    def nodes_by_vector(
        self, vector: Float[np.ndarray, "d"], limit: int
    ) -> list[NodeMatch]:
        """Nodes whose embedding is nearest, best first."""
        values = [float(x) for x in vector]
        rows = self.run(self.near, {"vector": values, "limit": limit})
        return [NodeMatch(name, self.cosine(score)) for name, score in rows]

    @staticmethod
    def cosine(score: float) -> float:
        """The cosine, from what the index gives."""
        return score

    def relations(self, nodes: Sequence[str]) -> list[Step]:
        """The relations of the nodes in both directions, by name."""
        keys = {"keys": list(map(entity_key, nodes))}
        steps = [
            Step(name, forward, n, (head, name, tail))
            for query, forward in ((FORWARD, True), (BACKWARD, False))
            for name, n, head, tail in self.run(query, keys)
        ]
        return sorted(steps, key=lambda step: (step.relation, not step.forward))

    def targets(
        self, nodes: Sequence[str], steps: Sequence[Step], limit: int
    ) -> list[Triplet]:
        """Triplets of the nodes with these relations."""
        found: dict[Triplet, None] = {}
        for query, forward in ((HEADS, True), (TAILS, False)):
            names = [step.relation for step in steps if step.forward is forward]
            if names:
                keys = list(map(entity_key, nodes))
                values = {"keys": keys, "names": names, "limit": limit}
                found |= dict.fromkeys((h, r, t) for h, r, t in self.run(query, values))
        return list(found)[:limit]

    def write(
        self,
        triplets: Sequence[Triplet],
        vectors: dict[str, Float[np.ndarray, "d"]],
    ) -> None:
        """Add triplets, in bulk, and embeddings of nodes."""
        for part in batches(triplets, BATCH):
            rows = [
                {
                    "head": display_name(h), "head_key": entity_key(h), "relation": r,
                    "tail": display_name(t), "tail_key": entity_key(t),
                }
                for h, r, t in part
            ]  # fmt: skip
            self.run(ADD, {"rows": rows})
        rows = [
            {"key": entity_key(name), "vector": [float(x) for x in vector]}
            for name, vector in vectors.items()
        ]
        for start in range(0, len(rows), BATCH):
            self.run(self.set_vectors, {"rows": rows[start : start + BATCH]})

    def export(self) -> list[Triplet]:
        """All triplets, by name."""
        found: list[Triplet] = []
        while True:
            page = self.run(EXPORT, {"skip": len(found), "limit": 10 * BATCH})
            found += [(h, r, t) for h, r, t in page]
            if len(page) < 10 * BATCH:
                return found


def await_indexes(run: Run) -> None:
    """Return when FalkorDB has filled its indexes, which it does beside its replies.

    Raises:
        UserError: it takes longer than ``INDEX_SECONDS``.
    """
    end = time.monotonic() + INDEX_SECONDS
    while any(status != "OPERATIONAL" for (status,) in run(INDEX_STATES, {})):
        if time.monotonic() > end:
            raise UserError(
                f"FalkorDB: indexes are not filled after {INDEX_SECONDS} seconds; "
                "try again later"
            )
        time.sleep(0.05)


class FalkorStore(CypherStore):
    """A graph in FalkorDB."""

    product = "FalkorDB"
    near = """\
CALL db.idx.vector.queryNodes('Entity', 'vector', $limit, vecf32($vector))
YIELD node, score RETURN node.name, score ORDER BY score, node.key"""
    set_vectors = """\
UNWIND $rows AS row MATCH (n:Entity {key: row.key}) SET n.vector = vecf32(row.vector)"""

    def __init__(self, graph: Any, dimension: int):
        """
        Args:
            graph: a ``falkordb.Graph``.
            dimension: of the embeddings; at least 1.
        """

        def run(query: str, values: dict[str, Any]) -> list[list[Any]]:
            return graph.query(query, values).result_set

        from redis.exceptions import RedisError

        super().__init__(run, (OSError, RedisError))
        # options of an index take no parameters: a whole number cannot hold a query
        options = f"dimension: {int(dimension)}, similarityFunction: 'cosine'"
        index = (
            "CREATE VECTOR INDEX FOR (n:Entity) ON (n.vector) OPTIONS {" + options + "}"
        )
        for query in (INDEX, index):
            try:
                self.run(query, {})
            except UserError as error:
                if "already indexed" not in str(error):
                    raise
        await_indexes(self.run)

    @staticmethod
    def cosine(score: float) -> float:
        """FalkorDB gives the cosine's distance."""
        return 1.0 - score

    @staticmethod
    def connect(
        name: str,
        dimension: int,
        *,
        host: str = "127.0.0.1",
        port: int = 6379,
        user: str | None = None,
        password: str | None = None,
    ) -> FalkorStore:
        """The graph ``name`` of a server.

        Raises:
            UserError: the client is not installed, or there is no server.
        """
        try:
            from falkordb import FalkorDB
            from redis.exceptions import RedisError
        except ImportError:
            raise UserError(
                "falkordb is not installed: pip install 'kgscout-jax[falkordb]'"
            ) from None
        try:
            server = FalkorDB(host=host, port=port, username=user, password=password)
            return FalkorStore(server.select_graph(name), dimension)
        except (OSError, RedisError) as error:
            raise UserError(f"FalkorDB at {host}:{port}: {error}") from None


class Neo4jStore(CypherStore):
    """A graph in Neo4j, by Bolt."""

    product = "Neo4j"
    near = """\
CALL db.index.vector.queryNodes('entity_vectors', $limit, $vector)
YIELD node, score RETURN node.name, score ORDER BY score DESC, node.key"""
    set_vectors = """\
UNWIND $rows AS row MATCH (n:Entity {key: row.key})
CALL db.create.setNodeVectorProperty(n, 'vector', row.vector)"""

    def __init__(self, driver: Any, dimension: int, *, database: str | None = None):
        """
        Args:
            driver: of the library neo4j.
            dimension: of the embeddings.
            database: None for the default one.
        """

        def run(query: str, values: dict[str, Any]) -> list[list[Any]]:
            records, _, _ = driver.execute_query(query, values, database_=database)
            return [list(record.values()) for record in records]

        from neo4j.exceptions import DriverError, Neo4jError

        super().__init__(run, (OSError, DriverError, Neo4jError))
        config = {
            "vector.dimensions": int(dimension),
            "vector.similarity_function": "cosine",
        }
        self.run(NEO4J_INDEX, {})
        self.run(NEO4J_VECTOR_INDEX, {"options": {"indexConfig": config}})

    @staticmethod
    def cosine(score: float) -> float:
        """Neo4j gives (1 + cosine) / 2."""
        return 2 * score - 1

    @staticmethod
    def connect(
        url: str,
        dimension: int,
        *,
        user: str = "neo4j",
        password: str = "",
        database: str | None = None,
    ) -> Neo4jStore:
        """A database of a server, bolt://127.0.0.1:7687; None for the default one.

        Raises:
            UserError: the client is not installed, or the server refuses.
        """
        try:
            import neo4j
        except ImportError:
            raise UserError(
                "neo4j is not installed: pip install 'kgscout-jax[neo4j]'"
            ) from None
        driver = neo4j.GraphDatabase.driver(url, auth=(user, password))
        refusals = neo4j.exceptions.DriverError, neo4j.exceptions.Neo4jError
        try:
            driver.verify_connectivity()
        except (OSError, *refusals) as error:
            driver.close()
            raise UserError(f"{url}: {error}") from None
        return Neo4jStore(driver, dimension, database=database)
