"""``ask --pseudo``: a pseudo-graph of the model, verified, at the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.cli.answer_text import short_name
from kgscout_jax.cli.exploration_text import places, sources
from kgscout_jax.errors import UserError, escape
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import AskSettings
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.text.linearize import linearize
from kgscout_jax.types import Triplet

if TYPE_CHECKING:
    from kgscout_jax.pseudo.answers import PseudoAnswer
    from kgscout_jax.pseudo.facts import Fact


@dataclass(frozen=True)
class ScoutFacts:
    """Facts by KG-Scout, with the pseudo-triplets as extra queries."""

    scout: Scout
    graph: GraphOrStore
    has_cosines: bool = False

    def search(
        self, questions: Sequence[str], drafts: Sequence[Sequence[Triplet]], n: int
    ) -> list[list[Fact]]:
        """As ``FactSource``, as many as cosine would find at most."""
        from kgscout_jax.pseudo.facts import Fact

        results = [
            self.scout.retrieve(
                question, self.graph, max(n * len(draft), 1),
                hypotheses=[*map(linearize, draft)],
            )
            for question, draft in zip(questions, drafts, strict=True)
        ]  # fmt: skip
        return [
            [
                Fact((h, r, t), float(1 / (1 + np.exp(-score))), names)
                for (h, r, t, score), names in zip(
                    result.scored, result.sources or [()] * len(result), strict=True
                )
            ]
            for result in results
        ]


def pseudo_answerer(
    settings: AskSettings, scout: Scout, graph: GraphOrStore
) -> Callable[[str], PseudoAnswer] | None:
    """What guesses and verifies; None without --pseudo."""
    if settings.pseudo is None or settings.llm is None or settings.model is None:
        return None
    from kgscout_jax.pseudo.answers import pseudo_answer
    from kgscout_jax.pseudo.facts import FactSource, graph_facts
    from kgscout_jax.pseudo.settings import PseudoSettings
    from kgscout_jax.reason.completions import EndpointSettings

    source: FactSource = ScoutFacts(scout, graph)
    if settings.verifier == "vector":
        if not isinstance(graph, KnowledgeGraph):
            raise UserError("--verifier vector: a store, expected files or a GRAPH")
        source = graph_facts(graph, scout.encoder)
    endpoint = EndpointSettings(
        url=settings.llm,
        model=settings.model,
        key_env=settings.key_env,
        temperature=0.0,
    )
    way = PseudoSettings(
        form=settings.pseudo,
        threshold=settings.threshold,
        entities=settings.entities,
    )
    return lambda text: pseudo_answer(text, source, endpoint, way)


def print_pseudo(guess: PseudoAnswer, graph: GraphOrStore, *, explain: bool) -> None:
    """Print the answer and the verdicts; with ``explain`` replies and facts too."""
    found, reading = guess.verified, guess.reading
    if explain:
        for reply in found.draft.replies:
            print("\n".join(map(escape, ["the model writes:", *reply.splitlines()])))
        print(f"compared with {len(found.facts)} of {len(found.found)} facts:")
        for fact in found.facts:
            print(f"    {fact.score:.3f} {line(fact.triplet)}")
    names = "; ".join(map(short_name, reading.answers))
    print(f"answer (verified pseudo-graph): {names or 'none found'}")
    for one in found.judged:
        print(f"    {one.verdict:<11} {line(one.triplet)}")
        print_facts(one.facts, graph)
    if found.added:
        print("    added")
        print_facts(found.added, graph)
    print(
        f"pseudo-graph: {found.draft.outcome}, {guess.calls} requests, "
        f"{guess.tokens} tokens"
    )
    if reading.error is not None:
        print(f"no answer: {short_name(reading.error)}")
    elif reading.note:
        print(f"note: {reading.note}")


def print_facts(facts: Sequence[Fact], graph: GraphOrStore) -> None:
    """Print facts of the graph, and the documents that state them."""
    for fact in facts:
        where = f" ({', '.join(fact.sources)})" if fact.sources else ""
        print(f"        {line(fact.triplet)}{escape(where)}")
        for source in places(fact.triplet, graph):
            print(f"            source: {escape(str(source))}")


def line(triplet: Triplet) -> str:
    """A triplet in one line."""
    return escape(" | ".join(triplet))


def pseudo_object(guess: PseudoAnswer, graph: GraphOrStore) -> dict[str, Any]:
    """The answer as JSON values, its graph with the sources of documents."""
    record = guess.to_json()
    for fact in record["graph"]:
        fact |= sources(tuple(fact["triplet"]), graph)
    return record
