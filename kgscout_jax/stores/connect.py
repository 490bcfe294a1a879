"""Stores by URL: falkordb://HOST:PORT/NAME, bolt://HOST:PORT, neo4j://HOST:PORT."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from kgscout_jax.errors import UserError
from kgscout_jax.stores.cypher import CypherStore, FalkorStore, Neo4jStore

SCHEMES = ("falkordb", "bolt", "neo4j")
FORMS = "falkordb://HOST:PORT/NAME, bolt://HOST:PORT or neo4j://HOST:PORT"
PASSWORD = "KGSCOUT_STORE_PASSWORD"
"""Environment variable with the password of a user that the URL names without one."""


def store_url(paths: Sequence[Path | str]) -> str | None:
    """The URL of a store among the values of ``--kg``; None if they are files.

    A path has lost one of the two slashes.

    Raises:
        UserError: there are further values beside it.
    """
    for path in paths:
        if found := re.match(rf"({'|'.join(SCHEMES)}):/+(.+)", str(path)):
            if len(paths) > 1:
                raise UserError(f"--kg: {path}: expected a store alone, or files")
            return f"{found[1]}://{found[2]}"
    return None


def connect(url: str, dimension: int) -> CypherStore:
    """The store at a URL.

    Args:
        url: one of ``FORMS``, with USER:PASSWORD@ before the host if need be.
        dimension: of the embeddings of nodes.

    Raises:
        UserError: it is no such URL, the client is not installed, or nothing answers.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"{url}: {error}, expected {FORMS}") from None
    name = unquote(parts.path.strip("/"))
    if parts.scheme not in SCHEMES or not parts.hostname:
        raise UserError(f"--store: {url!r}, expected {FORMS}")
    user = unquote(parts.username or "")
    password = unquote(parts.password or os.environ.get(PASSWORD, ""))
    if parts.scheme != "falkordb":
        address = f"{parts.scheme}://{parts.hostname}:{port or 7687}"
        return Neo4jStore.connect(
            address,
            dimension,
            user=user or "neo4j",
            password=password,
            database=name or None,
        )
    if not name:
        raise UserError(
            f"{url}: no name of a graph, expected falkordb://HOST:PORT/NAME"
        )
    return FalkorStore.connect(
        name,
        dimension,
        host=parts.hostname,
        port=port or 6379,
        user=user or None,
        password=password or None,
    )
