"""What ``config.json`` of a run says of its shards: one set, or several.

Of one set, ``shards`` holds its source, fingerprint and preparation. Of several,
``shard_sets`` has such a record for each, with its name and weight, and ``shards``
describes them together.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kgscout_jax.utils.short_names import short_names

Record = dict[str, Any]
LARGEST = ("hops", "max_triplets", "candidates")
"""Settings of a preparation of which several sets have the largest in common."""


def shards_records(
    folders: Sequence[Path],
    manifests: Sequence[Mapping[str, Any]],
    weights: Sequence[float],
) -> dict[str, Any]:
    """The fields ``shards`` and, of several sets, ``shard_sets`` of a config.json."""
    records = [
        {key: manifest[key] for key in ("source", "fingerprint", "settings")}
        for manifest in manifests
    ]
    if len(records) == 1:
        return {"shards": records[0]}
    names = short_names([os.path.abspath(folder) for folder in folders])
    together = "\n".join(record["fingerprint"] for record in records)
    return {
        "shards": {
            "source": " + ".join(record["source"] for record in records),
            "fingerprint": hashlib.sha256(together.encode()).hexdigest(),
            "settings": common_settings(
                [record["settings"] for record in records], weights
            ),
        },
        "shard_sets": [
            {"name": name, "weight": weight, **record}
            for name, weight, record in zip(names, weights, records, strict=True)
        ],
    }


def common_settings(
    settings: Sequence[Mapping[str, Any]], weights: Sequence[float]
) -> Record:
    """The preparation for questions of any of the sets.

    Its subgraphs and candidates must hold as much as those of each set: radius and
    numbers are the largest. Other settings are those of the set with the most weight.
    """
    main = settings[weights.index(max(weights))]
    out = dict(main)
    for name in LARGEST:
        values = [each[name] for each in settings if each.get(name) is not None]
        if values:
            out[name] = max(values)
    return out


def set_records(metadata: Mapping[str, Any]) -> list[Record]:
    """The record of each set, from a run's ``config.json``."""
    return metadata.get("shard_sets") or [metadata["shards"]]


def set_names(metadata: Mapping[str, Any]) -> list[str]:
    """The name of each set; "" for the only one."""
    return [record.get("name", "") for record in set_records(metadata)]


def set_folders(config: Mapping[str, Any]) -> list[Path]:
    """The folder of each set when training began, from a run's settings."""
    folders = config.get("shards")
    folders = folders if isinstance(folders, list) else [folders]
    return [Path(each) for each in folders if isinstance(each, str)]


def with_found_shards(metadata: dict[str, Any], run: Path) -> dict[str, Any]:
    """``metadata`` with folders of shards that exist seen from here.

    A relative one is looked for from here, from where training was started, and from
    the folders around the run, in this order; what is nowhere stays as it is.

    Args:
        metadata: the run's ``config.json``.
        run: its folder.
    """
    config = metadata.get("config")
    if not isinstance(config, dict) or not (folders := set_folders(config)):
        return metadata
    started = metadata.get("started_in")
    places = [Path(started)] if isinstance(started, str) else []
    places += run.resolve().parents
    found = []
    for folder in folders:
        seen = [place / folder for place in places if (place / folder).is_dir()]
        found.append(str(folder if folder.is_dir() or not seen else seen[0]))
    shards = found if isinstance(config["shards"], list) else found[0]
    return {**metadata, "config": {**config, "shards": shards}}


def source_names(source: str) -> str:
    """The sources of several sets, each once with its number.

    >>> source_names("kg + kg + metaqa")
    '2 of kg, metaqa'
    """
    counts = Counter(source.split(" + "))
    return ", ".join(f"{n} of {name}" if n > 1 else name for name, n in counts.items())


def is_trained_on(metadata: Mapping[str, Any], fingerprint: str) -> bool:
    """Whether one of the run's sets has this fingerprint."""
    return fingerprint in [each["fingerprint"] for each in set_records(metadata)]
