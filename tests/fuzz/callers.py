"""Attacks by callers: requests to the service and calls of the MCP server."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from film_world import export_initial, film_triplets
from fuzz.counting import Count
from fuzz.mutations import VALUES, changed_bytes, changed_document
from fuzz.strangers import NASTY
from text.hash_encoder import HashEncoder

from kgscout_jax.errors import UserError, escape
from kgscout_jax.export.load import load_exported
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import Scout

BODIES: dict[str, Any] = {
    "retrieve": {"question": "who directed Alien?", "k": 5, "topics": ["Alien"],
                 "graph": "films", "form": "lines", "triplet_format": "objects",
                 "text": True, "token_budget": 900},
    "answer": {"question": "who directed Heat?", "k": 3, "stream": False},
    "answer, streamed": {"question": "who directed Heat?", "stream": True},
    "verify": {"statement": "Alien was directed by Ridley Scott.", "graph": "films"},
    "picture": {"question": "who directed Alien?", "k": 4},
}  # fmt: skip
CALLS: dict[str, dict[str, Any]] = {
    "find_entity": {"text": "alien", "graph": "films"},
    "retrieve": {"question": "who directed Alien?", "k": 5, "topics": ["Alien"]},
    "answer": {"question": "who directed Heat?", "topics": None},
    "verify": {"statement": "Alien was directed by Ridley Scott."},
    "graphs": {},
}
DOCUMENTED = {200, 400, 404, 405, 413, 415, 421, 422}
"""Statuses that a request of any content may have; 429 and 5xx need more."""


class Refused(UserError):
    """A request that was refused in one line."""


def scout(folder: Path) -> tuple[Scout, KnowledgeGraph]:
    """A scout whose encoder hashes strings, and the graph of films."""
    encoder = HashEncoder()
    out = export_initial(encoder.identity, folder / "policy", seed=1)
    graph = KnowledgeGraph.from_triplets(film_triplets("Atelier"))
    return Scout(load_exported(out), encoder), graph


def changed_body(body: Any, rng: random.Random) -> bytes:
    """A request with other values, hostile text, or other bytes."""
    if rng.random() < 0.5 and isinstance(body, dict) and body:
        name = rng.choice([*body, "other"])
        value = rng.choice([*VALUES, *NASTY, "x" * 5000, ["Alien"] * 5000])
        return json.dumps({**body, name: value}).encode()
    return changed_document(json.dumps(body), rng)


def check_reply(reply: Any) -> str:
    """Raise unless a reply is a documented one; Refused for one that refuses."""
    assert reply.status_code in DOCUMENTED, f"status {reply.status_code}"
    if reply.status_code == 200:
        return ""
    value = json.loads(reply.content)
    assert list(value) == ["error"] and len(value["error"]) < 500, value
    assert escape(value["error"]) == value["error"], value
    raise Refused(value["error"])


def caller_attacks(folder: Path) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack by callers -> the function that runs it."""
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    for name in (*BODIES, "entities"):
        made[f"request, {name}"] = lambda count, rng, name=name: _requests(
            folder, name, count, rng
        )
    made["call of the MCP server"] = lambda count, rng: _calls(folder, count, rng)
    return made


def _requests(folder: Path, name: str, count: int, rng: random.Random) -> Count:
    """Requests to one path of the service, in one process."""
    from starlette.testclient import TestClient

    from kgscout_jax.serve.app import create_app
    from kgscout_jax.serve.settings import ServiceSettings

    policy, graph = scout(folder / name)
    settings = ServiceSettings(batch_wait_ms=0)
    result, path = Count(), "/" + name.partition(",")[0]
    with TestClient(create_app(policy, {"films": graph}, settings)) as client:
        for number in range(count):
            if name == "entities":
                send = partial(client.get, f"{path}?{_query(rng)}")
            else:
                kinds = ["application/json"] * 8 + ["text/plain", "application/xml", ""]
                send = partial(
                    client.post,
                    path,
                    content=changed_body(BODIES[name], rng),
                    headers={"content-type": rng.choice(kinds)},
                )
            use = partial(_checked, send)
            result.try_(use, None, f"request {number}")
    return result


def _checked(send: Callable[[], Any]) -> str:
    """What a reply amounts to."""
    return check_reply(send())


def _query(rng: random.Random) -> str:
    """The query of a request for entities, now and then with stray percent signs."""
    values = [str(rng.choice([*VALUES, *NASTY, "ali"])) for _ in range(3)]
    fields = rng.sample(["q", "q", "graph", "limit", "other"], 3)
    safe = "%" if rng.random() < 0.3 else ""
    parts = [
        f"{field}={quote(value, errors='replace', safe=safe)}"
        for field, value in zip(fields, values, strict=True)
    ]
    return "&".join(parts)[:3000]


def _calls(folder: Path, count: int, rng: random.Random) -> Count:
    """Calls with other arguments, and of tools that there are not, in one session."""
    from mcp import Client

    from kgscout_jax.serve.graphs import Graphs
    from kgscout_jax.serve.mcp_server import create_server
    from kgscout_jax.serve.settings import McpSettings

    policy, graph = scout(folder / "mcp")
    loading: Future = Future()
    loading.set_result((policy, Graphs({"films": graph})))
    server = create_server(loading, McpSettings(policy="policy", kg=(("films",),)))
    result = Count()

    async def work() -> None:
        async with Client(server) as client:
            for number in range(count):
                tool = rng.choice([*CALLS, "none"] if rng.random() < 0.1 else [*CALLS])
                arguments = _arguments(CALLS.get(tool, {}), rng)
                reply = await asyncio.wait_for(client.call_tool(tool, arguments), 60)

                def use(reply: Any = reply) -> str:
                    if reply.is_error:
                        text = reply.content[0].text
                        assert escape(text) == text and len(text) < 2100, text
                        raise Refused(text)
                    return repr(reply.structured_content)

                result.try_(
                    use, None, f"call {number} of {tool} with {arguments}"[:200]
                )

    asyncio.run(work())
    return result


def _arguments(arguments: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Other arguments, as a client's JSON can hold them."""
    while True:
        raw = changed_body(arguments, rng) if rng.random() < 0.9 else b"{}"
        try:
            value = json.loads(changed_bytes(raw, rng) if rng.random() < 0.05 else raw)
            json.dumps(value, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            return value
