"""The rows of a table that one retriever's triplets give: who reads them, and how.

The graph itself, a language model, a model that is told likely answers as well, or a
route: the graph's answer where it is probable enough, else the model's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kgscout_jax.evaluate.answers.cells import Cell, read_cell, server_is_gone
from kgscout_jax.evaluate.answers.evidence import (
    NONE,
    SCOUT,
    GraphAnswers,
    Ranking,
    Source,
)
from kgscout_jax.evaluate.answers.graph_reader import GraphReader
from kgscout_jax.reason.readers.protocol import Reader
from kgscout_jax.types import Answer, Question

logger = logging.getLogger("kgscout")


@dataclass
class ModelRows:
    """A language model, and what answers when its server is gone."""

    reader: Reader
    fallback: Reader | None
    """One attempt each, and the cache."""

    def read(
        self,
        name: str,
        k: int,
        infos: Sequence[Question],
        rankings: Sequence[Ranking],
        causes: Sequence[str],
        likely: Sequence[Sequence[Answer]] = (),
    ) -> Cell:
        """The cell of a row: see ``read_cell``."""
        cell = read_cell(self.reader, name, k, infos, rankings, causes, likely=likely)
        if self.fallback is not None and server_is_gone(cell):
            logger.warning("the server is gone: from here on, what is in the cache")
            self.reader, self.fallback = self.fallback, None
        return cell


@dataclass
class Rows:
    """Reads a retriever's triplets in every way that is asked for."""

    model: ModelRows | None
    graph: GraphReader | None
    shows_graph: bool
    """Whether the graph's own answers are a row."""
    tells_answers: bool
    """Whether the model reads each row once more, with likely answers."""
    route_below: float | None = None
    """With both: the model is asked below this confidence; None for every question."""

    def cells(
        self, source: Source, k: int, infos: Sequence[Question]
    ) -> Iterator[Cell]:
        """The cells of a source at one K (0 for none), over the questions ``infos``."""
        n, rankings = len(infos), source.rankings[: len(infos)]
        # without triplets the causes are the same at every K
        causes = source.causes.get(k) or next(iter(source.causes.values()))
        base: Cell | None = None
        graph: list[GraphAnswers] = []
        if self.graph is not None and source.name != NONE:
            self._log(source.name, k, n, "the graph")
            readings, graph = self.graph.read(source, k, n)
            whole = source.name == SCOUT
            all_causes = self.graph.causes if whole else causes
            base = Cell(
                retriever=source.name + ", graph" * (self.model is not None),
                k=k,
                infos=infos,
                rankings=rankings,
                readings=readings,
                causes=all_causes[:n],
                in_prompt=[None] * n,
                graph=graph,
                read_whole=[whole] * n,
            )
            if self.shows_graph:
                yield base
        if self.model is None:
            return
        told: list[tuple[str, list[tuple[Answer, ...]]]] = [(source.name, [])]
        if self.tells_answers and source.name != NONE:
            told.append((f"{source.name} + answers", [one.best for one in graph]))
        model = self.model if source.reader is None else ModelRows(source.reader, None)
        for name, likely in told:
            self._log(name, k, n, "the model")
            if base is None or not self.shows_graph:
                yield model.read(name, k, infos, rankings, causes[:n], likely)
            else:
                yield self._route(name, base, causes, likely)

    def _route(
        self,
        name: str,
        base: Cell,
        causes: Sequence[str],
        likely: Sequence[Sequence[Answer]],
    ) -> Cell:
        """The graph's cell with the model's readings where it is asked."""
        assert self.model is not None
        below = np.inf if self.route_below is None else self.route_below
        asked = [i for i, one in enumerate(base.graph) if one.confidence < below]
        name = f"{name}, model" if self.route_below is None else f"{name}, routed"
        readings, in_prompt = list(base.readings), list(base.in_prompt)
        blame = list(base.causes)
        if asked:
            cell = self.model.read(
                name,
                base.k,
                [base.infos[i] for i in asked],
                [base.rankings[i] for i in asked],
                [causes[i] for i in asked],
                [likely[i] for i in asked] if likely else (),
            )
            for at, i in enumerate(asked):
                readings[i], in_prompt[i] = cell.readings[at], cell.in_prompt[at]
                blame[i] = cell.causes[at]
        is_asked = np.isin(np.arange(len(base)), asked)
        return Cell(
            retriever=name,
            k=base.k,
            infos=base.infos,
            rankings=base.rankings,
            readings=readings,
            causes=blame,
            in_prompt=in_prompt,
            graph=base.graph,
            graph_row=base.retriever,
            asked=is_asked.tolist(),
            read_whole=(np.array(base.read_whole, bool) & ~is_asked).tolist(),
        )

    def _log(self, name: str, k: int, n: int, who: str) -> None:
        at = f" at K = {k}" * bool(k)
        logger.info("reading: %s%s, %d questions, by %s", name, at, n, who)
