"""Commands that a page shows: do they exist, and all of their flags?"""

from __future__ import annotations

import functools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence

from tools.docs_pages import Block

HelpOf = Callable[[tuple[str, ...]], frozenset[str] | None]
"""A command -> its flags; None: there is no such command."""

OPERATORS = frozenset(";&|()<>")
SOURCES = ("inspect", "graph")
"""Words behind ``python -m data_prep`` that are commands of their own."""
ALWAYS = frozenset({"--help", "--version"})
_COMMAND = re.compile(r"-*[a-z]|$")
"""What follows ``kgscout`` in a command; not so in the rows of a table."""
_OPTION = re.compile(r"^[│|]\s?(-[^ ].*)")
_FLAG = re.compile(r"(?<![\w-])--[a-z][\w-]*")


def commands_in(code: str) -> Iterator[tuple[int, list[str]]]:
    """(line, words) of each command of this project in shell code, lines from 0.

    Words begin with what follows ``kgscout``: python train.py becomes train.
    """
    lines = code.split("\n")
    number = 0
    while number < len(lines):
        start, text = number, lines[number]
        number += 1
        while text.endswith("\\") and number < len(lines):
            text = text[:-1] + lines[number]
            number += 1
        words = _words(text)
        while words is None and number < len(lines):  # a quote that is still open
            text += "\n" + lines[number]
            number += 1
            words = _words(text)
        yield from ((start, found) for found in _found(words or []))


def _words(text: str) -> list[str] | None:
    """The words and operators of a line; None where a quote is not closed."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:
        return None


def _found(words: Sequence[str]) -> Iterator[list[str]]:
    simple: list[list[str]] = [[]]
    for word in words:
        if word and OPERATORS.issuperset(word):
            simple.append([])
        else:
            simple[-1].append(word)
    for each in simple:
        for i, word in enumerate(each):
            name, rest = word.rpartition("/")[2], each[i + 1 :]
            if name == "kgscout" and _COMMAND.match(" ".join(rest[:1])):
                yield rest
            elif name in ("train.py", "eval.py"):
                yield [name.removesuffix(".py"), *rest]
            elif name == "data_prep" and i and each[i - 1] == "-m":
                yield rest if rest[:1] and rest[0] in SOURCES else ["prep", *rest]
            elif " " in word:  # a command for another shell
                yield from _found(_words(word) or [])
                continue
            else:
                continue
            break


def problems_of(block: Block, help_of: HelpOf) -> tuple[int, list[str]]:
    """How many commands the block has, and a line for each mistake in them."""
    told, count = [], 0
    for line, words in commands_in(block.code):
        count += 1
        where = f"{block.page}:{block.line + line}"
        if not words or words[0].startswith("-"):
            command, rest = (), words
        else:
            size = 2 if words[0] == "eval" else 1
            command, rest = tuple(words[:size]), words[size:]
        known = help_of(command)
        if known is None:
            told.append(f"{where}: no command kgscout {' '.join(command)}")
            continue
        for word in rest:
            flag = word.partition("=")[0]
            if _FLAG.fullmatch(flag) and flag not in known | ALWAYS:
                told.append(f"{where}: kgscout {' '.join(command)} has no {flag}")
    return count, told


@functools.cache
def help_of(command: tuple[str, ...]) -> frozenset[str] | None:
    """The flags that a command's own ``--help`` lists."""
    start = "import sys; from kgscout_jax.cli.main import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", start, *command, "--help"],
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200", "NO_COLOR": "1", "PYTHONUTF8": "1"},
        check=False,
    )
    return flags_in(done.stdout) if done.returncode == 0 else None


def flags_in(text: str) -> frozenset[str]:
    """The flags in the boxes of a help text; not those that descriptions mention."""
    flags: set[str] = set()
    for line in text.splitlines():
        if option := _OPTION.match(line):
            flags |= set(_FLAG.findall(option[1].split("   ")[0]))
    return frozenset(flags)
