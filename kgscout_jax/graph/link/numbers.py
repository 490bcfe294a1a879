"""The numbers of a mention and those of a name: 1999 is no misspelt 1995."""

from __future__ import annotations

import re
from collections.abc import Sequence

YEAR_DIGITS = 4


def has_digit(word: str) -> bool:
    """Whether a word has a digit.

    >>> has_digit("1995"), has_digit("urllib3"), has_digit("heat")
    (True, True, False)
    """
    return any(map(str.isdigit, word))


def numbers_agree(
    words: Sequence[str], first: int, last: int, name: Sequence[str]
) -> bool:
    """Whether a name has the numbers of a mention, neighbour by neighbour.

    Numbers right beside those of the mention belong to it: "2023 9999" of
    "CVE-2023-9999" is not in ``CVE-2023-32681``. So does a number behind its words,
    where the name has one: "iphone" of "iphone 15" is no part of ``iPhone 14``. Without
    its year, a number is no part of a date.

    Args:
        words: of the question, in lower case.
        first: place of the mention's first word.
        last: place of its last word.
        name: words of the name, in lower case.

    >>> date = ["1979", "05", "25"]
    >>> numbers_agree(["in", "1979"], 1, 1, date)
    True
    >>> numbers_agree(["1979", "05", "26"], 0, 1, date)
    False
    >>> numbers_agree(["25", "films"], 0, 0, date)
    False
    """
    while first > 0 and has_digit(words[first]) and has_digit(words[first - 1]):
        first -= 1
    own = any(map(has_digit, words[first : last + 1]))
    while last + 1 < len(words) and has_digit(words[last + 1]):
        last += 1
    mention = words[first : last + 1]
    asked, held = _digits(mention), _digits(name)
    if not asked or not (held or own):
        return True
    # A date may begin with its day.
    if not (_has_run(held, asked) or _has_run(held[::-1], asked)):
        return False
    only_numbers = all(map(has_digit, [*mention, *name]))
    whole = len(asked) == len(held)
    return whole or not only_numbers or any(len(n) == YEAR_DIGITS for n in asked)


def _digits(words: Sequence[str]) -> list[str]:
    """The numbers in words as they are compared: 05 is 5, the 1980s are 1980."""
    return [n.lstrip("0") or "0" for n in re.findall(r"\d+", " ".join(words))]


def _has_run(held: Sequence[str], asked: Sequence[str]) -> bool:
    """Whether ``asked`` stand one behind the other among ``held``."""
    n = len(asked)
    return any(list(held[i : i + n]) == list(asked) for i in range(len(held) - n + 1))
