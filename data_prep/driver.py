"""Prepares shards from a data set in stages; a killed run can be resumed.

Stages: load and link names, embed questions, cut subgraphs, embed the remaining
triplets, choose candidates, assemble, write. An engine (see ``engine``) or the
processes of a job array run the middle stages as tasks.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from pathlib import Path
from typing import Any

import numpy as np

from data_prep import stages
from data_prep.accounting import survival
from data_prep.assemble import ShardTriplets, assemble_split
from data_prep.differences import preparation_difference
from data_prep.partition import Partition
from data_prep.settings import PrepSettings
from data_prep.sources import load_source
from data_prep.sources.dataset import Dataset
from data_prep.topic_linking import SplitQuestions, TopicLinker, split_questions
from data_prep.worker import Job
from data_prep.workspace import Workspace, assembling, writing
from data_prep.write_shards import (
    discard,
    stored_manifest,
    write_manifest,
    write_split,
    write_tables,
    write_words,
)
from kgscout_jax.data.shards import SPLITS, Shards
from kgscout_jax.errors import UserError
from kgscout_jax.graph.embeddings import table_identity
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.text.words import distinct_words
from kgscout_jax.utils.engine import Engine
from kgscout_jax.utils.engine_settings import engine_of
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.manifest import fingerprint

logger = logging.getLogger("kgscout")

WHOLE = Partition(1, 1)
TOTALS = ("sizes", "subgraph_triplets", "n_real", "cut_seconds", "choose_seconds")
"""Fields of the tasks' results that are summed for the manifest."""


def prepare(settings: PrepSettings) -> Shards:
    """The shards of ``settings``, written unless they exist.

    Raises:
        UserError: bad input, or the folder holds shards of other settings.
    """
    if settings.part is not None:
        raise ValueError("prepare_partition prepares a partition")
    with writing(settings.out):
        shards = Preparation(settings).run()
    assert shards is not None
    return shards


def prepare_partition(settings: PrepSettings) -> Shards | None:
    """Run the share ``settings.part`` of the tasks.

    Returns:
        The shards, or None if other partitions have remaining tasks.

    Raises:
        UserError: as ``prepare``; or this partition, or a whole preparation, is
            running.
    """
    partition = Partition.of(settings.part or "")
    with writing(settings.out, partition):
        return Preparation(settings, partition).run()


class Preparation:
    """One run of a preparation."""

    def __init__(
        self, settings: PrepSettings, partition: Partition | None = None
    ) -> None:
        self.settings, self.partition = settings, partition
        self.clock = Clock()
        self.dataset = load_source(
            settings.source, settings.input, settings.kg, settings.read_options
        )
        if not len(self.dataset.graph.triplets):
            raise UserError(
                f"{_input_of(settings)}: the graph is empty, no triplet found"
            )
        self.encoder = SentenceEncoder(
            settings.encoder, backend=settings.encoder_backend
        )
        self.config = _manifest_config(settings, self.dataset, self.encoder)
        self.fingerprint = fingerprint(self.config)

    def run(self) -> Shards | None:
        """The shards; None if other partitions have remaining tasks."""
        out, share = self.settings.out, self.partition or WHOLE
        if (shards := self._existing_shards()) is not None:
            return shards
        if self.partition is None:
            discard(out)
        workspace = Workspace.of(
            out, self.config, self.partition, overwrite=self.settings.overwrite
        )
        linker = TopicLinker(self.dataset, self.settings)
        splits = {
            name: split_questions(self.dataset, name, self.settings, linker)
            for name in SPLITS
            if name in self.dataset.questions
        }
        self.clock.lap("load")
        starts = stages.chunk_starts(splits)
        with self._engine() as engine:
            job = self._job(workspace, engine)
            chunks = stages.make_chunks(splits, share.share(starts), job.cache)
            self.clock.lap("embed questions and relations")
            stages.cut_all(job, engine, chunks)
            self.clock.lap("cut subgraphs")
            self.embedded, counts = stages.embed_all(job, engine, chunks, share)
            self.remote_counts = counts if engine.embeds else (0, 0)
            self.clock.lap("embed triplets")
            stages.choose_all(job, engine, chunks)
            self.clock.lap("choose candidates")
        with assembling(out, self.partition) as is_writer:
            remaining = stages.count_remaining(job, starts)
            if is_writer and not remaining:
                return self._assemble(job, splits)
            if self.partition and (shards := self._existing_shards()) is not None:
                return shards
            rest = (
                f"{remaining} of {len(starts)} tasks are left to others; the last "
                "part, or the same command without --part, writes the shards"
            )
            other = "another part is writing the shards"
            logger.info("part %s is done; %s", share, rest if remaining else other)
            return None

    def _existing_shards(self) -> Shards | None:
        """The existing shards of these settings, if any.

        Raises:
            UserError: there are shards of other settings.
        """
        out = self.settings.out
        if not (out / "manifest.json").exists() or self.settings.overwrite:
            return None
        stored = stored_manifest(out)
        if stored.get("fingerprint") != self.fingerprint:
            raise UserError(
                f"{out}: holds shards of "
                f"{preparation_difference(stored, self.config)}; choose another "
                "folder or give --overwrite"
            )
        shards = Shards.open(out)
        Workspace(out / ".work").remove()  # of a run that was killed at the very end
        logger.info("%s: already prepared with these settings", out)
        return shards

    def _job(self, workspace: Workspace, engine: Engine) -> Job:
        """The shared state of the tasks, saved if other processes run them."""
        settings = self.settings
        if settings.cache is not None:  # a worker may have another working directory
            settings = dataclasses.replace(settings, cache=settings.cache.resolve())
        if Path(settings.encoder).is_dir():
            folder = str(Path(settings.encoder).resolve())
            settings = dataclasses.replace(settings, encoder=folder)
        cache = EmbeddingCache(self.encoder, self.settings.cache)
        graph, prefix = self.dataset.graph, self.encoder.identity.document_prefix
        phrases = [prefix + relation_phrase(name) for name in graph.relations]
        relations = cache.embed(phrases, what="relations")
        threads = self.encoder.network.threads if engine.embeds else None
        job = Job(workspace, settings, graph, relations, cache=cache, threads=threads)
        if engine.is_remote:
            job.save()
        return job

    def _engine(self) -> Engine:
        settings = self.settings
        return engine_of(settings.engine, settings.workers, settings.ray_address)

    def _assemble(self, job: Job, splits: dict[str, SplitQuestions]) -> Shards:
        """Write the shards from the results of all tasks."""
        out, graph = self.settings.out, job.graph
        discard(out)
        starts = stages.chunk_starts(splits)
        content = ShardTriplets.of(graph, stages.triplet_arrays(job, starts))
        write_tables(
            out,
            entities=[graph.entities[int(i)] for i in content.entities],
            relations=[graph.relations[int(i)] for i in content.relations],
            triplets=content.shard_rows(graph),
            triplet_embeddings=stages.table_rows(
                job, content.triplets[: content.n_candidates]
            ),
            relation_embeddings=job.relations[content.relations],
            table=self.settings.table,
        )
        counts: dict[str, Any] = {}
        totals: dict[str, float] = dict.fromkeys(TOTALS, 0.0)
        words: set[str] = set()
        for name, split in splits.items():  # one split at a time is in memory
            results = stages.chunk_results(job, starts, name)
            totals = {
                k: v + sum(r[k].sum() for r in results) for k, v in totals.items()
            }
            embeddings = np.concatenate([result["questions"] for result in results])
            shard = assemble_split(name, split, embeddings, results, graph, content)
            write_split(out, shard)
            words.update(distinct_words(shard.questions))
            counts[name] = {
                "questions": len(shard),
                **split.notes,
                "candidates": int(shard.n_real.sum()),
                "width": int(shard.candidates.shape[1]),
                "survival": survival(shard),
            }
        write_words(out, sorted(words), stages.word_vectors(job.cache, sorted(words)))
        self.clock.lap("write")
        from_cache, computed = self.remote_counts
        fields = self.config | {
            "fingerprint": self.fingerprint,
            "graph": {
                "entities": len(graph.entities),
                "relations": len(graph.relations),
                "triplets": len(graph.triplets),
                "duplicates_dropped": graph.duplicates,
                **self.dataset.notes,
            },
            "splits": counts,
            "missing_splits": [name for name in SPLITS if name not in splits],
            "embeddings": {
                "from_cache": job.cache.hits + from_cache,
                "computed": job.cache.misses + computed,
            },
            "stages": self._stages(splits, totals, content),
        }
        write_manifest(out, list(splits), fields)
        job.workspace.remove()
        return Shards.open(out)

    def _stages(
        self,
        splits: dict[str, SplitQuestions],
        totals: dict[str, float],
        content: ShardTriplets,
    ) -> dict[str, dict[str, Any]]:
        """Sizes and seconds of each stage.

        ``seconds`` is the wall time in this run, ``worker_seconds`` the total of all
        tasks in any process.
        """
        counts: dict[str, dict[str, Any]] = {
            "load": {"triplets": len(self.dataset.graph.triplets)},
            "embed questions and relations": {
                "questions": sum(len(split.questions) for split in splits.values()),
                "relations": len(self.dataset.graph.relations),
            },
            "cut subgraphs": {
                "triplets_before_cut": int(totals["sizes"]),
                "triplets": int(totals["subgraph_triplets"]),
                "worker_seconds": round(float(totals["cut_seconds"]), 3),
            },
            "embed triplets": {"triplets": self.embedded},
            "choose candidates": {
                "candidates": int(totals["n_real"]),
                "unique": content.n_candidates,
                "worker_seconds": round(float(totals["choose_seconds"]), 3),
            },
            "write": {"triplets": len(content.triplets)},
        }
        return {
            name: {"seconds": seconds, **counts[name]}
            for name, seconds in self.clock.laps.items()
        }


def _manifest_config(
    settings: PrepSettings, dataset: Dataset, encoder: SentenceEncoder
) -> dict[str, Any]:
    """The fields of the manifest that determine the shards."""
    aliases = [] if settings.aliases is None else [settings.aliases]
    for file in aliases:
        if not file.is_file():
            raise UserError(f"{file}: no such file")
    files = [
        {"file": file.name, "sha256": sha256_file(file)}
        for file in (*dataset.files, *aliases)
    ]
    packages = [{"package": k, "version": v} for k, v in dataset.versions.items()]
    at = len(dataset.files)
    return {
        "source": settings.source,
        "settings": settings.to_manifest(),
        "encoder": table_identity(dataset.graph, encoder.identity).to_dict(),
        # A list: the order of triplet files determines ids, and names may repeat.
        "sources": [*files[:at], *packages, *files[at:]],
    }


def _input_of(settings: PrepSettings) -> str:
    return ", ".join(map(str, settings.kg)) or str(settings.input or settings.source)


class Clock:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """Record the time since the last lap under ``name``."""
        now = time.monotonic()
        self.laps[name] = round(now - self._last, 3)
        self._last = now
