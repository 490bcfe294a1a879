"""What is wrong with a request, in one line: the field, what it is, what it should be.

The line quotes little of the request, which may be large.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

EXPECTED = {
    "missing": "a value",
    "int_type": "an integer",
    "int_from_float": "an integer",
    "finite_number": "a finite number",
    "float_type": "a number",
    "int_parsing": "an integer",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "string_type": "a string",
    "string_unicode": "valid text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "literal_error": "{expected}",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "a number below {lt}",
    "less_than_equal": "at most {le}",
    "string_too_long": "at most {max_length} characters",
    "too_long": "at most {max_length}",
    "extra_forbidden": "no such field",
}
"""pydantic's type of an error -> what is expected, with values of its context."""
SHOWN = 40
"""Characters of a value."""


def first_problem(errors: Any) -> str:
    """The first of pydantic's errors in one line."""
    for error in errors:
        if error["type"] == "json_invalid":
            return f"body: not valid JSON at character {error['loc'][-1]}"
        where = [str(part) for part in error["loc"] if part not in ("body", "query")]
        place = ".".join(part[:40] for part in where[:3]) or "body"
        if (expected := EXPECTED.get(error["type"])) is None:
            return f"{place}: {error['msg']}"[:300]
        expected = expected.format_map(error.get("ctx", {}))
        return f"{place}: found {_found(error)}, expected {expected}"[:300]
    return "body: not understood"


def body_problem(error: BaseException | None) -> str:
    """Why a body could not be parsed."""
    if isinstance(error, UnicodeDecodeError):
        return f"body: not UTF-8 at byte {error.start}, expected JSON in UTF-8"
    if isinstance(error, RecursionError):
        return "body: nested too deeply, expected a JSON object"
    if isinstance(error, ValueError):
        return "body: holds a number of too many digits, expected a JSON object"
    return "body: cannot be parsed, expected a JSON object"


def _found(error: Mapping[str, Any]) -> str:
    """What a value is, shortened."""
    kind, value = error["type"], error.get("input")
    if kind == "missing" or (value is None and error["loc"] == ("body",)):
        return "nothing"
    if kind == "too_long":
        return str(error["ctx"].get("actual_length") or "more")
    if kind == "string_too_long":
        return f"{len(value)}" if isinstance(value, str) else "more"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    text = repr(value[: SHOWN + 1]) if isinstance(value, str) else _scalar(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _scalar(value: object) -> str:
    """A number, true, false or null as in JSON."""
    if isinstance(value, bool | float) or value is None:
        return json.dumps(value)
    if isinstance(value, int) and value.bit_length() > 200:  # slow to write out
        return "a very large number"
    return str(value)
