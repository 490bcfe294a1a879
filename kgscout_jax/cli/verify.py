"""``kgscout verify``: statements checked against a graph, without a language model."""

from __future__ import annotations

import json
import sys

from kgscout_jax.cli.answer_text import escape_unwritable_letters, short_name
from kgscout_jax.errors import UserError, escape
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.reason.path_text import path_line
from kgscout_jax.utils.progress import slow_step
from kgscout_jax.verify.settings import VerifySettings
from kgscout_jax.verify.verdicts import ClaimVerdict


def verify(settings: VerifySettings) -> int:
    """Print the verdict on each claim of the statement.

    Returns:
        0 if every claim is supported, else 1.

    Raises:
        UserError: there is no statement, or the graph cannot be read.
    """
    text = settings.statement
    if text is None:
        if sys.stdin.isatty():
            raise UserError("statement: expected one in quotes, or standard input")
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not text.strip():
        raise UserError(f"statement: found {text!r:.40}, expected some text")
    with slow_step("reading the graph"):
        graph = open_graph(settings.kg, options=settings.read_options)
    with slow_step("checking the statement"):
        # Not before the line that says so: it may bring PyTorch along.
        from kgscout_jax.verify.verifier import Verifier

        claims = Verifier(graph).verify(text)
    escape_unwritable_letters()
    if settings.json:
        record = {"claims": [claim.to_json() for claim in claims]}
        print(json.dumps(record, ensure_ascii=False))
    else:
        for claim in claims:
            print_claim(claim)
    return int(any(claim.verdict != "supported" for claim in claims))


def print_claim(claim: ClaimVerdict) -> None:
    """Print one claim, and below it the triplets that decide."""
    print(f"{claim.verdict}: {short_name(claim.text)}")
    for triplet in claim.triplets:
        print(f"    {escape(path_line([triplet], triplet[2]))}")
