"""Prompts: small template files with versions, filled with triplets and a question.

A template (``templates/NAME.txt``) starts with ``version:`` and ``about:`` lines, then
holds messages, each under a ``--- role`` line, with ``$triplets`` and ``$question``
where those go. Raise the version with every change of the words: it is recorded with
each result.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

from kgscout_jax.errors import UserError
from kgscout_jax.text.linearize import relation_phrase
from kgscout_jax.types import display_name

FOLDER = Path(__file__).parent / "templates"
ROLES = ("system", "user", "assistant")
NO_TRIPLETS = "(none)"
"""What stands for the triplets where there are none."""
PER_MESSAGE = 8
"""Tokens reckoned for the markers around a message."""
MAX_NAME = 1000
"""Characters of a name that go into a prompt: one name must not crowd out the rest."""

Message = tuple[str, str]
"""Role, content."""
Scored = tuple[str, str, str, float]
"""Head, relation, tail, score: a retrieved triplet."""

P = TypeVar("P")

_PIECE = re.compile(r"\w+|[^\w\s]")
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What nobody sees and a model may heed: controls, turned text, hidden letters."""
_MARKER = re.compile(r"<(?=[|/<\uff5c]?[A-Za-z_|\uff5c])|\[(?=/?INST\])")
"""Where a marker of a chat begins: ``<|im_end|>``, ``</s>``, ``[/INST]``, ..."""
_CONFUSING = re.compile(r", .*, |->|<-|; ")
"""In a name, what could pass for the end of it and for more of a triplet."""


class BudgetTooSmall(UserError):
    """The prompt exceeds its budget of tokens without a single triplet."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """The words of a prompt."""

    name: str
    version: int
    about: str
    """One line for people."""
    messages: tuple[Message, ...]
    """With ``$triplets`` and ``$question`` in them."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The messages to a model for one question."""

    messages: tuple[Message, ...]
    template: str
    version: int
    n_triplets: int
    """How many triplets fitted: the best ones."""
    tokens: int
    """Length of the messages, by the count that the budget was held against."""

    @property
    def hash(self) -> str:
        """The hex sha256 of the messages."""
        return hashlib.sha256(json.dumps(self.messages).encode()).hexdigest()

    def show(self) -> str:
        """The messages as a person reads them."""
        head = f"# prompt {self.template}, version {self.version}, "
        head += f"{self.n_triplets} triplets, about {self.tokens} tokens"
        parts = [f"--- {role}\n{content}" for role, content in self.messages]
        return "\n".join([head, *parts])


def template_names() -> list[str]:
    """The templates that come along, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.txt"))


@cache
def load_template(name: str) -> Template:
    """A template by name, or by the path of a file of one's own.

    Raises:
        UserError: there is none of that name, or the file is not a template.
    """
    own = "/" in name or name.endswith(".txt")
    path = Path(name) if own else FOLDER / f"{name}.txt"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        if own:
            raise UserError(f"{path}: no such file") from None
        known = ", ".join(template_names())
        raise UserError(f"prompt: {name!r}: expected one of {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read as text ({error})") from None
    return parse_template(path, text)


def parse_template(path: Path, text: str) -> Template:
    """The template in a file's text; raises UserError, naming the line."""
    header: dict[str, str] = {}
    messages: list[tuple[str, list[str]]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("--- "):
            role = line[4:].strip()
            if role not in ROLES:
                expected = ", ".join(ROLES)
                raise UserError(f"{path}:{number}: role {role!r}, expected {expected}")
            messages.append((role, []))
        elif messages:
            messages[-1][1].append(line)
        elif line.strip():
            key, colon, value = line.partition(":")
            if not colon or key not in ("version", "about"):
                raise UserError(
                    f"{path}:{number}: {line!r}, expected 'version: NUMBER', "
                    "'about: WORDS' or '--- ROLE'"
                )
            header[key] = value.strip()
    if not header.get("version", "").isdecimal():
        found = header.get("version", "none")
        raise UserError(f"{path}: version: {found}, expected a whole number")
    contents = tuple((role, "\n".join(lines).strip()) for role, lines in messages)
    fields: set[str] = set()
    for role, content in contents:
        body = string.Template(content)
        fields.update(body.get_identifiers())
        if not body.is_valid() or not fields <= {"question", "triplets"}:
            raise UserError(
                f"{path}: {role} message: a $ that starts neither $question nor "
                "$triplets ($$ writes one)"
            )
    if "question" not in fields:
        raise UserError(f"{path}: no $question in any message")
    return Template(
        name=path.stem,
        version=int(header["version"]),
        about=header.get("about", ""),
        messages=contents,
    )


def estimate_tokens(text: str) -> int:
    """About how many tokens a text has, rather too many than too few.

    A word costs a token per three bytes, begun ones included, a mark one: byte-pair
    vocabularies take about four letters of English, three digits, or one character of
    most other scripts at a time.
    """
    return sum(-(-len(piece.encode()) // 3) for piece in _PIECE.findall(text))


def prompt_text(text: str) -> str:
    """Text of strangers as it may stand in a prompt: in one line, as it is seen.

    What is not seen is dropped, and nothing in it is a marker of a chat any more.
    """
    seen = _UNSEEN.sub("", display_name(text).encode("utf-8", "replace").decode())
    return _MARKER.sub(lambda found: found[0] + " ", display_name(seen))


def prompt_name(name: str) -> str:
    """A name as it may stand in a prompt: it cannot look like a line or a triplet.

    As ``prompt_text``, cut to MAX_NAME, and in quotation marks where the marks between
    the parts of a triplet or a path occur in it.

    >>> prompt_name("Paris, Texas"), prompt_name("Paris, is in, France")
    ('Paris, Texas', '"Paris, is in, France"')
    """
    text = prompt_text(name[: 4 * MAX_NAME])
    if len(text) > MAX_NAME:
        text = text[:MAX_NAME].rstrip() + "…"
    if text and not _CONFUSING.search(text):
        return text
    return '"' + text.replace('"', "'") + '"'


def triplet_words(triplet: Scored) -> tuple[str, str, str]:
    """Head, relation phrase and tail as they may stand in a prompt."""
    head, relation, tail, _ = triplet
    return prompt_name(head), prompt_phrase(relation), prompt_name(tail)


def prompt_phrase(relation: str) -> str:
    """A relation in words; one without letters as it is written."""
    phrase = relation_phrase(relation[: 4 * MAX_NAME])[:MAX_NAME]
    return phrase or prompt_name(relation)


def triplet_line(triplet: Scored, *, scores: bool = False) -> str:
    """One triplet as the thesis shows it: ``- head, relation phrase, tail``.

    With scores: ``- [2.31] head, relation phrase, tail``.
    """
    words = ", ".join(triplet_words(triplet))
    return f"- [{triplet[3]:.2f}] {words}" if scores else f"- {words}"


def source_note(source: str) -> str:
    """Where a triplet stands, in brackets behind it; "" where nobody knows."""
    return f" [{prompt_name(source)}]" if source else ""


def likely_line(answers: Sequence[tuple[str, float]]) -> str:
    """Likely answers with their probabilities, as they stand below the triplets.

    >>> likely_line([("Lima", 0.92), ("Cusco, Peru", 0.4)])
    'Likely answers (probability): Lima (0.92); Cusco, Peru (0.40)'
    """
    listed = "; ".join(f"{prompt_name(name)} ({p:.2f})" for name, p in answers)
    return f"Likely answers (probability): {listed}" if answers else ""


def render(
    template: Template,
    question: str,
    triplets: Sequence[Scored],
    *,
    answers: Sequence[tuple[str, float]] = (),
    scores: bool = False,
    sources: Sequence[str] = (),
    budget: int | None = None,
) -> Prompt:
    """The prompt for a question: as many of its best triplets as the budget allows.

    Triplets go in whole, best first; the first that does not fit ends the list.

    Args:
        template: the words.
        question: as people read it.
        triplets: best first.
        answers: name and probability of likely answers, best first.
        scores: whether to write each triplet's score.
        sources: where each triplet stands, in brackets behind it; () to write none.
        budget: the most tokens the messages may have; None: no limit.

    Raises:
        UserError: the budget does not even hold the words and the question.
    """
    below = likely_line(answers)
    bare = render_text(template, question, NO_TRIPLETS, 0, below)
    check_budget(bare, budget)
    lines: list[str] = []
    tokens = bare.tokens
    for i, triplet in enumerate(triplets):
        line = triplet_line(triplet, scores=scores)
        if sources:
            line += source_note(sources[i])
        # a line end may be a token of its own
        tokens += estimate_tokens(line) + 1
        if budget is not None and tokens > budget:
            break
        lines.append(line)
    if not lines:
        return bare
    return render_text(template, question, "\n".join(lines), len(lines), below)


def render_text(
    template: Template, question: str, text: str, n_triplets: int, below: str = ""
) -> Prompt:
    """The prompt for a question, its triplets already written out.

    Args:
        template: the words.
        question: as people read it.
        text: what goes where the template says ``$triplets``.
        n_triplets: how many triplets that shows.
        below: a line that follows them; empty for none.
    """
    text = f"{text}\n\n{below}" if below else text
    fields = {"triplets": text, "question": prompt_text(question)}
    messages = tuple(
        (role, string.Template(content).substitute(fields))
        for role, content in template.messages
    )
    return Prompt(
        messages=messages,
        template=template.name,
        version=template.version,
        n_triplets=n_triplets,
        tokens=sum(PER_MESSAGE + estimate_tokens(text) for _, text in messages),
    )


def check_budget(prompt: Prompt, budget: int | None) -> None:
    """Raises UserError if a prompt without a triplet exceeds the budget of tokens."""
    if budget is not None and prompt.tokens > budget:
        raise BudgetTooSmall(
            f"prompt {prompt.template}: {prompt.tokens} tokens without a triplet, "
            f"expected at most the budget of {budget}"
        )


def most_triplets(
    show: Callable[[int], P], tokens: Callable[[P], int], n: int, budget: int | None
) -> P | None:
    """What shows the most triplets, ``n`` or fewer, within the budget of tokens.

    None where even one triplet is too many. One triplet more hardly ever makes a text
    shorter, so the number is searched by halves.
    """
    best = show(n)
    if budget is None or tokens(best) <= budget:
        return best
    best, low, high = None, 0, n
    while high - low > 1:
        middle = (low + high) // 2
        shown = show(middle)
        if tokens(shown) <= budget:
            low, best = middle, shown
        else:
            high = middle
    return best
