"""The stages of building a GRAPH folder; see ``build`` for what they make."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.canonical_order import (
    MAX_TRIPLETS,
    CanonicalSort,
    find_triplets,
)
from kgscout_jax.graph.build.interning import Interner, strings_of
from kgscout_jax.graph.build.labels import LabelStore
from kgscout_jax.graph.build.versions import next_version, publish
from kgscout_jax.graph.folder import FORMAT, VERSION, GraphFolder
from kgscout_jax.graph.name_hashes import HASH_VERSION, entity_hashes
from kgscout_jax.graph.name_index import NameIndex
from kgscout_jax.graph.opaque_names import BLOCK, unnamed_mask
from kgscout_jax.graph.read.arrow import compute
from kgscout_jax.graph.read.arrow_batches import Columns, triplet_batches
from kgscout_jax.graph.read.labels import label_batches, relation_names
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name
from kgscout_jax.utils.array_writer import ArrayWriter
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.progress import progress

if TYPE_CHECKING:
    from kgscout_jax.graph.build.driver import Source


class Build:
    """One building of one version of a folder; see ``run`` for the stages."""

    def __init__(
        self,
        out: Path,
        old: GraphFolder | None,
        files: Sequence[Path],
        remove: Sequence[Path],
        source: Source,
        *,
        exact: bool,
    ) -> None:
        """``exact``: do without arrow's decoders."""
        self.out, self.old, self.source, self.exact = out, old, source, exact
        self.files, self.remove = files, remove
        self.version = next_version(out)
        self.aside = out / f".{self.version}.part"
        self.scratch = self.aside / "scratch"
        self.notes: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        self._lapped = time.perf_counter()

    def run(self) -> GraphFolder:
        """Read, intern, name, sort, label, mark; then make it the folder's data."""
        self.scratch.mkdir(parents=True)
        labels = LabelStore(self.scratch, self.source.rows)
        if self.source.labels is not None:
            for ids, names in label_batches(self.source.labels, self.notes):
                labels.add(Strings.of(ids), Strings.of(names))
        dropped = self._dropped()
        interner = self._interner()
        for columns in self._chunks(self.files, labels):
            interner.add(*columns)
        if self.old is None and not interner.rows:
            raise UserError(f"{', '.join(map(str, self.files))}: no triplets")
        self._lap("read")
        with ArrayWriter(self.scratch / "new.npy", np.uint64, 2) as new:
            for keys in interner.resolve():
                new.append(keys)
        self._lap("intern")
        relations = interner.relations
        if interner.n_entities > MAX_TRIPLETS:
            raise UserError(
                f"{self.out}: {interner.n_entities:,} entities, expected at most "
                f"{MAX_TRIPLETS:,}"
            )
        sort = CanonicalSort(
            self.scratch, interner.n_entities, len(relations), self.source.rows
        )
        self._write_names(interner, sort)
        index = self._write_index(interner)
        self._lap("names")
        before = 0
        if self.old is not None:
            before = len(self.old.arrays["triplets"]) - self.notes.get("removed", 0)
            sort.add_canonical(self.old.arrays["triplets"], dropped)
        n_triplets = sort.write(self.aside)
        duplicates = before + interner.rows - n_triplets
        self._lap("sort")
        n_labels = self._write_labels(labels, index)
        n_unnamed = self._write_unnamed(index.names, n_labels > 0)
        shutil.rmtree(self.scratch)
        self._lap("label")
        total = duplicates
        if self.old is not None:
            self.notes["duplicates_added"] = duplicates
            total += self.old.manifest["counts"]["duplicates"]
        return self._publish(
            {
                "entities": interner.n_entities,
                "relations": len(relations),
                "triplets": n_triplets,
                "labels": n_labels,
                "unnamed": n_unnamed,
                "duplicates": total,
            }
        )

    def _lap(self, name: str) -> None:
        """End a stage."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._lapped, 3)
        self._lapped = now

    # --- reading ---------------------------------------------------------------------

    def _interner(self) -> Interner:
        entries = 2 * self.source.rows
        if self.old is None:
            return Interner(self.scratch, entries=entries)
        return Interner(
            self.scratch,
            entries=entries,
            relations=list(self.old.strings("relations")),
            n_known=len(self.old.ids),
            known=self.old.index.of_hashes,
        )

    def _chunks(
        self, files: Sequence[Path], labels: LabelStore | None
    ) -> Iterator[Columns]:
        """The triplets of all files in chunks; those that are labels go to labels."""
        held: list[Columns] = []
        rows = size = 0
        room = int(self.source.memory * (1 << 30) / 8)
        with progress(0, "read", "triplets") as bar:
            for path in files:
                for columns in triplet_batches(
                    path, self.notes, self.source.language, exact=self.exact
                ):
                    left = columns if labels is None else self._split(columns, labels)
                    held.append(left)
                    rows += len(left[0])
                    size += sum(column.nbytes for column in left)
                    bar.update(len(columns[0]))
                    if rows >= self.source.rows or size >= room:
                        yield _joined(held)
                        held, rows, size = [], 0, 0
        if rows:
            yield _joined(held)

    def _split(self, columns: Columns, labels: LabelStore) -> Columns:
        """The triplets that are no labels; the others name their heads."""
        if self.source.label_relation is None:
            return columns
        import pyarrow as pa

        pc = compute()
        names = relation_names(self.source.label_relation)
        named = pc.is_in(columns[1], pa.array(names, pa.large_string()))
        heads, _, tails = (column.filter(named) for column in columns)
        if len(heads):
            labels.add(strings_of(heads), strings_of(tails))
            before = self.notes.get("label_triplets", 0)
            self.notes["label_triplets"] = before + len(heads)
        rest = pc.invert(named)
        return columns[0].filter(rest), columns[1].filter(rest), columns[2].filter(rest)

    def _dropped(self) -> Bool[np.ndarray, "m"] | None:
        """Marks the triplets of the old graph that are to be removed."""
        if self.old is None or not self.remove:
            return None
        triplets = self.old.arrays["triplets"]
        offsets = self.old.arrays["head_offsets"]
        relations = {name: i for i, name in enumerate(self.old.strings("relations"))}
        dropped = np.zeros(len(triplets), bool)
        missing = 0
        for heads, phrases, tails in self._chunks(self.remove, None):
            rows = np.empty((len(heads), 3), np.int32)
            rows[:, 0] = self._known_ids(heads)
            rows[:, 2] = self._known_ids(tails)
            encoded = phrases.dictionary_encode()
            spellings = encoded.dictionary.to_pylist()
            ids = [relations.get(display_name(text), -1) for text in spellings]
            rows[:, 1] = np.array(ids, np.int32)[encoded.indices.to_numpy()]
            rows = rows[(rows >= 0).all(axis=1)]
            found = find_triplets(triplets, offsets, rows)
            missing += len(heads) - int((found >= 0).sum())
            dropped[found[found >= 0]] = True
        self.notes["removed"] = int(dropped.sum())
        self.notes["not_there_to_remove"] = missing
        return dropped

    def _known_ids(self, names: Any) -> Int32[np.ndarray, "n"]:
        """Ids in the old graph of an arrow column of names, -1 for unknown ones."""
        assert self.old is not None
        encoded = names.dictionary_encode()
        hashes = entity_hashes(strings_of(encoded.dictionary))
        return self.old.index.of_hashes(hashes)[encoded.indices.to_numpy()]

    # --- writing ---------------------------------------------------------------------

    def _write_names(self, interner: Interner, sort: CanonicalSort) -> None:
        """Write entities and relations, and hand the triplets on to be sorted."""
        if self.old is not None:
            data = self.old.path / self.old.manifest["data"]
            shutil.copyfile(data / "entities.utf8", self.aside / "entities.utf8")
        with (
            progress(interner.rows, "number names", "triplets") as bar,
            open(self.aside / "entities.utf8", "ab") as blob,
            ArrayWriter(self.aside / "entities.npy", np.int64) as offsets,
        ):
            if self.old is None:
                offsets.append(np.zeros(1, np.int64))
            else:
                for start in range(0, len(self.old.ids) + 1, BLOCK):
                    offsets.append(self.old.ids.offsets[start : start + BLOCK])
            size = blob.tell()
            for piece in interner.pieces():
                blob.write(piece.new_names.data.tobytes())
                offsets.append(piece.new_names.offsets[1:] + size)
                size += len(piece.new_names.data)
                sort.add(piece.rows)
                bar.update(len(piece.rows))
        packed = Strings.of(interner.relations)
        packed.data.tofile(self.aside / "relations.utf8")
        with ArrayWriter(self.aside / "relations.npy", np.int64) as offsets:
            offsets.append(packed.offsets)

    def _write_index(self, interner: Interner) -> NameIndex:
        """Write the sorted hashes of all identities; the index over what is written."""
        new = np.load(self.scratch / "new.npy", mmap_mode="r", allow_pickle=False)
        old = None if self.old is None else self.old.index
        step = self.source.rows
        with (
            ArrayWriter(self.aside / "entity_hashes.npy", np.uint64) as hashes,
            ArrayWriter(self.aside / "entity_ids.npy", np.int32) as ids,
        ):
            if old is None:
                for start in range(0, len(new), step):
                    block = np.asarray(new[start : start + step])
                    hashes.append(block[:, 0])
                    ids.append(interner.ids_of(block[:, 1].astype(np.int64)))
            else:
                for block, own in _merged(old, new, step, interner):
                    hashes.append(block)
                    ids.append(own)
        load = functools.partial(np.load, mmap_mode="r", allow_pickle=False)
        offsets = np.asarray(load(self.aside / "entities.npy"))
        blob = np.asarray(np.memmap(self.aside / "entities.utf8", np.uint8, "r"))
        return NameIndex(
            Strings(blob, offsets),
            np.asarray(load(self.aside / "entity_hashes.npy")),
            np.asarray(load(self.aside / "entity_ids.npy")),
        )

    def _write_labels(self, labels: LabelStore, index: NameIndex) -> int:
        old = None if self.old is None else self.old.labels
        if not len(labels) and old is None:
            return 0
        count = labels.write(self.aside, index, len(index.names), old)
        self.notes["labels_of_no_entity"] = labels.unknown
        return count

    def _write_unnamed(self, names: Strings, labelled: bool) -> int:
        """Write which entities have no name; how many."""
        ends = (
            np.load(self.aside / "labels.npy", mmap_mode="r", allow_pickle=False)
            if labelled
            else None
        )
        count = 0
        with ArrayWriter(self.aside / "unnamed.npy", np.bool_) as out:
            for start in range(0, len(names), BLOCK):
                block = names.block(start, min(start + BLOCK, len(names)))
                have = None
                if ends is not None:
                    have = np.diff(ends[start : start + len(block) + 1]) > 0
                mask = unnamed_mask(block, have)
                out.append(mask)
                count += int(mask.sum())
        return count

    def _publish(self, counts: dict[str, int]) -> GraphFolder:
        """Swap the new data in and open them."""
        used = [("kg" if self.old is None else "add", path) for path in self.files]
        used += [("remove", path) for path in self.remove]
        if self.source.labels is not None:
            used.append(("labels", self.source.labels))
        old = {} if self.old is None else self.old.manifest
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "hash_version": HASH_VERSION,
            "counts": counts,
            "settings": self.source.to_manifest(),
            "sources": [
                *old.get("sources", []),
                *(
                    {"use": use, "file": path.name, "sha256": sha256_file(path)}
                    for use, path in used
                ),
            ],
            "notes": self.notes,
            "seconds": self.seconds,
        }
        publish(self.out, self.aside, self.version, manifest)
        self._lap("publish")
        return GraphFolder.open(self.out)


def _joined(held: Sequence[Columns]) -> Columns:
    """Batches as one chunk."""
    import pyarrow as pa

    heads, relations, tails = zip(*held, strict=True)
    return pa.concat_arrays(heads), pa.concat_arrays(relations), pa.concat_arrays(tails)


def _merged(
    old: NameIndex, new: np.ndarray, step: int, interner: Interner
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Blocks of hashes and ids of an old index and of new (hash, place), ascending."""
    done = 0
    for start in range(0, max(len(old.hashes), 1), step):
        stop = start + step
        hashes, ids = (
            np.asarray(old.hashes[start:stop]),
            np.asarray(old.ids[start:stop]),
        )
        last = stop >= len(old.hashes)
        upto = (
            len(new) if last else int(np.searchsorted(new[:, 0], hashes[-1], "right"))
        )
        block = np.asarray(new[done:upto])
        done = upto
        own = interner.ids_of(block[:, 1].astype(np.int64))
        both = np.concatenate([hashes, block[:, 0]])
        order = np.argsort(both, kind="stable")
        yield both[order], np.concatenate([ids, own])[order]
