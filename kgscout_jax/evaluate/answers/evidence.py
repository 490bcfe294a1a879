"""The triplets that a batch reads: of the retrievers it names, and of other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.answers.failures import failure_causes
from kgscout_jax.evaluate.retrieval.evaluation import free_name
from kgscout_jax.evaluate.settings import AnswerSettings
from kgscout_jax.reason.prompts import Scored
from kgscout_jax.reason.readers.protocol import Evidence
from kgscout_jax.retrieve.baselines import PPR, Cosine
from kgscout_jax.retrieve.external import External
from kgscout_jax.retrieve.name_space import NameSpace
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.types import Answer, Question, entity_key
from kgscout_jax.utils.engine import HERE, Engine
from kgscout_jax.utils.progress import ProgressBar

if TYPE_CHECKING:
    from kgscout_jax.evaluate.answers.pseudo_rows import PseudoRows
    from kgscout_jax.learn.trained_policy import TrainedPolicy
    from kgscout_jax.reason.readers.protocol import Reader

NONE = "none"
"""The row without triplets."""
SCOUT = "scout"
"""The row of the trained policy."""
LISTED = 10
"""Answers of a question whose probabilities and paths are recorded."""
ANSWER, PATH = 1, 2
"""Flags of a triplet, added up: it holds a gold answer, it lies on a shortest path from
a topic to one (or is labelled as relevant)."""


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The ranked triplets of one question by one retriever."""

    triplets: tuple[Scored, ...] = ()
    """Best first, as many as the largest K."""
    flags: tuple[int, ...] = ()
    """Per triplet, see ``ANSWER`` and ``PATH``."""
    seconds: float | None = None
    """Time to rank, encoding excluded; None where nobody knows."""
    trace: str = ""
    """How the triplets were found, for people."""

    def evidence(
        self, info: Question, k: int, answers: Sequence[Answer] = ()
    ) -> Evidence:
        """The question with its ``k`` best triplets, and likely answers."""
        return Evidence(
            id=info.id,
            question=info.text,
            topics=info.topics,
            triplets=self.triplets[:k],
            answers=tuple((one.name, one.probability) for one in answers),
        )

    def flagged(self, flag: int, k: int) -> list[int]:
        """Positions, from 0, of the triplets among the ``k`` best that have a flag."""
        return [i for i, flags in enumerate(self.flags[:k]) if flags & flag]


@dataclass(frozen=True, kw_only=True)
class GraphAnswers:
    """The answers to one question, best first."""

    best: tuple[Answer, ...] = ()
    """The best nodes, at most LISTED, whether they count as answers or not."""
    is_answer: tuple[bool, ...] = ()
    """Whether each of ``best`` is a gold answer in the graph."""
    abstention: float = 0.0
    """Below this probability of the best node there is no answer."""

    @property
    def confidence(self) -> float:
        """Probability of the best node; 0 where there is none."""
        return self.best[0].probability if self.best else 0.0

    @property
    def answered(self) -> bool:
        """Whether the best node reaches ``abstention``."""
        return bool(self.best) and self.confidence >= self.abstention


class Source(NamedTuple):
    """A row of the table: one retriever's triplets of every question."""

    name: str
    rankings: list[Ranking]
    causes: dict[int, list[str]]
    """K -> what a wrong answer to each question would be due to."""
    table: Rankings
    """The same triplets as ``rankings``, by id."""
    reader: Reader | None = None
    """What reads this row instead of the batch's reader."""


def load_policy(settings: AnswerSettings, shards: Shards) -> TrainedPolicy | None:
    """The trained policy, where the retriever scout or its answers are requested."""
    if settings.run is None or not (
        settings.needs_policy or settings.asks_graph or settings.likely_answers
    ):
        return None
    from kgscout_jax.export.load_trained import load_trained
    from kgscout_jax.learn.trained_policy import check_encoder

    trained = load_trained(settings.run, step=settings.step)
    check_encoder(trained.metadata, shards, settings.run)
    return trained


def retrieve(
    settings: AnswerSettings,
    shards: Shards,
    split: Split,
    trained: TrainedPolicy | None,
    ks: Sequence[int],
    pseudo: PseudoRows | None = None,
    engine: Engine = HERE,
) -> list[Source]:
    """The triplets of each retriever, in the order of the table, at the largest K."""
    # Other systems' files first: a malformed one is reported before anything is ranked.
    others: dict[str, Rankings] = {}
    for path in settings.against:
        other = External(path)
        name = free_name(other, {*settings.rows, *others})
        others[name] = other.rank(shards, split, max(ks))
    all_rankings: dict[str, Rankings] = {}
    readers: dict[str, Reader | None] = {}
    for name in settings.rows:
        if pseudo is not None and name in settings.pseudo_rows:
            rows = pseudo.rankings(name, max(ks))
            readers |= {row: pseudo.reader(row) for row in rows}
        else:
            rows = {name: _rank(name, trained, shards, split, max(ks), engine)}
        all_rankings |= rows
    all_rankings |= others
    return [
        Source(
            name,
            question_rankings(shards, split, rankings),
            failure_causes(shards, split, rankings, ks),
            rankings,
            readers.get(name),
        )
        for name, rankings in all_rankings.items()
    ]


def _rank(
    name: str,
    trained: TrainedPolicy | None,
    shards: Shards,
    split: Split,
    k: int,
    engine: Engine,
) -> Rankings:
    if name == NONE:
        return no_rankings(split)
    if name == "cosine":
        return Cosine().rank(shards, split, k)
    if name == "ppr":
        return PPR().rank(shards, split, k)
    from kgscout_jax.retrieve.kgscout import KGScout

    assert trained is not None
    return KGScout(trained.policy, name=name, engine=engine).rank(shards, split, k)


def question_rankings(
    shards: Shards, split: Split, rankings: Rankings
) -> list[Ranking]:
    """The ranked triplets of each question of the split, by name."""
    names = rankings.names or NameSpace.of(shards)
    table = np.asarray(shards.triplets)
    columns = (rankings.heads, rankings.relations, rankings.tails)
    out = []
    task = f"naming triplets of {rankings.retriever}"
    with ProgressBar(len(split), task, "questions") as bar:
        for i, record in enumerate(retrieved_records(shards, split, rankings)):
            info = split.questions[i]
            n = int(rankings.lengths[i])
            ids = zip(*(column[i, :n].tolist() for column in columns), strict=True)
            path = set(map(tuple, table[split.path_triplets["both"][i]].tolist()))
            path |= {names.find_triplet(triplet) for triplet in info.relevant_triplets}
            gold = set(map(entity_key, info.answers + info.answers_in_graph))
            flags = tuple(
                ANSWER * (entity_key(head) in gold or entity_key(tail) in gold)
                + PATH * (triplet in path)
                for (head, _, tail, _), triplet in zip(
                    record.triplets, ids, strict=True
                )
            )
            seconds = float(rankings.seconds[i])
            out.append(
                Ranking(
                    triplets=tuple(record.triplets),
                    flags=flags,
                    seconds=None if np.isnan(seconds) else seconds,
                    trace=str(record.extra.get("trace", "")),
                )
            )
            bar.update(1)
    return out


def no_rankings(split: Split) -> Rankings:
    """Rankings of no triplet at all."""
    empty = np.full((len(split), 1), -1, np.int32)
    return Rankings(
        retriever=NONE,
        heads=empty,
        relations=empty,
        tails=empty,
        scores=np.zeros((len(split), 1), np.float32),
        lengths=np.zeros(len(split), np.int32),
        seconds=np.full(len(split), np.nan),
    )
