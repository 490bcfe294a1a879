"""``train --perturb METHOD:LEVEL``: shards whose triplets have mistakes (OKGQA-P).

Each folder of ``--shards`` is written again below the run, with the same questions and
answers. All its triplets are one graph, which is perturbed as a whole, whatever falls;
candidates are those that remain, and a triplet with a mistake is on no gold path. Then
the run trains, and is measured on dev, as on any shards.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
from jaxtyping import Bool

from data_prep.write_shards import (
    discard,
    stored_manifest,
    write_manifest,
    write_split,
    write_tables,
    write_words,
)
from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.evaluate.robustness.question_graphs import QuestionGraphs
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.perturb.edges import METHODS, Method
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.progress import slow_step
from kgscout_jax.utils.ragged import Ragged
from kgscout_jax.utils.short_names import short_names

HEAD = ("format", "version", "files")
"""Fields of a manifest that the writer gives."""


def perturbed_config(config: TrainConfig) -> TrainConfig:
    """The settings with the perturbed shards, which are written unless they are there.

    Raises:
        UserError: the perturbation is malformed, or the shards cannot be read.
    """
    if config.perturb is None:
        return config
    method, level = parse_perturbation(config.perturb)
    names = short_names([os.path.abspath(folder) for folder in config.shards])
    base = config.run / "perturbed"
    end = f"-{method}-{level:g}"
    folders = [base / (name.replace("/", "_") + end) for name in names]
    for old, new in zip(config.shards, folders, strict=True):
        write_perturbed(Shards.open(old), new, method, level, config.seed)
    return dataclasses.replace(config, shards=tuple(folders), perturb=None)


def parse_perturbation(text: str) -> tuple[Method, float]:
    """METHOD:LEVEL as its parts; raises UserError for anything else."""
    name, _, number = text.partition(":")
    try:
        level = float(number)
    except ValueError:
        level = -1.0
    for method in METHODS:
        if name == method and 0 <= level <= 1:
            return method, level
    raise UserError(
        f"--perturb: found {text!r}, expected METHOD:LEVEL, one of "
        f"{', '.join(METHODS)} and a number from 0 to 1, such as er:0.3"
    )


def write_perturbed(
    shards: Shards, out: Path, method: Method, level: float, seed: int
) -> None:
    """Write the train and dev splits of ``shards`` with mistakes into ``out``."""
    how = {"method": method, "level": level, "seed": seed}
    identity = fingerprint({"shards": shards.manifest["fingerprint"], **how})
    if (out / "manifest.json").exists() and stored_manifest(out).get(
        "fingerprint"
    ) == identity:
        return
    discard(out)
    name = shards.encoder["name"]
    cache = EmbeddingCache(SentenceEncoder(name, near=False))
    if cache.encoder.identity.weights_sha256 != shards.encoder["weights_sha256"]:
        raise UserError(f"encoder {name}: expected the weights of {shards.path}")
    embedded = np.arange(len(shards.triplet_embeddings))
    whole = shards.with_tables(
        triplets=np.asarray(shards.triplets),
        triplet_embeddings=shards.triplet_vectors(embedded).astype(np.float16),
        triplet_scales=None,
    )
    splits = [name for name in ("train", "dev") if name in shards.splits]
    graphs = [QuestionGraphs(whole, shards.split(name)) for name in splits]
    with slow_step(f"making mistakes in {shards.path}"):
        first = graphs[0]
        compact, remains = first.perturbed_triplets(
            method, level, seed, first.scorer(cache)
        )
        wrong = (compact != first.compact).any(axis=1) | ~remains
        changed = first.perturbed_shards(compact, remains, cache)
        for one in graphs:
            split = one.perturbed_split(changed, remains)
            write_split(out, without_paths(split, wrong))
    write_tables(
        out,
        entities=shards.entities,
        relations=shards.relations,
        triplets=changed.triplets,
        triplet_embeddings=changed.triplet_embeddings,
        relation_embeddings=shards.relation_embeddings,
    )
    if shards.words is not None and shards.word_embeddings is not None:
        write_words(out, shards.words, shards.word_embeddings)
    fields = {k: v for k, v in shards.manifest.items() if k not in HEAD}
    fields |= {
        "fingerprint": identity,
        "splits": {name: shards.manifest["splits"][name] for name in splits},
        "perturbation": how,
    }
    write_manifest(out, splits, fields)


def without_paths(split: Split, wrong: Bool[np.ndarray, "m"]) -> Split:
    """The split without the triplets that are ``wrong`` on its gold paths."""

    def right(paths: Ragged) -> Ragged:
        values, owner = np.asarray(paths.values), np.repeat(
            np.arange(len(split)), np.diff(np.asarray(paths.offsets))
        )  # fmt: skip
        kept = ~wrong[values]
        counts = np.bincount(owner[kept], minlength=len(split))
        return Ragged.of_counts(values[kept], counts)

    paths = {way: right(each) for way, each in split.path_triplets.items()}
    return dataclasses.replace(split, path_triplets=paths)
