"""A question taken apart: tokens with their place in the text, and their words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64, UInt64

from kgscout_jax.graph.link.normalise import CHARACTERS, Tokens, tokenise_mapped
from kgscout_jax.graph.link.token_hashes import Pieces

MAX_CHARACTERS = 8192
"""Of a longer question the beginning is read."""
MAX_TOKENS = 512


@dataclass(frozen=True)
class Asked:
    """One question. Token ``i`` is ``text[starts[i]:stops[i]]``."""

    text: str
    lower: str
    """The text in lower case, white space as spaces, character by character."""
    starts: list[int]
    stops: list[int]
    words: list[str]
    """Each token normalised but for its plural."""
    tokens: Tokens
    pieces: Pieces
    hashes: UInt64[np.ndarray, "t"]

    def __len__(self) -> int:
        return len(self.words)

    def spans(
        self, longest: int
    ) -> tuple[Int64[np.ndarray, "k"], Int64[np.ndarray, "k"]]:
        """First and last token of every span of up to ``longest`` tokens."""
        n = len(self)
        first = np.repeat(np.arange(n), np.minimum(longest, n - np.arange(n)))
        begin = np.searchsorted(first, np.arange(n))
        return first, first + np.arange(len(first)) - begin[first]

    def keys(
        self, first: Int64[np.ndarray, "k"], last: Int64[np.ndarray, "k"]
    ) -> UInt64[np.ndarray, "k"]:
        """The hash of the key of each span of tokens."""
        return self.pieces.hashes(self.tokens.starts[first], self.tokens.stops[last])


def ask(text: str) -> Asked:
    """A question, taken apart."""
    text = text[:MAX_CHARACTERS]
    mapped = [CHARACTERS[ord(c)] if c != "\n" else " " for c in text]
    lengths = np.fromiter(map(len, mapped), np.int64, len(mapped))
    origin = np.repeat(np.arange(len(mapped)), lengths)
    tokens = tokenise_mapped("".join(mapped))
    if len(tokens) > MAX_TOKENS:
        end = tokens.stops[MAX_TOKENS - 1]
        tokens = Tokens(
            codes=tokens.codes[:end],
            starts=tokens.starts[:MAX_TOKENS],
            stops=tokens.stops[:MAX_TOKENS],
            texts=tokens.texts[:MAX_TOKENS],
            places=tokens.places[:end],
        )
    starts = origin[tokens.places[tokens.starts]].tolist()
    stops = (origin[tokens.places[tokens.stops - 1]] + 1).tolist()
    words = []
    lower = "".join(
        low
        if len(low := c.lower()) == 1 and not c.isspace()
        else " "
        if c.isspace()
        else c
        for c in text
    )
    for i, (begin, end) in enumerate(
        zip(tokens.starts.tolist(), tokens.stops.tolist(), strict=True)
    ):
        word = "".join(map(chr, tokens.codes[begin:end].tolist()))
        # A plural belongs to its word, though it is not compared.
        at = stops[i]
        if lower[at : at + 1] == "s" and not lower[at + 1 : at + 2].isalnum():
            stops[i], word = at + 1, word + "s"
        words.append(word)
    pieces = Pieces(tokens.codes)
    hashes = pieces.hashes(tokens.starts, tokens.stops)
    return Asked(text, lower, starts, stops, words, tokens, pieces, hashes)
