"""Labels of entities, from files or triplets, in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Int32, Int64, UInt64

from kgscout_jax.graph.name_hashes import blank_mask, display_names, entity_hashes
from kgscout_jax.graph.name_index import NameIndex
from kgscout_jax.graph.string_table import Strings, concatenate
from kgscout_jax.utils.array_writer import ArrayWriter
from kgscout_jax.utils.ragged import offsets_of

BUFFER_CHARS = 1 << 22
"""Characters of single labels that are collected."""


class LabelStore:
    """Collects labels while triplets are read, and writes them by entity id.

    The label of the lowest rank, then the first, counts.
    """

    def __init__(self, folder: Path, rows: int) -> None:
        """``rows``: approximate labels in memory; ``folder``: scratch files."""
        self._folder, self._rows = folder, rows
        self._buffers: dict[int, list[tuple[Strings, Strings]]] = {}
        self._ranks: list[int] = []
        self._size = 0
        self.unknown = 0
        """Number of labels without an entity in the graph; valid after ``write``."""

    def __len__(self) -> int:
        """The number of chunks of labels."""
        return len(self._ranks) + len(self._buffers)

    def add(self, ids: Strings, labels: Strings, rank: int = 0) -> None:
        """Add labels by entity id; unknown ids are allowed."""
        self._buffers.setdefault(rank, []).append((ids, labels))
        self._size += len(ids)
        if self._size >= self._rows:
            self._flush()

    def _flush(self) -> None:
        """Write a chunk of each rank: hashes of ids, and labels."""
        for rank, pairs in sorted(self._buffers.items()):
            number = len(self._ranks)
            ids = concatenate([pair[0] for pair in pairs])
            labels = display_names(concatenate([pair[1] for pair in pairs]))
            valid = np.flatnonzero(~(blank_mask(ids) | blank_mask(labels)))
            entity_hashes(ids.take(valid)).tofile(self._file(number, "hashes"))
            self._save(number, labels.take(valid))
            self._ranks.append(rank)
        self._buffers, self._size = {}, 0

    @property
    def _chunks(self) -> list[int]:
        """The chunks in the order in which their labels count."""
        return sorted(range(len(self._ranks)), key=lambda i: (self._ranks[i], i))

    def find(self, ids: Sequence[str]) -> dict[str, str]:
        """The labels of some ids; to be called before ``write``."""
        self._flush()
        wanted = entity_hashes(Strings.of(ids)) if ids else np.empty((0, 2), np.uint64)
        places = {tuple(row): i for i, row in enumerate(wanted.tolist())}
        found: dict[str, str] = {}
        for number in self._chunks:
            hashes = self._hashes(number)
            rows = np.flatnonzero(np.isin(hashes[:, 0], wanted[:, 0]))
            labels = self._load(number, 0, len(hashes)).take(rows)
            for key, label in zip(hashes[rows].tolist(), labels, strict=True):
                if tuple(key) in places:
                    found.setdefault(ids[places[tuple(key)]], label)
        return found

    def _hashes(self, number: int) -> UInt64[np.ndarray, "n 2"]:
        """The hashes of the ids of a chunk."""
        return np.fromfile(self._file(number, "hashes"), np.uint64).reshape(-1, 2)

    def _file(self, number: int, what: str) -> Path:
        return self._folder / f"labels-{number}.{what}"

    def _save(self, number: int, labels: Strings) -> None:
        labels.data.tofile(self._file(number, "text"))
        labels.offsets.tofile(self._file(number, "offsets"))

    def _load(self, number: int, start: int, stop: int) -> Strings:
        """Labels of a range of a chunk."""
        cuts = np.fromfile(
            self._file(number, "offsets"), np.int64, stop - start + 1, offset=8 * start
        )
        data = np.fromfile(
            self._file(number, "text"),
            np.uint8,
            int(cuts[-1] - cuts[0]),
            offset=int(cuts[0]),
        )
        return Strings(data, cuts - cuts[0])

    def write(
        self, out: Path, index: NameIndex, n_entities: int, old: Strings | None
    ) -> int:
        """Write labels and their index; returns the number of labelled entities.

        Args:
            out: the folder; nothing is written if there is no label.
            index: finds entities by their ids.
            n_entities: number of entities.
            old: existing labels of the first entities, which take precedence.
        """
        self._flush()
        owners = {number: self._owners(number, index) for number in self._chunks}
        buckets = max(1, -(-n_entities // self._rows))
        pairs = [self._folder / f"label-pairs-{i}" for i in range(buckets)]
        total = 0
        blob = out / "labels.utf8"
        with (
            open(blob, "wb") as text,
            ArrayWriter(out / "labels.npy", np.int64) as ends,
        ):
            ends.append(np.zeros(1, np.int64))
            size = 0
            for start in range(0, n_entities, self._rows):
                stop = min(start + self._rows, n_entities)
                entities, labels = self._range(owners, start, stop, old)
                text.write(labels.data.tobytes())
                lengths = np.zeros(stop - start, np.int64)
                lengths[entities - start] = np.diff(labels.offsets)
                ends.append(size + offsets_of(lengths)[1:])
                size += len(labels.data)
                total += len(entities)
                self._spill_pairs(pairs, entities, labels)
        if not total:
            blob.unlink()
            (out / "labels.npy").unlink()
            return 0
        with (
            ArrayWriter(out / "label_hashes.npy", np.uint64) as hashes,
            ArrayWriter(out / "label_ids.npy", np.int32) as ids,
        ):
            for path in pairs:
                if path.exists():
                    rows = np.fromfile(path, np.uint64).reshape(-1, 2)
                    rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
                    hashes.append(rows[:, 0])
                    ids.append(rows[:, 1].astype(np.int32))
        return total

    def _owners(self, number: int, index: NameIndex) -> Int32[np.ndarray, "n"]:
        """The entity of each label of a chunk, ascending; sorts the chunk on disk.

        Labels without an entity are left out.
        """
        hashes = self._hashes(number)
        labels = self._load(number, 0, len(hashes))
        ids = index.ids_of(hashes)
        self.unknown += int((ids < 0).sum())
        order = np.argsort(ids, kind="stable")
        order = order[ids[order] >= 0]
        self._save(number, labels.take(order))
        return ids[order]

    def _range(
        self,
        owners: dict[int, Int32[np.ndarray, "n"]],
        start: int,
        stop: int,
        old: Strings | None,
    ) -> tuple[Int64[np.ndarray, "k"], Strings]:
        """Entities of a range with a label, ascending, and the first label of each."""
        ids, blocks = [], []
        if old is not None and start < len(old):
            block = old.block(start, min(stop, len(old)))
            labelled = np.flatnonzero(np.diff(block.offsets))
            ids.append(labelled + start)
            blocks.append(block.take(labelled))
        for number, entities in owners.items():
            low, high = np.searchsorted(entities, [start, stop]).tolist()
            ids.append(entities[low:high].astype(np.int64))
            blocks.append(self._load(number, low, high))
        ids = np.concatenate([*ids, np.empty(0, np.int64)])
        labelled, first = np.unique(ids, return_index=True)  # the first of equals
        return labelled, concatenate(blocks).take(first)

    def _spill_pairs(
        self, pairs: list[Path], entities: Int64[np.ndarray, "k"], labels: Strings
    ) -> None:
        """Append (hash, entity) to the file of the hash's range."""
        rows = np.empty((len(entities), 2), np.uint64)
        rows[:, 0], rows[:, 1] = entity_hashes(labels)[:, 0], entities
        rows = rows[np.argsort(rows[:, 0])]
        bounds = (np.arange(1, len(pairs)) * (2**64 / len(pairs))).astype(np.uint64)
        cuts = [0, *np.searchsorted(rows[:, 0], bounds).tolist(), len(rows)]
        for path, low, high in zip(pairs, cuts, cuts[1:], strict=False):
            if high > low:
                with open(path, "ab") as handle:
                    rows[low:high].tofile(handle)


class LabelBuffer:
    """Collects single labels of RDF files for a store, in batches."""

    def __init__(self, store: LabelStore, notes: dict[str, int]) -> None:
        """``notes``: labels are counted in ``label_triplets``."""
        self._store, self._notes = store, notes
        self._pairs: dict[int, list[tuple[str, str]]] = {}
        self._size = 0

    def __call__(self, id: str, name: str, rank: int) -> None:
        """Add a label; those of --labels and --label-relation come before it."""
        self._pairs.setdefault(rank + 1, []).append((id, name))
        self._notes["label_triplets"] = self._notes.get("label_triplets", 0) + 1
        self._size += len(name)
        if self._size > BUFFER_CHARS:
            self.flush()

    def flush(self) -> None:
        """Pass the labels on."""
        for rank, pairs in self._pairs.items():
            ids, names = zip(*pairs, strict=True)
            self._store.add(Strings.of(ids), Strings.of(names), rank)
        self._pairs, self._size = {}, 0
