"""The values of a command line, compared with the types of the settings."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Iterator, Sequence

from kgscout_jax.cli.arguments import similar
from kgscout_jax.errors import UserError

_PATH = re.compile(r"\bPath\b|\bGraphPaths\b")
"""In the type of a setting that is a path, or several."""
_SEVERAL = re.compile(r"\btuple\b|Paths\b|Graphs\b")
_KINDS: dict[type, str] = {int: "an integer", float: "a number"}


def check_no_empty_path(args: Sequence[str], settings: type) -> None:
    """Raises UserError for a path that is '', which Python takes for this folder."""
    for name, field, word in setting_words(args, settings):
        is_path = field.name == "kg" or _PATH.search(str(field.type))
        if word == "" and is_path:
            raise UserError(f"{name}: found '', expected a file or folder")


def check_values(args: Sequence[str], settings: type) -> None:
    """Raises UserError for a word that is no number, or none of a setting's choices."""
    hints = typing.get_type_hints(settings)
    for name, field, word in setting_words(args, settings):
        if not name.startswith("--"):
            continue
        kinds = list(_alternatives(hints[field.name]))
        choices = [
            str(choice)
            for kind in kinds
            if typing.get_origin(kind) is typing.Literal
            for choice in typing.get_args(kind)
        ]
        numbers = [kind for kind in kinds if kind in _KINDS]
        if len(numbers) + bool(choices) != len(kinds) or word in choices:
            continue
        if not any(_is(word, kind) for kind in numbers):
            expected = " or ".join(_KINDS[kind] for kind in numbers)
            if choices:
                expected = " or ".join(filter(None, [", ".join(choices), expected]))
                expected = f"one of {expected}" if len(choices) > 1 else expected
            raise UserError(
                f"{name}: found {word!r}, expected {expected}{similar(word, choices)}"
            )


def setting_words(
    args: Sequence[str], settings: type
) -> Iterator[tuple[str, dataclasses.Field[object], str]]:
    """The name of a flag or a positional argument, its field, and a word of its value.

    Flags that the settings do not have are passed over.
    """
    fields = dataclasses.fields(settings)
    flags = {
        f"--{f.name.replace('_', '-')}": f
        for f in fields
        if "Positional" not in str(f.type)
    }
    places = [f for f in fields if f not in flags.values()]
    name, field = "", None  # of the flag that the next word belongs to
    for word in args:
        if word.startswith("--"):
            name, equals, word = word.partition("=")
            field = flags.get(name.replace("_", "-"))
            if field is None or not equals:
                continue
        elif field is None or str(field.type) == "bool":
            if not places:
                continue
            field = places[0]
            name = field.name.upper()
            if not _SEVERAL.search(str(field.type)):
                places = places[1:]
        yield name, field, word
        if not _SEVERAL.search(str(field.type)):
            field = None


def _alternatives(kind: object) -> Iterator[object]:
    """The types that a word of a setting may have, without None."""
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType, tuple):
        for part in parts:
            if part not in (type(None), Ellipsis):
                yield from _alternatives(part)
    else:
        yield kind


def _is(word: str, kind: object) -> bool:
    """Whether a word is a number of this type."""
    try:
        int(word) if kind is int else float(word)
    except ValueError:
        return False
    return True
