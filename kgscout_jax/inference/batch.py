"""A file of questions to a file of triplets: in batches, resumable, nothing dropped.

Lines are written to ``OUT.part``, which becomes ``OUT`` when all questions are done.
Each line tells the settings it was made with, by a hash: lines of others are refused.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import itertools
import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from kgscout_jax.errors import UserError
from kgscout_jax.graph.embedding_texts import encodable
from kgscout_jax.graph.embeddings import storage_fingerprint
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.inference.scout import Scout
from kgscout_jax.inference.selection import SelectionConfig
from kgscout_jax.inference.settings import RetrieveSettings
from kgscout_jax.utils.io import read_json_lines, sha256_file
from kgscout_jax.utils.progress import progress

logger = logging.getLogger("kgscout")


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One line of the questions."""

    id: str
    question: str
    topics: tuple[str, ...] | None
    """None: they are to be linked."""
    problem: str | None = None
    """Why it cannot be asked."""


def retrieve_file(settings: RetrieveSettings) -> int:
    """Write ``settings.out``; the exit code: 1 if every question failed, else 0.

    Raises:
        UserError: the policy, the graph or the file of questions is missing or
            malformed, or ``out`` holds something else.
    """
    ids = checked_ids(settings.questions)
    graph = open_graph(settings.kg)
    scout = Scout.from_pretrained(settings.policy)
    selection = selection_of(settings)
    selection.calibration(scout.exported)  # before anything is written
    mark = mark_of_run(settings, scout, graph)
    out, part = settings.out, settings.out.with_name(settings.out.name + ".part")
    with held(part) as handle:
        if settings.overwrite:
            handle.truncate(0)
        elif out.exists():
            done = lines_done(out, mark)
            if ids <= done.keys():
                handle.truncate(0)  # of before the file was whole
                logger.info("%s: has all %d questions already", out, len(ids))
                return 0
            if not part.stat().st_size:
                shutil.copyfile(out, part)
        cut_torn_line(handle)
        done = lines_done(part, mark)
        if done:
            logger.info("%s: %d questions are done already", part, len(done))
        if settings.embed:
            graph.embed(scout.encoder)
        total, failed = len(ids - done.keys()), 0
        with progress(total, "retrieving", "questions") as bar:
            left = left_of(settings.questions, part, done)
            while some := list(itertools.islice(left, settings.batch_size)):
                for line, ok in answered(
                    scout, graph, some, settings.k, selection, mark
                ):
                    failed += not ok
                    handle.write(encodable(line).encode() + b"\n")
                handle.flush()
                bar.update(len(some))
        os.fsync(handle.fileno())
        os.replace(part, out)
    if failed:
        logger.warning("%s: %d of %d questions failed", out, failed, total)
    return int(0 < total == failed)


# --- the questions


def rows_of(path: Path) -> Iterator[tuple[int, Row]]:
    """(line number, row) of each line.

    Raises:
        UserError: a line is no JSON object, or has no id.
    """
    for number, value in read_json_lines(path):
        id, question = value.get("id"), value.get("question")
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        if not isinstance(id, str) or not id:
            raise UserError(
                f"{path}:{number}: 'id' is {short(id)}, expected a question id"
            )
        problem = None
        if not isinstance(question, str) or not question.strip():
            problem = f"'question' is {short(question)}, expected some text"
            question = question if isinstance(question, str) else ""
        topics = value.get("q_entity")
        topics = [topics] if isinstance(topics, str) else topics
        if topics is not None and not (
            isinstance(topics, list) and all(isinstance(name, str) for name in topics)
        ):
            problem = problem or f"'q_entity' is {short(topics)}, expected names"
            topics = None
        yield (
            number,
            Row(
                id=encodable(id),
                question=encodable(question),
                topics=tuple(topics) if topics else None,
                problem=problem,
            ),
        )


def short(value: object) -> str:
    """A value as it is told: what is wrong with a long one is seen at its start."""
    told = repr(value if not isinstance(value, str) else value[:200])
    return told if len(told) <= 200 else told[:200] + "..."


def checked_ids(path: Path) -> set[str]:
    """The ids of all questions, once the whole file has been read.

    Raises:
        UserError: a line is no JSON object, has no id or that of another line.
    """
    lines: dict[str, int] = {}
    for number, row in rows_of(path):
        if row.id in lines:
            raise UserError(
                f"{path}:{number}: id {short(row.id)} occurs twice, first on line "
                f"{lines[row.id]}"
            )
        lines[row.id] = number
    if not lines:
        raise UserError(f"{path}: no question")
    return set(lines)


def left_of(path: Path, part: Path, done: dict[str, str]) -> Iterator[Row]:
    """The questions that are not done yet.

    Raises:
        UserError: one that is done was another question.
    """
    for number, row in rows_of(path):
        if row.id not in done:
            yield row
        elif done[row.id] != digest(row.question):
            raise UserError(
                f"{path}:{number}: id {short(row.id)} is that of another question in "
                f"{part}; give --overwrite to begin anew"
            )


# --- the answers


def answered(
    scout: Scout,
    graph: KnowledgeGraph,
    rows: Sequence[Row],
    k: int,
    selection: SelectionConfig,
    mark: str,
) -> Iterator[tuple[str, bool]]:
    """For each row its line, and whether it went well."""
    good = [row for row in rows if row.problem is None]
    try:
        found = scout.retrieve_many(
            [row.question for row in good],
            graph,
            k,
            topics=[row.topics for row in good],
            selection=selection,
        )
        lines = {
            row.id: each.to_record(row.id)
            for row, each in zip(good, found, strict=True)
        }
    except Exception as error:  # noqa: BLE001 (told below, for the one that fails)
        logger.info("a batch failed (%s): its questions go one by one", error)
        lines = None
    for row in rows:
        problem, record = row.problem, None
        if problem is None and lines is not None:
            record = lines[row.id]
        elif problem is None:
            try:
                one = scout.retrieve(
                    row.question, graph, k, topics=row.topics, selection=selection
                )
                record = one.to_record(row.id)
            except Exception as error:  # noqa: BLE001 (a line says it)
                problem = str(error).strip() or type(error).__name__
        if record is not None:
            extra = {**record.extra, "settings": mark}
            yield dataclasses.replace(record, extra=extra).to_json(), True
            continue
        line = {
            "id": row.id,
            "question": row.question,
            "error": problem,
            "settings": mark,
        }
        yield json.dumps(line, ensure_ascii=False), False


# --- the file that grows


@contextlib.contextmanager
def held(part: Path) -> Iterator[IO[bytes]]:
    """The part, to append to; one process holds it at a time.

    Raises:
        UserError: another process writes it, or it cannot be written.
    """
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        handle = open(part, "ab")  # noqa: SIM115 (closed below)
    except OSError as error:
        raise UserError(f"{part}: cannot be written ({error.strerror})") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{part}: another kgscout retrieve is writing it") from None
        try:
            yield handle
        finally:
            if part.exists() and not part.stat().st_size:
                part.unlink()


def cut_torn_line(handle: IO[bytes]) -> None:
    """Drop what a killed run left of a last line."""
    with open(handle.name, "rb") as file:
        whole = 0
        for line in file:
            whole += len(line) if line.endswith(b"\n") else 0
    handle.truncate(whole)


def lines_done(path: Path, mark: str) -> dict[str, str]:
    """The id of each line, with a digest of its question.

    Raises:
        UserError: a line is not of these settings.
    """
    done = {}
    for number, value in read_json_lines(path):
        if value.get("settings") != mark:
            raise UserError(
                f"{path}:{number}: of another policy, graph or settings; choose "
                "another --out, or give --overwrite to begin anew"
            )
        done[str(value.get("id"))] = digest(str(value.get("question")))
    return done


def digest(question: str) -> str:
    """A short hash of a question's text."""
    text = encodable(question)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def selection_of(settings: RetrieveSettings) -> SelectionConfig:
    """What is kept of each ranking."""
    return SelectionConfig(
        target=settings.target,
        form=settings.form,
        token_budget=settings.token_budget,
    )


def mark_of_run(settings: RetrieveSettings, scout: Scout, graph: KnowledgeGraph) -> str:
    """A hash of all that a line depends on, beside the question."""
    about: dict[str, Any] = {
        "k": settings.k,
        "cut": dataclasses.asdict(scout.cut),
        "policy": scout.exported.about["files"],
        "graph": [sha256_file(path) for path in settings.kg]
        if graph.storage is None
        else storage_fingerprint(graph.storage),
    }
    if (selection := selection_of(settings)) != SelectionConfig():
        about["keep"] = dataclasses.asdict(selection)
        about["calibration"] = scout.exported.about.get("calibration")
    text = json.dumps(about, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
