"""Questions that leave words out, as clauses: "books written by X", "films with X".

The rules are for English.
"""

from __future__ import annotations

from collections.abc import Sequence

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import is_past
from kgscout_jax.text.question_clause import (
    BE,
    DO,
    HAVE,
    MOST_NOUN_WORDS,
    NO_NOUNS,
    QUESTION_WORDS,
    topic_as_one,
)
from kgscout_jax.text.question_noun import OF
from kgscout_jax.text.relation_words import PREPOSITIONS

_ASKS = frozenset("list show name give find tell get".split())
_PASSED = frozenset("me us the all every each of any please".split())
_PRONOUNS = frozenset(("that", "which", "who", "whom"))
_WITH = {"starring": "actor", "featuring": "actor", "containing": "ingredient"}
"""What the topic is to those that stand before a participle."""
_VAGUE = frozenset(("in", "from", "on", "belong to", "part of", "come from", "lie in"))
"""Verbs that say no more than the noun before the topic."""
_BESIDE = frozenset(("in", "from", "on", "at", "for"))
"""Prepositions between a noun and what it belongs to."""
_TO = frozenset("sequel prequel successor predecessor heir alternative rival".split())
"""Nouns behind which "to" stands for "of"."""
_OWN = frozenset("their its his her a an the".split())
_DONE = frozenset(
    "bought sold found met read held kept left lost paid sent run shot put set".split()
)
"""Participles that ``is_past`` does not know: "which brands has X bought"."""
_CALLED = frozenset(("called", "known as", "named", "referred to as"))
_NAMED = frozenset(("have", "go by", "known by", "known"))
_NAMES = frozenset(("name", "names"))
_OTHER = frozenset(
    "also otherwise else alternatively other another alternative".split()
)
"""Words of questions for another name than the one in the question."""
_FILMS = frozenset("film films movie movies show shows series".split())


def full_question(words: Sequence[str]) -> list[str]:
    """The words of a question with those that it leaves out; others as they are.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> " ".join(full_question(["all", "books", "written", "by", TOPIC]))
    'which books were written by '
    >>> " ".join(full_question(["films", "that", TOPIC, "directed"]))
    'which films did  directed'
    >>> " ".join(full_question(["list", "firms", "that", "own", TOPIC]))
    'which firms own '
    >>> " ".join(full_question(["the", "number", "of", "cities", "in", TOPIC]))
    'which cities are in '
    >>> " ".join(full_question(["films", "starring", TOPIC]))
    'which films have  as actor'
    >>> " ".join(full_question(["papers", "citing", TOPIC]))
    'which papers citing '
    >>> full_question([TOPIC, "was", "directed", "by", "whom"])[0]
    'who'
    >>> full_question(["how", "did", TOPIC, "die"])[-1]
    'of'
    """
    tokens = topic_as_one([word for word in words if word not in ("?", ".", "!")])
    if tokens.count(TOPIC) != 1:
        return [*words]
    if tokens[-2:] == ["to", TOPIC] and not _TO.isdisjoint(tokens[-3:-2]):
        tokens[-2] = OF
        return tokens
    if turned := _turned(tokens):
        return turned
    if (tokens[:1], tokens[2:]) == (["how"], [TOPIC, "die"]):
        return ["what", tokens[1], TOPIC, "die", OF]
    start = 0
    while start < len(tokens) and tokens[start] in _ASKS | _PASSED:
        start += 1
    if tokens[start : start + 2] == ["number", "of"]:
        start += 2
    asks = start > 0 and tokens[0] in _ASKS
    rest = tokens[start:]
    if asks and rest[:1] == [TOPIC]:
        return rest
    if had := _had(tokens):
        return had
    if not rest or (rest[0] in QUESTION_WORDS and not asks):
        return [*words]
    end = next((i for i in range(len(rest)) if not _is_noun(rest, i)), len(rest))
    if end > 1 and rest[end - 1].endswith("ing") and rest[-1] == TOPIC:
        end -= 1  # "papers citing X", "people working for X"
    noun, behind = rest[:end], rest[end:]
    # Of several words the first may be a condition: "Go services owned by X".
    if not 0 < end <= (MOST_NOUN_WORDS if asks else 1) or not behind:
        return [*words]
    return _clause(noun, behind) or [*words]


def made_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun of "books by X" and "which books are by X"; () of other questions.

    >>> made_noun(["all", "books", "by", TOPIC])
    ('books',)
    """
    tokens = [word for word in topic_as_one(words) if word not in _PASSED | _ASKS]
    if tokens[-2:] != ["by", TOPIC] or tokens.count(TOPIC) != 1:
        return ()
    noun = tokens[:-2]
    if noun and noun[0] in ("which", "what") and noun[-1] in BE:
        noun = noun[1:-1]
    nouns = all(_is_noun([*noun, "by"], i) for i in range(len(noun)))
    return (*noun,) if 0 < len(noun) <= MOST_NOUN_WORDS and nouns else ()


def vague_noun(words: Sequence[str]) -> list[str]:
    """ "What band is X in" as "what is the band of X"; [] of other questions.

    >>> " ".join(vague_noun(["which", "country", "does", TOPIC, "belong", "to"]))
    'what is the country of '
    >>> " ".join(vague_noun(["tracks", "on", TOPIC]))
    'what is the tracks of '
    """
    tokens = topic_as_one([word for word in words if word not in ("?", ".")])
    if tokens.count(TOPIC) != 1:
        return []
    at = tokens.index(TOPIC)
    if tokens[:1] in (["what"], ["which"]):
        noun, behind = tokens[1 : at - 1], " ".join(tokens[at + 1 :])
        vague = tokens[at - 1] in BE | DO and behind in _VAGUE
        if not behind and tokens[at - 1] in _BESIDE and tokens[at - 2] in BE:
            noun, vague = tokens[1 : at - 2], True  # "what tracks are on X"
    else:
        tokens = [word for word in tokens if word not in _ASKS | _PASSED]
        noun, vague = (
            tokens[:-2],
            tokens[-1:] == [TOPIC] and not _BESIDE.isdisjoint(tokens[-2:-1]),
        )
    nouns = all(_is_noun(noun, i) for i in range(len(noun)))
    if not (vague and nouns and 0 < len(noun) <= MOST_NOUN_WORDS):
        return []
    return ["what", "is", "the", *noun, "of", TOPIC]


def _clause(noun: list[str], behind: list[str]) -> list[str]:
    """A clause of what stands behind its noun; [] where there is none."""
    asked = ["which", *noun]
    if behind[0] in _PRONOUNS:
        behind = behind[1:]
        if behind[:1] == [TOPIC] and len(behind) in (2, 3) and is_past(behind[1]):
            return [*asked, "did", *behind]
        if behind[:1] == [TOPIC] and len(behind) in (2, 3):
            return [*asked, "does", *behind]
        return [*asked, *behind] if behind[-1:] == [TOPIC] else []
    if behind == ["in", TOPIC]:
        return [*asked, "are", *behind]
    if behind[0].endswith("ing") and behind[0] not in _WITH:
        return [*asked, *behind] if len(behind) < 4 else []
    if behind[1:] == [TOPIC]:
        actor = "actor" if behind[0] == "with" and noun[-1] in _FILMS else ""
        role = _WITH.get(behind[0], actor)
        return [*asked, "have", TOPIC, "as", role] if role else []
    is_verb = is_past(behind[0]) and behind[1:2] and behind[1] in PREPOSITIONS
    return [*asked, "were", *behind] if is_verb and behind[2:] == [TOPIC] else []


def _had(tokens: list[str]) -> list[str]:
    """ "Which firms have their seat in X" as "have X as seat"; [] of others.

    >>> " ".join(_had(["who", "has", TOPIC, "eyes"]))
    'who has  as eyes'
    """
    place = next((i for i, word in enumerate(tokens) if word in HAVE), 0)
    asks = tokens[0] in ("which", "what", "who") and 0 < place <= MOST_NOUN_WORDS + 1
    behind = tokens[place + 1 :]
    if not (asks and behind):
        return []
    if behind[0] == TOPIC:
        noun = behind[1:]
    elif behind[-1] == TOPIC and behind[-2:-1] and behind[-2] in _BESIDE:
        noun = [word for word in behind[:-2] if word not in _OWN]
    else:
        return []
    done = any(is_past(word) or word in _DONE for word in noun)
    nouns = all(_is_noun(noun, i) for i in range(len(noun)))
    fits = nouns and not done and 0 < len(noun) <= MOST_NOUN_WORDS
    return [*tokens[: place + 1], TOPIC, "as", *noun] if fits else []


def _turned(tokens: list[str]) -> list[str]:
    """A question in another order, or short of its verb; [] of others.

    "X was directed by whom", "by whom was X directed", "where is X", "how is X
    treated", and "what is X also called".
    """
    first, last = tokens[0], tokens[-1]
    if _asks_other_name(tokens):
        return ["what", "is", "the", "other", "name", OF, TOPIC]
    if first == TOPIC and tokens[1:2] and tokens[1] in BE and last in ("whom", "who"):
        return ["who", tokens[1], TOPIC, *tokens[2:-1]]
    if (
        tokens[:2] in (["by", "whom"], ["by", "who"])
        and tokens[2:3]
        and tokens[2] in BE
    ):
        return ["who", *tokens[2:], "by"]
    if first == "where" and tokens[2:] == [TOPIC] and tokens[1] in BE:
        return [*tokens, "located"]
    if first == "how" and tokens[2:3] == [TOPIC] and tokens[3:] == ["treated"]:
        return ["what", *tokens[1:], "with"]
    return []


def _asks_other_name(tokens: Sequence[str]) -> bool:
    """ "What is X also known as", "what else is X called", "does X have another name".

    >>> _asks_other_name(["what", "other", "names", "does", TOPIC, "go", "by"])
    True
    """
    if _OTHER.isdisjoint(tokens):
        return False
    at = tokens.index(TOPIC)
    before, passed = {*tokens[:at]}, _OTHER | _NAMES | {"any"}
    verb = " ".join(word for word in tokens[at + 1 :] if word not in passed)
    if not before.isdisjoint(BE) and verb in _CALLED:
        return True
    has_name = not before.isdisjoint(BE | DO) and verb in _NAMED
    return has_name and not _NAMES.isdisjoint(tokens)


def _is_noun(words: Sequence[str], i: int) -> bool:
    """Whether a word may be a part of the noun that is asked for."""
    word, behind = words[i], words[i + 1 : i + 2]
    if word in NO_NOUNS or word in BE | DO | _PRONOUNS or word == TOPIC:
        return False
    is_verb = i > 0 and is_past(word) and behind and behind[0] in PREPOSITIONS
    return word not in _WITH and not is_verb
