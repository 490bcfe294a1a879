"""Attacks on folders of work: of fits, and of synthetic questions."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from film_world import export_initial, film_triplets
from fuzz.counting import Count, damage_files, digest
from fuzz.mutations import changed_document
from graph.graph_files import write_tsv
from text.hash_encoder import HashEncoder

from data_prep.synth.run import write_questions
from data_prep.synth.settings import SynthSettings
from kgscout_jax.fit.settings import FitSettings
from kgscout_jax.fit.work import RESULT, Identity, Work, finished
from kgscout_jax.utils.io import write_json

IDENTITY = "0" * 64
WHOLE = Identity(
    policy=IDENTITY, without_questions="1" * 64, trained_questions="2" * 64
)


def work_folder_attacks(
    folder: Path,
) -> dict[str, Callable[[int, random.Random], Count]]:
    """Name of each attack on a folder of work -> the function that runs it."""
    made: dict[str, Callable[[int, random.Random], Count]] = {}
    table = write_tsv(folder / "kg.tsv", film_triplets("Atelier"))
    _fits(folder, table, made)
    questions = folder / "synth"

    def synthetic(out: Path) -> str:
        settings = SynthSettings(graph=(table,), out=out, questions=20)
        report, _ = write_questions(settings)
        names = [f"{split}.jsonl" for split in ("train", "dev", "test")]
        return digest(report, [(out / name).read_bytes() for name in names])

    synthetic(questions)
    files = [each for each in questions.iterdir() if each.suffix in (".json", ".jsonl")]
    made["synthetic questions, bytes"] = lambda count, rng: damage_files(
        questions, sorted(files), synthetic, count, rng
    )
    manifest = [questions / "manifest.json"]
    made["synthetic questions, manifest"] = lambda count, rng: damage_files(
        questions, manifest, synthetic, count, rng, _document, exact=False
    )
    return made


def _fits(folder: Path, table: Path, made: dict) -> None:
    """The state of a fit, and the result beside a fitted policy."""
    fits = folder / "fits"
    (fits / "work").mkdir(parents=True)
    state = {"identity": IDENTITY, "seconds": {"questions": 1.5, "training": 20.0}}
    write_json(fits / "work" / "work.json", state)
    out = export_initial(HashEncoder().identity, fits / "policy", seed=1)
    result = {"identity": IDENTITY, "gains": True, "seconds": {"training": 2.0}}
    write_json(out / RESULT, result)

    def use(copy: Path) -> str:
        settings = FitSettings(graph=(table,), out=copy / "policy", work=copy / "work")
        work = Work(settings, WHOLE)
        with work.stage("training", ["training"]):
            pass
        return digest(sorted(work.seconds), finished(settings, IDENTITY))

    files = [fits / "work" / "work.json", fits / "policy" / RESULT]
    made["state of a fit"] = lambda count, rng: damage_files(
        fits, files, use, count, rng, _document, exact=False
    )


def _document(raw: bytes, rng: random.Random) -> bytes:
    return changed_document(raw.decode(), rng)
