"""Replies on disk: one small file per request, found by the request's hash."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json, write_json

logger = logging.getLogger("kgscout.reason")

FORMAT = 1
"""Version of the files."""


def request_hash(body: Mapping[str, Any]) -> str:
    """The hex sha256 of what is asked: the same whatever the order of its fields."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class ReplyCache:
    """A folder of replies; a file in it is whole or absent.

    The server's address is no part of a request's hash, so that a server that comes
    back on another port is not asked again: keep one folder per model served.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """Where the reply to the request with this hash stands."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """What ``put`` was given for this request; None if there is nothing whole."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            entry = read_json(path)
        except UserError as error:
            logger.warning("%s; asking again", error)
            return None
        if (
            isinstance(entry, dict)
            and (entry.get("format"), entry.get("key")) == (FORMAT, key)
            and isinstance(entry.get("reply"), dict)
            and isinstance(entry["reply"].get("text"), str)
        ):
            return entry["reply"]
        logger.warning("%s: not a cached reply; asking again", path)
        return None

    def put(self, key: str, body: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Keep a reply, with the request for people to read."""
        entry = {"format": FORMAT, "key": key, "request": body, "reply": reply}
        write_json(self.path(key), entry)
