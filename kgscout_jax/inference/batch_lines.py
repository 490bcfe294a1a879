"""The lines of a batch of questions, made here or in the processes of an engine.

Another process opens the policy and the graph by the settings, memory-mapped from its
GRAPH folder, and holds them. What it opens must be what the command opened.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import logging
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from kgscout_jax.errors import UserError
from kgscout_jax.graph.embeddings import storage_fingerprint
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import Graphs
from kgscout_jax.graph.open_graph import named_files
from kgscout_jax.graph.read.folder_files import source_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import RetrieveSettings
from kgscout_jax.stores.connect import connect, store_url
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.io import sha256_file
from kgscout_jax.utils.jax_setup import setup_jax
from kgscout_jax.utils.manifest import fingerprint

logger = logging.getLogger("kgscout")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the file of questions."""

    id: str
    question: str
    topics: tuple[str, ...] | None
    """None: topics are linked."""
    problem: str | None = None
    """Why the question cannot be answered."""


class Line(NamedTuple):
    """The result of a question as it is written."""

    id: str
    text: str
    failed: bool
    topicless: bool = False
    """Whether topics were given and none of them is in the graph."""


class BatchLines:
    """A function of a batch of questions: their lines."""

    def __init__(
        self, settings: RetrieveSettings, mark: str, scout: Scout, graph: GraphOrStore
    ) -> None:
        """
        Args:
            settings: of the command.
            mark: ``settings_fingerprint`` of the rest.
            scout: the policy.
            graph: what is asked.
        """
        self.settings, self.mark = settings, mark
        self.scout, self.graph = scout, graph
        self._retrieve = functools.partial(
            scout.retrieve_many,
            graphs=graph,
            k=settings.k,
            selection=settings.selection,
        )

    def __call__(self, rows: Sequence[Row]) -> list[Line]:
        """The line of each question."""
        return [
            Line(
                id=row.id,
                text=replace_surrogates(to_line(row, result, self.mark)),
                failed=isinstance(result, str),
                topicless=isinstance(result, RetrievalResult)
                and bool(result.topics_not_found)
                and not result.topics,
            )
            for row, result in zip(rows, results(self._retrieve, rows), strict=True)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        threads = self.scout.encoder.network.threads
        return functools.partial, (_lines, self.settings, self.mark, threads)


def _lines(
    settings: RetrieveSettings, mark: str, threads: int | None, rows: Sequence[Row]
) -> list[Line]:
    return _opened(settings, mark, threads)(rows)


@functools.lru_cache(maxsize=1)
def _opened(settings: RetrieveSettings, mark: str, threads: int | None) -> BatchLines:
    """The function that another process described, held for the next batch.

    Args:
        settings: of the command.
        mark: ``settings_fingerprint`` of what the command opened.
        threads: of the encoder, which decide its bits in PyTorch.

    Raises:
        UserError: what is opened here is something else.
    """
    setup_jax()
    scout, graph = load_scout(settings, open_graphs(settings))
    if threads is not None:
        scout.encoder.network.threads = threads
    if settings_fingerprint(settings, scout, graph) != mark:
        raise UserError(
            f"{socket.gethostname()}: the policy or the graph is not the command's; "
            "expected the same files at the same paths on every node"
        )
    return BatchLines(settings, mark, scout, graph)


def open_graphs(settings: RetrieveSettings) -> KnowledgeGraph | Graphs | None:
    """The graph, or several; None for a store. Raises UserError as ``open_graph``."""
    return settings.open_graphs() if store_url(settings.kg) is None else None


def load_scout(
    settings: RetrieveSettings, graphs: KnowledgeGraph | Graphs | None
) -> tuple[Scout, GraphOrStore]:
    """The policy, and the graph that it is asked with: the store where there is none.

    Raises:
        UserError: the policy is missing or damaged, or the store does not answer.
    """
    scout = Scout.from_pretrained(settings.policy)
    if graphs is not None:
        return scout, scout.merged(graphs)
    url = store_url(settings.kg)
    assert url is not None
    return scout, connect(url, scout.encoder.identity.dimension)


def results(
    retrieve: Callable[..., list[RetrievalResult]], rows: Sequence[Row]
) -> list[RetrievalResult | str]:
    """The result of each row, or the reason for its failure.

    A failed batch is repeated question by question, so that others do not fail too.
    """
    valid = [row for row in rows if row.problem is None]
    try:
        retrieved = iter(
            retrieve([row.question for row in valid], topics=[r.topics for r in valid])
        )
    except Exception as error:  # noqa: BLE001 (the question's line holds it)
        if len(rows) == 1:
            return [str(error).strip() or type(error).__name__]
        logger.info("a batch failed (%s): its questions go one by one", error)
        return [result for row in rows for result in results(retrieve, [row])]
    return [row.problem or next(retrieved) for row in rows]


def to_line(row: Row, result: RetrievalResult | str, mark: str) -> str:
    """The line of a question."""
    if isinstance(result, RetrievalResult):
        record = result.to_record(row.id)
        extra = {**record.extra, "settings": mark}
        return dataclasses.replace(record, extra=extra).to_json()
    line = {"id": row.id, "question": row.question, "error": result, "settings": mark}
    return json.dumps(line, ensure_ascii=False)


def settings_fingerprint(
    settings: RetrieveSettings, scout: Scout, graph: GraphOrStore
) -> str:
    """A hash of everything that a line depends on beside the question."""
    return inputs_fingerprint(settings_inputs(settings, scout, graph))


def inputs_fingerprint(inputs: Mapping[str, Any]) -> str:
    """The hash of ``settings_inputs``, as lines have it."""
    return fingerprint(inputs)[:12]


def settings_inputs(
    settings: RetrieveSettings, scout: Scout, graph: GraphOrStore
) -> dict[str, Any]:
    """Everything that a line depends on beside the question."""
    selection = settings.selection
    inputs: dict[str, Any] = {
        "k": settings.k,
        "cut": dataclasses.asdict(scout.cut),
        "policy": scout.exported.metadata["files"],
        "graph": graph_fingerprint(settings, graph),
    }
    is_files = isinstance(graph, KnowledgeGraph) and graph.storage is None
    if is_files and settings.read_options != ReadOptions():
        inputs["read"] = dataclasses.asdict(settings.read_options)
    if selection != SelectionConfig():
        inputs["keep"] = dataclasses.asdict(selection)
        if selection.retriever == "scout":  # files of before there were others
            del inputs["keep"]["retriever"]
        inputs["calibration"] = scout.exported.metadata.get("calibration")
    return inputs


def graph_fingerprint(settings: RetrieveSettings, graph: GraphOrStore) -> Any:
    """What tells the graph from others; of a store its address alone."""
    if not isinstance(graph, KnowledgeGraph):
        return store_url(settings.kg)
    if graph.members is None:
        return files_fingerprint(graph, settings.kg)
    members = dict(zip(graph.members.names, graph.members.graphs, strict=True))
    return {
        name: files_fingerprint(members[name], paths)
        for name, paths in named_files(settings.graphs).items()
    }


def files_fingerprint(graph: KnowledgeGraph, paths: Sequence[Path]) -> Any:
    """A hash of a graph's folder or files."""
    if graph.storage is None:
        return [sha256_file(path) for path in source_files(paths)]
    return storage_fingerprint(graph.storage)
