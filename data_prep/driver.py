"""A data set to a folder of shards, in stages; a killed run goes on where it was.

Order of work: load and link names, embed questions, cut the subgraphs, embed the
triplets that survive, choose candidates, assemble, write. The stages in the middle are
done in pieces, by an engine (see ``engine``) or by the processes of a job array.
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
from data_prep.assemble import Kept, assemble_split
from data_prep.engine import Engine, engine_of
from data_prep.partition import Part
from data_prep.settings import PrepSettings
from data_prep.sources import load_source
from data_prep.sources.dataset import Dataset
from data_prep.topic_linking import LinkedSplit, TopicFinder, link
from data_prep.worker import Job
from data_prep.workspace import Workspace, assembling, writing
from data_prep.write_shards import (
    discard,
    write_manifest,
    write_split,
    write_tables,
    written_fingerprint,
)
from kgscout_jax.data.shards import SPLITS, Shards
from kgscout_jax.errors import UserError
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.manifest import fingerprint

logger = logging.getLogger("kgscout")

ALL = Part(1, 1)


def prepare(settings: PrepSettings) -> Shards:
    """The shards that ``settings`` asks for, written unless they are already there.

    Raises:
        UserError: bad input, or the folder holds shards of other settings.
    """
    if settings.part is not None:
        raise ValueError("prepare_part does a part")
    with writing(settings.out):
        shards = Preparation(settings, ALL).run()
    assert shards is not None
    return shards


def prepare_part(settings: PrepSettings) -> Shards | None:
    """Do the share of the work that ``settings.part`` names.

    Returns:
        The shards, if no other part has work left; else None.

    Raises:
        UserError: as ``prepare``; or this part, or a whole preparation, is running.
    """
    part = Part.of(settings.part or "")
    with writing(settings.out, part):
        return Preparation(settings, part).run()


TOTALS = ("sizes", "subgraph_triplets", "n_real", "cut_seconds", "choose_seconds")
"""Of pieces, summed for the manifest."""


class Preparation:
    """One run: what was asked for, what is known so far, and the clock."""

    def __init__(self, settings: PrepSettings, part: Part) -> None:
        self.settings, self.part = settings, part
        self.shared = None if settings.part is None else part
        self.clock = Clock()
        self.loaded = load_source(settings.source, settings.input, settings.kg)
        if not len(self.loaded.graph.triplets):
            raise UserError(
                f"{_input_of(settings)}: the graph is empty, no triplet found"
            )
        self.encoder = SentenceEncoder(
            settings.encoder, backend=settings.encoder_backend
        )
        self.about = _about(settings, self.loaded, self.encoder)
        self.mark = fingerprint(self.about)

    def run(self) -> Shards | None:
        """The shards, once no piece is missing; None if other parts have work left."""
        out, part = self.settings.out, self.part
        if (shards := self._there()) is not None:
            return shards
        if self.shared is None:
            discard(out)
        work = Workspace.of(out, self.mark, self.shared)
        finder = TopicFinder(self.loaded, self.settings)
        splits = {
            name: link(self.loaded, name, self.settings, finder)
            for name in SPLITS
            if name in self.loaded.questions
        }
        self.clock.lap("load")
        every = stages.places(splits)
        with self._engine() as engine:
            job = self._job(work, engine)
            chunks = stages.chunks_of(splits, part.share(every), job.cache)
            self.clock.lap("embed questions and relations")
            stages.cut_all(job, engine, chunks)
            self.clock.lap("cut subgraphs")
            self.needed, found = stages.embed_all(job, engine, chunks, part)
            self.apart = found if engine.embeds else (0, 0)
            self.clock.lap("embed triplets")
            stages.choose_all(job, engine, chunks)
            self.clock.lap("choose candidates")
        with assembling(out, self.shared) as alone:
            left = stages.left(job, every)
            if alone and not left:
                return self._assemble(job, splits)
            if self.shared is not None and (shards := self._there()) is not None:
                return shards
            rest = (
                f"{left} of {len(every)} pieces are left to others; the last part, or "
                "the same command without --part, writes the shards"
            )
            other = "another part is writing the shards"
            logger.info("part %s is done; %s", part, rest if left else other)
            return None

    def _there(self) -> Shards | None:
        """The shards that are written already.

        Raises:
            UserError: those of other settings are, and may not be overwritten.
        """
        out = self.settings.out
        if not (out / "manifest.json").exists() or self.settings.overwrite:
            return None
        if written_fingerprint(out) != self.mark:
            raise UserError(
                f"{out}: holds shards of another source or other settings; "
                "choose another folder or give --overwrite"
            )
        shards = Shards.open(out)
        Workspace(out / ".work").remove()  # left by a run killed in its last moment
        logger.info("%s: already prepared with these settings", out)
        return shards

    def _job(self, work: Workspace, engine: Engine) -> Job:
        """What the pieces have in common, saved if other processes do them."""
        settings = self.settings
        if settings.cache is not None:  # a worker may have another working directory
            settings = dataclasses.replace(settings, cache=settings.cache.resolve())
        if Path(settings.encoder).is_dir():
            folder = str(Path(settings.encoder).resolve())
            settings = dataclasses.replace(settings, encoder=folder)
        cache = EmbeddingCache(self.encoder, self.settings.cache)
        graph, prefix = self.loaded.graph, self.encoder.identity.document_prefix
        phrases = [prefix + relation_phrase(name) for name in graph.relations]
        relations = cache.embed(phrases, what="relations")
        threads = None
        if engine.embeds:
            import torch

            threads = torch.get_num_threads()
        job = Job(work, settings, graph, relations, cache=cache, threads=threads)
        if engine.apart:
            job.save()
        return job

    def _engine(self) -> Engine:
        settings = self.settings
        return engine_of(settings.engine, settings.workers, settings.ray_address)

    def _assemble(self, job: Job, splits: dict[str, LinkedSplit]) -> Shards:
        """Write the shards from the pieces of all chunks."""
        out, graph = self.settings.out, job.graph
        discard(out)
        every = stages.places(splits)
        kept = Kept.of(graph, stages.naming(job, every))
        write_tables(
            out,
            entities=[graph.entities[int(i)] for i in kept.entities],
            relations=[graph.relations[int(i)] for i in kept.relations],
            triplets=kept.renumbered(graph),
            triplet_embeddings=stages.table_rows(
                job, kept.triplets[: kept.n_candidates]
            ),
            relation_embeddings=job.relations[kept.relations],
            table=self.settings.table,
        )
        counts: dict[str, Any] = {}
        totals: dict[str, float] = dict.fromkeys(TOTALS, 0.0)
        for name, split in splits.items():  # one split at a time is in memory
            chunks = stages.finished(job, every, name)
            totals = {k: v + sum(c[k].sum() for c in chunks) for k, v in totals.items()}
            embeddings = np.concatenate([chunk["questions"] for chunk in chunks])
            assembled = assemble_split(
                name, split.questions, split.linked, embeddings, chunks, graph, kept
            )
            write_split(out, assembled)
            counts[name] = {
                "questions": len(assembled),
                **split.notes,
                "candidates": int(assembled.n_real.sum()),
                "width": int(assembled.candidates.shape[1]),
                "survival": survival(assembled),
            }
        self.clock.lap("write")
        about = self.about | {
            "fingerprint": self.mark,
            "graph": {
                "entities": len(graph.entities),
                "relations": len(graph.relations),
                "triplets": len(graph.triplets),
                "duplicates_dropped": graph.duplicates,
                **self.loaded.notes,
            },
            "splits": counts,
            "missing_splits": [name for name in SPLITS if name not in splits],
            "embeddings": {
                "from_cache": job.cache.hits + self.apart[0],
                "computed": job.cache.misses + self.apart[1],
            },
            "stages": self._stages(splits, totals, kept),
        }
        write_manifest(out, list(splits), about)
        job.work.remove()
        return Shards.open(out)

    def _stages(
        self, splits: dict[str, LinkedSplit], totals: dict[str, float], kept: Kept
    ) -> dict[str, dict[str, Any]]:
        """What each stage was about, and its seconds.

        ``seconds`` passed in this run, ``worker_seconds`` went into all pieces, whoever
        made them.
        """
        counts: dict[str, dict[str, Any]] = {
            "load": {"triplets": len(self.loaded.graph.triplets)},
            "embed questions and relations": {
                "questions": sum(len(split.questions) for split in splits.values()),
                "relations": len(self.loaded.graph.relations),
            },
            "cut subgraphs": {
                "triplets_before_cut": int(totals["sizes"]),
                "triplets": int(totals["subgraph_triplets"]),
                "worker_seconds": round(float(totals["cut_seconds"]), 3),
            },
            "embed triplets": {"triplets": self.needed},
            "choose candidates": {
                "candidates": int(totals["n_real"]),
                "unique": kept.n_candidates,
                "worker_seconds": round(float(totals["choose_seconds"]), 3),
            },
            "write": {"triplets": len(kept.triplets)},
        }
        return {
            name: {"seconds": seconds, **counts[name]}
            for name, seconds in self.clock.laps.items()
        }


def _about(
    settings: PrepSettings, loaded: Dataset, encoder: SentenceEncoder
) -> dict[str, Any]:
    """What decides the bytes that are written, as the manifest tells it."""
    return {
        "source": settings.source,
        "settings": settings.to_manifest(),
        "encoder": encoder.identity.to_dict(),
        # A list: the order of triplet files decides ids, and two may share a name.
        "sources": [
            *({"file": f.name, "sha256": sha256_file(f)} for f in loaded.files),
            *({"package": k, "version": v} for k, v in loaded.versions.items()),
            *([] if settings.aliases is None else [_aliases(settings.aliases)]),
        ],
    }


def _aliases(path: Path) -> dict[str, str]:
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    return {"file": path.name, "sha256": sha256_file(path)}


def _input_of(settings: PrepSettings) -> str:
    return ", ".join(map(str, settings.kg)) or str(settings.input or settings.source)


class Clock:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, name: str) -> None:
        """The time since the last lap was spent on ``name``."""
        now = time.monotonic()
        self.laps[name] = round(now - self._last, 3)
        self._last = now
