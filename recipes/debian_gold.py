"""Right answers about Debian's packages, from the package index itself.

Shares no code with ``debian_graph.py`` but the words for sections and languages: fields
are read as mail headers are, and followed package by package. A query has

- ``start`` and ``follow``: a package and the fields to follow from it, or
- ``where``: fields and the values that packages of the graph have in them all;
- ``count``: the number of these; ``holds``: whether this is one of them;
  ``largest``: the one with the largest number in this field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from email.message import Message
from email.parser import HeaderParser
from typing import Any

from debian_graph import LANGUAGES, SECTIONS

LISTS = ("Depends", "Recommends", "Suggests", "Provides")
FIRST_OF_EACH = re.compile(r"(?:^|,)\s*([a-z0-9][a-z0-9+.-]*)")
KIND = re.compile(r" \((maintainer|section|priority|language|interface|use)\)$")


class PackageIndex:
    """The packages of an index that the graph holds."""

    def __init__(self, text: str, names: Iterable[str]) -> None:
        """
        Args:
            text: the index, decompressed.
            names: the packages of the graph.
        """
        wanted = set(names)
        self.packages: dict[str, Message] = {}
        for stanza in text.split("\n\n"):
            name = re.match(r"Package: (\S+)", stanza.lstrip())
            if name and name[1] in wanted and name[1] not in self.packages:
                self.packages[name[1]] = HeaderParser().parsestr(stanza.lstrip())

    def values(self, package: str, field: str) -> set[str]:
        """What the graph should say about a field of a package."""
        if package not in self.packages:
            return set()
        headers = self.packages[package]
        text = re.sub(r"\s+", " ", headers.get(field, "")).strip()
        if field in LISTS:
            return set(FIRST_OF_EACH.findall(text)) - {package}
        if field == "implemented-in":
            tags = re.findall(r"implemented-in::([^, ]+)", headers.get("Tag", ""))
            return {LANGUAGES.get(tag) or tag.title() for tag in tags}
        if field == "Source":
            return {(text or package).split(" ")[0]}
        if field == "Section":
            return {SECTIONS.get(text) or text}
        if field == "Maintainer":
            return {text[: text.find("<")].strip(' "')}
        return {text} - {""}

    def answers(self, query: Mapping[str, Any]) -> list[str]:
        """The right answers to a query, in the order of their names."""
        if "where" in query:
            found = {
                name
                for name in self.packages
                if all(
                    value in self.values(name, field)
                    for field, value in query["where"].items()
                )
            }
        else:
            found = {query["start"]}
            for field in query["follow"]:
                found = set().union(*(self.values(name, field) for name in found))
        if "holds" in query:
            return ["yes" if query["holds"] in found else "no"]
        if "count" in query:
            return [str(len(found))]
        if "largest" in query:
            sizes = {
                name: int(size)
                for name in found
                for size in self.values(name, query["largest"])
            }
            return [name for name in sizes if sizes[name] == max(sizes.values())]
        return sorted(found)


def is_right(answer: str, gold: Sequence[str]) -> bool:
    """Whether an answer is among the right ones; its kind in brackets is ignored."""
    plain = KIND.sub("", answer)
    return plain.casefold() in {one.casefold() for one in gold}
