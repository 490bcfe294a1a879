"""The store behind Bolt: Neo4j's own driver on the Bolt port of a real FalkorDB.

No server of Neo4j is on PyPI. FalkorDB takes the same driver and the same queries but
for indexes and vectors: those are translated. Its port is experimental: it keeps one
graph only, and fails where a parameter holds an apostrophe or ends with a backslash.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from stores.conftest import free_port, server_binaries
from stores.test_stores import TRIPLETS, embed

from kgscout_jax.cli.main import main
from kgscout_jax.errors import UserError
from kgscout_jax.stores import cypher
from kgscout_jax.stores.connect import connect
from kgscout_jax.stores.cypher import FalkorStore, Neo4jStore
from kgscout_jax.stores.protocol import Step

neo4j = pytest.importorskip("neo4j")
pytestmark = pytest.mark.extended
PLAIN = TRIPLETS[:4]
VECTOR_INDEX = """\
CREATE VECTOR INDEX FOR (n:Entity) ON (n.vector)
OPTIONS {dimension: 16, similarityFunction: 'cosine'}"""
NEAR = """\
CALL db.idx.vector.queryNodes('Entity', 'vector', $limit, vecf32($vector))
YIELD node, score RETURN node.name, 1 - score / 2 AS near ORDER BY near DESC"""
QUERIES = {
    cypher.NEO4J_INDEX: cypher.INDEX,
    Neo4jStore.set_vectors: FalkorStore.set_vectors,
    Neo4jStore.near: NEAR,
}


class Translation:
    """The driver, with FalkorDB's words for indexes and vectors."""

    def __init__(self, driver: Any):
        self.driver = driver

    def execute_query(self, query: str, values: dict[str, Any], **options: Any) -> Any:
        if query == cypher.NEO4J_VECTOR_INDEX:
            return self.driver.execute_query(VECTOR_INDEX, **options)
        query = QUERIES.get(query, query)
        return self.driver.execute_query(query, values, **options)


@pytest.fixture
def port(tmp_path) -> Iterator[int]:
    """The Bolt port of a FalkorDB server of this test."""
    pytest.importorskip("falkordb")
    binaries: Path = server_binaries()
    bolt = free_port(range(20_000 + os.getpid() % 10_000, 32_768))  # 16 bits, signed
    process = subprocess.Popen(
        [binaries / "redis-server", "--port", str(free_port()), "--bind", "127.0.0.1",
         "--save", "", "--loadmodule", binaries / "falkordb.so", "BOLT_PORT",
         str(bolt)], stdout=subprocess.DEVNULL, cwd=tmp_path,
    )  # fmt: skip
    try:
        time.sleep(0.1)
        yield bolt
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def driver(port: int) -> Iterator[Any]:
    """The official driver, connected."""
    url = f"bolt://127.0.0.1:{port}"
    deadline = time.monotonic() + 100
    with neo4j.GraphDatabase.driver(url, auth=("falkordb", "")) as made:
        while True:
            try:
                made.verify_connectivity()
                break
            except neo4j.exceptions.ServiceUnavailable:
                assert time.monotonic() < deadline
                time.sleep(0.1)
        yield made


def test_the_five_calls_and_the_export_go_through_bolt(driver):
    names = sorted({name for h, _, t in PLAIN for name in (h, t)})
    store = Neo4jStore(Translation(driver), 16, database="films")
    store.write(PLAIN, dict(zip(names, embed(names), strict=True)))
    store.write(PLAIN, {})  # nothing is there twice
    assert store.export() == PLAIN
    assert store.nodes_by_text("elizabeth TAYLOR", 5)[0].name == "Elizabeth Taylor"
    near = store.nodes_by_vector(embed(["Michael Wilding"])[0], 3)
    assert near[0].name == "Michael Wilding" and len(near) == 3
    assert near[0].score == pytest.approx(1, abs=1e-2)
    steps = store.relations(["elizabeth taylor"])
    assert steps == [Step("knew", False, 1), Step("married", True, 2)]
    assert steps[0].example == PLAIN[3]
    married = [Step("married", True)]
    assert store.targets(["Elizabeth Taylor"], married, 10) == PLAIN[:2]
    assert store.targets(["Elizabeth Taylor"], married, 1) == PLAIN[:1]
    assert store.targets(["Eddie Fisher"], married, 9) == []
    quoted = ('Tom "T" } DELETE (n) //', "said $x", "{key: 1}")
    store.write([quoted], {})
    assert store.targets([quoted[0]], [Step("said $x", True)], 9) == [quoted]


@pytest.mark.usefixtures("driver")
def test_what_a_server_does_not_take_is_one_line(port, export, capsys):
    """FalkorDB has no vector index in Neo4j's words."""
    url = f"bolt://falkordb@127.0.0.1:{port}"
    with pytest.raises(UserError, match=r"^Neo4j: .*DatabaseError"):
        connect(url, 16)
    assert main(["ask", str(export), "--kg", url, "Who directed Heat?"]) == 2
    error = capsys.readouterr().err
    assert "Neo4j: " in error and error.count("\n") == 1


def test_a_bolt_server_that_is_not_there_is_one_line():
    url = f"bolt://127.0.0.1:{free_port()}"
    with pytest.raises(UserError, match=r"bolt:.*Connection refused"):
        connect(url, 16)
