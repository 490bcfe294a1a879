"""BM25 over each question's candidates as text (Robertson and Zaragoza 2009).

The texts of the shards' triplets are tokenised once and indexed once per (k1, b) by
``bm25s`` (Lucene's variant: idf = log(1 + (N - df + 0.5) / (df + 0.5))). Candidates are
chosen per question, so a question's scores are a few rows of that index times the
weights of its words. Whether a word is rare is asked of all texts or of the question's
own candidates: of those, the topic's name is in most and tells little.

What is to be chosen (k1, b, whose rarity) is tuned on the train split as the policy is
trained there. Words are not stemmed, none is left out.
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
from kgscout_jax.utils.progress import progress

if TYPE_CHECKING:
    from scipy.sparse import csr_array

WORD = r"(?u)\b\w+\b"
"""A token: letters, digits and underscores."""
GRID_K1 = (1.2, 0.5, 2.0)
GRID_B = (0.75, 0.4, 1.0)
"""Tried in this order; of settings that are equally good the first is taken."""
TUNED_AT = 30
"""The K whose answer_hit chooses."""
TUNED_ON = 300
"""Training questions, at most, that choose."""


@dataclass(frozen=True, kw_only=True)
class BM25Settings:
    """The free parameters of BM25."""

    k1: float = 1.2
    """How soon repeating a word stops to count."""
    b: float = 0.75
    """How much longer texts are discounted: 0 not at all, 1 in full."""
    idf: Literal["candidates", "shards"] = "candidates"
    """Among which texts a word's rarity counts: the question's candidates, or all."""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.k1) and self.k1 >= 0):
            raise UserError(f"bm25: k1 is {self.k1}, expected a number >= 0")
        if not 0 <= self.b <= 1:
            raise UserError(f"bm25: b is {self.b}, expected a number from 0 to 1")
        if self.idf not in ("candidates", "shards"):
            raise UserError(f"bm25: idf is {self.idf!r}, expected candidates or shards")


class Tuned(NamedTuple):
    """The settings that were best, and how good."""

    settings: BM25Settings
    hit: float
    """Share of the questions with an answer among the TUNED_AT best."""
    questions: int


@dataclass(frozen=True)
class BM25:
    """By the words that a candidate's text shares with the question."""

    settings: BM25Settings | None = None
    """None: tuned on the train split of the shards; without one, the defaults."""
    name: str = "bm25"

    def rank(self, shards: Shards, split: Split, k: int) -> Rankings:
        """At most ``k`` candidates of each question, best match first.

        ``notes`` holds the settings and, where they were tuned, on how many questions.
        ``seconds`` leaves out tokenising and indexing: once per folder of shards.
        """
        texts = Texts.of(shards)
        notes: dict[str, int | float | str] = {}
        settings = self.settings
        if settings is None:
            settings = BM25Settings()
            if "train" in shards.splits:
                tuned = tune(texts, shards.split("train"))
                settings = tuned.settings
                notes["tuned_on"] = tuned.questions
        notes |= dataclasses.asdict(settings)
        rows = np.arange(len(split))
        scores, seconds = bm25_scores(texts, split, rows, settings)
        start = time.perf_counter()
        found = rank_candidates(self.name, shards, split, scores, k)
        seconds += (time.perf_counter() - start) / max(1, len(split))
        return dataclasses.replace(found, seconds=seconds, notes=notes)


@dataclass(frozen=True)
class Texts:
    """The candidate triplets of a folder of shards, as tokens."""

    tokens: Sequence[Sequence[int]]
    """Per triplet, the numbers of its words."""
    vocabulary: dict[str, int]

    @staticmethod
    def of(shards: Shards) -> Texts:
        """The texts of all triplets that are somebody's candidate."""
        bm25s = _library()
        rows = np.asarray(shards.triplets[: len(shards.triplet_embeddings)]).tolist()
        entities, relations = shards.entities, shards.relations
        lines = [
            linearize((entities[h], relations[r], entities[t])) for h, r, t in rows
        ]
        if not lines:
            return Texts([], {})
        found = bm25s.tokenize(
            lines, token_pattern=WORD, stopwords=None, show_progress=False
        )
        return Texts(found.ids, found.vocab)

    def queries(self, questions: Sequence[str]) -> list[list[int]]:
        """Per question, the numbers of its words that occur in any text."""
        if not questions or not self.vocabulary:
            return [[] for _ in questions]
        words = _library().tokenize(
            [question_text(question) for question in questions],
            token_pattern=WORD,
            stopwords=None,
            return_ids=False,
            show_progress=False,
        )
        known = self.vocabulary
        return [[known[word] for word in each if word in known] for each in words]

    def index(self, rows: Int[np.ndarray, "m"], k1: float, b: float) -> csr_array:
        """The weight of each word in each of the texts ``rows``: [m, vocabulary]."""
        from scipy.sparse import csc_array

        index = _library().BM25(k1=k1, b=b, method="lucene")
        chosen = [self.tokens[i] for i in rows.tolist()]
        scores = index.build_index_from_ids(
            list(range(len(self.vocabulary))), chosen, show_progress=False
        )
        columns = scores["data"], scores["indices"], scores["indptr"]
        return csc_array(columns, shape=(len(rows), len(self.vocabulary))).tocsr()


def bm25_scores(
    texts: Texts,
    split: Split,
    rows: Int[np.ndarray, "q"],
    settings: BM25Settings,
) -> tuple[Float32[np.ndarray, "q n"], Float64[np.ndarray, "q"]]:
    """BM25 of the candidates of some questions, 0 beyond n_real; and their seconds.

    Args:
        texts: of the split's shards.
        split: whose questions.
        rows: which of them.
        settings: the free parameters.
    """
    ids = np.asarray(split.candidates[rows])
    everything = np.arange(len(texts.tokens))
    index = (
        texts.index(everything, settings.k1, settings.b) if len(everything) else None
    )
    return _scores(index, texts, split, rows, ids, settings.idf)


def _scores(
    index: csr_array | None,
    texts: Texts,
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
            # Each use of a word counts; the index holds its rarity among all texts.
            words, counts = np.unique(query, return_counts=True)
            some = index[places[i, real]]
            if idf == "candidates":
                here = np.bincount(some.indices, minlength=n_words)[words]
                ratio = rarity(here, len(some.indptr) - 1)
                counts = counts * ratio / rarity(everywhere[words], n_texts)
            weight[words] = counts
            scores[i, real] = some @ weight
            weight[words] = 0
        seconds[i] = time.perf_counter() - start
    return scores, seconds


def rarity(df: Int[np.ndarray, "w"], n_texts: int) -> np.ndarray:
    """Lucene's inverse document frequency of words that ``df`` of the texts hold."""
    return np.log1p((n_texts - df + 0.5) / (df + 0.5))


def tune(texts: Texts, split: Split, *, questions: int = TUNED_ON) -> Tuned:
    """The best settings of the grid by answer_hit@30; the same on every machine.

    Args:
        texts: of the split's shards.
        split: the training questions.
        questions: how many of them choose, drawn with a fixed seed.
    """
    drawn = np.random.default_rng(0).permutation(len(split))[:questions]
    rows = np.sort(drawn)
    candidates = np.asarray(split.candidates[rows])
    real = candidates >= 0
    used, places = np.unique(candidates[real], return_inverse=True)
    if not len(used):
        return Tuned(BM25Settings(), 0.0, len(rows))
    at = np.full(candidates.shape, -1)
    at[real] = places
    holds = holds_answer(split, rows)
    best: Tuned | None = None
    with progress(len(GRID_K1) * len(GRID_B), "tuning bm25", "settings") as bar:
        for k1 in GRID_K1:
            for b in GRID_B:
                index = texts.index(used, k1, b)
                for idf in ("candidates", "shards"):
                    scores, _ = _scores(index, texts, split, rows, at, idf)
                    top, _ = top_k(scores, real, candidates, TUNED_AT)
                    held = np.take_along_axis(holds, np.maximum(top, 0), axis=1)
                    hit = float((held & (top >= 0)).any(axis=1).mean())
                    if best is None or hit > best.hit:
                        chosen = BM25Settings(k1=k1, b=b, idf=idf)
                        best = Tuned(chosen, hit, len(rows))
                bar.update()
    assert best is not None
    return best


def _library() -> ModuleType:
    """``bm25s``, without its messages on every index."""
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s
