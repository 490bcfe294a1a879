"""What an extractor gives: nested triplets, each with the characters it comes from.

KG-RAG (Sanmartín 2024), section 4.1: the head or the tail of a triplet may itself be a
triplet, a triple hypernode, so that "in 1999" hangs on a fact and not on a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Node: TypeAlias = "str | NestedTriplet"
"""A name, or a triplet as a node (a triple hypernode)."""


@dataclass(frozen=True, slots=True)
class NestedTriplet:
    """(head, relation, tail); head and tail are names or triplets themselves."""

    head: Node
    relation: str
    tail: Node

    @property
    def label(self) -> str:
        """The full meaning in words, the name of the hypernode."""
        return f"{label(self.head)} {self.relation} {label(self.tail)}"

    @property
    def is_flat(self) -> bool:
        """Whether head and tail are names."""
        return isinstance(self.head, str) and isinstance(self.tail, str)

    def hypernodes(self) -> Iterator[NestedTriplet]:
        """The triplets inside of this one, innermost first."""
        for node in (self.head, self.tail):
            if isinstance(node, NestedTriplet):
                yield from node.hypernodes()
                yield node


def label(node: Node) -> str:
    """The name of a node."""
    return node if isinstance(node, str) else node.label


@dataclass(frozen=True, slots=True)
class TripletSpan:
    """A triplet and the characters of the text that state it."""

    triplet: NestedTriplet
    start: int
    """First character."""
    end: int
    """Behind the last character."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Extraction:
    """What was extracted from one text, and what it cost."""

    triplets: tuple[TripletSpan, ...] = ()
    error: str | None = None
    """Why nothing could be extracted; None where all went well."""
    requests: int = 0
    """Requests to a model, repairs included."""
    prompt_tokens: int = 0
    reply_tokens: int = 0
    malformed: int = 0
    """Lines of replies that are no triplets."""


class Extractor(Protocol):
    """Texts to triplets."""

    @property
    def name(self) -> str:
        """The name for tables."""
        ...

    @property
    def fingerprint(self) -> str:
        """What decides its output beside the text: equal ones give equal triplets."""
        ...

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """The triplets of each text, in order.

        Raises:
            UserError: nothing can be extracted from any text.
        """
        ...
