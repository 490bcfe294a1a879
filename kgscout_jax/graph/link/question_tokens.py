"""The tokens of a question with their positions in its text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64, UInt64

from kgscout_jax.graph.link.normalise import CHARACTERS, Tokens, tokenise_normalised
from kgscout_jax.graph.link.token_hashes import SubstringHashes

MAX_CHARACTERS = 8192
"""The rest of a longer question is ignored."""
MAX_TOKENS = 512
"""Further tokens are ignored."""


@dataclass(frozen=True)
class QuestionTokens:
    """The tokens of a question; token ``i`` is ``text[starts[i]:stops[i]]``."""

    text: str
    lower: str
    """The text in lower case, white space as spaces, character by character."""
    starts: list[int]
    stops: list[int]
    words: list[str]
    """Each token normalised, its plural s included."""
    tokens: Tokens
    substrings: SubstringHashes
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
        return self.substrings.hashes(
            self.tokens.starts[first], self.tokens.stops[last]
        )


def tokenise_question(text: str) -> QuestionTokens:
    """The tokens of a question."""
    text = text[:MAX_CHARACTERS]
    forms = [CHARACTERS[ord(c)] if c != "\n" else " " for c in text]
    lengths = np.fromiter(map(len, forms), np.int64, len(forms))
    origin = np.repeat(np.arange(len(forms)), lengths)
    tokens = tokenise_normalised("".join(forms))
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
    lower = "".join(" " if c.isspace() else _lower(c) for c in text)
    words = []
    for i, (begin, end) in enumerate(
        zip(tokens.starts.tolist(), tokens.stops.tolist(), strict=True)
    ):
        word = "".join(map(chr, tokens.codes[begin:end].tolist()))
        # The span includes a plural s, which is not compared.
        at = stops[i]
        if lower[at : at + 1] == "s" and not lower[at + 1 : at + 2].isalnum():
            stops[i], word = at + 1, word + "s"
        words.append(word)
    substrings = SubstringHashes(tokens.codes)
    hashes = substrings.hashes(tokens.starts, tokens.stops)
    return QuestionTokens(text, lower, starts, stops, words, tokens, substrings, hashes)


def _lower(character: str) -> str:
    """The character in lower case, if that is one character."""
    lower = character.lower()
    return lower if len(lower) == 1 else character
