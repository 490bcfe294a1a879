"""Retrieval for a file of questions, in batches; an interrupted run resumes.

Lines are appended to ``OUT.part``, which becomes ``OUT`` when every question has one.
Questions are scored in batches by their place in the file: a run that resumes within a
batch scores all of it again, because scores depend on the batch in the sixth digit.
Each line holds a fingerprint of the settings: lines of other settings are refused.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.embeddings import storage_fingerprint
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import named_files
from kgscout_jax.graph.read.options import ReadOptions
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import RetrieveSettings
from kgscout_jax.stores.connect import connect, store_url
from kgscout_jax.stores.protocol import GraphOrStore
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.disk_space import room_for
from kgscout_jax.utils.io import read_json_lines, sha256_file
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.manifest import fingerprint
from kgscout_jax.utils.progress import ProgressBar

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


def retrieve_file(settings: RetrieveSettings) -> int:
    """Write ``settings.out``; the exit code: 1 if every question failed, else 0.

    Raises:
        UserError: the policy, the graph or the file of questions is missing or
            malformed, or ``out`` holds lines of other settings.
    """
    selection = settings.selection
    ids = read_ids(settings.questions)
    url = store_url(settings.kg)
    if url is not None and settings.embed:
        raise UserError(f"--embed: {url} is a store, which has its own embeddings")
    graphs = settings.open_graphs() if url is None else {}
    scout = Scout.from_pretrained(settings.policy)
    graph: GraphOrStore
    if url is None:
        graph = scout.merged(graphs)
    else:
        graph = connect(url, scout.encoder.identity.dimension)
    selection.check(scout.exported)  # before anything is written
    mark = settings_fingerprint(settings, selection, scout, graph)
    out, part = settings.out, settings.out.with_name(settings.out.name + ".part")
    program = f"kgscout retrieve --out {out.name}"
    with locked(out.parent, program, name=f".{out.name}.lock"):
        if settings.overwrite:
            part.unlink(missing_ok=True)
        elif out.exists():
            if ids <= completed_questions(out, mark).keys():
                part.unlink(missing_ok=True)
                logger.info("%s: has all %d questions already", out, len(ids))
                return 0
            if not part.exists() or not part.stat().st_size:
                with room_for(part, out.stat().st_size):
                    shutil.copyfile(out, part)
        drop_torn_line(part)
        completed = completed_questions(part, mark)
        if completed:
            logger.info("%s: %d questions are done already", part, len(completed))
        if settings.embed and isinstance(graph, KnowledgeGraph):
            graph.embed(scout.encoder)
        size = settings.batch_size
        batches = remaining_batches(settings.questions, part, completed, size)
        total, failed = len(ids - completed.keys()), 0
        retrieve = functools.partial(
            scout.retrieve_many, graphs=graph, k=settings.k, selection=selection
        )
        with (
            room_for(part),
            open(part, "ab") as file,
            ProgressBar(total, "retrieving", "questions") as bar,
        ):
            for batch in batches:
                written = 0
                for row, result in zip(batch, results(retrieve, batch), strict=True):
                    if row.id in completed:
                        continue
                    written += 1
                    failed += isinstance(result, str)
                    line = replace_surrogates(to_line(row, result, mark))
                    file.write(line.encode() + b"\n")
                file.flush()
                bar.update(written)
            os.fsync(file.fileno())
        os.replace(part, out)
    if failed:
        logger.warning("%s: %d of %d questions failed", out, failed, total)
    return int(0 < total == failed)


# --- the questions


def read_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """(line number, row) of each line.

    Raises:
        UserError: a line is not a JSON object, or has no id.
    """
    for number, value in read_json_lines(path):
        id, question = value.get("id"), value.get("question")
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        if not isinstance(id, str) or not id:
            raise UserError(
                f"{path}:{number}: 'id' is {excerpt(id)}, expected a question id"
            )
        problem = None
        if not isinstance(question, str) or not question.strip():
            problem = f"'question' is {excerpt(question)}, expected some text"
            question = question if isinstance(question, str) else ""
        topics = value.get("q_entity")
        topics = [topics] if isinstance(topics, str) else topics
        if topics is not None and not (
            isinstance(topics, list) and all(isinstance(name, str) for name in topics)
        ):
            problem = problem or f"'q_entity' is {excerpt(topics)}, expected names"
            topics = None
        yield (
            number,
            Row(
                id=replace_surrogates(id),
                question=replace_surrogates(question),
                topics=tuple(topics) if topics else None,
                problem=problem,
            ),
        )


def excerpt(value: object) -> str:
    """The start of a value, for a message."""
    text = repr(value if not isinstance(value, str) else value[:200])
    return text if len(text) <= 200 else text[:200] + "..."


def read_ids(path: Path) -> set[str]:
    """The ids of all questions; reads the whole file.

    Raises:
        UserError: a line is not a JSON object, has no id, or repeats one.
    """
    lines: dict[str, int] = {}
    for number, row in read_rows(path):
        if row.id in lines:
            raise UserError(
                f"{path}:{number}: id {excerpt(row.id)} occurs twice, first on line "
                f"{lines[row.id]}"
            )
        lines[row.id] = number
    if not lines:
        raise UserError(f"{path}: no question")
    return set(lines)


def remaining_batches(
    path: Path, part: Path, completed: dict[str, int], size: int
) -> Iterator[list[Row]]:
    """Each ``size`` consecutive questions of which some have no line in ``part``.

    Raises:
        UserError: ``part`` has another question under the same id.
    """
    rows = read_rows(path)
    while batch := list(itertools.islice(rows, size)):
        for number, row in batch:
            if row.id in completed and completed[row.id] != hash(row.question):
                raise UserError(
                    f"{path}:{number}: id {excerpt(row.id)} is that of another "
                    f"question in {part}; give --overwrite to begin anew"
                )
        if any(row.id not in completed for _, row in batch):
            yield [row for _, row in batch]


# --- the results


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


def drop_torn_line(path: Path) -> None:
    """Remove an incomplete last line, which a killed process leaves."""
    try:
        with open(path, "rb+") as file:
            file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def completed_questions(path: Path, mark: str) -> dict[str, int]:
    """The id of each line, with the hash of its question; {} without a file.

    Raises:
        UserError: a line was made with other settings.
    """
    completed = {}
    for number, value in read_json_lines(path) if path.exists() else ():
        if value.get("settings") != mark:
            raise UserError(
                f"{path}:{number}: of another policy, graph or settings; choose "
                "another --out, or give --overwrite to begin anew"
            )
        question = replace_surrogates(str(value.get("question")))
        completed[str(value.get("id"))] = hash(question)
    return completed


def settings_fingerprint(
    settings: RetrieveSettings,
    selection: SelectionConfig,
    scout: Scout,
    graph: GraphOrStore,
) -> str:
    """A hash of everything that a line depends on beside the question."""
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
    return fingerprint(inputs)[:12]


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
        return [sha256_file(path) for path in paths]
    return storage_fingerprint(graph.storage)
