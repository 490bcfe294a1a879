"""Days that databases write as times at midnight."""

from __future__ import annotations

import re

_MIDNIGHT = re.compile(
    r"(\d{4}[-/]\d\d[-/]\d\d)[T ]00:00(?::00(?:\.0+)?)?(?: ?(?:Z|UTC|[+-]00(?::?00)?))?"
    r"|(\d{1,2}[./]\d{1,2}[./]\d{4}) (?:0?0:00:00|12:00:00 AM)"
)


def day_cell(text: str) -> str:
    """The day of a time at midnight; any other text as it is.

    >>> day_cell("1996-07-04 00:00:00.000"), day_cell("1985-07-02T00:00:00Z")
    ('1996-07-04', '1985-07-02')
    >>> day_cell("1996-07-04 12:30:00")
    '1996-07-04 12:30:00'
    >>> day_cell("9/5/2022 0:00:00")
    '9/5/2022'
    """
    match = _MIDNIGHT.fullmatch(text)
    return text if match is None else match[1] or match[2]
