"""Attacks on files under a checksum, and on some that commands write and read."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
from film_world import FILMS, export_initial, film_triplets
from fuzz.counting import Count, arrays, damage_files, digest
from fuzz.mutations import changed_document
from graph.graph_files import write_tsv
from text.hash_encoder import HashEncoder
from written_shards import write_shards

from data_prep.embedding_table import EmbeddingTask, TripletTable
from data_prep.inspect_command import InspectSettings, inspect
from data_prep.workspace import Workspace
from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.answers.predictions import evaluate_predictions
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.export.load import load_exported
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.embeddings import embeddings_of
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import graph_linker
from kgscout_jax.inference.batch import read_ids
from kgscout_jax.text.cache import EmbeddingCache


class World:
    """Something whole of each kind, in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.encoder = folder, HashEncoder()
        table = write_tsv(folder / "kg.tsv", film_triplets("Atelier"))
        self.graph = folder / "graph"
        build_graph([table], self.graph)
        self.linked = folder / "linked"
        shutil.copytree(self.graph, self.linked)
        opened = KnowledgeGraph.open(self.linked)
        opened.embed(self.encoder)
        graph_linker(opened)
        self.shards = folder / "shards"
        write_shards(self.shards)
        self.export = folder / "export"
        export_initial(self.encoder.identity, self.export, seed=1, stablehlo=True)
        self.texts = [f"string {i}" for i in range(40)]
        self.cache = folder / "cache"
        EmbeddingCache(self.encoder, self.cache).embed(self.texts)
        self.work = folder / "work"
        self.work.mkdir()
        rng = np.random.default_rng(0)
        self.pieces = {"a": rng.integers(0, 9, 500), "b": rng.random(70)}
        Workspace(self.work).write("cut-train-0000000", self.pieces)
        task = EmbeddingTask(number=0, owner="1-of-1", ids=np.arange(20, dtype="i4"))
        self.rows = rng.random((20, 8)).astype(np.float16)
        TripletTable(self.work / "table", 20).add(task, self.rows)

    # each gives a fingerprint of all that a user sees

    def see_graph(self, folder: Path) -> str:
        graph = KnowledgeGraph.open(folder)
        found = [graph.find(name) for name in ("Alien", *FILMS)]
        offsets = graph.by_head.offsets, graph.by_tail.offsets
        rows = graph.by_tail.rows(np.arange(len(graph.entities)))[1]
        return digest(
            list(graph.entities), list(graph.relations), graph.triplets, found,
            *offsets, rows, graph.unnamed_mask,
        )  # fmt: skip

    def see_tables(self, folder: Path) -> str:
        graph = KnowledgeGraph.open(folder)
        table = embeddings_of(graph, self.encoder, cache=self.folder / "unused")
        rows = table.rows(np.arange(len(graph.triplets)))
        linker = graph_linker(graph)
        links = [
            (each.name, round(each.score, 4))
            for film in FILMS
            for each in linker.link(f"who directed {film}?")
        ]
        return digest(rows, table.relations, links)

    def see_shards(self, folder: Path) -> str:
        shards = Shards.open(folder)
        values: list[Any] = [shards.entities, shards.relations, shards.triplets]
        values += [shards.triplet_embeddings, shards.relation_embeddings]
        for name in shards.splits:
            split = shards.split(name)
            values += [split.questions, split.candidates, split.topics, split.answers]
            values += [split.node_ppr.values, split.question_embeddings, split.nodes]
        return digest(*values)

    def inspect_shards(self, folder: Path) -> str:
        with redirect_stdout(io.StringIO()):
            inspect(InspectSettings(paths=(folder,)))
        return self.see_shards(folder)

    def see_export(self, folder: Path) -> str:
        exported = load_exported(folder, verify=False)
        _ = exported.answer_scale
        return digest(exported.config, exported.encoder, exported.preparation)

    def see_cache(self, folder: Path) -> str:
        return digest(EmbeddingCache(self.encoder, folder).embed(self.texts))

    def see_work(self, folder: Path) -> str:
        """Of a killed preparation: what is damaged is refused once, then made again."""
        workspace, name = Workspace(folder), "cut-train-0000000"
        try:
            found = workspace.read(name)
        except UserError as error:
            assert not workspace.has(name), "the rerun fails again"
            raise error
        return digest(*found.values())

    def see_work_table(self, folder: Path) -> str:
        ids, table = np.arange(20, dtype=np.int32), TripletTable(folder / "table", 20)
        try:
            return digest(table.rows(ids, 8))
        except UserError as error:
            assert len(TripletTable(folder / "table", 20).missing(0, ids)) == 20
            raise error


def attacks(world: World) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack -> the function that runs it."""

    def on(
        whole: Path, files: list[Path], use: Callable[[Path], str], **kw: Any
    ) -> Callable[[int, random.Random], Count]:
        return lambda count, rng: damage_files(whole, files, use, count, rng, **kw)

    def documents(whole: Path, name: str, use: Callable[[Path], str]) -> Any:
        def damage(raw: bytes, rng: random.Random) -> bytes:
            return changed_document(raw.decode(), rng)

        files = sorted(whole.rglob(name))
        return on(whole, files, use, damage=damage, exact=False)

    embeddings = arrays(world.linked / "embeddings", ".npy")
    link = arrays(world.linked / "v0001" / "link", ".npy")
    table = arrays(world.work / "table", ".npy", ".json")
    return {
        "GRAPH folder, bytes": on(
            world.graph, arrays(world.graph, ".npy", ".utf8"), world.see_graph
        ),
        "GRAPH folder, manifest": documents(
            world.graph, "manifest.json", world.see_graph
        ),
        "embeddings/, bytes": on(world.linked, embeddings, world.see_tables),
        "link/, bytes": on(world.linked, link, world.see_tables),
        "embeddings/ and link/, manifests": documents(
            world.linked, "manifest.json", world.see_tables
        ),
        "shards, bytes": on(
            world.shards,
            arrays(world.shards, ".npy", ".txt", ".jsonl"),
            world.see_shards,
        ),
        "shards, manifest": documents(
            world.shards, "manifest.json", world.inspect_shards
        ),
        "export, bytes": on(
            world.export,
            arrays(world.export, ".safetensors", ".stablehlo", ".npz"),
            world.see_export,
        ),
        "export, config.json": documents(world.export, "config.json", world.see_export),
        "embedding cache, bytes": on(
            world.cache, arrays(world.cache, ".segment"), world.see_cache
        ),
        "pieces of a preparation, bytes": on(
            world.work, arrays(world.work, ".npz"), world.see_work
        ),
        "embedded pieces of a preparation, bytes": on(
            world.work, table, world.see_work_table
        ),
        "questions.jsonl, fields": lambda count, rng: changed_questions(
            world, count, rng
        ),
        "predictions and question files": lambda count, rng: changed_lines(
            world, count, rng
        ),
    }


def checked_file_attacks(
    folder: Path,
) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack -> the function that runs it."""
    return attacks(World(folder))


def changed_questions(world: World, count: int, rng: random.Random) -> Count:
    """Lines of ``questions.jsonl`` with other fields, past the checksums."""
    result, shards = Count(), Shards.open(world.shards)
    copy = world.folder / "questions"
    shutil.copytree(world.shards, copy, dirs_exist_ok=True)
    opened = Shards(copy, shards.manifest, set(shards.manifest["files"]))
    file = copy / "dev" / "questions.jsonl"
    lines = file.read_text().splitlines()
    for number in range(count):
        at = rng.randrange(len(lines))
        changed = [line.encode() for line in lines]
        changed[at] = changed_document(lines[at], rng).replace(b"\n", b" ")
        file.write_bytes(b"\n".join([*changed, b""]))
        result.try_(lambda: digest(opened.split("dev")), None, f"line {number}")
    return result


def changed_lines(world: World, count: int, rng: random.Random) -> Count:
    """Files of predictions for ``eval answers``, and of questions for ``retrieve``."""
    result, file = Count(), world.folder / "lines.jsonl"
    out = world.folder / "eval"
    row = {
        "id": "q1", "question": "who?", "prediction": ["Eve", "a\nb"],
        "ground_truth": ["Eve"], "q_entity": ["Alien"],
    }  # fmt: skip
    settings = AnswerSettings(predictions=file, out=out)

    def judge() -> str:
        shutil.rmtree(out, ignore_errors=True)
        with redirect_stdout(io.StringIO()):
            evaluate_predictions(settings)
        assert (out / "metrics.json").exists() and (out / "questions.jsonl").exists()
        return ""

    for number in range(count):
        lines = [json.dumps({**row, "id": f"q{i}"}).encode() for i in range(3)]
        at = rng.randrange(3)
        lines[at] = changed_document(lines[at].decode(), rng)
        file.write_bytes(b"\n".join(lines))
        use = judge if number % 2 else lambda: digest(sorted(read_ids(file)))
        result.try_(use, None, f"file {number}")
    return result
