"""Text to tokens: one normalisation for names and questions.

Each character is mapped independently of its context: NFKD, case folding, no accents,
and a space for anything but letters and digits. Scripts without spaces (Han, kana,
Hangul, Thai and similar) give one token per character. Then apostrophes and possessive
``'s`` are removed, and a token of four characters or more loses a plural ``s`` (not
after s, u or i). The tokens joined without spaces are a text's *key*: ``U.S.A.`` is
``USA`` and ``Spider-Man`` is ``spiderman``. A name in camelCase has the key
of its words, too: ``CharlesBabbage`` is also ``charlebabbage``. Keys generate
candidates; their similarity is scored afterwards.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64, UInt8, UInt64

APOSTROPHES = "'’‘ʼ`´＇"
SPACE, LINE, APOSTROPHE, S = 32, 10, 39, ord("s")
ALONE = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # kana
    (0x3400, 0x9FFF),  # Han
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, further planes
)
"""Characters that are a token each."""


class _Characters(dict[int, str]):
    """The normalised form of each character, computed on first use."""

    def __missing__(self, code: int) -> str:
        value = self[code] = _normalise_character(chr(code))
        return value


def _normalise_character(character: str) -> str:
    """The normalised form of one character: letters and digits, or a space."""
    if character == "\n":
        return "\n"
    if character in APOSTROPHES:
        return "'"
    if any(low <= ord(character) <= high for low, high in ALONE):
        comparison_form = unicodedata.normalize("NFKC", character)
        return f" {comparison_form} " if comparison_form.isalnum() else " "
    folded = unicodedata.normalize("NFKD", character).casefold()
    letters = "".join(
        c if c.isalnum() else "" if unicodedata.category(c)[0] == "M" else " "
        for c in unicodedata.normalize("NFKD", folded)
    )
    # A bare accent vanishes; a character of the unassigned or private kind separates.
    if letters or unicodedata.category(character)[0] == "M":
        return letters
    return " "


CHARACTERS = _Characters()


class _Cases(dict[int, str]):
    """Case per character of ``CHARACTERS``: U for a capital, l for a small letter.

    The end of a line stays.
    """

    def __missing__(self, code: int) -> str:
        c = chr(code)
        sign = "U" if c.isupper() or c.istitle() else "l" if c.islower() else "-"
        if code == LINE:
            sign = c
        value = self[code] = sign * len(CHARACTERS[code])
        return value


CASES = _Cases()


def comparison_form(text: str) -> str:
    """The normalised text, words separated by single spaces, without possessives.

    Unlike a key, it contains spaces and plurals.
    """
    words = text.replace("\n", " ").translate(CHARACTERS).split()
    bare = (word.removesuffix("'s").replace("'", "") for word in words)
    return " ".join(word for word in bare if word)


@dataclass(frozen=True)
class Tokens:
    """The tokens of one or many texts, as ranges of the characters ``codes``."""

    codes: UInt64[np.ndarray, "c"]
    """Code points of all tokens, one after the other."""
    starts: Int64[np.ndarray, "t"]
    """Start of each token in ``codes``."""
    stops: Int64[np.ndarray, "t"]
    texts: Int64[np.ndarray, "t"]
    """The text of each token, ascending."""
    places: Int64[np.ndarray, "c"]
    """Position of each character in the normalised text."""

    def __len__(self) -> int:
        return len(self.starts)


def join_lines(texts: Sequence[str]) -> str:
    """The texts, one a line."""
    whole = "\n".join(texts)
    if whole.count("\n") == len(texts) - 1:
        return whole
    return "\n".join(text.replace("\n", " ") for text in texts)


def tokenise(texts: Sequence[str]) -> Tokens:
    """The tokens of several texts."""
    return tokenise_normalised(join_lines(texts).translate(CHARACTERS))


def cases(texts: Sequence[str]) -> UInt8[np.ndarray, "p"]:
    """The case of each character of the normalised texts: U, l or - (neither).

    Ends of lines stay between the texts.
    """
    signs = join_lines(texts).translate(CASES).encode("ascii")
    return np.frombuffer(signs, np.uint8)


def camel_case_texts(signs: UInt8[np.ndarray, "p"]) -> Int64[np.ndarray, "k"]:
    """The texts with a capital behind a small letter, by number; signs: ``cases``."""
    lines = np.flatnonzero(signs == LINE)
    return np.unique(np.searchsorted(lines, _camel_case_borders(signs)))


def tokenise_camel_case(texts: Sequence[str]) -> Tokens:
    """The tokens of texts with spaces between small letters and capitals behind them.

    ``CharlesBabbage`` has the two tokens of Charles Babbage.
    """
    raw = join_lines(texts).translate(CHARACTERS).encode("utf-32-le", "surrogatepass")
    borders = _camel_case_borders(cases(texts))
    codes = np.insert(np.frombuffer(raw, np.uint32), borders, SPACE)
    return tokenise_normalised(codes.tobytes().decode("utf-32-le", "surrogatepass"))


def _camel_case_borders(signs: UInt8[np.ndarray, "p"]) -> Int64[np.ndarray, "k"]:
    """The places of capitals behind small letters."""
    return np.flatnonzero((signs[:-1] == ord("l")) & (signs[1:] == ord("U"))) + 1


def tokenise_normalised(mapped: str) -> Tokens:
    """The tokens of text mapped by ``CHARACTERS``; each line is a text."""
    raw = mapped.encode("utf-32-le", "surrogatepass")
    codes = np.frombuffer(raw, np.uint32)
    lines = codes == LINE
    separators = lines | (codes == SPACE)
    letters = ~separators & (codes != APOSTROPHE)
    letters &= ~_possessives(codes, separators)
    words = np.cumsum(separators)
    places = np.flatnonzero(letters)
    starts, stops = _runs(words[places])
    places = places[~_plurals(codes[places], starts, stops)]
    starts, stops = _runs(words[places])
    return Tokens(
        codes=codes[places].astype(np.uint64),
        starts=starts,
        stops=stops,
        texts=np.cumsum(lines)[places[starts]],
        places=places,
    )


def _possessives(
    codes: np.ndarray, separators: Bool[np.ndarray, "c"]
) -> Bool[np.ndarray, "c"]:
    """True at each ``s`` of a word's final ``'s``."""
    mask = np.zeros(len(codes), bool)
    ends = np.ones(len(codes), bool)
    ends[:-1] = separators[1:]
    mask[1:] = (codes[1:] == S) & (codes[:-1] == APOSTROPHE) & ends[1:]
    return mask


def _plurals(
    codes: np.ndarray, starts: np.ndarray, stops: np.ndarray
) -> Bool[np.ndarray, "c"]:
    """True at each plural ``s``."""
    mask = np.zeros(len(codes), bool)
    long = stops - starts > 3
    last = stops[long] - 1
    before = codes[last - 1]
    exempt = (before == S) | (before == ord("u")) | (before == ord("i"))
    mask[last] = (codes[last] == S) & ~exempt
    return mask


def _runs(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each run of equal values begins and stops."""
    edges = np.flatnonzero(words[1:] != words[:-1]) + 1
    if not len(words):
        return edges, edges
    return np.r_[0, edges], np.r_[edges, len(words)]
