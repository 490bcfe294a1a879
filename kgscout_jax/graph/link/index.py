"""The tables that find names: built once, saved as plain .npy, opened memory-mapped.

A *surface* is one way to write an entity: its name or an alias. Surfaces are numbered
by falling prior (degree), so that the lowest number wins a tie and the first postings
are the best connected. Nothing is kept in Python objects: lookups are binary searches
over hashes, and a graph of tens of millions of names opens at once.

    manifest.json          format, version, counts, a fingerprint of the names, sizes
    names_*.npy            the names (left out if the caller has them), as ``Strings``
    aliases_*.npy          the aliases
    surfaces.npy           int32[s]: whose surface it is; beyond the names, an alias
    keys.npy, ...          see ``Tables``
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Int32, Int64, UInt8, UInt32, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.utils.io import read_array, read_json, write_array, write_json

FORMAT = "kgscout-link"
VERSION = 1
MANIFEST = "manifest.json"


@dataclass(frozen=True, kw_only=True)
class Tables:
    """The arrays of an index; s surfaces, w words (unique tokens), p postings."""

    surfaces: Int32[np.ndarray, "s"]
    """Per surface the entity, or the number of names plus the number of the alias."""
    lengths: UInt8[np.ndarray, "s"]
    """How many tokens."""
    masses: Float32[np.ndarray, "s"]
    """Sum of the rarity of its tokens."""
    degrees: Float32[np.ndarray, "s"]
    """log1p of the degree of its entity."""
    keys: UInt64[np.ndarray, "s"]
    """Hashes of the keys, ascending."""
    keyed: Int32[np.ndarray, "s"]
    """The surface of each of ``keys``; ascending where keys are equal."""
    words: UInt64[np.ndarray, "w"]
    """Hashes of the words, ascending."""
    small: UInt8[np.ndarray, "w"]
    """How often names write each word small where a capital would tell, of 200."""
    offsets: Int64[np.ndarray, "w+1"]
    """The postings of each word."""
    postings: Int32[np.ndarray, "p"]
    """Surfaces with the word, ascending."""
    cuts: UInt32[np.ndarray, "z"]
    """Hashes (upper half) of words without one of their characters, ascending."""
    cut_words: Int32[np.ndarray, "z"]
    """The word of each of ``cuts``."""
    alias_entities: Int32[np.ndarray, "a"]
    """Whose alias each is."""


DTYPES = {
    "surfaces": np.int32,
    "lengths": np.uint8,
    "masses": np.float32,
    "degrees": np.float32,
    "keys": np.uint64,
    "keyed": np.int32,
    "words": np.uint64,
    "small": np.uint8,
    "offsets": np.int64,
    "postings": np.int32,
    "cuts": np.uint32,
    "cut_words": np.int32,
    "alias_entities": np.int32,
}


def between(
    sorted_values: np.ndarray, wanted: np.ndarray
) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
    """Where each of ``wanted`` begins and stops in ``sorted_values``."""
    return (
        np.searchsorted(sorted_values, wanted, "left"),
        np.searchsorted(sorted_values, wanted, "right"),
    )


def encodable(text: str) -> str:
    """The text, with what UTF-8 cannot hold (lone surrogates) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def fingerprint(names: Sequence[str]) -> str:
    """A short hash of how many names there are and of up to 1,000 of them."""
    digest = hashlib.sha256(str(len(names)).encode())
    for i in np.linspace(0, len(names) - 1, min(len(names), 1000)).astype(int):
        digest.update(names[int(i)].encode("utf-8", "replace") + b"\0")
    return digest.hexdigest()[:16]


class LinkIndex:
    """Names and aliases of a graph, found by key, by word, and by misspelt word."""

    def __init__(self, names: Sequence[str], aliases: Strings, tables: Tables) -> None:
        self.names, self.aliases, self.tables = names, aliases, tables

    def __len__(self) -> int:
        """How many surfaces can be found."""
        return len(self.tables.surfaces)

    @staticmethod
    def build(
        names: Sequence[str],
        *,
        aliases: Sequence[tuple[str, int]] = (),
        unnamed_mask: Bool[np.ndarray, "n"] | None = None,
        degrees: Int64[np.ndarray, "n"] | None = None,
    ) -> LinkIndex:
        """An index over ``names``.

        Args:
            names: display names, the position is the entity's id.
            aliases: further names, each with the entity it stands for.
            unnamed_mask: True where a name is only an identifier; never linked.
            degrees: of each entity; of several that fit, the best connected is taken.

        Raises:
            UserError: an alias is for no entity, or an array is of another length.
        """
        from kgscout_jax.graph.link.index_build import build_index

        return build_index(names, aliases, unnamed_mask, degrees)

    def save(self, folder: Path, *, with_names: bool = True, about: str = "") -> None:
        """Write the index.

        Args:
            with_names: False where names lie elsewhere; ``open`` must be given them.
            about: what else it was built from; ``open`` compares it.
        """
        (folder / MANIFEST).unlink(missing_ok=True)
        arrays = {f.name: getattr(self.tables, f.name) for f in fields(Tables)}
        arrays |= {"aliases_data": self.aliases.data}
        arrays |= {"aliases_offsets": self.aliases.offsets}
        if with_names:
            names = Strings.of([encodable(name) for name in self.names])
            arrays |= {"names_data": names.data, "names_offsets": names.offsets}
        for name, array in arrays.items():
            write_array(folder / f"{name}.npy", array)
        # Last: a folder without a manifest was never finished.
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "names": len(self.names),
            "fingerprint": fingerprint(self.names),
            "with_names": with_names,
            "about": about,
            "lengths": {name: len(array) for name, array in arrays.items()},
        }
        write_json(folder / MANIFEST, manifest)

    @staticmethod
    def open(
        folder: Path, names: Sequence[str] | None = None, *, about: str | None = None
    ) -> LinkIndex:
        """The index in ``folder``, memory-mapped.

        Args:
            names: the graph's names, where they were saved elsewhere; they must be
                those the index was built over.
            about: what ``save`` was told; not compared if None.

        Raises:
            UserError: the folder is missing, damaged, of another version, or was built
                over other names.
        """
        manifest = _read_manifest(folder)
        lengths: dict[str, Any] = manifest["lengths"]
        if about is not None and manifest["about"] != about:
            raise UserError(f"{folder}: built from other aliases; build it again")

        def read(name: str, kind: type) -> np.ndarray:
            path = folder / f"{name}.npy"
            array = read_array(path, mmap=bool(lengths.get(name)))
            if array.dtype != kind or array.shape != (lengths.get(name),):
                raise UserError(
                    f"{path}: expected {np.dtype(kind).name}[{lengths.get(name)}], "
                    f"found {array.dtype.name}{list(array.shape)}"
                )
            return array

        def texts(name: str) -> Strings:
            data = read(f"{name}_data", np.uint8)
            offsets = read(f"{name}_offsets", np.int64)
            if not len(offsets) or offsets[-1] != len(data):
                raise UserError(f"{folder}/{name}_offsets.npy: does not fit its data")
            return Strings(data, offsets)

        if names is None:
            if not manifest["with_names"]:
                raise UserError(f"{folder}: saved without names; they must be given")
            names = texts("names")
        if len(names) != manifest["names"]:
            raise UserError(
                f"{folder}: built over {manifest['names']} names, the graph has "
                f"{len(names)}; build it again"
            )
        if fingerprint(names) != manifest["fingerprint"]:
            raise UserError(f"{folder}: built over other names; build it again")
        tables = Tables(**{name: read(name, kind) for name, kind in DTYPES.items()})
        index = LinkIndex(names, texts("aliases"), tables)
        index._check(folder)
        return index

    def _check(self, folder: Path) -> None:
        """Raise UserError if the arrays do not belong together."""
        t = self.tables
        same = {len(t.surfaces), len(t.lengths), len(t.masses), len(t.degrees)}
        same |= {len(t.keys), len(t.keyed)}
        fits = (
            len(same) == 1
            and len(t.offsets) == len(t.words) + 1 == len(t.small) + 1
            and t.offsets[-1] == len(t.postings)
            and len(t.cuts) == len(t.cut_words)
            and len(t.alias_entities) == len(self.aliases)
        )
        if not fits:
            raise UserError(f"{folder}: its arrays do not belong together")

    def entity_of(self, surface: int) -> int:
        """The entity that a surface stands for."""
        number = int(self.tables.surfaces[surface])
        if number < len(self.names):
            return number
        return int(self.tables.alias_entities[number - len(self.names)])

    def text_of(self, surface: int) -> str:
        """A surface as it was written."""
        number = int(self.tables.surfaces[surface])
        if number < len(self.names):
            return self.names[number]
        return self.aliases[number - len(self.names)]

    def is_alias(self, surface: int) -> bool:
        """Whether a surface is an alias rather than a name."""
        return int(self.tables.surfaces[surface]) >= len(self.names)

    def rarity(self, counts: Int64[np.ndarray, "k"]) -> Float32[np.ndarray, "k"]:
        """Rarity of words by how many surfaces have them: 0 for all, 1 for one."""
        return rarity(counts, len(self))


def rarity(counts: np.ndarray, surfaces: int) -> Float32[np.ndarray, "k"]:
    """log((s + 1) / count) / log(s + 1), 1 for a word that no surface has."""
    whole = np.log(surfaces + 2.0)
    return (1 - np.log(np.maximum(counts, 1)) / whole).astype(np.float32)


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, checked."""
    path = folder / MANIFEST
    manifest = read_json(path)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{path}: not the manifest of a {FORMAT} folder")
    if manifest.get("version") != VERSION:
        raise UserError(
            f"{path}: version {manifest.get('version')!r}, expected {VERSION}; build "
            "the index again"
        )
    kinds = {"names": int, "fingerprint": str, "with_names": bool, "about": str}
    kinds["lengths"] = dict
    for field, kind in kinds.items():
        if not isinstance(manifest.get(field), kind):
            raise UserError(
                f"{path}: field {field!r}: expected {kind.__name__}, found "
                f"{manifest.get(field)!r}"
            )
    return manifest
