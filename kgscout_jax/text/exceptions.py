"""Words before what a question leaves out: "who else besides Ada", "other than C".

A walk from what is left out finds what is near it, which is not asked for. The rules
are for English.
"""

from __future__ import annotations

import re

_WORDS = (
    r"\b(?:besides|except(?:\s+for)?|excepting|excluding|aside\s+from|apart\s+from|"
    r"other\s+than|different\s+from|in\s+addition\s+to)\b"
)
_EXCEPTION = re.compile(_WORDS, re.IGNORECASE)
_BEFORE = re.compile(rf"{_WORDS}\W*(?:(?:the|an?)\s+)?\W*$", re.IGNORECASE)


def has_exception(question: str) -> bool:
    """Whether a question leaves something out."""
    return _EXCEPTION.search(question) is not None


def exception_start(text: str) -> int | None:
    """Where the words begin that leave out what follows a text; None without such.

    >>> exception_start("Besides "), exception_start("Who other than the ")
    (0, 4)
    >>> exception_start("Besides Ada, who works at ")
    """
    found = _BEFORE.search(text)
    return None if found is None else found.start()
