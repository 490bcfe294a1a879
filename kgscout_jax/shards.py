"""The shard folder: what training and evaluation read, and nothing else.

Indices travel, tables stay: every unique triplet and relation phrase is embedded once
into a table, and a question holds indices into it. ``data_prep.shards`` writes this
folder; the names, types and checks of its files are defined here only.

    manifest.json                  format, settings, encoder, counts, seconds, checksums
    entities.txt, relations.txt    one name a line; the line (from 0) is the id
    triplets.npy                   int32[M, 3]: head, relation, tail
    triplet_embeddings.npy         float16[M, d], unit length
    relation_embeddings.npy        float16[R, d], unit length
    train/ dev/ test/              one folder per split, see ``Split``
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Float32, Int, Int32, Int64

from kgscout_jax.errors import UserError
from kgscout_jax.files import read_array, read_json, read_json_lines, sha256_file
from kgscout_jax.records import Triplet

FORMAT = "kgscout-shards"
VERSION = 1
SPLITS = ("train", "dev", "test")
NEEDED = ("source", "fingerprint", "encoder", "splits", "files")
"""What a reader takes from the manifest."""
DIRECTIONS = ("directed", "both")
"""How edges are walked: head to tail only, or both ways."""


@dataclass(frozen=True)
class Ragged:
    """Rows of different length: row ``i`` is ``values[offsets[i]:offsets[i + 1]]``."""

    values: Int32[np.ndarray, "total ..."]
    offsets: Int64[np.ndarray, "q+1"]

    def __getitem__(self, i: int) -> Int32[np.ndarray, "length ..."]:
        return self.values[self.offsets[i] : self.offsets[i + 1]]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def rows(
        self, rows: Int[np.ndarray, "k"]
    ) -> tuple[Int64[np.ndarray, "total"], Int32[np.ndarray, "total ..."]]:
        """The values of ``rows`` one after the other, each with its place in ``rows``.

        One gather, without a Python loop: the owner is 0 for the values of ``rows[0]``.
        """
        begin = np.asarray(self.offsets[rows])
        lengths = self.offsets[rows + 1] - begin
        owner = np.repeat(np.arange(len(rows)), lengths)
        before = np.cumsum(lengths) - lengths
        return owner, self.values[np.arange(len(owner)) + (begin - before)[owner]]


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionInfo:
    """What people read about a question: one line of ``questions.jsonl``."""

    id: str
    question: str
    topics: tuple[str, ...] = ()
    """Topic entities as the source names them, in the graph or not."""
    answers: tuple[str, ...] = ()
    """Gold answers as the source names them."""
    answers_in_graph: tuple[str, ...] = ()
    """Gold answers found anywhere in the knowledge graph (display names)."""
    answers_in_subgraph: tuple[str, ...] = ()
    """Those found in the question's subgraph after the cut."""
    hop: int | None = None
    """As the source states, else the shortest topic-answer distance, else None."""
    relevant_triplets: tuple[Triplet, ...] = ()
    """Labelled relevant triplets, where a source has them."""
    ball_triplets: int = 0
    """Triplets of the ball, or of the given subgraph, before the cut."""
    answers_in_ball: int = 0
    """Gold answers in the ball, before the cut."""
    subgraph_triplets: int = 0
    """Triplets after the cut."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """One split; b questions (rows), n candidates, padded.

    Candidates are in descending order of cosine with the question, ties by triplet id.
    Local node ids number, per question, the nodes of its candidates, topics, answers
    and shortest paths from 0 to ``n_nodes`` - 1.
    """

    name: str
    questions: Sequence[QuestionInfo]
    question_embeddings: Float16[np.ndarray, "b d"]
    candidates: Int32[np.ndarray, "b n"]
    """Rows of triplets.npy; -1 beyond n_real."""
    ppr: Float32[np.ndarray, "b n 2"]
    """Personalized PageRank of head and of tail; 0 beyond n_real."""
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
        """How many candidates each question has."""
        return (self.candidates >= 0).sum(axis=1, dtype=np.int32)


PADDED = ("candidates", "ppr", "nodes", "topics", "answers", "n_nodes")
RAGGED = ("path_edges", "path_triplets")


def split_files() -> list[str]:
    """Names of the array files of a split, without .npy."""
    names = ["question_embeddings", *PADDED]
    for kind in RAGGED:
        for direction in DIRECTIONS:
            names += [f"{kind}_{direction}", f"{kind}_{direction}_offsets"]
    return names


def split_arrays(split: Split) -> dict[str, np.ndarray]:
    """The arrays of a split by the names of their files."""
    out = {key: getattr(split, key) for key in ("question_embeddings", *PADDED)}
    for kind in RAGGED:
        for direction, ragged in getattr(split, kind).items():
            out[f"{kind}_{direction}"] = ragged.values
            out[f"{kind}_{direction}_offsets"] = ragged.offsets
    return out


@dataclass(frozen=True)
class Shards:
    """An opened shard folder. Arrays are memory-mapped; splits open on first use."""

    path: Path
    manifest: dict[str, Any]

    @staticmethod
    def open(path: Path | str, *, verify: bool = False) -> Shards:
        """Open a folder and check that every file is there and whole.

        Args:
            path: the folder.
            verify: also compare every byte with its checksum.

        Raises:
            UserError: the folder is missing, unfinished, newer, damaged or no shards.
        """
        path = Path(path)
        if not path.is_dir():
            raise UserError(f"{path}: no such folder of shards")
        manifest_path = path / "manifest.json"
        if not manifest_path.exists():
            raise UserError(
                f"{path}: no manifest.json; the folder is unfinished (run the same "
                "data_prep command again to resume it) or not a folder of shards"
            )
        manifest = read_json(manifest_path)
        if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
            raise UserError(f"{manifest_path}: not a manifest of {FORMAT}")
        version = manifest.get("version")
        if version != VERSION:
            raise UserError(
                f"{manifest_path}: format version is {version}, expected {VERSION}"
            )
        missing = [key for key in NEEDED if not manifest.get(key)]
        if missing:
            raise UserError(f"{manifest_path}: damaged, no {', '.join(missing)}")
        for name, entry in manifest["files"].items():
            file = path / name
            if not file.is_file():
                raise UserError(f"{file}: missing, though the manifest lists it")
            size = file.stat().st_size
            if size != entry["bytes"]:
                raise UserError(
                    f"{file}: {size} bytes, expected {entry['bytes']}: truncated or "
                    "changed since it was written"
                )
            if verify and sha256_file(file) != entry["sha256"]:
                raise UserError(f"{file}: checksum differs from the manifest")
        return Shards(path, manifest)

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
        return (self.path / "entities.txt").read_text("utf-8").split("\n")[:-1]

    @cached_property
    def relations(self) -> list[str]:
        return (self.path / "relations.txt").read_text("utf-8").split("\n")[:-1]

    @cached_property
    def triplets(self) -> Int32[np.ndarray, "m 3"]:
        return read_array(self.path / "triplets.npy", mmap=True)

    @cached_property
    def triplet_embeddings(self) -> Float16[np.ndarray, "m d"]:
        return read_array(self.path / "triplet_embeddings.npy", mmap=True)

    @cached_property
    def relation_embeddings(self) -> Float16[np.ndarray, "r d"]:
        return read_array(self.path / "relation_embeddings.npy", mmap=True)

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
        questions = [read_info(row) for _, row in read_json_lines(folder / QUESTIONS)]
        arrays: dict[str, Any] = {
            key: read_array(folder / f"{key}.npy", mmap=True) for key in split_files()
        }
        ragged: dict[str, Any] = {
            kind: {
                direction: Ragged(
                    arrays.pop(f"{kind}_{direction}"),
                    arrays.pop(f"{kind}_{direction}_offsets"),
                )
                for direction in DIRECTIONS
            }
            for kind in RAGGED
        }
        for key, array in arrays.items():
            if len(array) != len(questions):
                raise UserError(
                    f"{folder / key}.npy: {len(array)} rows, expected "
                    f"{len(questions)} as in {QUESTIONS}"
                )
        return Split(name=name, questions=questions, **arrays, **ragged)


QUESTIONS = "questions.jsonl"


def read_info(row: dict[str, Any]) -> QuestionInfo:
    """A line of ``questions.jsonl`` as a record."""
    fields = dict(row)
    for key in ("topics", "answers", "answers_in_graph", "answers_in_subgraph"):
        fields[key] = tuple(fields[key])
    fields["relevant_triplets"] = tuple(map(tuple, fields["relevant_triplets"]))
    return QuestionInfo(**fields)
