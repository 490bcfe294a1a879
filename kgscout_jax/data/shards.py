"""The shard folder, which training and evaluation read.

Every unique triplet and relation phrase is embedded once into a table, and a question
holds indices into it. ``data_prep.write_shards`` writes this folder; the names, types
and checks of its files are defined here only.

    manifest.json                  format, settings, encoder, counts, seconds, checksums
    entities.txt, relations.txt    one name a line; the line (from 0) is the id
    triplets.npy                   int32[M, 3]: head, relation, tail; candidates first
    triplet_embeddings.npy         float16[C, d], unit length, of the C candidates; or
                                   int8[C, d], times the row's scale
    triplet_scales.npy             float16[C], where the embeddings are int8
    relation_embeddings.npy        float16[R, d], unit length
    words.txt                      the words of all questions, see ``text.words``
    word_embeddings.npy            float16[W, d], unit length; W words
    train/ dev/ test/              one folder per split, see ``Split``
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Float32, Int, Int8, Int32

from kgscout_jax.data.shard_manifest import read_manifest
from kgscout_jax.errors import UserError
from kgscout_jax.text.relation_index import RelationIndex
from kgscout_jax.types import Question
from kgscout_jax.utils.io import read_array, read_json_lines
from kgscout_jax.utils.manifest import as_record, check_files
from kgscout_jax.utils.ragged import Ragged

SPLITS = ("train", "dev", "test")
DIRECTIONS = ("directed", "both")
"""Direction in which paths follow edges: head to tail only, or both ways."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split; b questions (rows), n candidates, padded.

    Candidates are in descending order of cosine with the question, ties by triplet id.
    Local node ids number, per question, the nodes of its candidates, topics, answers
    and shortest paths from 0 to ``n_nodes`` - 1.
    """

    name: str
    questions: Sequence[Question]
    question_embeddings: Float16[np.ndarray, "b d"]
    candidates: Int32[np.ndarray, "b n"]
    """Rows of triplets.npy; -1 beyond n_real."""
    node_ppr: Ragged
    """Personalized PageRank of each local node, float32; a row per question."""
    nodes: Int[np.ndarray, "b n 2"]
    """Local node ids of head and of tail; 0 beyond n_real."""
    topics: Int32[np.ndarray, "b t"]
    """Local node ids of the topics in the subgraph, -1 as padding."""
    answers: Int32[np.ndarray, "b a"]
    """Local node ids of the gold answers in the subgraph, -1 as padding."""
    n_nodes: Int32[np.ndarray, "b"]
    path_edges: dict[str, Ragged]
    """direction -> rows (topic slot, u, v, depth): the hops of all shortest paths from
    the topic in that slot to any answer, depth = distance of u; local node ids."""
    path_triplets: dict[str, Ragged]
    """direction -> rows of triplets.npy on those paths, parallel triplets included."""

    def __len__(self) -> int:
        return len(self.questions)

    @cached_property
    def n_real(self) -> Int32[np.ndarray, "b"]:
        """The number of candidates of each question."""
        return (self.candidates >= 0).sum(axis=1, dtype=np.int32)

    def ppr_of(
        self, rows: Int[np.ndarray, "k"], n: int | None = None
    ) -> Float32[np.ndarray, "k n 2"]:
        """PageRank of head and of tail of the first ``n`` candidates of ``rows``.

        One gather from ``node_ppr``; 0 beyond n_real. None for ``n`` takes all.
        """
        real = self.candidates[rows, :n] >= 0
        out = np.zeros((*real.shape, 2), np.float32)
        begin = np.repeat(self.node_ppr.offsets[rows], real.sum(axis=1))
        nodes = np.asarray(self.nodes[rows, :n])[real]
        out[real] = self.node_ppr.values[begin[:, None] + nodes]
        return out


PADDED = ("candidates", "nodes", "n_nodes")
PACKED = ("topics", "answers")
"""Padded in memory, not on disk: the longest row is many times a typical one."""
RAGGED = ("path_edges", "path_triplets")
EMBEDDINGS = ("triplet_embeddings.npy", "triplet_scales.npy", "relation_embeddings.npy")
"""The tables' files; scales only beside int8."""
WORD_FILES = ("words.txt", "word_embeddings.npy")
"""The words of all questions; older folders lack them."""
TABLES = ("entities.txt", "relations.txt", "triplets.npy", *EMBEDDINGS, *WORD_FILES)
"""The files that all splits share."""


def split_files() -> list[str]:
    """Names of the array files of a split, without .npy."""
    names = ["question_embeddings", *PADDED, "node_ppr"]
    for key in (*PACKED, *(f"{kind}_{way}" for kind in RAGGED for way in DIRECTIONS)):
        names += [key, f"{key}_offsets"]
    return names


def split_arrays(split: Split) -> dict[str, np.ndarray]:
    """The arrays of a split by the names of their files."""
    ragged = {key: Ragged.of_padded(getattr(split, key)) for key in PACKED}
    for kind in RAGGED:
        ragged |= {f"{kind}_{way}": r for way, r in getattr(split, kind).items()}
    out = {key: getattr(split, key) for key in ("question_embeddings", *PADDED)}
    out["nodes"] = _narrow(split.nodes)
    out["node_ppr"] = split.node_ppr.values
    for key, rows in ragged.items():
        out[key], out[f"{key}_offsets"] = _narrow(rows.values), rows.offsets
    return out


def _narrow(values: np.ndarray) -> np.ndarray:
    """Integers as uint16 if all fit."""
    return values.astype(np.uint16) if values.max(initial=0) <= 65535 else values


def split_of(
    folder: Path,
    questions: Sequence[Question],
    arrays: dict[str, np.ndarray],
) -> Split:
    """The split whose files hold ``arrays``: the inverse of ``split_arrays``.

    Raises:
        UserError: the arrays are inconsistent; names a file.
    """
    b = len(questions)
    for key in ("question_embeddings", *PADDED):
        _check_rows(folder / f"{key}.npy", arrays[key], b, f"as in {QUESTIONS}")
    ragged: dict[str, Ragged] = {}
    for key in (*PACKED, *(f"{kind}_{way}" for kind in RAGGED for way in DIRECTIONS)):
        offsets = arrays[f"{key}_offsets"]
        _check_rows(folder / f"{key}_offsets.npy", offsets, b + 1, "one per question")
        _check_rows(folder / f"{key}.npy", arrays[key], int(offsets[-1]), "by offsets")
        ragged[key] = Ragged(arrays[key], offsets)
    node_ppr = Ragged.of_counts(arrays["node_ppr"], arrays["n_nodes"])
    total = int(node_ppr.offsets[-1])
    _check_rows(folder / "node_ppr.npy", node_ppr.values, total, "the sum of n_nodes")
    padded: dict[str, Any] = {
        key: arrays[key] for key in ("question_embeddings", *PADDED)
    }
    return Split(
        name=folder.name,
        questions=questions,
        **padded,
        node_ppr=node_ppr,
        **{key: ragged[key].padded() for key in PACKED},
        path_edges={way: ragged[f"path_edges_{way}"] for way in DIRECTIONS},
        path_triplets={way: ragged[f"path_triplets_{way}"] for way in DIRECTIONS},
    )


def _check_rows(file: Path, array: np.ndarray, expected: int, why: str) -> None:
    if len(array) != expected:
        raise UserError(f"{file}: {len(array)} rows, expected {expected}, {why}")


@dataclass(frozen=True)
class Shards:
    """An opened shard folder. Arrays are memory-mapped; splits open on first use."""

    path: Path
    manifest: dict[str, Any]
    _verified: set[str] = field(default_factory=set, repr=False, compare=False)
    """Files of which every byte was compared with its checksum."""

    @staticmethod
    def open(path: Path | str, *, verify: bool = False) -> Shards:
        """Open a folder and check that every file is present and complete.

        Compares sizes, and the checksum of each file's first and last 64 KiB. Every
        byte of a file is compared when the file is first used.

        Args:
            path: the folder.
            verify: compare every byte of all files now.

        Raises:
            UserError: the folder is missing, unfinished, newer, damaged or no shards.
        """
        path = Path(path)
        manifest = read_manifest(path)
        check_files(path, manifest["files"], verify=verify)
        return Shards(path, manifest, set(manifest["files"]) if verify else set())

    def file(self, name: str) -> Path:
        """The path of a file, every byte of it compared with its checksum.

        Raises:
            UserError: it is damaged, or the manifest does not list it.
        """
        if name not in self._verified:
            if (entry := self.manifest["files"].get(name)) is None:
                raise UserError(f"{self.path / name}: not listed by the manifest")
            check_files(self.path, {name: entry}, verify=True)
            self._verified.add(name)
        return self.path / name

    def with_tables(self, **tables: Any) -> Shards:
        """The same folder with some of its tables replaced, in memory."""
        copy = Shards(self.path, self.manifest, self._verified)
        own = {k: v for k, v in vars(self).items() if k not in vars(copy)}
        vars(copy).update({**own, **tables})
        return copy

    def _lines(self, name: str) -> list[str]:
        return self.file(name).read_text("utf-8").split("\n")[:-1]

    def _array(self, name: str) -> np.ndarray:
        return read_array(self.file(name), mmap=True)

    @property
    def splits(self) -> list[str]:
        """Names of the splits that are present, in the order train, dev, test."""
        return [name for name in SPLITS if name in self.manifest["splits"]]

    @property
    def encoder(self) -> dict[str, Any]:
        """Identity of the encoder: name, weights_sha256, dimension, text_version."""
        return self.manifest["encoder"]

    @cached_property
    def entities(self) -> list[str]:
        return self._lines("entities.txt")

    @cached_property
    def relations(self) -> list[str]:
        return self._lines("relations.txt")

    @cached_property
    def relation_index(self) -> RelationIndex:
        """The relations by their words."""
        return RelationIndex(self.relations)

    @cached_property
    def triplets(self) -> Int32[np.ndarray, "m 3"]:
        return self._array("triplets.npy")

    @cached_property
    def triplet_embeddings(
        self,
    ) -> Float16[np.ndarray, "c d"] | Int8[np.ndarray, "c d"]:
        """As stored; ``triplet_vectors`` decodes rows of either type."""
        return self._array("triplet_embeddings.npy")

    @cached_property
    def triplet_scales(self) -> Float16[np.ndarray, "c"] | None:
        """The scale of each row of an int8 table; None for float16."""
        name = "triplet_scales.npy"
        return self._array(name) if self._has(name) else None

    def triplet_vectors(self, ids: Int[np.ndarray, "k"]) -> Float32[np.ndarray, "k d"]:
        """Embeddings of candidate triplets, of unit length up to rounding."""
        rows = np.asarray(self.triplet_embeddings[ids], np.float32)
        if self.triplet_scales is not None:
            rows *= np.asarray(self.triplet_scales[ids], np.float32)[:, None]
        return rows

    @cached_property
    def relation_embeddings(self) -> Float16[np.ndarray, "r d"]:
        return self._array("relation_embeddings.npy")

    @cached_property
    def words(self) -> list[str] | None:
        """Words of all questions, see ``text.words``; None in older folders."""
        return self._lines("words.txt") if self._has("words.txt") else None

    @cached_property
    def word_embeddings(self) -> Float16[np.ndarray, "w d"] | None:
        """Of ``words``, each by itself; None in older folders."""
        name = "word_embeddings.npy"
        return self._array(name) if self._has(name) else None

    def _has(self, name: str) -> bool:
        return name in self.manifest.get("files", ())

    def split(self, name: str) -> Split:
        """One split by name.

        Raises:
            UserError: there is no such split; lists those present.
        """
        if name not in self.splits:
            raise UserError(
                f"{self.path}: no split {name!r}; present: {', '.join(self.splits)}"
            )
        folder = self.path / name
        rows = read_json_lines(self.file(f"{name}/{QUESTIONS}"))
        questions = [
            question_from_json(row, f"{folder / QUESTIONS}:{number}")
            for number, row in rows
        ]
        arrays = {key: self._array(f"{name}/{key}.npy") for key in split_files()}
        return split_of(folder, questions, arrays)


QUESTIONS = "questions.jsonl"
QUESTION_FIELDS = {"id": "id", "question": "text"} | {
    name: name
    for name in (
        "topics",
        "answers",
        "answers_in_graph",
        "answers_in_subgraph",
        "hop",
        "relevant_triplets",
        "ball_triplets",
        "answers_in_ball",
        "subgraph_triplets",
    )
}
"""Keys of a line of ``questions.jsonl``, in their order, and the fields they hold."""


def question_from_json(row: Mapping[str, Any], where: str) -> Question:
    """The question in a line of ``questions.jsonl``; ``where``: its place.

    Raises:
        UserError: a field is missing, unknown or of another type.
    """
    if unknown := row.keys() - QUESTION_FIELDS.keys():
        raise UserError(f"{where}: damaged, unknown field {min(unknown)!r}")
    fields = {QUESTION_FIELDS[key]: value for key, value in row.items()}
    return as_record(fields, Question, f"{where}: damaged")


def question_to_json(question: Question) -> dict[str, Any]:
    """The line of a question in ``questions.jsonl``."""
    return {key: getattr(question, name) for key, name in QUESTION_FIELDS.items()}
