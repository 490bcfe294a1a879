"""The settings of a preparation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import tyro

from data_prep.partition import Partition
from kgscout_jax.errors import UserError
from kgscout_jax.graph.file_settings import FILE_OPTIONS, GraphFileSettings
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.engine_settings import EngineSettings
from kgscout_jax.utils.presets import check_preset
from kgscout_jax.utils.sources import OWN_SUBGRAPHS

SourceName = Literal["rog", "nsm", "metaqa", "pathquestion", "kg", "world"]
DEEP = {"metaqa": 3, "pathquestion": 3, "world": 4, "rog": 4, "nsm": 4}
"""Default steps of sources whose questions need more than two."""


@dataclass(frozen=True, kw_only=True)
class PrepSettings(GraphFileSettings, EngineSettings):
    """Turn a published data set, or your own graph, into a folder of shards.

    Example: python -m data_prep kg --kg my.tsv --input questions/ --out shards/
    """

    presets: ClassVar[dict[str, type[PrepSettings]]] = {}
    """The settings' classes behind ``--preset``, whose defaults are the preset's."""
    groups: ClassVar[dict[str, str]] = {
        "source and result": "preset out input kg overwrite",
        "how files are read": FILE_OPTIONS,
        "topics, subgraphs and candidates": "aliases hops cut max_triplets "
        "ppr_threshold hub_degree select candidates direction",
        "questions": "train_questions limit seed",
        "embeddings": "encoder encoder_backend table cache",
        "processes": "workers engine ray_address part",
    }
    source: tyro.conf.Positional[SourceName]
    """Format to read; see docs/data.md."""
    preset: Literal["thesis"] | None = None
    """thesis: its cuts; what contradicts them is refused. --preset thesis --help names
    the values and their sources."""
    out: Path
    """Folder of shards to write."""
    input: Path | None = None
    """Folder (or file) of the data set; world needs none."""
    kg: tuple[Path, ...] = ()
    """Triplet files of your own graph, a folder of them, or one GRAPH folder (source
    kg)."""
    aliases: Path | None = None
    """File of NAME <tab> ALIAS: more names for linking topics."""
    hops: int | None = None
    """Steps from the topics; 2 (metaqa, pathquestion 3; world, rog, nsm 4)."""
    cut: Literal["guided", "ppr"] = "guided"
    """Ranking of triplets for the cut: a walk guided by the question, or plain PageRank
    on the whole ball (the thesis)."""
    max_triplets: int | None = None
    """Cut to this many triplets, 0 for no cut; default 2000 (rog and nsm: no cut)."""
    ppr_threshold: float | None = None
    """Select only triplets with at least this PageRank at both ends (OKGQA: 1e-5)."""
    hub_degree: int | None = None
    """Balls of --cut ppr do not walk through entities with more triplets than this."""
    select: Literal["hybrid", "cosine"] = "hybrid"
    """Ranking of candidates: the better of the ranks by cosine and by the cut, or the
    cosine with the question alone (the thesis)."""
    candidates: int = 1000
    """Candidates per question."""
    direction: Literal["both", "directed"] = "both"
    """Direction in which walks and PageRank follow edges; the thesis: directed."""
    encoder: str = "all-MiniLM-L6-v2"
    """Any sentence-transformers model: a name or a folder."""
    encoder_backend: Literal["auto", "jax", "torch", "torch-bf16", "openvino-bf16"] = (
        "auto"
    )
    """Backend of the encoder: auto is JAX for all-MiniLM-L6-v2 and PyTorch for others;
    openvino-bf16 (extra openvino) is the fastest on CPUs with bfloat16. Tables of
    float32 and bfloat16 are never mixed."""
    train_questions: int | None = None
    """Sample this many of the usable training questions (thesis, CWQ: 3000)."""
    limit: int | None = None
    """Sample at most this many questions per split, for a quick test."""
    seed: int = 0
    """Seed of the sampling."""
    table: Literal["float16", "int8"] = "float16"
    """Format of triplet embeddings; int8, with a scale per row, is half as large."""
    workers: int | None = None
    """Worker processes; default: one per CPU, or all of a Ray cluster."""
    part: str | None = None
    """i/n: run the i-th of n shares of the tasks (job arrays); the last one writes."""
    cache: Path | None = None
    """Folder of the embedding cache; default $KGSCOUT_CACHE or ~/.cache/kgscout."""
    overwrite: Annotated[bool, tyro.conf.arg(name="overwrite")] = False
    """Overwrite existing shards of other settings, or damaged ones."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.preset is not None:
            check_preset(self, self.presets[self.preset])
        check_at_least(0, max_triplets=self.max_triplets)
        check_at_least(
            1,
            hops=self.hops,
            candidates=self.candidates,
            train_questions=self.train_questions,
            limit=self.limit,
            hub_degree=self.hub_degree,
        )
        given = self.candidates != type(self).candidates  # the default is a bound
        if given and self.size is not None and self.size < self.candidates:
            raise UserError(
                f"--max-triplets: found {self.size}, expected at least --candidates "
                f"{self.candidates}"
            )
        if self.part is not None:
            Partition.of(self.part)
            if self.overwrite:
                raise UserError(
                    "--part: not with --overwrite, one part would delete the work of "
                    "another; delete the folder first"
                )
        if self.ppr_threshold is not None and not 0 < self.ppr_threshold < 1:
            raise UserError(
                f"--ppr-threshold: found {self.ppr_threshold}, expected a number "
                "between 0 and 1"
            )
        if self.hub_degree is not None and self.cut != "ppr":
            raise UserError(
                "--hub-degree: goes with --cut ppr; a guided walk needs no such bound"
            )

    @property
    def radius(self) -> int:
        """Steps of the walk or radius of the ball, with the source's default."""
        return self.hops or DEEP.get(self.source, 2)

    @property
    def size(self) -> int | None:
        """Largest size of a subgraph, with the source's default; None for no cut."""
        if self.max_triplets is None:
            return None if self.source in OWN_SUBGRAPHS else 2000
        return self.max_triplets or None

    def to_manifest(self) -> dict[str, Any]:
        """The resolved settings that affect the shards, as JSON values."""
        has_own_ball = self.source in OWN_SUBGRAPHS and self.cut == "ppr"
        read = {
            "columns": self.columns,
            "properties": self.properties or None,
            "language": self.language,
        }
        return {
            "hops": None if has_own_ball else self.radius,
            "cut": self.cut,
            "max_triplets": self.size,
            "ppr_threshold": self.ppr_threshold,
            "hub_degree": self.hub_degree,
            "select": self.select,
            "candidates": self.candidates,
            "direction": self.direction,
            "table": self.table,
            "train_questions": self.train_questions,
            "limit": self.limit,
            "seed": self.seed,
            **{name: value for name, value in read.items() if value is not None},
        }


@dataclass(frozen=True, kw_only=True)
class ThesisPrepSettings(PrepSettings):
    """Prepare as the thesis does: each value with its source.

    Sources rog and nsm bring each question's own subgraph, which is not cut further.
    The thesis trains on all usable questions of WebQSP and on 3,000 of CWQ, drawn at
    random (section 4.1): --train-questions 3000.
    """

    presets: ClassVar[dict[str, type[PrepSettings]]] = PrepSettings.presets
    preset: Literal["thesis"] | None = "thesis"
    cut: Literal["guided", "ppr"] = "ppr"
    """Section 2.1.2: Personalized PageRank from the topics."""
    ppr_threshold: float | None = None
    """Section 4.2 names none."""
    hub_degree: int | None = None
    """Section 4.2 names none."""
    select: Literal["hybrid", "cosine"] = "cosine"
    """Section 4.2: "the cosine similarity between the question and each triplet"."""
    candidates: int = 1000
    """Section 4.2: "the top-k = 1000 most semantically similar triplets"."""
    direction: Literal["both", "directed"] = "directed"
    """Section 4.2: "each triplet adds a directed edge"; NetworkX's PageRank."""
    encoder: str = "all-MiniLM-L6-v2"
    """Section 4.2: Sentence-BERT, all-MiniLM-L6-v2."""


PrepSettings.presets["thesis"] = ThesisPrepSettings
