"""Replies on disk: one small file per request, named by the request's fingerprint."""

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


def request_fingerprint(body: Mapping[str, Any]) -> str:
    """The hex sha256 of a request, whatever the order of its fields."""
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


@dataclass(frozen=True)
class ReplyCache:
    """A folder of replies; a file in it is whole or absent.

    The server's address is no part of a request's fingerprint, so that a server that
    comes back on another port is not asked again: use one folder per model served.
    """

    folder: Path

    def path(self, key: str) -> Path:
        """The file of the request with this fingerprint."""
        return self.folder / key[:2] / f"{key}.json"

    def get(self, key: str) -> dict[str, Any] | None:
        """The reply that ``put`` stored for this request; None if it is not whole."""
        path = self.path(key)
        if not path.exists():
            return None
        try:
            record = read_json(path)
        except UserError as error:
            logger.warning("%s; asking again", error)
            return None
        if (
            isinstance(record, dict)
            and (record.get("format"), record.get("key")) == (FORMAT, key)
            and isinstance(record.get("reply"), dict)
            and isinstance(record["reply"].get("text"), str)
        ):
            return record["reply"]
        logger.warning("%s: not a cached reply; asking again", path)
        return None

    def put(self, key: str, body: Mapping[str, Any], reply: Mapping[str, Any]) -> None:
        """Store a reply, with the request for people to read."""
        record = {"format": FORMAT, "key": key, "request": body, "reply": reply}
        write_json(self.path(key), record)
