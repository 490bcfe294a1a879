"""Files of cached rows, and the index by which a row is found among them.

A segment is one record in an .npy file: its keys in order, then its rows, so that an
index reads the keys alone. Its name holds a checksum of the head of the file, up to the
last key, and one of the rows. The first is compared when the segment is indexed, the
second when a row of it is first read. Segments of earlier versions, in which each key
stands before its row, are read whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Float16, Int, Int32, Int64, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import NPY_DAMAGE, NPY_HEADERS, sha256_file, whole_file

SUFFIX = ".segment"
OLD_SUFFIX = ".npy"
CHECKSUM = "sha256-"
"""Begins the names of segments of earlier versions that are named after a checksum."""
SEGMENT_ROWS = 4096
"""Segments with fewer rows are small."""
MAX_SMALL = 16
"""Small segments, and old ones, from which on they are joined."""
JOINED_ROWS = 1 << 14
"""Rows of the segments that are joined at one time."""
MAX_ROWS = 1 << 16
"""Rows of one segment."""
ATTEMPTS = 5
"""Times that rows are looked for while other processes join segments."""

Keys = UInt64[np.ndarray, "n 2"]
Rows = Float16[np.ndarray, "n d"]


class SegmentFolder:
    """The segments of one folder. Threads may share it, processes the folder."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._numbers = dict[str, int]()
        """Of the segments in the index, by name."""
        self._index = _Index()
        self._verified = set[str]()
        """Names of segments whose rows were compared with their checksum."""
        self._lock = threading.Lock()

    def read(self, keys: Keys, out: Rows) -> Int64[np.ndarray, "k"]:
        """Fill the rows of ``out`` that are there; the places of the others.

        Raises:
            UserError: a segment is damaged.
        """
        with self._lock:
            for _ in range(ATTEMPTS):
                self._refresh()
                try:
                    return self._filled(keys, out)
                except FileNotFoundError:  # another process joined it
                    continue
        return np.arange(len(keys))

    def save(self, keys: Keys, rows: Rows) -> None:
        """Write ``rows``; joins small segments where there are many."""
        with self._lock:
            for i in range(0, len(keys), MAX_ROWS):
                self._write(keys[i : i + MAX_ROWS], rows[i : i + MAX_ROWS])
            if len(keys) < SEGMENT_ROWS:
                self._join()

    def _write(self, keys: Keys, rows: Rows) -> None:
        order = np.argsort(keys[:, 0], kind="stable")
        dtype = _record(len(keys), self.dimension)
        record = np.empty((), dtype)
        record["keys"], record["rows"] = keys[order], rows[order]
        stream = io.BytesIO()
        np.save(stream, record, allow_pickle=False)
        raw = stream.getbuffer()
        head = len(raw) - dtype["rows"].itemsize
        name = _name(raw[:head], raw[head:])
        with whole_file(self.folder / name, "wb", size=len(raw)) as handle:
            handle.write(raw)
        self._verified.add(name)

    def _files(self) -> dict[str, Path]:
        """The segments in the folder, by name."""
        return {
            file.name: file
            for file in sorted(self.folder.glob("*"))
            if file.suffix in (SUFFIX, OLD_SUFFIX) and not file.name.startswith(".")
        }

    def _refresh(self) -> None:
        """Index what is in the folder now."""
        files = self._files()
        if files.keys() == self._numbers.keys():
            return
        gone = [self._numbers.pop(name) for name in {*self._numbers} - {*files}]
        self._index.remove(gone)
        new = dict[str, Keys]()
        for name, file in files.items():
            if name not in self._numbers:
                with contextlib.suppress(FileNotFoundError):
                    new[name] = self._keys(file)
        first = max(self._numbers.values(), default=-1) + 1
        self._numbers |= {name: first + i for i, name in enumerate(new)}
        self._index.add(first, [*new.values()])

    def _keys(self, file: Path) -> Keys:
        """The keys of a segment, compared with their checksum.

        Raises:
            FileNotFoundError: it has gone.
            UserError: it is damaged.
        """
        with _named_damage(file):
            segment = self._load(file)
            if file.suffix == OLD_SUFFIX:
                return np.array(segment["key"])
            head = file.stat().st_size - segment["rows"].nbytes
            with file.open("rb") as handle:
                if not file.name.startswith(_name(handle.read(head), None)):
                    raise ValueError("checksum differs from its name")
            return np.array(segment["keys"])

    def _load(self, file: Path) -> Any:
        with NPY_HEADERS:
            segment = np.load(file, mmap_mode="r", allow_pickle=False)
        if file.suffix == OLD_SUFFIX:
            expected = np.dtype(
                [("key", np.uint64, 2), ("row", np.float16, self.dimension)]
            )
        else:
            expected = _record(len(segment["keys"]), self.dimension)
        if segment.dtype != expected:
            raise ValueError(f"rows of {segment.dtype}")
        return segment

    def _rows(self, file: Path, at: Int[np.ndarray, "k"]) -> Rows:
        """Rows of a segment, by their places in it.

        Raises:
            FileNotFoundError: it has gone.
            UserError: it is damaged.
        """
        with _named_damage(file):
            segment = self._load(file)
            rows = segment["row" if file.suffix == OLD_SUFFIX else "rows"]
            if file.name not in self._verified:
                self._verify(file, rows)
                self._verified.add(file.name)
            return rows[at]

    def _verify(self, file: Path, rows: Rows) -> None:
        if file.suffix == SUFFIX:
            digest = hashlib.sha256(np.ascontiguousarray(rows).data).hexdigest()
            whole = file.stem.endswith(f"-{digest[:32]}")
        elif file.name.startswith(CHECKSUM):
            whole = file.stem == f"{CHECKSUM}{sha256_file(file)[:32]}"
        else:
            whole = True  # random names of the first version
        if not whole:
            raise ValueError("checksum differs from its name")

    def _filled(self, keys: Keys, out: Rows) -> Int64[np.ndarray, "k"]:
        found, which, at = self._index.find(keys)
        names = {number: name for name, number in self._numbers.items()}
        for number in np.unique(which[found]).tolist():
            mine = found & (which == number)
            out[mine] = self._rows(self.folder / names[number], at[mine])
        return np.flatnonzero(~found)

    def _join(self) -> None:
        """Put small and old segments into one, if there are many."""
        row = _record(1, self.dimension).itemsize
        try:
            sizes = {
                file: file.stat().st_size // row for file in self._files().values()
            }
            small = [
                file
                for file, n in sizes.items()
                if n < SEGMENT_ROWS or file.suffix == OLD_SUFFIX
            ]
            if len(small) < MAX_SMALL:
                return
            small.sort(key=lambda file: sizes[file])
            fits = np.cumsum([sizes[file] for file in small]) <= JOINED_ROWS
            joined = small[: max(int(fits.sum()), 2)]
            keys = [self._keys(file) for file in joined]
            pairs = zip(joined, keys, strict=True)
            rows = [self._rows(file, np.arange(len(own))) for file, own in pairs]
        except FileNotFoundError:
            return  # another process joins them
        self._write(np.concatenate(keys), np.concatenate(rows))
        for file in joined:
            file.unlink(missing_ok=True)


class _Index:
    """Where each key is, over all segments."""

    def __init__(self) -> None:
        self._high = np.empty(0, np.uint64)
        """First halves of keys, ascending."""
        self._low = np.empty(0, np.uint64)
        self._where = np.empty((0, 2), np.int32)
        """Of each key: the number of its segment, and its place there."""

    def add(self, first: int, segments: Sequence[Keys]) -> None:
        """Add the keys of segments with the numbers from ``first`` on."""
        keys = np.concatenate([*segments, np.empty((0, 2), np.uint64)])
        where = [
            np.stack([np.full(len(own), first + i), np.arange(len(own))], axis=1)
            for i, own in enumerate(segments)
        ]
        places = np.concatenate([*where, np.empty((0, 2), np.int64)])
        order = np.argsort(keys[:, 0], kind="stable")
        at = np.searchsorted(self._high, keys[order, 0])
        self._high = np.insert(self._high, at, keys[order, 0])
        self._low = np.insert(self._low, at, keys[order, 1])
        self._where = np.insert(self._where, at, places[order], axis=0)

    def remove(self, numbers: Sequence[int]) -> None:
        """Remove the keys of segments."""
        if numbers:
            kept = ~np.isin(self._where[:, 0], numbers)
            self._high, self._low = self._high[kept], self._low[kept]
            self._where = self._where[kept]

    def find(
        self, keys: Keys
    ) -> tuple[Bool[np.ndarray, "n"], Int32[np.ndarray, "n"], Int32[np.ndarray, "n"]]:
        """(whether a key is there, the number of its segment, its place in it)."""
        at = np.searchsorted(self._high, keys[:, 0])
        found = np.zeros(len(keys), bool)
        inside = at < len(self._high)
        there = at[inside]
        found[inside] = (self._high[there] == keys[inside, 0]) & (
            self._low[there] == keys[inside, 1]
        )
        where = np.zeros((len(keys), 2), np.int32)
        where[found] = self._where[at[found]]
        return found, where[:, 0], where[:, 1]


def _record(n: int, dimension: int) -> np.dtype:
    """The dtype of a segment of ``n`` rows."""
    return np.dtype([("keys", np.uint64, (n, 2)), ("rows", np.float16, (n, dimension))])


def _name(head: Any, rows: Any | None) -> str:
    """The name of a segment; its beginning, where the rows are not given."""
    begin = f"{hashlib.sha256(head).hexdigest()[:16]}-"
    if rows is None:
        return begin
    return f"{begin}{hashlib.sha256(rows).hexdigest()[:32]}{SUFFIX}"


@contextlib.contextmanager
def _named_damage(file: Path) -> Iterator[None]:
    """Raise UserError for damage, and FileNotFoundError for a segment that has gone."""
    try:
        yield
    except FileNotFoundError:
        raise
    except NPY_DAMAGE as error:
        problem = " ".join(str(error).split())[:200]
        raise UserError(
            f"{file}: damaged cache segment ({problem}); delete it and run again"
        ) from None
