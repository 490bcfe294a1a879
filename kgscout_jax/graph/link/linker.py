"""Entities that a question is about, found in its text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from jaxtyping import Float64

from kgscout_jax.errors import UserError
from kgscout_jax.graph.link.candidates import Candidate, by_key, by_words
from kgscout_jax.graph.link.index import LinkIndex
from kgscout_jax.graph.link.mentions import bracketed
from kgscout_jax.graph.link.question_tokens import MAX_CHARACTERS, Asked, ask
from kgscout_jax.graph.link.scoring import scores
from kgscout_jax.graph.link.stop_words import ARTICLES, PLAIN

if TYPE_CHECKING:
    from kgscout_jax.graph.link.vectors import Encode, NameVectors

MARKED = 0.7
"""How alike a bracketed mention and a name must be."""
MAX_RUN, MAX_RUNS, NEAREST = 8, 8, 4
"""Of a question's runs of telling words: longest, how many, and names looked at."""
How = Literal["exact", "normalised", "alias", "fuzzy", "embedding"]


@dataclass(frozen=True, kw_only=True)
class LinkSettings:
    """How a question's entities are found."""

    k: int = 3
    """At most so many links per question."""
    threshold: float = 0.5
    """Links less likely than this are left out, but for the first."""
    floor: float = 0.005
    """A first link less likely than this is left out too."""
    fuzzy: bool = True
    """Also look for misspelt and partial names."""
    cosine: float = 0.5
    """Names less alike in meaning are left out (with an encoder only)."""

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UserError(f"--k: expected at least 1, found {self.k}")
        for name in ("threshold", "floor", "cosine"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise UserError(f"--{name}: expected 0 to 1, found {value}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """An entity and the part of the question, ``text[start:stop]``, that names it."""

    entity: int
    name: str
    """As the graph shows it."""
    score: float
    """Estimated probability that the question is about it."""
    how: How
    start: int
    stop: int


class Linker:
    """Finds the entities of questions in an index."""

    def __init__(
        self,
        index: LinkIndex,
        settings: LinkSettings | None = None,
        *,
        weights: Float64[np.ndarray, "f"] | None = None,
        encode: Encode | None = None,
        vectors: NameVectors | None = None,
    ) -> None:
        """
        Args:
            weights: of the scoring model, if not those that come with it, see ``fit``.
            encode: texts to embeddings; with it, names are also found by meaning.
            vectors: the embeddings of the names; encoded now if there are none.
        """
        self.index, self.settings = index, settings or LinkSettings()
        self.weights, self.encode = weights, encode
        self.vectors = vectors
        if encode is not None and vectors is None:
            from kgscout_jax.graph.link.vectors import NameVectors

            self.vectors = NameVectors.build(index, encode)

    def link(self, question: str, k: int | None = None) -> list[Link]:
        """The entities of ``question``, likeliest first; their spans do not overlap.

        What the question puts in [brackets] is linked alone, if it can be.
        """
        k = self.settings.k if k is None else k
        marked = self._marked(question, k) if "[" in question else []
        if marked:
            return marked
        asked = ask(question)
        found = self.candidates(asked)
        likely = scores(asked, self.index, found, self.weights)
        if self.encode is not None and likely.max(initial=0) < self.settings.threshold:
            near, cosines = self._by_meaning(asked, found)
            found, likely = found + near, np.r_[likely, cosines]
        return self._chosen(found, likely, k)

    def link_many(
        self, questions: Iterable[str], k: int | None = None
    ) -> list[list[Link]]:
        """``link`` of each question."""
        return [self.link(question, k) for question in questions]

    def _marked(self, question: str, k: int) -> list[Link]:
        """Links of the bracketed parts that are, as a whole, a name or close to one."""
        links: list[Link] = []
        for begin, end in bracketed(question[:MAX_CHARACTERS]):
            asked = ask(question[begin:end])
            found = [
                c
                for c in self.candidates(asked)
                if c.likeness >= MARKED
                and c.last == len(asked) - 1
                and ARTICLES.issuperset(asked.words[: c.first])
            ]
            if not found:
                continue
            best = min(
                found,
                key=lambda c: (-c.likeness, c.how != "exact", -c.article, c.surface),
            )
            link = self._link(best, best.likeness, begin)
            if all(link.entity != other.entity for other in links):
                links.append(link)
        return sorted(links, key=lambda link: -link.score)[:k]

    def _by_meaning(
        self, asked: Asked, full: Sequence[Candidate]
    ) -> tuple[list[Candidate], list[float]]:
        """The names nearest to each run of telling words, with half their cosine.

        Runs inside a full match are left out. Halved, cosines stay below the default
        threshold: a likeness of meaning is never as sure as a full match of words.
        """
        assert self.encode is not None and self.vectors is not None
        runs = [
            (first, last)
            for first, last in runs_of([w not in PLAIN for w in asked.words])
            if last - first < MAX_RUN
            and not any(
                c.how != "fuzzy" and c.first <= first and last <= c.last for c in full
            )
        ][:MAX_RUNS]
        if not runs:
            return [], []
        texts = [asked.text[asked.starts[a] : asked.stops[b]] for a, b in runs]
        surfaces, cosines = self.vectors.nearest(self.encode(texts), NEAREST)
        found, likely = [], []
        for (a, b), row, near in zip(runs, surfaces, cosines, strict=True):
            for surface, cosine in zip(row.tolist(), near.tolist(), strict=True):
                if surface >= 0 and cosine >= self.settings.cosine:
                    found.append(
                        Candidate(
                            *(a, b, surface, "embedding", cosine),
                            start=asked.starts[a],
                            stop=asked.stops[b],
                        )
                    )
                    likely.append(cosine / 2)
        return found, likely

    def candidates(self, asked: Asked) -> list[Candidate]:
        """Everything the question may mean, not yet chosen from."""
        found = by_key(asked, self.index)
        if self.settings.fuzzy:
            spans = {(c.surface, c.first): c.last for c in found}
            for c in by_words(asked, self.index, _settled(asked, found)):
                # Found by its key already, over the same words.
                if spans.get((c.surface, c.first)) != c.last:
                    found.append(c)
        return found

    def _chosen(self, found: list[Candidate], likely: np.ndarray, k: int) -> list[Link]:
        """The likeliest candidates that do not overlap."""
        links: list[Link] = []
        taken: list[Candidate] = []
        entities: set[int] = set()
        order = sorted(
            range(len(found)),
            key=lambda i: (
                -likely[i],
                found[i].first,
                -found[i].last,
                found[i].surface,
            ),
        )
        for i in order:
            c, score = found[i], float(likely[i])
            if score < (self.settings.threshold if links else self.settings.floor):
                break
            entity = self.index.entity_of(c.surface)
            if entity in entities:
                continue
            if any(c.first <= t.last and t.first <= c.last for t in taken):
                continue
            taken.append(c)
            entities.add(entity)
            links.append(self._link(c, score))
            if len(links) == k:
                break
        return links

    def _link(self, c: Candidate, score: float, shift: int = 0) -> Link:
        """A candidate as a link, its span moved by ``shift``."""
        entity = self.index.entity_of(c.surface)
        return Link(
            entity=entity,
            name=self.index.names[entity],
            score=float(score),
            how=c.how,  # pyright: ignore[reportArgumentType]
            start=c.start + shift,
            stop=c.stop + shift,
        )


def runs_of(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """(first, last) of each run of true flags."""
    ends = np.flatnonzero(np.diff(np.r_[False, np.asarray(flags, bool), False]))
    return [(int(a), int(b) - 1) for a, b in ends.reshape(-1, 2)]


def _settled(asked: Asked, found: list[Candidate]) -> np.ndarray:
    """True for tokens in a full match of two or more words that say something."""
    out = np.zeros(len(asked), bool)
    for c in found:
        words = asked.words[c.first : c.last + 1]
        beside = asked.words[max(c.first - 1, 0) : c.first]
        beside += asked.words[c.last + 1 : c.last + 2]
        # A name may be longer than what matches of it: "Martin Luther" in "martin
        # luther king".
        closed = all(word in PLAIN for word in beside)
        if closed and c.likeness >= 0.9 and sum(w not in PLAIN for w in words) >= 2:
            out[c.first : c.last + 1] = True
    return out
