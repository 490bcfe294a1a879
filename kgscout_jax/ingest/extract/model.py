"""The extractor of KG-RAG: a language model with six examples (section 4.1).

The paper's prompt is not published; this one has its form and its example.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.chunks import sentences
from kgscout_jax.ingest.extract.notation import parse_triplet
from kgscout_jax.ingest.extract.protocol import (
    Extraction,
    NestedTriplet,
    Node,
    TripletSpan,
)
from kgscout_jax.reason.completions import Completion, Request
from kgscout_jax.reason.endpoint import Endpoint
from kgscout_jax.reason.prompts import Message
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.progress import ProgressBar

TEMPLATES = Path(__file__).parents[1] / "templates"
REPAIR = (
    "Some lines are no triples, such as: {line}\n"
    "Write all triples again, each on its own line as (subject)-[relation]->(object)."
)


@cache
def few_shot() -> tuple[Message, ...]:
    """The instruction and the six examples as messages."""
    instruction = (TEMPLATES / "extract.txt").read_text("utf-8").strip()
    messages: list[Message] = [("system", instruction)]
    examples = (TEMPLATES / "extract_examples.txt").read_text("utf-8").strip()
    for example in examples.split("\n\n"):
        text, _, triples = example.partition("\n")
        messages += [("user", text), ("assistant", triples)]
    return tuple(messages)


class ModelExtractor:
    """Triplets by a language model behind an endpoint."""

    def __init__(self, endpoint: Endpoint):
        self.endpoint = endpoint
        self.name = endpoint.settings.model

    @property
    def fingerprint(self) -> str:
        body = self.endpoint.body(Request(messages=few_shot()))
        return f"model {fingerprint(body)}"

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """The triplets of each text; see ``Extractor``.

        A reply with lines that are no triplets is asked for once more; then they are
        counted.
        """
        requests = [
            Request(messages=(*few_shot(), ("user", f"Text: {text}"))) for text in texts
        ]
        first = self._ask(requests, "texts")
        results = [
            read_reply(text, reply) for text, reply in zip(texts, first, strict=True)
        ]
        broken = [i for i, (_, bad) in enumerate(results) if bad and first[i].text]
        repairs = [
            Request(
                messages=(
                    *requests[i].messages,
                    ("assistant", first[i].text or ""),
                    ("user", REPAIR.format(line=results[i][1][0][:200])),
                )
            )
            for i in broken
        ]
        second = dict(zip(broken, self._ask(repairs, "repairs"), strict=True))
        out = []
        for i, (text, reply) in enumerate(zip(texts, first, strict=True)):
            triplets, bad = results[i]
            replies = [reply]
            if i in second:
                replies.append(second[i])
                repaired, still_bad = read_reply(text, second[i])
                if len(repaired) >= len(triplets):
                    triplets, bad = repaired, still_bad
            out.append(
                Extraction(
                    triplets=tuple(triplets),
                    error=reply.error,
                    requests=len(replies),
                    prompt_tokens=sum(each.prompt_tokens for each in replies),
                    reply_tokens=sum(each.reply_tokens for each in replies),
                    malformed=len(bad),
                )
            )
        return out

    def _ask(self, requests: Sequence[Request], label: str) -> list[Completion]:
        if not requests:
            return []
        with ProgressBar(len(requests), f"{self.name}: {label}", "requests") as bar:
            return self.endpoint.ask_all(
                requests, on_completion=lambda *_: bar.update()
            )


def read_reply(text: str, reply: Completion) -> tuple[list[TripletSpan], list[str]]:
    """(the triplets of a reply with their ranges, its lines that are no triplets).

    A triplet within one is a fact of its own too, unless somebody says it.
    """
    found: dict[NestedTriplet, None] = {}
    bad = []
    lines = (reply.text or "").splitlines()
    if reply.finish == "length":
        lines = lines[:-1]  # cut off
    for line in lines:
        line = line.strip().strip("`")
        if not line or line.upper().rstrip(".") == "NONE" or line.startswith("Text:"):
            continue
        if (triplet := parse_triplet(line)) is None:
            bad.append(line)
            continue
        if isinstance(triplet.head, NestedTriplet):
            found.setdefault(triplet.head)
        found.setdefault(triplet)
    places = sentences(text, 0, len(text)) or [(0, len(text))]
    words = [frozenset(_words(text[a:b])) for a, b in places]
    spans = []
    for triplet in found:
        wanted = list(_words(" ".join(_leaves(triplet))))
        scores = [sum(word in each for word in wanted) for each in words]
        best = max(range(len(places)), key=lambda i: (scores[i], -i))
        # words of no sentence: the model took them from elsewhere, or from the whole
        start, end = places[best] if scores[best] else (0, len(text))
        spans.append(TripletSpan(triplet, start, end))
    return spans, bad


def _leaves(node: Node) -> list[str]:
    """The names and relations of a node."""
    if isinstance(node, str):
        return [node]
    return [*_leaves(node.head), node.relation, *_leaves(node.tail)]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def require_replies(extractions: Sequence[Extraction], where: str) -> None:
    """Raise UserError if a text has no reply; those that have one are stored."""
    errors = [each.error for each in extractions if each.error is not None]
    if errors:
        raise UserError(
            f"{where}: {len(errors)} of {len(extractions)} texts have no reply "
            f"({errors[0]}); the same command asks for those alone"
        )
