"""The stages of building a GRAPH folder; ``graph.folder`` describes the result."""

from __future__ import annotations

import functools
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int32, UInt64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.canonical_order import MAX_TRIPLETS, CanonicalSort
from kgscout_jax.graph.build.chunks import triplet_chunks
from kgscout_jax.graph.build.interning import Interner
from kgscout_jax.graph.build.labels import LabelStore
from kgscout_jax.graph.build.removal import removal_mask
from kgscout_jax.graph.build.settings import BuildSettings
from kgscout_jax.graph.build.versions import next_version, publish
from kgscout_jax.graph.display_names import named_relations
from kgscout_jax.graph.folder import FORMAT, VERSION, GraphFolder
from kgscout_jax.graph.name_hashes import HASH_VERSION
from kgscout_jax.graph.name_index import NameIndex
from kgscout_jax.graph.opaque_names import BLOCK, unnamed_mask
from kgscout_jax.graph.read.labels import label_batches
from kgscout_jax.graph.read.triplets import TripletFiles
from kgscout_jax.graph.relation_names import relation_problem
from kgscout_jax.graph.string_table import Strings
from kgscout_jax.types import display_name
from kgscout_jax.utils.array_writer import ArrayWriter
from kgscout_jax.utils.io import read_array, sha256_file
from kgscout_jax.utils.progress import ProgressBar


class Build:
    """Builds one version of a folder; ``run`` has the stages."""

    def __init__(
        self,
        out: Path,
        old: GraphFolder | None,
        files: Sequence[Path],
        remove: Sequence[Path],
        settings: BuildSettings,
        *,
        reader: TripletFiles,
        exact: bool,
    ) -> None:
        """``reader``: of all files; ``exact``: do not use arrow's decoders."""
        self.out, self.old, self.settings, self.exact = out, old, settings, exact
        self.files, self.remove = files, remove
        self.version = next_version(out)
        self.staging = out / f".{self.version}.part"
        self.scratch = self.staging / "scratch"
        self.reader = reader
        self.notes = reader.notes = {}
        self.seconds: dict[str, float] = {}
        self._stage_start = time.perf_counter()

    def run(self) -> GraphFolder:
        """Run all stages and publish the result."""
        self.scratch.mkdir(parents=True)
        labels = LabelStore(self.scratch, self.settings.rows)
        removed, interner = self._read(labels)
        self._end_stage("read")
        with ArrayWriter(self.scratch / "new.npy", np.uint64, 2) as new:
            for hashes in interner.resolve():
                new.append(hashes)
        self._end_stage("intern")
        n_entities, n_relations = interner.n_entities, len(interner.relations)
        if n_entities > MAX_TRIPLETS:
            raise UserError(
                f"{self.out}: {n_entities:,} entities, expected at most "
                f"{MAX_TRIPLETS:,}"
            )
        sort = CanonicalSort(self.scratch, n_entities, n_relations, self.settings.rows)
        self._write_names(interner, sort)
        index = self._write_index(interner)
        self._end_stage("names")
        duplicates = interner.rows
        if self.old is not None:
            old = self.old.arrays["triplets"]
            sort.add_canonical(old, removed)
            duplicates += len(old) - self.notes.get("removed", 0)
        n_triplets = sort.write(self.staging)
        duplicates -= n_triplets
        self._end_stage("sort")
        self._write_relations(interner.relations, labels)
        n_labels = self._write_labels(labels, index)
        n_unnamed = self._write_unnamed(index.names, n_labels > 0)
        shutil.rmtree(self.scratch)
        self._end_stage("label")
        if self.old is not None:
            self.notes["duplicates_added"] = duplicates
            duplicates += self.old.manifest["counts"]["duplicates"]
        return self._publish(
            {
                "entities": n_entities,
                "relations": n_relations,
                "triplets": n_triplets,
                "labels": n_labels,
                "unnamed": n_unnamed,
                "duplicates": duplicates,
            }
        )

    def _read(
        self, labels: LabelStore
    ) -> tuple[Bool[np.ndarray, "m"] | None, Interner]:
        """The mask of old triplets to remove, and an interner with the new triplets."""
        chunks = functools.partial(
            triplet_chunks,
            settings=self.settings,
            reader=self.reader,
            exact=self.exact,
        )
        if self.settings.labels is not None:
            for ids, names in label_batches(self.settings.labels, self.notes):
                labels.add(Strings.of(ids), Strings.of(names))
        removed = None
        if self.old is not None and self.remove:
            removed, missing = removal_mask(self.old, chunks(self.remove))
            self.notes["removed"] = int(removed.sum())
            self.notes["not_there_to_remove"] = missing
        interner = self._interner()
        for columns in chunks(self.files, labels=labels):
            interner.add(*columns)
        if self.old is None and not interner.rows:
            raise UserError(f"{', '.join(map(str, self.files))}: no triplets")
        return removed, interner

    def _end_stage(self, name: str) -> None:
        """Record the seconds since the previous stage ended."""
        now = time.perf_counter()
        self.seconds[name] = round(now - self._stage_start, 3)
        self._stage_start = now

    def _interner(self) -> Interner:
        """An interner that starts with the names of the old graph."""
        if self.old is None:
            return Interner(self.scratch, rows=2 * self.settings.rows)
        return Interner(
            self.scratch,
            rows=2 * self.settings.rows,
            relations=list(self.old.relation_ids),
            n_old=len(self.old.ids),
            old_ids=self.old.index.ids_of,
        )

    def _write_names(self, interner: Interner, sort: CanonicalSort) -> None:
        """Write entities and relations, and pass the triplets to ``sort``."""
        if self.old is not None:
            data = self.old.path / self.old.manifest["data"]
            shutil.copyfile(data / "entities.utf8", self.staging / "entities.utf8")
        with (
            ProgressBar(interner.rows, "number names", "triplets") as bar,
            open(self.staging / "entities.utf8", "ab") as blob,
            ArrayWriter(self.staging / "entities.npy", np.int64) as offsets,
        ):
            if self.old is None:
                offsets.append(np.zeros(1, np.int64))
            else:
                for start in range(0, len(self.old.ids) + 1, BLOCK):
                    offsets.append(self.old.ids.offsets[start : start + BLOCK])
            size = blob.tell()
            for rows, names in interner.chunks():
                blob.write(names.data.tobytes())
                offsets.append(names.offsets[1:] + size)
                size += len(names.data)
                sort.add(rows)
                bar.update(len(rows))

    def _write_index(self, interner: Interner) -> NameIndex:
        """Write the sorted hashes of all identities; returns the index."""
        new = read_array(self.scratch / "new.npy", mmap=True)
        old = None if self.old is None else self.old.index
        step = self.settings.rows
        with (
            ArrayWriter(self.staging / "entity_hashes.npy", np.uint64) as hashes,
            ArrayWriter(self.staging / "entity_ids.npy", np.int32) as ids,
        ):
            if old is None:
                for start in range(0, len(new), step):
                    block = np.asarray(new[start : start + step])
                    hashes.append(block[:, 0])
                    ids.append(interner.ids_of(block[:, 1].astype(np.int64)))
            else:
                for block_hashes, block_ids in _merge(old, new, step, interner):
                    hashes.append(block_hashes)
                    ids.append(block_ids)
        load = functools.partial(np.load, mmap_mode="r", allow_pickle=False)
        offsets = np.asarray(load(self.staging / "entities.npy"))
        blob = np.asarray(np.memmap(self.staging / "entities.utf8", np.uint8, "r"))
        return NameIndex(
            Strings(blob, offsets),
            np.asarray(load(self.staging / "entity_hashes.npy")),
            np.asarray(load(self.staging / "entity_ids.npy")),
        )

    def _write_relations(self, ids: Sequence[str], labels: LabelStore) -> None:
        """Write the names of relations, and their ids if these differ."""
        given: dict[str, str] = {}
        if self.old is not None:
            pairs = zip(
                self.old.relation_ids, self.old.strings("relations"), strict=True
            )
            given = {id: name for id, name in pairs if id != name}
        if self.settings.relation_names is not None:
            known = {display_name(name): id for id, name in given.items()}
            known |= {id: id for id in ids}
            unknown = 0
            for keys, names in label_batches(self.settings.relation_names, self.notes):
                for key, name in zip(keys, names, strict=True):
                    id = known.get(display_name(key))
                    unknown += id is None
                    if id is not None:
                        given[id] = name
            self.notes["names_of_no_relation"] = unknown
        opaque = [id for id in ids if relation_problem(id) == "identifier"]
        found = labels.find(opaque) if len(labels) else {}
        names = named_relations(ids, found.get, given)
        self._write_strings("relations", names)
        if names != list(ids):
            self._write_strings("relation_ids", ids)

    def _write_strings(self, name: str, texts: Sequence[str]) -> None:
        packed = Strings.of(texts)
        packed.data.tofile(self.staging / f"{name}.utf8")
        with ArrayWriter(self.staging / f"{name}.npy", np.int64) as offsets:
            offsets.append(packed.offsets)

    def _write_labels(self, labels: LabelStore, index: NameIndex) -> int:
        old = None if self.old is None else self.old.labels
        if not len(labels) and old is None:
            return 0
        count = labels.write(self.staging, index, len(index.names), old)
        self.notes["labels_of_no_entity"] = labels.unknown
        return count

    def _write_unnamed(self, names: Strings, labelled: bool) -> int:
        """Write the mask of unnamed entities; returns their number."""
        ends = read_array(self.staging / "labels.npy", mmap=True) if labelled else None
        count = 0
        with ArrayWriter(self.staging / "unnamed.npy", np.bool_) as out:
            for start in range(0, len(names), BLOCK):
                block = names.block(start, min(start + BLOCK, len(names)))
                label_mask = None
                if ends is not None:
                    label_mask = np.diff(ends[start : start + len(block) + 1]) > 0
                mask = unnamed_mask(block, label_mask)
                out.append(mask)
                count += int(mask.sum())
        return count

    def _publish(self, counts: dict[str, int]) -> GraphFolder:
        """Publish the new data and open the folder."""
        used = [("kg" if self.old is None else "add", path) for path in self.files]
        used += [("remove", path) for path in self.remove]
        if self.settings.labels is not None:
            used.append(("labels", self.settings.labels))
        if self.settings.relation_names is not None:
            used.append(("relation names", self.settings.relation_names))
        old = {} if self.old is None else self.old.manifest
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "hash_version": HASH_VERSION,
            "counts": counts,
            "settings": self.settings.to_manifest(),
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
        publish(self.out, self.staging, self.version, manifest)
        self._end_stage("publish")
        return GraphFolder.open(self.out)


def _merge(
    old: NameIndex, new: UInt64[np.ndarray, "n 2"], step: int, interner: Interner
) -> Iterator[tuple[UInt64[np.ndarray, "k"], Int32[np.ndarray, "k"]]]:
    """Blocks of hashes and ids of an old index and of new (hash, place), ascending."""
    begin = 0
    for start in range(0, max(len(old.hashes), 1), step):
        stop = start + step
        hashes = np.asarray(old.hashes[start:stop])
        end = len(new)
        if stop < len(old.hashes):
            end = int(np.searchsorted(new[:, 0], hashes[-1], "right"))
        block = np.asarray(new[begin:end])
        begin = end
        ids = interner.ids_of(block[:, 1].astype(np.int64))
        hashes = np.concatenate([hashes, block[:, 0]])
        order = np.argsort(hashes, kind="stable")
        yield hashes[order], np.concatenate([old.ids[start:stop], ids])[order]
