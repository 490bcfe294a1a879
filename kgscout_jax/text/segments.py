"""Files of cached rows, and the index by which a row is found among them.

A segment is one record in an .npy file: its keys in order, then its rows, so that an
index reads the keys alone. Its name holds a checksum of the head of the file, up to the
last key, and one of the rows. The first is compared when the segment is indexed, the
second when a row of it is first read. Segments of earlier versions, in which each key
stands before its row, are read whole.
"""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool, Float16, Int64, UInt64

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
ATTEMPTS = 5
"""Times that rows are looked for while other processes join segments."""

Keys = UInt64[np.ndarray, "n 2"]
Rows = Float16[np.ndarray, "n d"]


class _Segment(NamedTuple):
    """What of a segment stays in memory."""

    file: Path
    keys: Keys
    is_small: bool


class SegmentFolder:
    """The segments of one folder. Threads may share it, processes the folder."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder, self.dimension = folder, dimension
        self._segments = dict[str, _Segment]()
        self._verified = set[str]()
        """Names of segments whose rows were compared with their checksum."""
        self._lock = threading.Lock()
        self._index = _Index([])

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
                except FileNotFoundError as error:  # another process joined it
                    self._segments.pop(Path(error.filename).name, None)
        return np.arange(len(keys))

    def save(self, keys: Keys, rows: Rows) -> None:
        """Write a segment of ``rows``; joins small segments where there are many."""
        if not len(keys):
            return
        with self._lock:
            self._write(keys, rows)
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

    def _refresh(self) -> None:
        """Index what is in the folder now."""
        names = {
            file.name: file
            for file in sorted(self.folder.glob("*"))
            if file.suffix in (SUFFIX, OLD_SUFFIX) and not file.name.startswith(".")
        }
        if names.keys() == self._segments.keys() == {*self._index.names}:
            return
        found = {}
        for name, file in names.items():
            known = self._segments.get(name)
            try:
                found[name] = self._opened(file) if known is None else known
            except FileNotFoundError:
                continue
        self._index = _Index([*found.values()])
        keys = self._index.keys_of_segments()
        self._segments = {
            name: each._replace(keys=own)
            for (name, each), own in zip(found.items(), keys, strict=True)
        }

    def _opened(self, file: Path) -> _Segment:
        """A segment whose keys are compared with their checksum.

        Raises:
            FileNotFoundError: it has gone.
            UserError: it is damaged.
        """
        try:
            segment = self._load(file)
            keys = np.array(segment["key" if file.suffix == OLD_SUFFIX else "keys"])
            if file.suffix == OLD_SUFFIX:
                return _Segment(file, keys, True)
            head = file.stat().st_size - segment["rows"].nbytes
            with file.open("rb") as handle:
                if not file.name.startswith(_name(handle.read(head), None)):
                    raise ValueError("checksum differs from its name")
        except FileNotFoundError:
            raise
        except NPY_DAMAGE as error:
            raise _damaged(file, error) from None
        return _Segment(file, keys, len(keys) < SEGMENT_ROWS)

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

    def _rows(self, file: Path, at: Int64[np.ndarray, "k"]) -> Rows:
        """Rows of a segment, by their places in it.

        Raises:
            FileNotFoundError: it has gone.
            UserError: it is damaged.
        """
        try:
            segment = self._load(file)
            rows = segment["row" if file.suffix == OLD_SUFFIX else "rows"]
            if file.name not in self._verified:
                self._verify(file, rows)
                self._verified.add(file.name)
        except FileNotFoundError:
            raise
        except NPY_DAMAGE as error:
            raise _damaged(file, error) from None
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
        for number in np.unique(which[found]).tolist():
            mine = found & (which == number)
            out[mine] = self._rows(self._index.files[number], at[mine])
        return np.flatnonzero(~found)

    def _join(self) -> None:
        """Put small and old segments into one, if there are many."""
        self._refresh()
        small = [each for each in self._segments.values() if each.is_small]
        if len(small) < MAX_SMALL:
            return
        joined, n_rows = list[_Segment](), 0
        for each in sorted(small, key=lambda each: len(each.keys)):
            n_rows += len(each.keys)
            if joined and n_rows > JOINED_ROWS:
                break
            joined.append(each)
        if len(joined) < 2:
            return
        try:
            rows = [self._rows(each.file, np.arange(len(each.keys))) for each in joined]
        except FileNotFoundError:
            return  # another process joins them
        self._write(np.concatenate([x.keys for x in joined]), np.concatenate(rows))
        for each in joined:
            each.file.unlink(missing_ok=True)


class _Index:
    """Where each key is, over all segments."""

    def __init__(self, segments: Sequence[_Segment]) -> None:
        self.files = [each.file for each in segments]
        self.names = [each.file.name for each in segments]
        keys = [each.keys for each in segments]
        self._keys = np.concatenate([*keys, np.empty((0, 2), np.uint64)])
        self._begins = np.cumsum([0, *map(len, keys)])
        """Where the keys of each segment begin, and where the last ones end."""
        self._order = np.argsort(self._keys[:, 0], kind="stable").astype(np.int32)
        self._high = self._keys[self._order, 0]

    def keys_of_segments(self) -> list[Keys]:
        """The keys of each segment, as parts of one array."""
        return np.split(self._keys, self._begins[1:-1]) if self.files else []

    def find(
        self, keys: Keys
    ) -> tuple[Bool[np.ndarray, "n"], Int64[np.ndarray, "n"], Int64[np.ndarray, "n"]]:
        """(whether a key is there, the number of its segment, its place in it)."""
        if not len(self._high):
            nothing = np.zeros(len(keys), np.int64)
            return nothing.astype(bool), nothing, nothing
        at = np.minimum(np.searchsorted(self._high, keys[:, 0]), len(self._high) - 1)
        place = self._order[at]
        found = (self._keys[place] == keys).all(axis=1)
        which = np.searchsorted(self._begins, place, side="right") - 1
        return found, which, place - self._begins[which]


def _record(n: int, dimension: int) -> np.dtype:
    """The dtype of a segment of ``n`` rows."""
    return np.dtype([("keys", np.uint64, (n, 2)), ("rows", np.float16, (n, dimension))])


def _name(head: Any, rows: Any | None) -> str:
    """The name of a segment; its beginning, where the rows are not given."""
    begin = f"{hashlib.sha256(head).hexdigest()[:16]}-"
    if rows is None:
        return begin
    return f"{begin}{hashlib.sha256(rows).hexdigest()[:32]}{SUFFIX}"


def _damaged(file: Path, error: BaseException) -> UserError:
    problem = " ".join(str(error).split())[:200]
    return UserError(
        f"{file}: damaged cache segment ({problem}); delete it and run again"
    )
