"""The embeddings of a whole graph, in memory or in files beside its data.

GRAPH/embeddings/DIGEST/   the fingerprint of the encoder's identity
    manifest.json          encoder, counts, names and checksums; written last
    NAME.triplets.npy      float16[M, d]; NAME is the data's fingerprint
    NAME.relations.npy     float16[R, d]
    NAME.ids.npy           int32[M, 3]: the triplet of each row
    NAME.blocks.npy        uint32: checksums of the blocks of NAME.triplets.npy
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from jaxtyping import Bool, Float16, Float32, Int, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.text.encoder import EncoderIdentity
from kgscout_jax.utils.block_checksums import BlockChecksums, block_checksums
from kgscout_jax.utils.disk_space import NoRoomError, allocate, room_for
from kgscout_jax.utils.io import read_array, read_json, write_array, write_json
from kgscout_jax.utils.manifest import (
    WHOLE_BYTES,
    FileEntry,
    as_record,
    check_files,
    file_entry,
)

MANIFEST = "manifest.json"
FORMAT, VERSION = "kgscout-graph-embeddings", 1
ROWS_PER_BLOCK = 1 << 14
"""Rows of a table that are read or written at once."""


class Embeddings(Protocol):
    """The embeddings of a graph: the whole table, or rows on demand."""

    @property
    def relations(self) -> Float16[np.ndarray, "r d"]: ...
    @property
    def relations_float32(self) -> Float32[np.ndarray, "r d"]: ...
    @property
    def whole(self) -> bool: ...
    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]: ...
    def check_finite(self) -> None: ...


@dataclass(frozen=True, eq=False, repr=False)
class EmbeddingTable:
    """The embeddings of a whole graph, in memory or memory-mapped."""

    ids: Int32[np.ndarray, "m 3"]
    """The triplet of each row."""
    triplets: Float16[np.ndarray, "m d"]
    relations: Float16[np.ndarray, "r d"]
    names: dict[str, Any]
    """The fingerprints of the graph's names, see ``name_fingerprints``."""
    folder: Path | None = None
    """The folder of its files; None in memory."""
    fingerprint: str = ""
    """The fingerprint of the graph's data: the prefix of its file names."""
    blocks: BlockChecksums | None = None
    """Of the file of triplets; None if all of it has been compared."""

    def __repr__(self) -> str:
        place = "" if self.folder is None else f"{str(self.folder)!r}: "
        return f"EmbeddingTable({place}{len(self.triplets):,} triplets)"

    def __post_init__(self) -> None:
        self._check(self.relations, "relations")

    @property
    def whole(self) -> bool:
        """Whether all triplets are embedded."""
        return True

    @property
    def relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self._relations_float32

    @cached_property
    def _relations_float32(self) -> Float32[np.ndarray, "r d"]:
        return self.relations.astype(np.float32)

    def rows(self, ids: Int[np.ndarray, "k"]) -> Float16[np.ndarray, "k d"]:
        """Embeddings of the triplets ``ids``.

        Raises:
            UserError: a block of the file is damaged.
        """
        if self.blocks is not None and len(ids):
            size = self.triplets.nbytes // len(self.triplets)
            begin = self.blocks.size - self.triplets.nbytes + np.asarray(ids) * size
            self.blocks.check(begin, begin + size)
        return np.asarray(self.triplets[ids])

    def check_finite(self) -> None:
        """Raise UserError if some rows are damaged or not finite."""
        for low in range(0, len(self.triplets), ROWS_PER_BLOCK):
            self.rows(np.arange(low, min(low + ROWS_PER_BLOCK, len(self.triplets))))
        self._check(self.triplets, "triplets")

    def _check(self, table: np.ndarray, name: str) -> None:
        """Raise UserError if some rows of ``table`` are not finite."""
        bad = sum(
            int((~finite_mask(table[low : low + ROWS_PER_BLOCK])).sum())
            for low in range(0, len(table), ROWS_PER_BLOCK)
        )
        if not bad:
            return
        file = self.folder and self.folder / f"{self.fingerprint}.{name}.npy"
        raise UserError(
            f"{f'{file}: ' if file else ''}{bad} of {len(table)} rows of embeddings of "
            f"{name} are not finite, expected none; delete them and embed the graph "
            "again"
        )


def finite_mask(rows: Float16[np.ndarray, "n d"]) -> Bool[np.ndarray, "n"]:
    """True at rows without NaN and infinity."""
    return np.asarray(np.isfinite(rows).all(axis=1))


def open_table(
    folder: Path, identity: EncoderIdentity, *, verify: bool = False
) -> EmbeddingTable | None:
    """The table in a folder, memory-mapped; None if there is none.

    ``verify``: compare every byte; else large files at both ends, and rows when they
    are read.

    Raises:
        UserError: it is damaged.
    """
    file = folder / MANIFEST
    if not file.exists():
        return None
    manifest = read_json(file)
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise UserError(f"{file}: not the manifest of {FORMAT}; delete the folder")
    if manifest.get("version") != VERSION:
        raise UserError(
            f"{file}: format version is {manifest.get('version')}, expected {VERSION}"
        )
    fingerprint, counts = manifest.get("mark"), manifest.get("counts")
    if not isinstance(fingerprint, str) or not isinstance(counts, dict):
        raise UserError(f"{file}: damaged, no mark or counts; delete the folder")
    files = manifest.get("files", {})  # absent in tables of earlier versions
    _check_checksums(folder, files, verify)
    m, r, d = counts.get("triplets"), counts.get("relations"), identity.dimension
    arrays = {}
    for name, shape, dtype in (
        ("ids", (m, 3), np.int32),
        ("triplets", (m, d), np.float16),
        ("relations", (r, d), np.float16),
    ):
        path = folder / f"{fingerprint}.{name}.npy"
        arrays[name] = array = np.asarray(read_array(path, mmap=True))
        if array.shape != shape or array.dtype != dtype:
            raise UserError(
                f"{path}: expected {np.dtype(dtype).name}{list(shape)}, found "
                f"{array.dtype.name}{list(array.shape)}; delete the folder"
            )
    blocks = None
    if not verify and f"{fingerprint}.blocks.npy" in files:
        sums = read_array(folder / f"{fingerprint}.blocks.npy")
        blocks = BlockChecksums(folder / f"{fingerprint}.triplets.npy", sums)
    return EmbeddingTable(
        **arrays,
        names=manifest.get("names", {}),
        folder=folder,
        fingerprint=fingerprint,
        blocks=blocks,
    )


def _check_checksums(folder: Path, files: Any, verify: bool) -> None:
    """Raise UserError if a file differs from its entry in the manifest."""
    entries = as_record(files, dict[str, FileEntry], f"{folder / MANIFEST}: damaged")
    relations = {k: v for k, v in entries.items() if k.endswith(".relations.npy")}
    try:
        check_files(folder, entries, verify=verify, whole=WHOLE_BYTES)
        check_files(folder, relations, verify=True)  # all of it is read at once
    except UserError as error:
        raise UserError(f"{error}; delete {folder} and embed the graph again") from None


def _header(shape: tuple[int, int]) -> dict[str, Any]:
    descr = np.lib.format.dtype_to_descr(np.dtype(np.float16))
    return {"descr": descr, "fortran_order": False, "shape": shape}


class TableWriter:
    """Writes the table of a graph; a killed run can be resumed."""

    def __init__(self, folder: Path, fingerprint: str, shape: tuple[int, int]) -> None:
        """``folder`` must exist; ``shape`` is the shape of the triplet embeddings."""
        self._folder, self._fingerprint, self._shape = folder, fingerprint, shape
        self._partial = folder / f"{fingerprint}.triplets.part"
        self._progress = folder / f"{fingerprint}.part.json"
        self.rows = 0
        """Rows that an earlier process completed."""
        self.triplets: Any = np.empty(shape, np.float16)
        """Float16[M, d], memory-mapped unless it is empty."""
        if not shape[0]:
            return
        size = 2 * shape[0] * shape[1]
        self.rows = self._completed_rows(size)
        if not self.rows:
            self._progress.unlink(missing_ok=True)
            with room_for(self._partial, size), open(self._partial, "wb") as handle:
                np.lib.format.write_array_header_1_0(handle, _header(shape))
                header = handle.tell()
            allocate(self._partial, header + size)
        self.triplets = np.lib.format.open_memmap(self._partial, mode="r+")

    def _completed_rows(self, size: int) -> int:
        """Rows of an earlier process; 0 if it left none, or a file of other rows."""
        try:
            done = read_json(self._progress)["done"]
            # Earlier versions left sparse files; this has no effect on a whole one.
            allocate(self._partial, self._partial.stat().st_size)
            found = read_array(self._partial, mmap=True)
            same = found.shape == self._shape and found.dtype == np.float16
        except NoRoomError:
            raise
        except (UserError, OSError, ValueError, EOFError, KeyError, TypeError):
            return 0
        whole = same and self._partial.stat().st_size >= size
        return done if whole and type(done) is int and 0 <= done <= len(found) else 0

    def flush(self, rows: int) -> None:
        """Record that the first ``rows`` rows of ``triplets`` are complete."""
        if isinstance(self.triplets, np.memmap):
            self.triplets.flush()
        write_json(self._progress, {"done": rows})

    def publish(
        self,
        ids: Int32[np.ndarray, "m 3"],
        relations: Float16[np.ndarray, "r d"],
        names: dict[str, Any],
        identity: EncoderIdentity,
    ) -> EmbeddingTable:
        """Publish the table as the folder's, and delete the previous one."""
        folder, fingerprint = self._folder, self._fingerprint
        triplets = folder / f"{fingerprint}.triplets.npy"
        if isinstance(self.triplets, np.memmap):
            self._partial.replace(triplets)
        else:
            write_array(triplets, self.triplets)
        if triplets.stat().st_size > WHOLE_BYTES:
            write_array(folder / f"{fingerprint}.blocks.npy", block_checksums(triplets))
        write_array(folder / f"{fingerprint}.relations.npy", relations)
        write_array(folder / f"{fingerprint}.ids.npy", ids)
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "mark": fingerprint,
            "encoder": identity.to_dict(),
            "counts": {"triplets": self._shape[0], "relations": len(relations)},
            "names": names,
            "files": {
                file.name: file_entry(file, ends=True)
                for file in sorted(folder.glob(f"{fingerprint}.*.npy"))
            },
        }
        write_json(folder / MANIFEST, manifest)
        for file in folder.iterdir():
            if file.name not in (MANIFEST, ".lock") and not (
                file.name.startswith(fingerprint) and file.suffix == ".npy"
            ):
                file.unlink()
        table = open_table(folder, identity)
        assert table is not None
        return table
