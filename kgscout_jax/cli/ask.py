"""Questions answered at the terminal: the answers, the evidence, a page, or JSON."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kgscout_jax.cli.answer_text import (
    MAX_PRINTED,
    escape_unwritable_letters,
    print_answers,
    print_evidence,
    print_explanation,
    print_topics,
    short_name,
)
from kgscout_jax.cli.exploration_text import exploration_object, print_exploration
from kgscout_jax.cli.pseudo_text import (
    print_pseudo,
    pseudo_answerer,
    pseudo_object,
)
from kgscout_jax.errors import UserError, escape
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.settings import AskSettings
from kgscout_jax.inference.topics import check_topics
from kgscout_jax.stores.connect import connect, store_url
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.utils.progress import slow_step

if TYPE_CHECKING:
    from kgscout_jax.explore.chain import ChainOfExplorations
    from kgscout_jax.explore.settings import Exploration
    from kgscout_jax.graph.link import Link
    from kgscout_jax.pseudo.answers import PseudoAnswer
    from kgscout_jax.reason.readers.protocol import Reader, Reading


def ask(settings: AskSettings) -> int:
    """Answer the question of the settings, or those of standard input.

    Returns:
        1 if the model failed or, of several questions, one could not be answered.

    Raises:
        UserError: the policy, the graph or the only question cannot be read, or a topic
            is not in the graph.
    """
    selection, seconds = settings.selection, {}
    own_way = settings.explore is not None or settings.pseudo is not None
    reader = None if own_way else model_reader(settings)
    url = store_url(settings.kg)
    graphs: KnowledgeGraph | dict[str, KnowledgeGraph] = {}
    if url is None:
        with timed(seconds, "graph"), slow_step("reading the graph"):
            graphs = settings.open_graphs()
        if isinstance(graphs, KnowledgeGraph):
            check_topics(graphs, settings.topic)
    with timed(seconds, "policy"), slow_step("loading the policy and its encoder"):
        # Files are compared with their checksums either way. The golden outputs of the
        # bundled policy are checked by its tests, and take half a second here.
        scout = Scout.from_pretrained(
            settings.policy, verify=settings.policy is not None
        )
    selection.check(scout.exported)
    graph: GraphOrStore
    if url is None:
        with timed(seconds, "merging"):
            graph = scout.merged(graphs)
    else:
        graph = connect(url, scout.encoder.identity.dimension)
    if graph is not graphs:
        check_topics(graph, settings.topic)
    escape_unwritable_letters()
    chain = exploration_chain(settings, scout, graph)
    pseudo = pseudo_answerer(settings, scout, graph)
    terminal = Terminal(settings, scout, graph, reader, seconds, chain, pseudo)
    if settings.question is not None:
        return terminal.answer(settings.question)
    failed = 0
    for question in standard_input_questions(echo=not settings.json):
        try:
            failed |= terminal.answer(question)
        except UserError as error:
            print(f"error: {error}", file=sys.stderr)
            failed = 1
        if not settings.json:
            print(flush=True)
    return failed


def standard_input_questions(*, echo: bool) -> Iterator[str]:
    """The questions that are typed at a prompt, or the lines of a pipe.

    ``echo``: those of a pipe are printed, so that it is clear which answer belongs to
    which.
    """
    if not sys.stdin.isatty():
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        for line in sys.stdin:
            if question := line.strip():
                if echo:
                    print(f"question: {escape(question)}")
                yield question
        return
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 (input gets a history)
    print("A question a line; Ctrl-D ends.", file=sys.stderr)
    while True:
        try:
            question = input("question: ").strip()
        except (EOFError, KeyboardInterrupt):
            print()
            return
        if question:
            yield question


@contextlib.contextmanager
def timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Record the seconds of the block."""
    start = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - start


@dataclass(frozen=True)
class Terminal:
    """Answers questions from one graph and prints what was found."""

    settings: AskSettings
    scout: Scout
    graph: GraphOrStore
    reader: Reader | None
    seconds: dict[str, float] = field(default_factory=dict)
    """Of the steps before the question."""
    chain: ChainOfExplorations | None = None
    """Walks the graph, instead of the reader."""
    pseudo: Callable[[str], PseudoAnswer] | None = None
    """Guesses a graph and verifies it, instead of the reader."""

    def answer(self, question: str) -> int:
        """Print answers and evidence, write the page; 1 if the model failed, else 0.

        Raises:
            UserError: the question cannot be answered, or the page not be written.
        """
        settings, seconds = self.settings, dict(self.seconds)
        with timed(seconds, "question"), slow_step("searching the graph"):
            result = self.scout.retrieve(
                question,
                self.graph,
                settings.k,
                topics=settings.topic or None,
                selection=settings.selection,
            )
        reading = None
        if self.reader is not None:
            with timed(seconds, "model"), slow_step("asking the model"):
                reading = self.reader.read([result.evidence()])[0]
        found = None
        if self.chain is not None:
            with timed(seconds, "exploration"), slow_step("the model explores"):
                found = self.chain.explore(question)
        guess: PseudoAnswer | None = None
        if self.pseudo is not None:
            with timed(seconds, "pseudo-graph"), slow_step("the model guesses"):
                guess = self.pseudo(question)
        others: list[Link] = []
        links = settings.explain and not settings.topic
        if links and isinstance(self.graph, KnowledgeGraph):
            others = linker_of(self.graph).ranking(question)
        if settings.json:
            self.print_json(result, reading, others, seconds, found, guess)
        else:
            self.print_text(result, reading)
            if found is not None:
                print_exploration(found, self.graph, steps=settings.explain)
            if guess is not None:
                print_pseudo(guess, self.graph, explain=settings.explain)
            if settings.explain:
                print_explanation(result, others, seconds)
        if settings.html is not None:
            answers = (reading.answers or None) if reading is not None else None
            answers = answers if found is None else found.answers or None
            answers = answers if guess is None else guess.reading.answers or None
            result.to_html(settings.html, answers=answers)
            if not settings.json:
                print(f"page: {escape(str(settings.html))}")
        outcomes = [
            one.outcome
            for one in (reading, found, guess and guess.reading)
            if one is not None
        ]
        return int("error" in outcomes)

    def print_text(self, result: RetrievalResult, reading: Reading | None) -> None:
        """Print topics, answers and evidence."""
        print_topics(result)
        if self.scout.exported.has_answers:
            print_answers(result)
        elif reading is None and self.chain is None and self.pseudo is None:
            print(
                "this policy gives evidence only: train one with answers, or give --llm"
            )
        print_evidence(result, None if self.settings.explain else MAX_PRINTED)
        if reading is not None and reading.outcome == "error":
            print(f"no answer: {short_name(reading.error or 'the model failed')}")
        elif reading is not None and self.reader is not None:
            names = "; ".join(map(short_name, reading.answers))
            print(f"answer ({escape(self.reader.name)}): {names or 'none found'}")
            if reading.note:
                print(f"note: {reading.note}")

    def print_json(
        self,
        result: RetrievalResult,
        reading: Reading | None,
        others: list[Link],
        seconds: dict[str, float],
        found: Exploration | None,
        guess: PseudoAnswer | None,
    ) -> None:
        """Print the result as one line of JSON."""
        record: dict[str, Any] = result.to_dict()
        if found is not None:
            record["exploration"] = exploration_object(found, self.graph)
        if guess is not None:
            record["pseudo"] = pseudo_object(guess, self.graph)
        if reading is not None and self.reader is not None:
            record["model"] = {
                "name": self.reader.name,
                "answers": list(reading.answers),
                "outcome": reading.outcome,
                "error": reading.error,
                "note": reading.note,
            }
        if self.settings.explain:
            record["explanation"] = {
                "links": [dataclasses.asdict(link) for link in others],
                "candidates": result.n_candidates,
                "relation_match": [round(value, 4) for value in result.relation_match],
                "seconds": {name: round(value, 3) for name, value in seconds.items()},
            }
        print(json.dumps(record, ensure_ascii=False), flush=True)


def exploration_chain(
    settings: AskSettings, scout: Scout, graph: GraphOrStore
) -> ChainOfExplorations | None:
    """What walks the graph; None without --explore."""
    if settings.explore is None or settings.llm is None or settings.model is None:
        return None
    from kgscout_jax.explore.make import explorer
    from kgscout_jax.reason.completions import EndpointSettings

    endpoint = EndpointSettings(
        url=settings.llm,
        model=settings.model,
        key_env=settings.key_env,
        temperature=0.0,
        max_tokens=256,
    )
    return explorer(graph, scout, endpoint, settings.explore)


def model_reader(settings: AskSettings) -> Reader | None:
    """The language model that answers; None where none is named.

    Raises:
        UserError: the settings cannot work, or a library is missing.
    """
    if settings.llm is None or settings.model is None:
        return None
    from kgscout_jax.reason.readers import make_reader

    return make_reader(settings.llm, settings.model, key_env=settings.key_env)
