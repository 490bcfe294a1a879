"""Frames: sentences with slots, and which of them each split may use.

``frames.json`` holds them by category. Words before a bar are conditions: ``person|``
stands for a frame whose answer is a person. Of each category some frames belong to dev
and some to test alone, so that their wordings do not occur in training.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Frame:
    """One sentence with slots."""

    id: str
    """Category and number."""
    text: str
    conditions: frozenset[str]
    slots: frozenset[str]
    split: str
    """The split whose questions may use it."""


@cache
def frames(category: str, split: str) -> tuple[Frame, ...]:
    """The frames of a category that a split may use."""
    every = all_frames().get(category, ())
    return tuple(frame for frame in every if frame.split == split)


@cache
def all_frames() -> dict[str, tuple[Frame, ...]]:
    """All frames by category."""
    text = Path(__file__).with_name("frames.json").read_text("utf-8")
    return {
        category: tuple(_category(category, lines))
        for category, lines in json.loads(text).items()
    }


def _category(category: str, lines: list[str]) -> list[Frame]:
    """The frames of one category.

    Of three or more frames under the same conditions, dev and test have one each; of
    eight or more, two.
    """
    splits = dict.fromkeys(lines, "train")
    groups: dict[str, list[str]] = {}
    for line in lines:
        groups.setdefault(line.rpartition("|")[0], []).append(line)
    for group in groups.values():
        third = len(group) // 3
        for i in range(2 if len(group) >= 8 else 1 if third else 0):
            splits[group[third + i]] = "dev"
            splits[group[2 * third + i]] = "test"
    return [
        _frame(f"{category}.{i}", line, splits[line]) for i, line in enumerate(lines)
    ]


def _frame(name: str, line: str, split: str) -> Frame:
    conditions, bar, text = line.rpartition("|")
    needed = frozenset(conditions.split(",")) if bar else frozenset()
    slots = frozenset(part.split("}")[0] for part in text.split("{")[1:])
    return Frame(name, text.strip(), needed, slots, split)
