"""The MCP server, called by the official SDK's own client: in memory and over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import get_args

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")
from film_world import film_triplets
from mcp import Client, StdioServerParameters, stdio_client

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.result import Status
from kgscout_jax.serve.graphs import Graphs
from kgscout_jax.serve.mcp_server import create_server
from kgscout_jax.serve.settings import McpSettings

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "who directed Alien?"
SETTINGS = McpSettings(policy="policy", kg=(("films",),), max_question_chars=100)


def called(server, *calls):
    """What each (tool, arguments) gives."""

    async def work():
        async with Client(server) as client:
            return [await client.call_tool(name, given) for name, given in calls]

    return asyncio.run(asyncio.wait_for(work(), 300))


def serving(scout, **graphs):
    """A server that has loaded."""
    loading: Future = Future()
    loading.set_result((scout, Graphs(graphs)))
    return create_server(loading, SETTINGS)


@pytest.fixture(scope="module")
def server(scout, graph):
    other = KnowledgeGraph.from_triplets(film_triplets("Atelier"))
    return serving(scout, films=graph, other=other)


def test_an_entity_is_found_and_a_question_answered(server, scout, graph):
    entities, answered, missing = called(
        server,
        ("find_entity", {"text": "who made alien"}),
        ("answer", {"question": QUESTION, "topics": ["Alien", "Mu"]}),
        ("find_entity", {"text": "x", "graph": "no-such"}),
    )
    found = entities.structured_content["result"]
    assert found[0]["name"] == "Alien"
    assert missing.is_error and "no-such" in missing.content[0].text
    result = scout.retrieve(QUESTION, graph, topics="Alien")
    reply = answered.structured_content
    assert (reply["graph"], reply["status"]) == ("films", result.status)
    assert (reply["topics"], reply["topics_not_found"]) == (["Alien"], ["Mu"])
    names = [each["name"] for each in reply["answers"]]
    assert names == [each.name for each in result.answers]


def test_tools_say_what_they_take(server):
    async def work():
        async with Client(server) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(work())}
    assert set(tools) == {"find_entity", "retrieve", "answer", "verify", "graphs"}
    schema = tools["retrieve"].input_schema
    assert schema["required"] == ["question"]
    assert set(schema["properties"]) == {"question", "k", "topics", "graph"}
    assert schema["properties"]["k"]["default"] == 100
    assert tools["retrieve"].output_schema["required"]
    assert tools["retrieve"].annotations.read_only_hint
    answered = tools["answer"].output_schema["properties"]
    assert answered["status"]["enum"] == list(get_args(Status))


def test_it_retrieves_what_the_scout_finds(server, scout, graph):
    given = {"question": QUESTION, "k": 5}
    plain, with_topics, graphs = called(
        server,
        ("retrieve", given),
        ("retrieve", given | {"topics": ["Heat", "Mu"], "graph": "other"}),
        ("graphs", {}),
    )
    found = scout.retrieve(QUESTION, graph, 5)
    assert not plain.is_error
    assert plain.structured_content == {
        "graph": "films",
        "topics": ["Alien"],
        "topics_not_found": [],
        "triplets": [list(triplet) for triplet in found.triplets],
        "answers": [],  # of a policy without an answer head
        "sources": [],  # of a single graph
    }
    assert with_topics.structured_content["topics_not_found"] == ["Mu"]
    assert with_topics.structured_content["topics"] == ["Heat"]
    sizes = {"entities": len(graph.entities), "triplets": len(graph.triplets)}
    (first, second) = graphs.structured_content["result"]
    assert first == {"name": "films", **sizes} and second["name"] == "other"


def test_it_verifies_statements(server):
    statement = "Alien was directed by Ridley Scott."
    told, empty, unknown = called(
        server,
        ("verify", {"statement": statement}),
        ("verify", {"statement": " "}),
        ("verify", {"statement": statement, "graph": "no"}),
    )
    (claim,) = told.structured_content["claims"]
    assert claim["verdict"] == "supported"
    assert claim["triplets"] == [["Alien", "directed_by", "Ridley Scott"]]
    assert empty.is_error and "statement: found nothing" in empty.content[0].text
    assert unknown.is_error and "not loaded" in unknown.content[0].text


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"question": " "}, "question: found nothing"),
        (
            {"question": "x" * 101},
            "question: found 101 characters, expected at most 100",
        ),
        ({"question": "q", "k": 201}, "k: found 201, expected at most 200"),
        ({"question": "q", "k": 0}, "k: found 0, expected at least 1"),
        ({"question": "q", "k": True}, "retrieve: k: found"),
        ({"question": "q", "k": "5"}, "retrieve: k: found"),
        (
            {"question": "q", "k": 10**400},
            "k: found a very large number, expected at most",
        ),
        (
            {"question": "q", "limit": 3},
            "retrieve: limit: found 3, expected no such field",
        ),
        ({"question": "q", "graph": "/etc/passwd"}, "is not loaded, expected one of"),
        ({"question": "q", "topics": [""]}, "topics: one is empty"),
        ({"question": "q", "topics": ["x" * 1001]}, "at most 1000 characters"),
        ({}, "question"),
    ],
)
def test_a_refusal_reaches_the_model(server, given, told):
    (result,) = called(server, ("retrieve", given))
    assert result.is_error
    assert told in result.content[0].text
    assert "\n" not in result.content[0].text and len(result.content[0].text) < 500


def test_damaged_embeddings_are_told_without_a_path(scout):
    import numpy as np

    graph = KnowledgeGraph.from_triplets(film_triplets())
    graph.embed(scout.encoder).triplets[:] = np.nan
    (result,) = called(
        serving(scout, broken=graph), ("retrieve", {"question": QUESTION})
    )
    assert result.is_error
    assert result.content[0].text.endswith("the graph cannot be searched")


def test_tools_are_listed_before_loading_ends(scout, graph):
    loading: Future = Future()
    server = create_server(loading, SETTINGS)

    async def work():
        async with Client(server) as client:
            assert (await client.list_tools()).tools
            call = asyncio.create_task(client.call_tool("graphs", {}))
            await asyncio.sleep(0.05)
            assert not call.done()
            loading.set_result((scout, Graphs({"films": graph})))
            return await call

    result = asyncio.run(asyncio.wait_for(work(), 300))
    assert result.structured_content["result"][0]["name"] == "films"


def test_a_failed_load_is_reported_to_the_caller():
    loading: Future = Future()
    loading.set_exception(UserError("g/manifest.json: damaged"))
    (result,) = called(create_server(loading, SETTINGS), ("graphs", {}))
    assert result.is_error
    told = "the server cannot work: g/manifest.json: damaged"
    assert result.content[0].text.endswith(told)


@pytest.mark.extended
def test_every_malformed_message_is_answered_by_its_id():
    code = (
        "import asyncio\n"
        "from concurrent.futures import Future\n"
        "from kgscout_jax.errors import UserError\n"
        "from kgscout_jax.serve.mcp_server import create_server, serve_stdio\n"
        "from kgscout_jax.serve.settings import McpSettings\n"
        "loading = Future(); loading.set_exception(UserError('no graph'))\n"
        "server = create_server(loading, McpSettings(policy='p', kg=(('f',),)))\n"
        "asyncio.run(serve_stdio(server))\n"
    )
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    call = {"jsonrpc": "2.0", "method": "tools/call"}
    sent = [
        {**call, "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {**call, "id": 2, "params": []},
        {**call, "id": "three", "params": {"name": "retrieve", "arguments": "x"}},
        {**call, "id": 4, "method": 7},
        {"id": 5, "method": "tools/list"},
        {**call, "id": 6, "params": {"name": "retrieve", "arguments": "\ud800"}},
        {**call, "id": 7},
    ]
    lines = [json.dumps(message) for message in sent]
    lines += ["not json", "[1]", "", "\x00", json.dumps({**call, "id": 8})]
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None and process.stdout is not None
    with process:
        process.stdin.write("\n".join(lines) + "\n")
        process.stdin.flush()
        replies = [json.loads(process.stdout.readline()) for _ in range(11)]
        process.stdin.close()
        assert process.wait(300) == 0
    ids = [reply["id"] for reply in replies]
    assert set(ids) == {1, 2, "three", 4, 5, 6, 7, 8, None} and ids.count(None) == 3
    errors = {reply["id"]: reply["error"]["code"] for reply in replies[1:]}
    assert errors == {
        2: -32600, "three": -32602, 4: -32600, 5: -32600, 6: -32600, 7: -32602,
        8: -32602, None: -32700,
    }  # fmt: skip


def test_over_standard_input_and_output(export, films):
    code = "import sys; from kgscout_jax.cli.main import main; sys.exit(main())"
    server = StdioServerParameters(
        command=sys.executable,
        args=["-c", code, "mcp", str(export), "--kg", f"movies={films}"],
        cwd=ROOT,
        env=dict(os.environ),
    )

    async def work():
        async with Client(stdio_client(server)) as client:
            graphs = await client.call_tool("graphs", {})
            given = {"question": QUESTION, "k": 32}
            return graphs, await client.call_tool("retrieve", given)

    graphs, found = asyncio.run(asyncio.wait_for(work(), 300))
    assert graphs.structured_content["result"][0]["name"] == "movies"
    triplets = found.structured_content["triplets"]
    assert ["Alien", "directed_by", "Ridley Scott"] in triplets
