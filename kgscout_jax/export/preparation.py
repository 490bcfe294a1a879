"""How the training data of a policy was prepared, as ``config.json`` says it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.export.format import Preparation
from kgscout_jax.learn.shard_sets import set_folders, set_records
from kgscout_jax.utils.manifest import as_record


def preparation_of(
    metadata: dict[str, Any], shards: Path | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(``preparation``, ``training.data``) of config.json.

    The run's configuration has the first, else the manifest of its shards; counts and
    the sources' hashes come from the manifests, where all are at hand.
    """
    known = metadata["shards"].get("settings")
    expected = [record["fingerprint"] for record in set_records(metadata)]
    moved = {}
    if shards is not None:
        moved = {manifest_of(shards, expected)["fingerprint"]: shards}
    folders = set_folders(metadata["config"]) or [Path("")] * len(expected)
    manifests: list[dict[str, Any]] = []
    try:
        manifests = [
            manifest_of(moved.get(fingerprint, folder), [fingerprint])
            for folder, fingerprint in zip(folders, expected, strict=True)
        ]
    except UserError as error:
        # A run that records the preparation of its shards does not need them.
        if known is None:
            raise UserError(f"{error}; --shards tells where the run's are") from None
    settings = manifests[0]["settings"] if known is None else known
    names = [field.name for field in dataclasses.fields(Preparation)]
    fields = {name: settings[name] for name in names if name in settings}
    as_record(fields, Preparation, "the run's shards: preparation")
    return fields, data_facts(manifests)


def data_facts(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Questions, sources and triplets of shards by their manifests; {} without any."""
    if not manifests:
        return {}
    counts: Counter[str] = Counter()
    for manifest in manifests:
        counts.update({k: v["questions"] for k, v in manifest["splits"].items()})
    sources = [each for m in manifests for each in m.get("sources", [])]
    facts: dict[str, Any] = {"questions": dict(counts), "sources": sources}
    graphs = [m["graph"] for m in manifests if isinstance(m.get("graph"), dict)]
    triplets = [graph.get("triplets") for graph in graphs]
    if len(graphs) == len(manifests):
        facts["triplets"] = triplets[0] if len(triplets) == 1 else triplets
    return facts


def manifest_of(folder: Path, fingerprints: Sequence[str]) -> dict[str, Any]:
    """The manifest of the shards in ``folder``, which have one of the fingerprints."""
    manifest = Shards.open(folder).manifest
    if manifest["fingerprint"] not in fingerprints:
        expected = " or ".join(each[:12] for each in fingerprints)
        raise UserError(
            f"{folder}: fingerprint {manifest['fingerprint'][:12]}, expected "
            f"{expected}: not the shards that the run was trained on"
        )
    return manifest
