"""Passages to verify statements against, and what finds them.

FActScore cuts its documents into passages of at most 256 tokens; here 180 words, which
is about as much. Without documents a passage is an entity with sentences of its
triplets: of those that any question's candidates hold.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.errors import UserError
from kgscout_jax.reason.prompts import prompt_name, prompt_phrase, prompt_text
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import QUESTION_BATCH, SentenceEncoder
from kgscout_jax.types import Triplet
from kgscout_jax.utils.io import read_json_lines

WORDS = 180
"""Words of a passage of documents at most."""
TRIPLET_WORDS = 60
"""Words of a passage of triplets: each of its sentences says all it says alone."""
FUSION = 60
"""Of reciprocal rank fusion (Cormack et al. 2009)."""
DEPTH = 50
"""Passages that each of two rankings contributes."""
TOKEN = r"(?u)\b\w+\b"


@dataclass(frozen=True)
class Passage:
    """A piece of text about something."""

    title: str
    text: str

    def line(self) -> str:
        """As it stands in a prompt."""
        return f"{prompt_text(self.title)}: {prompt_text(self.text)}"


Search = Callable[[Sequence[str], int], list[list[Passage]]]
"""Queries and a number -> that many passages at most of each, best first."""


def sentence(triplet: Triplet) -> str:
    """A triplet as a sentence.

    >>> sentence(("Lima", "location.capital_of", "Peru"))
    'Lima, location capital of, Peru.'
    """
    head, relation, tail = triplet
    words = prompt_name(head), prompt_phrase(relation), prompt_name(tail)
    return ", ".join(words) + "."


def triplet_passages(triplets: Iterable[Triplet]) -> list[Passage]:
    """A passage for each entity: sentences of the triplets it is in.

    A triplet stands under its head, and under its tail too. Long passages are split.
    """
    about: dict[str, dict[str, None]] = defaultdict(dict)
    for triplet in triplets:
        words = sentence(triplet)
        about[triplet[0]][words] = None
        about[triplet[2]][words] = None
    return [
        Passage(title, text)
        for title, sentences in about.items()
        for text in _pieces(sentences, TRIPLET_WORDS)
    ]


def candidate_triplets(shards: Shards, split: Split) -> list[Triplet]:
    """The triplets that are candidates of any question, by id."""
    ids = np.asarray(split.candidates)
    rows = np.asarray(shards.triplets)[np.unique(ids[ids >= 0])]
    entities, relations = shards.entities, shards.relations
    return [(entities[h], relations[r], entities[t]) for h, r, t in rows.tolist()]


def read_documents(path: Path) -> list[Passage]:
    """The passages of a folder of .txt and .md files, or of JSON lines.

    Raises:
        UserError: there is no text in it, or a line has no title and text.
    """
    documents: list[tuple[str, str]] = []
    if path.is_dir():
        files = sorted([*path.glob("*.txt"), *path.glob("*.md")])
        for file in files:
            text = file.read_text(encoding="utf-8", errors="replace")
            documents.append((file.stem.replace("_", " "), text))
    else:
        for number, row in read_json_lines(path):
            title, text = row.get("title"), row.get("text")
            if not isinstance(title, str) or not isinstance(text, str):
                raise UserError(f"{path}:{number}: expected title and text, both text")
            documents.append((title, text))
    passages = [
        Passage(title, piece)
        for title, text in documents
        for piece in _pieces(re.split(r"(?<=[.!?])\s+|\n\s*\n", text))
    ]
    if not passages:
        raise UserError(f"{path}: no text in it, expected .txt, .md or JSON lines")
    return passages


def _pieces(sentences: Iterable[str], most: int = WORDS) -> list[str]:
    """Sentences joined into pieces of at most ``most`` words; long ones are cut."""
    pieces: list[list[str]] = [[]]
    for text in sentences:
        words = text.split()
        while words:
            room = most - len(pieces[-1])
            if len(words) > room and pieces[-1]:
                pieces.append([])
                continue
            pieces[-1] += words[:most]
            words = words[most:]
    return [" ".join(piece) for piece in pieces if piece]


class PassageIndex:
    """Finds passages by BM25, by embeddings, or by both (reciprocal rank fusion)."""

    def __init__(
        self,
        passages: Sequence[Passage],
        encoder: SentenceEncoder | None = None,
        *,
        by: Literal["both", "bm25", "embeddings"] = "both",
    ) -> None:
        """
        Args:
            passages: without any, nothing is ever found.
            encoder: for embeddings; not needed with ``by="bm25"``.
            by: what ranks.
        """
        self.passages, self.encoder, self.by = list(passages), encoder, by
        texts = [f"{one.title} {one.text}" for one in self.passages]
        self.bm25 = _bm25(texts) if texts and by != "embeddings" else None
        self.vectors = None
        if texts and by != "bm25":
            assert encoder is not None
            prefix = encoder.identity.document_prefix
            cache = EmbeddingCache(encoder)
            rows = cache.embed([prefix + text for text in texts], what="passages")
            self.vectors = rows.astype(np.float32)

    def search(self, queries: Sequence[str], k: int) -> list[list[Passage]]:
        """At most ``k`` passages of each query, best first."""
        if not queries or not self.passages:
            return [[] for _ in queries]
        k = min(k, len(self.passages))
        depth = k if self.by != "both" else min(max(DEPTH, k), len(self.passages))
        rankings = []
        if self.bm25 is not None:
            rankings.append(self._by_words(queries, depth))
        if self.vectors is not None:
            rankings.append(self._by_vectors(queries, depth))
        found = []
        for lists in zip(*rankings, strict=True):
            score: dict[int, float] = defaultdict(float)
            for ranking in lists:
                for rank, i in enumerate(ranking):
                    score[i] += 1 / (FUSION + rank)
            best = sorted(score, key=lambda i: (-score[i], i))[:k]
            found.append([self.passages[i] for i in best])
        return found

    def _by_words(self, queries: Sequence[str], k: int) -> list[list[int]]:
        import bm25s

        assert self.bm25 is not None
        tokens: Any = bm25s.tokenize(
            list(queries), token_pattern=TOKEN, stopwords=[], return_ids=False,
            show_progress=False,
        )  # fmt: skip
        ids, scores = self.bm25.retrieve(tokens, k=k, show_progress=False)
        return [
            [int(i) for i, score in zip(*row, strict=True) if score > 0]
            for row in zip(ids, scores, strict=True)
        ]

    def _by_vectors(self, queries: Sequence[str], k: int) -> list[list[int]]:
        assert self.encoder is not None and self.vectors is not None
        prefix = self.encoder.identity.query_prefix
        texts = [prefix + query for query in queries]
        rows = self.encoder.encode(texts, batch_size=QUESTION_BATCH)
        cosine = rows.astype(np.float32) @ self.vectors.T
        order = np.argsort(-cosine, axis=1, kind="stable")[:, :k]
        return order.tolist()


def _bm25(texts: Sequence[str]) -> Any:
    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    index = bm25s.BM25(method="lucene")
    tokens = bm25s.tokenize(
        list(texts), token_pattern=TOKEN, stopwords=[], show_progress=False
    )
    index.index(tokens, show_progress=False)
    return index
