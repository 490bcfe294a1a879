"""Questions for classes of things: "what are the types of seizure".

A relation such as ``subclass_of`` joins a class and a wider one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from kgscout_jax.text.kinds import HEAD, TAIL, base_noun
from kgscout_jax.text.relation_words import leads_to_class, relation_words
from kgscout_jax.text.words import FUNCTION_WORDS

_PHRASES = frozenset(
    ("is a", "isa", "kind of", "type of", "broader", "hypernym", "parent class")
)
"""Phrases of relations whose tails are wider classes; others say "sub"."""
_SUBCLASSES = frozenset("types kinds forms sorts varieties classes".split())
_SURE = frozenset(("subtype", "subclass", "subcategory"))
_KINDS = frozenset(("kind", "type", "sort", "form"))


@lru_cache(maxsize=1 << 12)
def is_subclass_relation(relation: str) -> bool:
    """Whether the tails of a relation are wider classes than its heads.

    >>> is_subclass_relation("subClassOf"), is_subclass_relation("instance of")
    (True, False)
    """
    words = relation_words(relation)
    return " ".join(words) in _PHRASES or words[:1] in (["sub"], ["subclass"])


def is_class_step(relation: str) -> bool:
    """Whether what is one of its heads is one of its tails too.

    >>> is_class_step("type"), is_class_step("subclass_of"), is_class_step("director")
    (True, True, False)
    """
    return leads_to_class(relation) or is_subclass_relation(relation)


def subclass_end(words: Sequence[str], topic: str) -> int | None:
    """The end of a subclass relation that a question asks for; None: it asks for none.

    Args:
        words: of the question.
        topic: what stands in them for those of the topic's name.

    >>> subclass_end("what are the subtypes of X".split(), "X") == HEAD
    True
    >>> subclass_end("which kinds of X are there".split(), "X") == HEAD
    True
    >>> subclass_end("what kind of fish is X".split(), "X") == TAIL
    True
    >>> subclass_end("what is the type of X".split(), "X")
    """
    asks = words[:1] and words[0] in ("what", "which", "list", "name", "give", "show")
    if not asks or topic not in words:
        return None
    at = words.index(topic)
    noun = words[at - 2] if at > 1 and words[at - 1] == "of" else ""
    if noun in _SUBCLASSES or base_noun(noun) in _SURE:
        others = {*words[1 : at - 2], *words[at:]} - FUNCTION_WORDS - {topic}
        return HEAD if others <= {"all", "exist"} else None
    is_kind = at > 4 and words[1] in _KINDS and words[2] == "of"
    is_last = at == len(words) - 1 and words[at - 1] in ("is", "are")
    return TAIL if is_kind and is_last else None
