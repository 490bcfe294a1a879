"""The words of a command line before they are parsed: --kg and misspellings."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path


def with_kg_lists(args: Sequence[str], fields: Iterable[str]) -> list[str]:
    """The arguments with one ``--kg``, which has the values of all, behind the rest.

    ``--kg A B --kg C`` is ``--kg A B C``. Its list ends before an exported policy, and,
    where a question or a statement may follow, before the first word that is no file or
    folder: ``kgscout ask --kg A B "Who?"``.
    """
    has_question = not {"question", "statement"}.isdisjoint(fields)

    def ends(word: str) -> bool:
        is_file = word != "" and exists(word)  # "" is the current folder
        return is_policy(word) or (has_question and not is_file)

    return with_list(args, "--kg", ends)


def with_named_graphs(args: Sequence[str]) -> list[str]:
    """The same for ``--graphs``, whose list ends before a word that is no NAME=PATH."""
    return with_list(args, "--graphs", lambda word: "=" not in word)


def with_list(args: Sequence[str], flag: str, ends: Callable[[str], bool]) -> list[str]:
    """The arguments with one ``flag``, which has the values of all, behind the rest.

    ``ends`` says of a word behind the first value whether it is none.
    """
    rest: list[str] = []
    values: list[str] = []
    place = None  # in the list of the current flag; None outside
    for word in args:
        if word == flag or word.startswith(f"{flag}="):
            _, equals, value = word.partition("=")
            values += [value] if equals else []
            place = 1 if equals else 0
        elif word.startswith("-") or place is None:
            place = None
            rest.append(word)
        elif place and ends(word):
            rest.append(word)
        else:
            values.append(word)
            place += 1
    return [*rest, flag, *values] if values or flag in args else rest


def is_policy(word: str) -> bool:
    """Whether the word names an exported policy rather than a graph."""
    from kgscout_jax.export.bundled import NAME

    return word == NAME or exists(word, "config.json")


def exists(*parts: str) -> bool:
    """Whether there is such a file or folder; False for what cannot be a name."""
    try:
        return Path(*parts).exists()
    except (OSError, ValueError):
        return False


def similar(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'train'?`` where a known word is similar, else nothing."""
    found = difflib.get_close_matches(word, list(known), n=1, cutoff=0.65)
    return f"; did you mean {found[0]}?" if found else ""


def similar_flags(args: Sequence[str], settings: type) -> str:
    """What the flags that the settings do not have may be meant as."""
    fields = [
        f for f in dataclasses.fields(settings) if "Positional" not in str(f.type)
    ]
    known = [f"--{field.name.replace('_', '-')}" for field in fields]
    known += [f"--no-{flag[2:]}" for flag in known] + ["--help", "--forms"]
    flags = [word.partition("=")[0] for word in args if word.startswith("--")]
    return "".join(similar(each, known) for each in flags if each not in known)
