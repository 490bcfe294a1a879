"""Retrieval for a file of questions, in batches; an interrupted run resumes.

Lines are appended to ``OUT.part``, which becomes ``OUT`` when every question has one.
Questions are scored in batches by their place in the file, whatever process scores
them: a run that resumes within a batch scores all of it again, because on accelerators
scores depend on the batch in the sixth digit.
Each line holds a fingerprint of the settings: lines of other settings are refused.
"""

from __future__ import annotations

import itertools
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.merge import Graphs
from kgscout_jax.inference.batch_lines import (
    BatchLines,
    Row,
    inputs_fingerprint,
    load_scout,
    open_graphs,
    settings_inputs,
)
from kgscout_jax.inference.line_settings import inputs_file, settings_difference
from kgscout_jax.inference.settings import RetrieveSettings
from kgscout_jax.stores.connect import store_url
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.disk_space import room_for
from kgscout_jax.utils.engine import Engine
from kgscout_jax.utils.io import read_json_lines, write_json
from kgscout_jax.utils.lock import locked
from kgscout_jax.utils.progress import ProgressBar

logger = logging.getLogger("kgscout")


def retrieve_file(settings: RetrieveSettings) -> int:
    """Write ``settings.out``; the exit code: 1 if every question failed, else 0.

    Raises:
        UserError: the policy, the graph or the file of questions is missing or
            malformed, or ``out`` holds lines of other settings.
    """
    ids = read_ids(settings.questions)
    if settings.embed and (url := store_url(settings.kg)) is not None:
        raise UserError(f"--embed: {url} is a store, which has its own embeddings")
    graphs = open_graphs(settings)
    with settings.open_engine() as engine:
        return _retrieve(settings, ids, graphs, engine)


def _retrieve(
    settings: RetrieveSettings,
    ids: set[str],
    graphs: KnowledgeGraph | Graphs | None,
    engine: Engine,
) -> int:
    scout, graph = load_scout(settings, graphs)
    settings.selection.check(scout.exported)  # before anything is written
    inputs = settings_inputs(settings, scout, graph)
    mark = inputs_fingerprint(inputs)
    out, part = settings.out, settings.out.with_name(settings.out.name + ".part")
    program = f"kgscout retrieve --out {out.name}"
    with locked(out.parent, program, name=f".{out.name}.lock"):
        if settings.overwrite:
            part.unlink(missing_ok=True)
        elif out.exists():
            if ids <= completed_questions(out, out, inputs).keys():
                part.unlink(missing_ok=True)
                logger.info("%s: has all %d questions already", out, len(ids))
                return 0
            if not part.exists() or not part.stat().st_size:
                with room_for(part, out.stat().st_size):
                    shutil.copyfile(out, part)
        drop_torn_line(part)
        completed = completed_questions(part, out, inputs)
        write_json(inputs_file(out), inputs)
        if completed:
            logger.info("%s: %d questions are done already", part, len(completed))
        if settings.embed and isinstance(graph, KnowledgeGraph):
            if engine.is_remote:
                check_stored(graph)
            graph.embed(scout.encoder)
        size = settings.batch_size
        batches = remaining_batches(settings.questions, part, completed, size)
        total, failed, topicless = len(ids - completed.keys()), 0, 0
        batch_lines = BatchLines(settings, mark, scout, graph)
        with (
            room_for(part),
            open(part, "ab") as file,
            ProgressBar(total, "retrieving", "questions") as bar,
        ):
            for lines in engine.map(batch_lines, batches):
                new = [line for line in lines if line.id not in completed]
                for line in new:
                    failed += line.failed
                    topicless += line.topicless
                    file.write(line.text.encode() + b"\n")
                file.flush()
                bar.update(len(new))
            os.fsync(file.fileno())
        os.replace(part, out)
    if topicless:
        logger.warning(
            "%s: no topic of %d of %d questions is in the graph", out, topicless, total
        )
    if failed:
        logger.warning("%s: %d of %d questions failed", out, failed, total)
    return int(0 < total == failed)


def check_stored(graph: KnowledgeGraph) -> None:
    """Raise UserError where embeddings of a graph would not reach other processes."""
    members = [graph] if graph.members is None else graph.members.graphs
    if any(member.storage is None for member in members):
        raise UserError(
            "--embed: found a graph of files, expected a GRAPH folder (kgscout graph) "
            "where other processes read its embeddings"
        )


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
                topics=None if topics is None else tuple(topics),
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


# --- what is written already


def drop_torn_line(path: Path) -> None:
    """Remove an incomplete last line, which a killed process leaves."""
    try:
        with open(path, "rb+") as file:
            file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"{path}: cannot be written ({error.strerror})") from None


def completed_questions(
    path: Path, out: Path, inputs: Mapping[str, Any]
) -> dict[str, int]:
    """The id of each line, with the hash of its question; {} without a file.

    Args:
        path: the lines.
        out: the file that they are for.
        inputs: ``settings_inputs`` of the command.

    Raises:
        UserError: a line was made with other settings.
    """
    completed, mark = {}, inputs_fingerprint(inputs)
    for number, value in read_json_lines(path) if path.exists() else ():
        if value.get("settings") != mark:
            found = settings_difference(out, value.get("settings"), inputs)
            raise UserError(
                f"{path}:{number}: of {found}; choose another --out, or give "
                "--overwrite to begin anew"
            )
        question = replace_surrogates(str(value.get("question")))
        completed[str(value.get("id"))] = hash(question)
    return completed
