"""Literals as numbers: plain numbers, years, dates as people write them, quantities."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

_NUMBER = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?([eE][+-]?\d{1,3})?")
_DOTTED = re.compile(r"[+-]?\d{1,3}(\.\d{3}){2,}")
"""Dots between thousands: no number has two decimal points."""
_COMMA = re.compile(
    r"[+-]?(?:(?:\d+|\d{1,3}(?:\.\d{3})+),(?:\d{1,2}|\d{4,})"
    r"|(?:\d{4,}|\d{1,3}(?:\.\d{3})+),\d{3})"
)
"""A decimal comma, as in 3105,5 and 1.234,50: no thousands stand behind it."""
_DATE = re.compile(
    r"([+-]?\d{4})-(\d\d)(?:-(\d\d))?"
    r"(?:(?:T[\d:.]*| \d\d?:[\d:.]*)\d(?:Z|[+-][\d:]*\d)?)?Z?"
)
_POINT_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_SLASH_DATE = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
"""Day and month in either order, see ``has_day_first``."""
_YEAR_FIRST = re.compile(r"(\d{4})/(\d\d?)/(\d\d?)")
_MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec"
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
WRITTEN_DATE = (
    rf"(?:{_DAY} (?:of )?)?"
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
    rf"(?: {_DAY})?,? (\d{{4}})"
)
"""A pattern for "May 1921", "12 August 1899" and "July 4, 1950"."""
_WRITTEN_DATE = re.compile(WRITTEN_DATE, re.IGNORECASE)
CURRENCIES = "$€£¥"
"""Signs that stand before an amount."""
_SCALES = {"thousand": 3, "million": 6, "billion": 9, "bn": 9, "trillion": 12}
_MONEY_SCALES = {
    "k": 3, "m": 6, "mn": 6, "mio": 6, "mln": 6, "b": 9, "bn": 9, "mrd": 9, "md": 9,
}  # fmt: skip
"""Only of $5M and its like: 5 k and 20 M may be kelvin and metres."""
SCALE = "|".join(_SCALES)
"""A pattern for words behind a number, powers of ten that it is multiplied by."""
_WITH_UNIT = re.compile(
    rf"(?P<before>[{CURRENCIES}]?)(?P<number>[+-]?\d[\d,]*(?:\.\d+)*(?:,\d+)?)"
    rf"(?: ?(?P<scale>{SCALE})\b)?"
    r" ?(?P<after>[ck]?m[23]|"
    r"[^\W\d_]{1,12}(?:[ /][^\W\d_]{1,12})?[²³]?|[%°€$£]|°[cf]|)",
    re.IGNORECASE,
)
_MONEY = re.compile(
    rf"(?P<before>[{CURRENCIES}])? ?(?P<number>\d[\d.,]*)"
    rf" ?(?P<scale>{'|'.join(_MONEY_SCALES)})\.?"
    rf" ?(?P<after>(?(before)|(?:[{CURRENCIES}]|eur|usd|gbp|chf)))",
    re.IGNORECASE,
)
"""An amount of money with a suffix: $5M, 900 k€, 1,2 Mio. EUR."""
_SCALED = re.compile(rf"\d ?(?:{SCALE})\b", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):([0-5]\d(?:\.\d+)?)")
_HOUR, _MINUTE = r"(\d+) ?h(?:(?:ou)?rs?)?", r"(\d+) ?m(?:in(?:ute)?s?)?"
_SECOND = r"(\d+) ?s(?:ec(?:ond)?s?)?"
_HOURS = re.compile(rf"(?:{_HOUR})?,? ?(?:{_MINUTE})?,? ?(?:{_SECOND})?", re.IGNORECASE)
_SHORT_MONEY = rf"[{CURRENCIES}]\d+(?:\.\d+)?(?:{'|'.join(_MONEY_SCALES)})"
_IN_TEXT = re.compile(
    r"(?<![\w.,/:−-])(?:"
    rf"{WRITTEN_DATE}|{_DATE.pattern}|{_YEAR_FIRST.pattern}|{_POINT_DATE.pattern}"
    rf"|{_SLASH_DATE.pattern}|\d{{1,3}}:[0-5]\d:[0-5]\d(?:\.\d+)?"
    rf"|{_HOUR},? ?{_MINUTE}(?:,? ?{_SECOND})?|(?:{_HOUR}|{_MINUTE}),? ?{_SECOND}"
    rf"|{_SHORT_MONEY}|[{CURRENCIES}]?"
    rf"−?(?:{_DOTTED.pattern}|{_COMMA.pattern}|{_NUMBER.pattern})"
    rf"(?:\s?(?:{SCALE})\b|\s?%)?)(?!\w|[.,:/-]\d|-\w)",
    re.IGNORECASE,
)
_SPACES = re.compile(
    rf"-?[{CURRENCIES}]?\s?(?!\d{{3}}(?:\s\d{{3}}){{2}}$)[1-9]\d{{0,2}}(?:\s\d{{3}})+"
    r"(?![\d/:-]|\s\d)"
)
"""Spaces between thousands."""
_TO_SPACE = dict.fromkeys(map(ord, "\u00a0\u2009\u202f"), " ")
"""Spaces that do not break, and thin ones."""
_DECADE = re.compile(r"\d{3}0s")
_IDENTIFIER = re.compile(r"0\d+")
_DIGIT = re.compile(r"\d")
DAYS = 372
"""Days of a year whose months all have 31."""


def is_number(name: str) -> bool:
    """Whether a name is a plain number, such as 7.5, 1,200 or 3105,5."""
    if has_decimal_comma(name):
        return True
    return _NUMBER.fullmatch(name) is not None and _IDENTIFIER.fullmatch(name) is None


def has_decimal_comma(name: str) -> bool:
    """Whether a name is a number whose comma can only be a decimal one.

    >>> has_decimal_comma("21,50"), has_decimal_comma("21,500")
    (True, False)
    """
    return "," in name and _COMMA.fullmatch(name) is not None


def is_date(name: str) -> bool:
    """Whether a name is a date of a day or a month, such as 1990-07 or 4 July 1950."""
    return date_parts(name) is not None


def is_time(name: str) -> bool:
    """Whether a name is a date or a time of the day, such as 8:45."""
    return _CLOCK.fullmatch(name) is not None or is_date(name)


def is_year(name: str) -> bool:
    """Whether a name is a number that can be a year of the common era."""
    return re.fullmatch(r"[12]\d{3}", name) is not None and int(name) <= 2100


def has_day_first(name: str) -> bool:
    """Whether a date with slashes cannot begin with the month.

    >>> has_day_first("22/5/2008"), has_day_first("5/2/2008"), has_day_first("May 1921")
    (True, False, False)
    """
    found = _SLASH_DATE.fullmatch(name.strip())
    return found is not None and int(found[1]) > 12


def has_dots(name: str) -> bool:
    """Whether a name is a date with dots, which begins with the day.

    >>> has_dots("5.2.2008"), has_dots("5/2/2008")
    (True, False)
    """
    return _POINT_DATE.fullmatch(name.strip()) is not None


def is_day_or_month(name: str) -> bool:
    """Whether the day and the month of a date may stand either way round.

    >>> is_day_or_month("3/4/1999"), is_day_or_month("3/3/1999")
    (True, False)
    """
    found = _SLASH_DATE.fullmatch(name) or _POINT_DATE.fullmatch(name)
    if found is None:
        return False
    one, two = int(found[1]), int(found[2])
    return one != two and one <= 12 and two <= 12


def date_parts(name: str) -> tuple[int, ...] | None:
    """(year, month) or (year, month, day); None for any other name.

    >>> date_parts("4 July 1950"), date_parts("1950-07"), date_parts("1950")
    ((1950, 7, 4), (1950, 7), None)
    """
    if (found := _DATE.fullmatch(name)) is not None:
        parts = [found[1], found[2], found[3]]
    elif (found := _POINT_DATE.fullmatch(name)) is not None:
        day, month = (2, 1) if int(found[2]) > 12 else (1, 2)
        parts = [found[3], found[month], found[day]]
    elif (found := _YEAR_FIRST.fullmatch(name)) is not None:
        parts = [found[1], found[2], found[3]]
    elif (found := _SLASH_DATE.fullmatch(name)) is not None:
        first, second = (1, 2) if has_day_first(name) else (2, 1)
        parts = [found[3], found[second], found[first]]
    elif (found := _WRITTEN_DATE.fullmatch(name)) is not None:
        if found[1] and found[3]:
            return None
        month = 1 + _MONTHS.index(found[2][:3].casefold()) // 3
        parts = [found[4], month, found[1] or found[3]]
    else:
        return None
    date = tuple(int(part) for part in parts if part is not None)
    if not (1 <= date[1] <= 12 and all(1 <= day <= 31 for day in date[2:])):
        return None
    return date


def value_of(name: str) -> float:
    """A literal as a number, a date in years; nan for any other name.

    >>> value_of("1,200"), value_of("1990-07-01"), value_of("July 1990")
    (1200.0, 1990.5, 1990.5)
    >>> value_of("1.512.000"), value_of("3105,5"), value_of("Bern")
    (1512000.0, 3105.5, nan)
    """
    if _DIGIT.search(name) is None:
        return math.nan
    if has_decimal_comma(name):
        return float(name.replace(".", "").replace(",", "."))
    if is_number(name):
        return float(name.replace(",", ""))
    if _DOTTED.fullmatch(name):
        return float(name.replace(".", ""))
    if (date := date_parts(name)) is None:
        return math.nan
    year, month, day = (*date, 1)[:3]
    return year + (month - 1) / 12 + (day - 1) / DAYS


def clock_seconds(name: str) -> float | None:
    """The seconds of a duration in minutes and seconds, or hours too; None for others.

    >>> clock_seconds("3:45"), clock_seconds("1:02:00"), clock_seconds("1h 45min")
    (225.0, 3720.0, 6300.0)
    >>> clock_seconds("45 min")
    """
    found = _CLOCK.fullmatch(name)
    if found is None:  # "45 min" has a unit, as "45 km" has
        found = _HOURS.fullmatch(name)
        if found is None or sum(part is not None for part in found.groups()) < 2:
            return None
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return 3600 * hours + 60 * minutes + seconds


def clock_text(seconds: float) -> str:
    """A duration in minutes and seconds, with hours where it has some.

    >>> clock_text(225), clock_text(3720)
    ('3:45', '1:02:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def with_joined_groups(name: str) -> str:
    """A quantity without the spaces between its groups of three digits.

    Three groups of three, and a first digit 0, are more often a telephone number.

    >>> with_joined_groups("129 100 km"), with_joined_groups("1 234,50 €")
    ('129100 km', '1234,50 €')
    >>> with_joined_groups("612 345 678"), with_joined_groups("040 555 099")
    ('612 345 678', '040 555 099')
    """
    name = name.translate(_TO_SPACE)
    found = _SPACES.match(name)
    if found is None:
        return name
    return "".join(found[0].split()) + name[found.end() :]


class Quantity(NamedTuple):
    """A value with its unit; quantities of one unit are comparable."""

    value: float
    unit: str = ""
    """Casefolded; empty for plain numbers and dates."""


@lru_cache(maxsize=1 << 15)
def quantity_of(name: str) -> Quantity | None:
    """A literal as people write it, with its unit; None for any other name.

    >>> quantity_of("8,848 m"), quantity_of("$35"), quantity_of("Bern")
    (Quantity(value=8848.0, unit='m'), Quantity(value=35.0, unit='$'), None)
    >>> quantity_of("3.6 million people"), quantity_of("$5M")
    (Quantity(value=3600000.0, unit='people'), Quantity(value=5000000.0, unit='$'))
    >>> quantity_of("3:45"), quantity_of("129 100 km")
    (Quantity(value=225.0, unit='s'), Quantity(value=129100.0, unit='km'))
    """
    name = with_joined_groups(name.strip().replace("−", "-"))
    if _DIGIT.search(name) is None or _DECADE.fullmatch(name):
        return None
    if (seconds := clock_seconds(name)) is not None:
        return Quantity(seconds, "s")
    if not math.isnan(value := value_of(name)):
        return Quantity(value)
    money = _MONEY.fullmatch(name)
    found = money or _WITH_UNIT.fullmatch(name)
    if found is None or math.isnan(value := value_of(found["number"])):
        return None
    before, unit = found["before"] or "", found["after"].casefold()
    scales = _MONEY_SCALES if money else _SCALES
    power = scales[found["scale"].casefold()] if found["scale"] else 0
    if power:  # in decimals, as 1.1 * 10**9 is rounded twice
        value = float(Decimal(str(value)).scaleb(power))
    return Quantity(value, before + unit)


def value_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where numbers, dates and durations stand in a text, units apart from $ and %.

    >>> list(value_spans("$5M in May 1921."))
    [(0, 3), (7, 15)]
    """
    return (match.span() for match in _IN_TEXT.finditer(text))


def has_scale(name: str) -> bool:
    """Whether the number of a quantity is multiplied: 3.6 million, $5M.

    >>> has_scale("3.6 million"), has_scale("$5M"), has_scale("5 M")
    (True, True, False)
    """
    name = name.strip()
    return _SCALED.search(name) is not None or _MONEY.fullmatch(name) is not None


def precision(name: str) -> int:
    """How exact a date is: its number of parts; 0 for a number, 1 for other names.

    Values of different precision are not comparable: 1979 and 1979-05-25.
    """
    return 0 if is_number(name) else len(date_parts(name) or (1,))
