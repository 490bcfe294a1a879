"""The manifest of a folder of shards: its format, version and the types of its fields.

The record holds every field; a reader gets the JSON value, of which other fields, as
a later version may add them, are left alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict

from msgspec import Meta

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.manifest import FileEntry, as_record

FORMAT = "kgscout-shards"
VERSION = 2
NEEDED = ("source", "fingerprint", "encoder", "splits", "files")
"""Fields of the manifest that a reader needs."""

Count = Annotated[int, Meta(ge=0, le=2**53)]


class Encoder(TypedDict):
    """The identity of the encoder."""

    name: str
    weights_sha256: str
    dimension: Annotated[int, Meta(ge=1)]
    text_version: int
    query_prefix: NotRequired[str]
    document_prefix: NotRequired[str]
    backend: NotRequired[str]


class Survival(TypedDict):
    """What each cut of a group of questions leaves."""

    questions: Count
    topics: Count
    with_answer: dict[str, Count]
    answers: dict[str, Count]


class SplitCounts(TypedDict):
    """Counts of a split."""

    questions: NotRequired[Count]
    read: NotRequired[Count]
    dropped_without_answer: NotRequired[Count]
    topics_not_found: NotRequired[Count]
    topics_from_text: NotRequired[Count]
    candidates: NotRequired[Count]
    width: NotRequired[Count]
    survival: NotRequired[dict[str, Survival]]


class Stage(TypedDict):
    """A stage of the preparation."""

    seconds: float


class ShardManifest(TypedDict):
    """The content of ``manifest.json``."""

    source: str
    fingerprint: str
    encoder: Encoder
    splits: dict[str, SplitCounts]
    files: dict[str, FileEntry]
    settings: NotRequired[dict[str, str | int | float | bool | None]]
    graph: NotRequired[dict[str, str | int | float | bool | None]]
    stages: NotRequired[dict[str, Stage]]
    missing_splits: NotRequired[list[str]]


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest of the shards in a folder.

    Raises:
        UserError: the folder is missing, unfinished, newer, damaged or no shards.
    """
    check_folder(path, "folder of shards")
    file = path / "manifest.json"
    if not file.exists():
        raise UserError(
            f"{path}: no manifest.json; the folder is unfinished (run the same "
            "data_prep command again to resume it) or not a folder of shards"
        )
    manifest = read_json(file)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{file}: not a manifest of {FORMAT}")
    version = manifest.get("version")
    if version != VERSION:
        advice = "written by a newer KG-Scout?"
        if version == 1:
            advice = "run kgscout prep again"
        raise UserError(
            f"{file}: format version is {version}, expected {VERSION}: {advice}"
        )
    missing = [key for key in NEEDED if not manifest.get(key)]
    if missing:
        raise UserError(f"{file}: damaged, no {', '.join(missing)}")
    as_record(manifest, ShardManifest, f"{file}: damaged")
    return manifest
