"""Answers from the replies of a language model.

A prompt asks for ``{"ans": ["...", "..."]}`` (thesis, section 3.2), and models send
that in a code fence, with a reason before or behind, with single quotes, cut off in the
middle, twice, or not at all. ``read_reply`` gets out of it what is there and says how
it was read; it never raises, so that no question drops out of a denominator.

Which of several objects counts:

- What stands behind a line that starts a new ``Question:`` is the model running on into
  an example of its own, and is not read, if an object came before it.
- The prompt's own placeholder (``"your answer 1"``, ``"..."``) is never an answer.
- A well-formed object beats a mangled one, an object beats a bare list.
- Among equals the last one counts: models think first and conclude at the end.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kgscout_jax.types import display_name, entity_key

Failure = Literal[
    "none",
    "repaired",
    "bare_list",
    "no_json",
    "no_answers",
    "empty",
    "not_available",
    "no_reply",
]
"""How a reply was read:

- none: a well-formed object with a list of answers;
- repaired: answers from an object that is not well-formed, or whose answers are not a
  list of strings;
- bare_list: answers from a list without an object;
- no_json: neither; the answers, if any, are what follows the last ``Answer:``;
- no_answers: well-formed JSON, but nothing in it is called ``ans``;
- empty: an empty list, or the prompt's placeholder;
- not_available: the model says that it cannot answer;
- no_reply: nothing but white space, or no reply at all.
"""

KEYS = ("ans", "answer", "answers")
"""The names under which answers are looked for, the prompt's own first."""
MAX_OBJECTS = 256
"""How many openings of an object are looked at, the last ones of a reply."""
MAX_CHARS = 1 << 18
"""A longer reply is read from its end only."""

_REFUSAL = re.compile(
    r"(the )?(answers?|information)( is| are)? (not available|unavailable)"
    r"|not available|n a|insufficient information( to answer( the question)?)?"
)
_PLACEHOLDER = re.compile(r"your answer( \d+)?")
_OPENING = re.compile(r"\{\s*[\"'“”‘’`]?\w+[\"'“”‘’`]?\s*:|\{\s*\}")
_MANGLED = re.compile(r"\{\s*\W{0,2}(?:answers?|ans)\W{0,2}\s*:", re.IGNORECASE)
_LIST = re.compile(r"\[\s*(?=[\"'“‘])")
_CLOSING = re.compile(r"\]\s*\}")
_NEXT_QUESTION = re.compile(r"^[\s#*>-]*question\b[\s\d*]*:", re.IGNORECASE | re.M)
_ANSWER_LINE = re.compile(
    r"\b(?:answers?|ans)\b[ \t*_\"]*:[ \t*_]*([^\n]+)", re.IGNORECASE
)
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """The answers in one reply."""

    answers: tuple[str, ...]
    """Distinct up to case and white space, in the order given."""
    failure: Failure
    """How it was read; see ``Failure``."""


@dataclass(frozen=True, slots=True)
class _Object:
    """An object with answers, or a bare list."""

    answers: tuple[str, ...]
    failure: Failure
    rank: int
    """Its form: the higher, the better."""


def read_reply(text: str | None, *, cut: bool = False) -> Reply:
    """The answers in a model's reply, and how they were read.

    Args:
        text: the reply as it came; None where there is none.
        cut: whether it ends where the model had to stop: an answer there is none.
    """
    reply = _whole_reply(text)
    *whole, last = reply.answers or ("",)
    if cut and last and entity_key(text or "").endswith(entity_key(last)):
        return Reply(answers=tuple(whole), failure=reply.failure if whole else "empty")
    return reply


def _whole_reply(text: str | None) -> Reply:
    """The answers in a reply, whatever it ends with."""
    if text is None or not text.strip():
        return Reply(answers=(), failure="no_reply")
    text = _before_next_question(text[-MAX_CHARS:])
    objects, other_json = _objects(text)
    answered = [one for one in objects if one is not None]
    if objects and not answered:
        return Reply(answers=(), failure="empty")
    if candidates := answered or _bare_lists(text):
        # the last of the best form
        best = max(reversed(candidates), key=lambda one: one.rank)
        return Reply(answers=best.answers, failure=best.failure)
    lines = _ANSWER_LINE.findall(text)
    if lines and not other_json:
        words = lines[-1].strip().strip("*_`\"' ")
        answers = clean_answers([words.removesuffix(".")])
        return Reply(answers=answers, failure="no_json")
    if is_refusal(text):
        return Reply(answers=(), failure="not_available")
    return Reply(answers=(), failure="no_answers" if other_json else "no_json")


def agree(replies: Sequence[Reply]) -> Reply:
    """What several samples of one question agree on: self-consistency.

    An answer counts that at least half of the samples with answers give, most often
    given first; where there is none, the one given most often, the earliest among
    equals. Without any answer, the failure that occurs most often.
    """
    if not replies:
        return Reply(answers=(), failure="no_reply")
    spoken = [reply for reply in replies if reply.answers]
    chosen = spoken or replies
    failures: Counter[Failure] = Counter(reply.failure for reply in chosen)
    spelling: dict[str, str] = {}
    votes: Counter[str] = Counter()
    for reply in spoken:
        for answer in reply.answers:
            spelling.setdefault(entity_key(answer), answer)
            votes[entity_key(answer)] += 1
    ranked = votes.most_common()
    majority = [key for key, n in ranked if 2 * n >= len(spoken)]
    agreed = majority or [key for key, _ in ranked[:1]]
    return Reply(
        answers=tuple(spelling[key] for key in agreed),
        failure=failures.most_common(1)[0][0],
    )


def is_refusal(answer: str) -> bool:
    """Whether this is a way of saying that there is no answer."""
    return bool(_REFUSAL.fullmatch(_words(answer)))


def clean_answers(value: Any) -> tuple[str, ...]:
    """The strings in a JSON value: white space collapsed, each once, no refusals.

    Lists and objects are walked; numbers are written out; true, false and null are no
    answers.
    """
    answers: dict[str, str] = {}
    for answer in _strings(value):
        answer = display_name(answer)
        if answer and not is_refusal(answer) and not _is_placeholder(answer):
            answers.setdefault(entity_key(answer), answer)
    return tuple(answers.values())


def _objects(text: str) -> tuple[list[_Object | None], bool]:
    """Objects with answers in order, None for a placeholder; were there others?"""
    objects: list[_Object | None] = []
    others = False
    openings = [match.start() for match in _OPENING.finditer(text)][-MAX_OBJECTS:]
    end = 0
    for i, start in enumerate(openings):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            if not _MANGLED.match(text, start):
                continue
            following = openings[i + 1] if i + 1 < len(openings) else len(text)
            value, end = _repaired(text[start:following]), following
            if isinstance(value, dict) and (key := _key_of(value)) is not None:
                objects.append(_judge(value[key], "repaired", 1))
            continue
        if (key := _key_of(value)) is None:
            others = True
            # an object inside may hold the answers: {"result": {"ans": [...]}}
            end = start + 1
            continue
        listed = isinstance(value[key], list) and key == KEYS[0]
        proper = listed and all(isinstance(item, str) for item in value[key])
        objects.append(_judge(value[key], "none" if proper else "repaired", 2))
    return objects, others


def _bare_lists(text: str) -> list[_Object]:
    starts = [match.start() for match in _LIST.finditer(text)][-MAX_OBJECTS:]
    lists = []
    end = 0
    for i, start in enumerate(starts):
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = starts[i + 1] if i + 1 < len(starts) else len(text)
            value = _repaired(text[start:end])
        if isinstance(value, list) and (one := _judge(value, "bare_list", 0)):
            lists.append(one)
    return lists


def _judge(value: Any, failure: Failure, rank: int) -> _Object | None:
    """The answers in the value of ``ans``; None for the prompt's placeholder."""
    answers = clean_answers(value)
    if answers:
        return _Object(answers, failure, rank)
    given = [display_name(answer) for answer in _strings(value)]
    if any(map(is_refusal, given)):
        return _Object((), "not_available", rank)
    if any(map(_is_placeholder, given)):
        return None
    return _Object((), "empty", rank)


def _repaired(segment: str) -> Any:
    """What json-repair makes of a mangled object or list that starts the segment."""
    import json_repair

    if closing := _CLOSING.search(segment):
        segment = segment[: closing.end()]
    elif (fence := segment.find("```")) >= 0:
        segment = segment[:fence]
    elif segment.startswith("[") and (bracket := segment.find("]")) >= 0:
        segment = segment[: bracket + 1]
    try:
        return json_repair.loads(segment, skip_json_loads=True)
    except (ValueError, RecursionError):
        return None


def _key_of(value: Any) -> str | None:
    """The key that holds the answers."""
    if not isinstance(value, dict):
        return None
    keys = {str(key).strip().lower(): key for key in value}
    return next((keys[key] for key in KEYS if key in keys), None)


def _strings(value: Any) -> Iterator[str]:
    """The strings and numbers in a JSON value, in order."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, bool) or item is None:
            continue
        elif isinstance(item, int | float):
            yield str(item)
        elif isinstance(item, list | dict):
            inner = list(item.values()) if isinstance(item, dict) else item
            waiting += inner[::-1]


def _before_next_question(text: str) -> str:
    """The text up to the first line after an object that starts a new question."""
    first = _OPENING.search(text)
    if first and (following := _NEXT_QUESTION.search(text, first.end())):
        return text[: following.start()]
    return text


def _is_placeholder(answer: str) -> bool:
    return bool(_PLACEHOLDER.fullmatch(_words(answer))) or not answer.strip("….")


def _words(text: str) -> str:
    """Lower-cased, everything but letters and digits a space, spaces collapsed."""
    return " ".join(re.sub(r"[\W_]+", " ", text.lower()).split())
