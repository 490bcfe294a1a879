"""The folder of an exported policy, and its ``config.json``.

    config.json        format and version; policy, encoder, preparation, training;
                       size and sha256 of those of the next three files that are there
    model.safetensors  every parameter by its path in the network's weights: all F32, or
                       all F16; the network computes in float32 either way
    policy.stablehlo   ``jax.export`` of the network, its parameters inside; may be left
                       out:
                       (q[b,d], T[b,n,d], R[b,n,d], ppr[b,n,2], mask[b,n]) -> logits;
                       of the walk policy and the MLP two more arguments, nodes[b,n,2]
                       and topics[b,v]; of one that reads the words of questions also
                       words[b,l,d] and word_places[b,l]; with an answer head ->
                       (logits[b,n], answers[b,v])
    golden.npz         inputs of that call and its outputs at the time of the export
    README.md          the model card

``config.json`` and ``model.safetensors`` are the export; ``policy.stablehlo`` is for
programs without this package, within JAX's window of compatibility.

Version 1 has F32 and ``policy.stablehlo``. An export with F16 or without the file is of
version 2: readers of version 1 say "written by a newer kgscout-jax, update yours".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from kgscout_jax.errors import UserError
from kgscout_jax.text.encoder import EncoderIdentity
from kgscout_jax.utils.checks import check_folder
from kgscout_jax.utils.io import read_json
from kgscout_jax.utils.manifest import as_record

FORMAT = "kgscout-policy"
VERSION, SMALL_VERSION = 1, 2
"""Version of an export, and of one with float16 or without ``policy.stablehlo``."""
CONFIG, MODEL, STABLEHLO = "config.json", "model.safetensors", "policy.stablehlo"
GOLDEN, CARD = "golden.npz", "README.md"
CHECKED = (MODEL, STABLEHLO, GOLDEN)
"""Files whose size and sha256 are in ``config.json``, where they are there."""
FILES = (CONFIG, *CHECKED, CARD)

Positive = Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """Settings of the subgraphs and candidates that the policy was trained on."""

    hops: Positive | None
    """Radius of the ball; None: questions had their own subgraph."""
    max_triplets: Positive | None
    """Size of subgraphs after the cut; None: not cut."""
    candidates: Positive
    """Number of triplets that the network scores, the best by ``select``."""
    direction: Literal["both", "directed"]
    """Direction in which PageRank follows edges."""
    cut: Literal["guided", "ppr"] = "ppr"
    """Ranking of triplets for the cut: a guided walk, or PageRank (the thesis)."""
    select: Literal["hybrid", "cosine"] = "cosine"
    """Ranking of candidates: hybrid, or cosine (the thesis)."""
    ppr_threshold: Annotated[float, Meta(gt=0, lt=1)] | None = None
    """Minimum PageRank of both ends of every triplet."""
    hub_degree: Positive | None = None
    """Balls did not walk through entities with more triplets than this."""


class FileChecksum(Struct):
    """The record of a file in ``config.json``."""

    bytes: int
    sha256: str


class ExportConfig(Struct):
    """The fields of ``config.json`` that a reader needs."""

    policy: dict[str, Any]
    encoder: EncoderIdentity
    """The encoder whose embeddings the policy takes."""
    preparation: Preparation
    training: dict[str, Any]
    tolerance: Annotated[float, Meta(gt=0, le=1)]
    """Tolerance of the golden logits; the bound of 1 keeps the check effective."""
    files: dict[str, FileChecksum]


def is_exported(path: Path) -> bool:
    """Whether a folder has the configuration of an exported policy."""
    try:
        metadata = read_json(path / CONFIG)
    except UserError:
        return False
    return isinstance(metadata, dict) and metadata.get("format") == FORMAT


def read_config(path: Path) -> tuple[dict[str, Any], ExportConfig]:
    """``config.json`` as stored, and its checked fields.

    Raises:
        UserError: the file is missing, of another format or version, or damaged.
    """
    file = path / CONFIG
    check_folder(path)
    if not file.exists():
        raise UserError(f"{path}: no {CONFIG}, this is not an exported policy")
    metadata = read_json(file)
    if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
        run = isinstance(metadata, dict) and {"config", "policy", "shards"} <= set(
            metadata
        )
        hint = "; this is a run, see kgscout export" if run else ""
        raise UserError(f"{file}: not the configuration of a {FORMAT}{hint}")
    version = metadata.get("version")
    if version not in (VERSION, SMALL_VERSION):
        newer = isinstance(version, int) and version > SMALL_VERSION
        hint = "; written by a newer kgscout-jax, update yours" if newer else ""
        raise UserError(
            f"{file}: format version is {version}, expected {VERSION} or "
            f"{SMALL_VERSION}{hint}"
        )
    config = as_record(metadata, ExportConfig, str(file))
    for field, record in (("encoder", EncoderIdentity), ("preparation", Preparation)):
        names = {each.name for each in fields(record)}
        for name in sorted(metadata[field].keys() - names):
            raise UserError(f"{file}: {field}.{name}: unknown field")
    for name in CHECKED:
        optional = name == STABLEHLO and version == SMALL_VERSION
        if name not in config.files and not optional:
            raise UserError(f"{file}: damaged, no size and checksum of {name}")
    return metadata, config


def named_leaves(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by their names in ``model.safetensors``, in order."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="."): leaf
        for path, leaf in leaves
    }
