"""BM25 over each question's candidates as text (Robertson and Zaragoza 2009).

The texts of the shards' triplets are tokenised once and indexed once per (k1, b) by
``bm25s`` (Lucene's variant: idf = log(1 + (N - df + 0.5) / (df + 0.5))). A question's
scores are the rows of its candidates times the weights of its words. Document
frequencies are those in all texts or in the question's own candidates, most of which
contain the topic's name.

The settings (k1, b and the texts of the document frequencies) are tuned on the train
split, as the policy is. There is no stemming and no list of stop words.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from jaxtyping import Float32, Float64, Int

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.retrieve.protocol import (
    Rankings,
    holds_answer,
    rank_candidates,
    top_k,
)
from kgscout_jax.text.linearize import linearize, question_text
from kgscout_jax.utils.progress import ProgressBar

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WORD = r"(?u)\b\w+\b"
"""A token: letters, digits and underscores."""
GRID_K1 = (1.2, 0.5, 2.0)
GRID_B = (0.75, 0.4, 1.0)
"""In the order of trial; the first of equally good settings is selected."""
TUNING_K = 30
"""Settings are selected by answer_hit at this K."""
TUNING_QUESTIONS = 300
"""The most training questions used for tuning."""


@dataclass(frozen=True, kw_only=True)
class BM25Settings:
    """The free parameters of BM25."""

    k1: float = 1.2
    """Smaller: repetitions of a word count less."""
    b: float = 0.75
    """Discount of longer texts, from 0 (none) to 1 (full)."""
    idf: Literal["candidates", "shards"] = "candidates"
    """Texts of the document frequencies: the question's candidates, or all."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.k1) and self.k1 >= 0):
            raise UserError(f"bm25: k1 is {self.k1}, expected a number >= 0")
        if not 0 <= self.b <= 1:
            raise UserError(f"bm25: b is {self.b}, expected a number from 0 to 1")
        if self.idf not in ("candidates", "shards"):
            raise UserError(f"bm25: idf is {self.idf!r}, expected candidates or shards")


class TuningResult(NamedTuple):
    """The best settings and their score."""

    settings: BM25Settings
    hit: float
    """Share of the questions with an answer among the TUNING_K best."""
    questions: int


@dataclass(frozen=True)
class BM25:
    """Ranks by the words that a candidate's text shares with the question."""

    settings: BM25Settings | None = None
    """None to tune them on the shards' train split; defaults without one."""
    name: str = "bm25"

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, best match first.

        ``notes`` has the settings and, after tuning, the number of questions used.
        ``seconds`` excludes tokenising and indexing, which run once per shard folder.
        """
        texts = TripletTexts.of(shards)
        notes: dict[str, int | float | str] = {}
        settings = self.settings
        if settings is None:
            settings = BM25Settings()
            if "train" in shards.splits:
                result = tune(texts, shards.split("train"))
                settings = result.settings
                notes["tuned_on"] = result.questions
        notes |= dataclasses.asdict(settings)
        rows = np.arange(len(split))
        scores, seconds = bm25_scores(texts, split, rows, settings)
        start = time.perf_counter()
        rankings = rank_candidates(self.name, shards, split, scores, k)
        seconds += (time.perf_counter() - start) / max(1, len(split))
        return dataclasses.replace(rankings, seconds=seconds, notes=notes)


@dataclass(frozen=True)
class TripletTexts:
    """The candidate triplets of a folder of shards, as tokens."""

    tokens: Sequence[Sequence[int]]
    """Per triplet, the ids of its words."""
    vocabulary: dict[str, int]

    @staticmethod
    def of(shards: Shards) -> TripletTexts:
        """The texts of all candidate triplets."""
        bm25s = _library()
        rows = np.asarray(shards.triplets[: len(shards.triplet_embeddings)]).tolist()
        entities, relations = shards.entities, shards.relations
        lines = [
            linearize((entities[h], relations[r], entities[t])) for h, r, t in rows
        ]
        if not lines:
            return TripletTexts([], {})
        tokens = bm25s.tokenize(
            lines, token_pattern=WORD, stopwords=None, show_progress=False
        )
        return TripletTexts(tokens.ids, tokens.vocab)

    def queries(self, questions: Sequence[str]) -> list[list[int]]:
        """Per question, the ids of its words that occur in any text."""
        if not questions or not self.vocabulary:
            return [[] for _ in questions]
        words = _library().tokenize(
            [question_text(question) for question in questions],
            token_pattern=WORD,
            stopwords=None,
            return_ids=False,
            show_progress=False,
        )
        ids = self.vocabulary
        return [[ids[word] for word in query if word in ids] for query in words]

    def index(self, rows: Int[np.ndarray, "m"], k1: float, b: float) -> csr_array:
        """The weight of each word in each of the texts ``rows``: [m, vocabulary]."""
        from scipy.sparse import csc_array

        index = _library().BM25(k1=k1, b=b, method="lucene")
        scores = index.build_index_from_ids(
            list(range(len(self.vocabulary))),
            [self.tokens[i] for i in rows.tolist()],
            show_progress=False,
        )
        columns = scores["data"], scores["indices"], scores["indptr"]
        return csc_array(columns, shape=(len(rows), len(self.vocabulary))).tocsr()


def bm25_scores(
    texts: TripletTexts,
    split: Split,
    rows: Int[np.ndarray, "q"],
    settings: BM25Settings,
) -> tuple[Float32[np.ndarray, "q n"], Float64[np.ndarray, "q"]]:
    """BM25 of the candidates of some questions, 0 beyond n_real; and the seconds.

    Args:
        texts: the texts of the split's shards.
        split: the questions.
        rows: rows of the questions in the split.
        settings: the free parameters.
    """
    ids = np.asarray(split.candidates[rows])
    everything = np.arange(len(texts.tokens))
    index = (
        texts.index(everything, settings.k1, settings.b) if len(everything) else None
    )
    return _score_rows(index, texts, split, rows, ids, settings.idf)


def _score_rows(
    index: csr_array | None,
    texts: TripletTexts,
    split: Split,
    rows: Int[np.ndarray, "q"],
    places: Int[np.ndarray, "q n"],
    idf: str,
) -> tuple[Float32[np.ndarray, "q n"], Float64[np.ndarray, "q"]]:
    """``bm25_scores``, where the candidates are the rows ``places`` of ``index``."""
    scores = np.zeros(places.shape, np.float32)
    seconds = np.zeros(len(rows))
    if index is None:
        return scores, seconds
    queries = texts.queries([split.questions[i].text for i in rows])
    n_texts, n_words = len(index.indptr) - 1, len(texts.vocabulary)
    everywhere = np.bincount(index.indices, minlength=n_words)
    weight = np.zeros(n_words)
    for i, query in enumerate(queries):
        start = time.perf_counter()
        real = places[i] >= 0
        if query and real.any():
            # Repeated words count; the index already includes the idf in all texts.
            words, counts = np.unique(query, return_counts=True)
            own = index[places[i, real]]
            if idf == "candidates":
                here = np.bincount(own.indices, minlength=n_words)[words]
                ratio = rarity(here, len(own.indptr) - 1)
                counts = counts * ratio / rarity(everywhere[words], n_texts)
            weight[words] = counts
            scores[i, real] = own @ weight
            weight[words] = 0
        seconds[i] = time.perf_counter() - start
    return scores, seconds


def rarity(df: Int[np.ndarray, "w"], n_texts: int) -> np.ndarray:
    """Lucene's inverse document frequency of words that occur in ``df`` texts."""
    return np.log1p((n_texts - df + 0.5) / (df + 0.5))


def tune(
    texts: TripletTexts, split: Split, *, questions: int = TUNING_QUESTIONS
) -> TuningResult:
    """The best settings of the grid by answer_hit@30, deterministic across machines.

    Args:
        texts: the texts of the split's shards.
        split: the training questions.
        questions: the most questions, sampled with a fixed seed.
    """
    rows = np.sort(np.random.default_rng(0).permutation(len(split))[:questions])
    candidates = np.asarray(split.candidates[rows])
    real = candidates >= 0
    unique, places = np.unique(candidates[real], return_inverse=True)
    if not len(unique):
        return TuningResult(BM25Settings(), 0.0, len(rows))
    at = np.full(candidates.shape, -1)
    at[real] = places
    holds = holds_answer(split, rows)
    best: TuningResult | None = None
    with ProgressBar(len(GRID_K1) * len(GRID_B), "tuning bm25", "settings") as bar:
        for k1 in GRID_K1:
            for b in GRID_B:
                index = texts.index(unique, k1, b)
                for idf in ("candidates", "shards"):
                    scores, _ = _score_rows(index, texts, split, rows, at, idf)
                    top, _ = top_k(scores, real, candidates, TUNING_K)
                    hits = np.take_along_axis(holds, np.maximum(top, 0), axis=1)
                    hit = float((hits & (top >= 0)).any(axis=1).mean())
                    if best is None or hit > best.hit:
                        settings = BM25Settings(k1=k1, b=b, idf=idf)
                        best = TuningResult(settings, hit, len(rows))
                bar.update()
    assert best is not None
    return best


def _library() -> ModuleType:
    """``bm25s``, without a log message for every index."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s
