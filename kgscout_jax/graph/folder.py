"""The GRAPH folder: a knowledge graph in memory-mapped files.

    manifest.json            format, version, counts, settings, sources, checksums; last
    v0001/                   the current data; an update writes v0002
        triplets.npy         int32[M, 3], ascending (head, relation, tail), unique
        head_offsets.npy     int64[E + 1]: triplets of head e are offsets[e] to [e + 1]
        tail_offsets.npy     int64[E + 1], into:
        by_tail.npy          int32[M]: triplet ids by (tail, id)
        entities.utf8        first spellings (the ids, if there are labels), packed
        entities.npy         int64[E + 1]: offsets into entities.utf8
        entity_hashes.npy    uint64[E], ascending: halves of hashes of the identities
        entity_ids.npy       int32[E]: the entity of each hash
        unnamed.npy          bool[E]: entities without a name
        relations.utf8, relations.npy                       names of relations
        relation_ids.utf8, relation_ids.npy                 where files spell others
        labels.utf8, labels.npy, label_hashes.npy, label_ids.npy    if there are any
        blocks.npz           uint32: checksums of the blocks of large files of names

``graph.build`` writes it. This module defines names, types and checks of the files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from jaxtyping import Bool

from kgscout_jax.errors import UserError
from kgscout_jax.graph.arrays import Adjacency
from kgscout_jax.graph.name_hashes import HASH_VERSION
from kgscout_jax.graph.name_index import NameIndex
from kgscout_jax.graph.string_table import StoredStrings, Strings
from kgscout_jax.utils.block_checksums import BlockChecksums, block_checksums
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.io import read_array, read_arrays, read_json
from kgscout_jax.utils.manifest import WHOLE_BYTES, FileEntry, as_record, check_files

FORMAT = "kgscout-graph"
VERSION = 1


class Counts(TypedDict):
    """Numbers of rows."""

    entities: int
    relations: int
    triplets: int
    labels: int
    unnamed: int
    duplicates: int


class GraphManifest(TypedDict):
    """The manifest of a GRAPH folder."""

    format: str
    version: int
    hash_version: int
    counts: Counts
    data: str
    """The folder of the data."""
    files: dict[str, FileEntry]
    settings: dict[str, Any]
    sources: list[dict[str, Any]]
    notes: dict[str, int]
    seconds: dict[str, float]


E, M, R, L = "entities", "triplets", "relations", "labels"
SHAPES: dict[str, tuple[type, str, int]] = {
    "triplets": (np.int32, M, 0),
    "head_offsets": (np.int64, E, 1),
    "tail_offsets": (np.int64, E, 1),
    "by_tail": (np.int32, M, 0),
    "entities": (np.int64, E, 1),
    "entity_hashes": (np.uint64, E, 0),
    "entity_ids": (np.int32, E, 0),
    "unnamed": (np.bool_, E, 0),
    "relations": (np.int64, R, 1),
}
"""Array file -> (type, count that gives its length, additional length)."""
LABEL_SHAPES: dict[str, tuple[type, str, int]] = {
    "labels": (np.int64, E, 1),
    "label_hashes": (np.uint64, L, 0),
    "label_ids": (np.int32, L, 0),
}
BLOBS = ("entities", "relations")
NAMES = (*BLOBS, "relation_ids", "labels")
BLOCKS = "blocks.npz"


@dataclass(frozen=True, eq=False)
class GraphFolder:
    """An open GRAPH folder: its manifest and its memory-mapped arrays."""

    path: Path
    manifest: GraphManifest
    arrays: dict[str, np.ndarray]
    blocks: dict[str, BlockChecksums]
    """Checks of the large files of names, on first use; empty if all was verified."""

    @staticmethod
    def open(path: Path | str, *, verify: bool = False) -> GraphFolder:
        """Open a folder and check that every file exists and is undamaged.

        Files up to 16 MiB are compared with their checksums, larger ones at both ends;
        their names are checked block by block when they are read.

        Args:
            path: the folder.
            verify: also compare every byte with its checksum.

        Raises:
            UserError: the folder is missing, unfinished, newer, damaged or no graph.
        """
        path = Path(path)
        manifest = read_manifest(path)
        check_files(path, manifest["files"], verify=verify, whole=WHOLE_BYTES)
        data, counts = path / manifest["data"], manifest["counts"]
        has_labels = counts[L] > 0
        arrays = {}
        for name, shape in (SHAPES | (LABEL_SHAPES if has_labels else {})).items():
            arrays[name] = _array(data / f"{name}.npy", counts, *shape)
        has_ids = f"{manifest['data']}/relation_ids.npy" in manifest["files"]
        if has_ids:
            file = data / "relation_ids.npy"
            arrays["relation_ids"] = _array(file, counts, *SHAPES["relations"])
        ids = ["relation_ids"] if has_ids else []
        for name in (*BLOBS, *ids, *([L] if has_labels else [])):
            file = data / f"{name}.utf8"
            arrays[f"{name}.utf8"] = _blob(file, int(arrays[name][-1]))
        blocks = {} if verify else _blocks(path, manifest)
        return GraphFolder(path, manifest, arrays, blocks)

    def strings(self, name: str) -> Strings:
        """The strings of a blob and its offsets."""
        data = self.path / self.manifest["data"]
        return StoredStrings(
            self.arrays[f"{name}.utf8"],
            self.arrays[name],
            data / f"{name}.utf8",
            data / f"{name}.npy",
            self.blocks.get(f"{name}.utf8"),
            self.blocks.get(f"{name}.npy"),
        )

    @cached_property
    def ids(self) -> Strings:
        """The id of each entity: the first spelling of its identity."""
        return self.strings(E)

    @property
    def relation_ids(self) -> Strings:
        """The id of each relation: its spelling in files."""
        return self.strings("relation_ids" if "relation_ids" in self.arrays else R)

    @cached_property
    def labels(self) -> Strings | None:
        """The label of each entity, empty if it has none; None without labels."""
        return self.strings(L) if L in self.arrays else None

    @cached_property
    def names(self) -> Sequence[str]:
        """The display name of each entity: its label, else its id."""
        return self.ids if self.labels is None else LabelledNames(self.labels, self.ids)

    @cached_property
    def index(self) -> NameIndex:
        """Finds entities by their ids."""
        return NameIndex(
            self.ids, self.arrays["entity_hashes"], self.arrays["entity_ids"]
        )

    @cached_property
    def label_index(self) -> NameIndex | None:
        """Finds entities by their labels; None without labels."""
        if self.labels is None:
            return None
        return NameIndex(
            self.labels, self.arrays["label_hashes"], self.arrays["label_ids"]
        )

    @cached_property
    def by_head(self) -> Adjacency:
        return Adjacency(self.arrays["head_offsets"], None)

    @cached_property
    def by_tail(self) -> Adjacency:
        return Adjacency(self.arrays["tail_offsets"], self.arrays["by_tail"])

    @property
    def unnamed_mask(self) -> Bool[np.ndarray, "e"]:
        return self.arrays["unnamed"]

    def find(self, name: str) -> list[int]:
        """Entities with this name as id, then those with it as label."""
        matches = self.index.find(name)
        if self.label_index is None:
            return matches
        return list(dict.fromkeys([*matches, *self.label_index.find(name)]))


@dataclass(frozen=True, eq=False)
class LabelledNames(Sequence[str]):
    """The label of each entity, or its id without one."""

    labels: Strings
    ids: Strings

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            pairs = zip(self.labels[index], self.ids[index], strict=True)
            return [label or name for label, name in pairs]
        return self.labels[index] or self.ids[index]

    def __iter__(self):
        pairs = zip(self.labels, self.ids, strict=True)
        return (label or name for label, name in pairs)


def read_manifest(path: Path) -> GraphManifest:
    """The manifest of a GRAPH folder, its format checked.

    Raises:
        UserError: the folder is missing, unfinished, newer or no graph.
    """
    check_folder(path, "GRAPH folder")
    file = path / "manifest.json"
    if not file.exists():
        raise UserError(
            f"{path}: no manifest.json; not a GRAPH folder, or one whose building was "
            "stopped (kgscout graph --kg FILES --out writes one)"
        )
    manifest = read_json(file)
    file_format = manifest.get("format") if isinstance(manifest, dict) else None
    if file_format != FORMAT:
        what = "shards" if file_format == "kgscout-shards" else repr(file_format)
        raise UserError(f"{file}: expected a GRAPH folder ({FORMAT}), found {what}")
    version = manifest.get("version")
    if version != VERSION:
        raise UserError(f"{file}: format version is {version}, expected {VERSION}")
    manifest = as_record(manifest, GraphManifest, f"{file}: damaged")
    if not manifest["files"] or not re.fullmatch(r"v\d{4,}", manifest["data"]):
        raise UserError(f"{file}: damaged, no files or no folder of data")
    if manifest["hash_version"] != HASH_VERSION:
        raise UserError(
            f"{file}: names are hashed in version {manifest['hash_version']}, expected "
            f"{HASH_VERSION}"
        )
    return manifest


def write_blocks(folder: Path) -> None:
    """Write ``blocks.npz`` for the large files of names in a folder of data."""
    names = [f"{name}{end}" for name in NAMES for end in (".utf8", ".npy")]
    large = [
        path
        for path in map(folder.__truediv__, names)
        if path.exists() and path.stat().st_size > WHOLE_BYTES
    ]
    if large:
        sums: dict[str, Any] = {path.name: block_checksums(path) for path in large}
        np.savez(folder / BLOCKS, allow_pickle=False, **sums)


def _blocks(path: Path, manifest: GraphManifest) -> dict[str, BlockChecksums]:
    """The checks of large files of names, by file; {} without large ones."""
    data = manifest["data"]
    if f"{data}/{BLOCKS}" not in manifest["files"]:
        return {}
    return {
        name: BlockChecksums(path / data / name, sums)
        for name, sums in read_arrays(path / data / BLOCKS).items()
    }


def _array(
    path: Path, counts: Counts, dtype: type, count: str, more: int
) -> np.ndarray:
    """A memory-mapped array, its type and length checked."""
    array = np.asarray(read_array(path, mmap=True))
    length = counts[count] + more
    shape = (length, 3) if path.stem == "triplets" else (length,)
    if array.dtype != dtype or array.shape != shape:
        raise UserError(
            f"{path}: expected {np.dtype(dtype).name}{list(shape)}, found "
            f"{array.dtype.name}{list(array.shape)}"
        )
    return array


def _blob(path: Path, size: int) -> np.ndarray:
    """The bytes of a blob, memory-mapped; ``size`` is the last of its offsets."""
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    actual = path.stat().st_size
    if actual != size:
        raise UserError(f"{path}: {actual} bytes, expected {size}")
    if not size:
        return np.empty(0, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r"))
