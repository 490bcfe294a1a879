"""The look-up tables of entities: memory-mapped .npy files.

A *surface* is one spelling of an entity: its name or an alias. Surfaces are numbered
by descending prior (degree): the lowest number wins a tie, and the first postings are
the best connected. Lookups are binary searches over hashes, without Python objects, so
a graph of tens of millions of names opens immediately.

    manifest.json          format, version, counts, a fingerprint of the names, sizes
    names_*.npy            the names (absent if the caller has them), as ``Strings``
    aliases_*.npy          the aliases
    surfaces.npy, ...      see ``Tables``
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import cast

import msgspec
import numpy as np
from jaxtyping import Float32, Int32, Int64, UInt8, UInt32, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.io import read_array, read_json, write_array, write_json
from kgscout_jax.utils.manifest import (
    WHOLE_BYTES,
    FileEntry,
    as_record,
    check_files,
    file_entry,
)

FORMAT = "kgscout-link"
VERSION = 4
MANIFEST = "manifest.json"
MAX_TOKENS = 24
"""Longer names (mostly descriptions) are never linked."""
SHORTEST_MISSPELT = 4
"""Words of at least this length are also looked up with one wrong character."""


class Manifest(msgspec.Struct, kw_only=True):
    """The content of ``manifest.json``."""

    format: str = FORMAT
    version: int = VERSION
    names: int
    fingerprint: str
    with_names: bool
    about: str
    """Checksum of the file of aliases; empty without one."""
    lengths: dict[str, int]
    """Length of each array."""
    files: dict[str, FileEntry] = {}
    """Checksums of the files; absent in an index of an earlier version."""

    @staticmethod
    def read(path: Path) -> Manifest:
        """The manifest in a file.

        Raises:
            UserError: no such file, another format or version, or a damaged field.
        """
        value = read_json(path)
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise UserError(f"{path}: not the manifest of a {FORMAT} folder")
        if value.get("version") != VERSION:
            raise UserError(
                f"{path}: version {value.get('version')!r}, expected {VERSION}; build "
                "the index again"
            )
        return as_record(value, Manifest, str(path))


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The arrays; s surfaces, k keys, w words (unique tokens), p postings."""

    surfaces: Int32[np.ndarray, "s"]
    """The entity of each surface; for an alias, number of names + alias number."""
    lengths: UInt8[np.ndarray, "s"]
    """Number of tokens."""
    masses: Float32[np.ndarray, "s"]
    """Sum of the rarity of its tokens."""
    degrees: Float32[np.ndarray, "s"]
    """log1p of the degree of its entity."""
    keys: UInt64[np.ndarray, "k"]
    """Hashes of the keys, ascending; a name in camelCase may have two."""
    keyed: Int32[np.ndarray, "k"]
    """The surface of each of ``keys``; ascending where keys are equal."""
    words: UInt64[np.ndarray, "w"]
    """Hashes of the words, ascending."""
    small: UInt8[np.ndarray, "w"]
    """Share of lower case among inner occurrences of each word, in 200ths."""
    offsets: Int64[np.ndarray, "w+1"]
    """The postings of each word."""
    postings: Int32[np.ndarray, "p"]
    """Surfaces with the word, ascending."""
    cuts: UInt32[np.ndarray, "z"]
    """Hashes (upper half) of words without one of their characters, ascending."""
    cut_words: Int32[np.ndarray, "z"]
    """The word of each of ``cuts``."""
    alias_entities: Int32[np.ndarray, "a"]
    """The entity of each alias."""


DTYPES = {
    f.name: np.dtype(str(f.type).partition("[")[0].lower()) for f in fields(Tables)
}
"""The dtype of each table, from its annotation."""


def equal_ranges(
    sorted_values: np.ndarray, values: np.ndarray
) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
    """Start and stop of each of ``values`` in ``sorted_values``."""
    return (
        np.searchsorted(sorted_values, values, "left"),
        np.searchsorted(sorted_values, values, "right"),
    )


def fingerprint(names: Sequence[str]) -> str:
    """A short hash of the number of names and of up to 1,000 of them."""
    digest = hashlib.sha256(str(len(names)).encode())
    for i in np.linspace(0, len(names) - 1, min(len(names), 1000)).astype(int):
        digest.update(names[int(i)].encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:16]


class LinkIndex:
    """Names and aliases of a graph, by key, by word, and by misspelt word."""

    def __init__(self, names: Sequence[str], aliases: Strings, tables: Tables) -> None:
        self.names, self.aliases, self.tables = names, aliases, tables

    def __len__(self) -> int:
        """The number of surfaces."""
        return len(self.tables.surfaces)

    def save(
        self, folder: Path, *, with_names: bool = True, aliases_sha256: str = ""
    ) -> None:
        """Write the index.

        Args:
            with_names: False if names are stored elsewhere; ``open`` then needs them.
            aliases_sha256: of the file of aliases; ``open`` compares it.
        """
        (folder / MANIFEST).unlink(missing_ok=True)
        arrays = {f.name: getattr(self.tables, f.name) for f in fields(Tables)}
        arrays |= {"aliases_data": self.aliases.data}
        arrays |= {"aliases_offsets": self.aliases.offsets}
        if with_names:
            names = Strings.of([replace_surrogates(name) for name in self.names])
            arrays |= {"names_data": names.data, "names_offsets": names.offsets}
        for name, array in arrays.items():
            write_array(folder / f"{name}.npy", array)
        manifest = Manifest(
            names=len(self.names),
            fingerprint=fingerprint(self.names),
            with_names=with_names,
            about=aliases_sha256,
            lengths={name: len(array) for name, array in arrays.items()},
            files={
                f"{name}.npy": cast(
                    FileEntry, file_entry(folder / f"{name}.npy", ends=True)
                )
                for name in arrays
            },
        )
        # Last: a folder without a manifest is incomplete.
        write_json(folder / MANIFEST, msgspec.structs.asdict(manifest))

    @staticmethod
    def open(
        folder: Path,
        names: Sequence[str] | None = None,
        *,
        aliases_sha256: str | None = None,
    ) -> LinkIndex:
        """The index in ``folder``, memory-mapped.

        Args:
            names: the graph's names, if they are stored elsewhere; the index must have
                been built from them.
            aliases_sha256: as given to ``save``; not compared if None.

        Raises:
            UserError: the folder is missing, damaged, of another version, or was built
                from other names.
        """
        manifest = Manifest.read(folder / MANIFEST)
        lengths = manifest.lengths
        if aliases_sha256 is not None and manifest.about != aliases_sha256:
            raise UserError(f"{folder}: built from other aliases; build it again")
        check_files(folder, manifest.files, whole=WHOLE_BYTES)

        def read(name: str, dtype: np.typing.DTypeLike) -> np.ndarray:
            path = folder / f"{name}.npy"
            array = read_array(path, mmap=bool(lengths.get(name)))
            if array.dtype != dtype or array.shape != (lengths.get(name),):
                raise UserError(
                    f"{path}: expected {np.dtype(dtype).name}[{lengths.get(name)}], "
                    f"found {array.dtype.name}{list(array.shape)}"
                )
            return np.asarray(array)  # a memory map takes longer to index

        def texts(name: str) -> Strings:
            data = read(f"{name}_data", np.uint8)
            offsets = read(f"{name}_offsets", np.int64)
            if not len(offsets) or offsets[-1] != len(data):
                raise UserError(f"{folder}/{name}_offsets.npy: does not fit its data")
            return Strings(data, offsets)

        if names is None:
            if not manifest.with_names:
                raise UserError(f"{folder}: saved without names; they must be given")
            names = texts("names")
        if len(names) != manifest.names:
            raise UserError(
                f"{folder}: built over {manifest.names} names, the graph has "
                f"{len(names)}; build it again"
            )
        if fingerprint(names) != manifest.fingerprint:
            raise UserError(f"{folder}: built over other names; build it again")
        tables = Tables(**{name: read(name, dtype) for name, dtype in DTYPES.items()})
        index = LinkIndex(names, texts("aliases"), tables)
        index._check(folder)
        return index

    def _check(self, folder: Path) -> None:
        """Raise UserError if lengths of arrays disagree."""
        t = self.tables
        per_surface = t.surfaces, t.lengths, t.masses, t.degrees
        fits = (
            len(set(map(len, per_surface))) == 1
            and len(t.surfaces) <= len(t.keys) == len(t.keyed)
            and len(t.offsets) == len(t.words) + 1 == len(t.small) + 1
            and t.offsets[-1] == len(t.postings)
            and len(t.cuts) == len(t.cut_words)
            and len(t.alias_entities) == len(self.aliases)
        )
        if not fits:
            raise UserError(f"{folder}: its arrays do not belong together")

    @cached_property
    def share_small(self) -> float:
        """The share of words in names that are written without capitals."""
        small = self.tables.small
        return float(np.mean(small)) / 200 if len(small) else 0.0

    def entity_of(self, surface: int) -> int:
        """The entity of a surface."""
        number = int(self.tables.surfaces[surface])
        if number < len(self.names):
            return number
        return int(self.tables.alias_entities[number - len(self.names)])

    def text_of(self, surface: int) -> str:
        """The text of a surface, as written."""
        number = int(self.tables.surfaces[surface])
        if number < len(self.names):
            return self.names[number]
        return self.aliases[number - len(self.names)]

    def is_alias(self, surface: int) -> bool:
        """Whether a surface is an alias rather than a name."""
        return int(self.tables.surfaces[surface]) >= len(self.names)

    def rarity(self, counts: Int64[np.ndarray, "k"]) -> Float32[np.ndarray, "k"]:
        """Rarity of words by their number of surfaces: 0 for all, 1 for one."""
        return rarity(counts, len(self))


def rarity(counts: np.ndarray, surfaces: int) -> Float32[np.ndarray, "k"]:
    """log((s + 1) / count) / log(s + 1), 1 for a word that no surface has."""
    whole = np.log(surfaces + 2.0)
    return (1 - np.log(np.maximum(counts, 1)) / whole).astype(np.float32)
