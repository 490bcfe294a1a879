"""One shell and one Python for a page: they run its blocks and keep their state.

A block is written to a file with as many empty lines before it as the page has, so
that whatever the shell or Python say of a line is true of the page.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.docs_pages import Block

TAIL = 25
"""Lines of output that are shown of a block that fails."""

SHELL = """\
set -eEuo pipefail
trap 'echo "$LINENO" > "$CHECK_DOCS_LINE"' ERR
"""
PYTHON = """\
import linecache, os, sys, traceback
told = int(sys.argv[1])
asked = os.fdopen(os.dup(0))
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
names = {"__name__": "__main__"}
for line in asked:
    file, page = line.rstrip("\\n").split("\\t")
    try:
        with open(file, encoding="utf-8") as handle:
            code = handle.read()
        linecache.cache[page] = (len(code), None, code.splitlines(True), page)
        exec(compile(code, page, "exec"), names)
        said = "good"
    except BaseException as error:
        at = [f.lineno for f in traceback.extract_tb(error.__traceback__)
              if f.filename == page]
        at = at or [getattr(error, "lineno", None) or ""]
        said = f"bad {at[-1]}"
        traceback.print_exc()
    sys.stdout.flush()
    os.write(told, (said + "\\n").encode())
"""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of a block."""

    problem: str = ""
    """Why it failed, in a line; "" where it did not."""
    line: int = 0
    """Of the page, where it failed."""
    output: str = ""
    """The end of what it printed."""
    seconds: float = 0.0


class Worker:
    """A process that is given files to run, one after the other."""

    def __init__(
        self, argv: Sequence[str], folder: Path, env: Mapping[str, str], log: Path
    ) -> None:
        self.told, theirs = os.pipe()
        self.number = theirs
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                [*argv, str(theirs)],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=dict(env),
                pass_fds=[theirs],
                start_new_session=True,  # a group, to end all that it starts
            )
        os.close(theirs)

    def run(self, asked: str, limit: float) -> str | None:
        """What the process says of ``asked``: a word and perhaps a line.

        "" where it ended, None where it took longer than ``limit`` seconds.
        """
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(asked.encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        ready, _, _ = select.select([self.told], [], [], limit)
        return os.read(self.told, 4096).decode().strip() if ready else None

    def signal(self, number: signal.Signals) -> None:
        """Tell the process and everything that it has started."""
        with contextlib.suppress(ProcessLookupError):  # all have ended
            os.killpg(self.process.pid, number)

    def close(self) -> None:
        """End the process and everything that it has started."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            self.signal(number)
            deadline = time.monotonic() + 5
            while self.process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
        self.process.wait()
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        os.close(self.told)


class Session:
    """The interpreters of one page; a context manager."""

    def __init__(self, folder: Path, state: Path, limit: float) -> None:
        """
        Args:
            folder: where blocks run.
            state: where this object keeps its own files.
            limit: seconds that one block may take.
        """
        state.mkdir(parents=True, exist_ok=True)
        self.folder, self.state, self.limit = folder, state, limit
        self.log, self.at = state / "output.txt", state / "line.txt"
        self.log.touch()
        self.workers: dict[str, Worker] = {}
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.env = os.environ | {
            "PATH": path,
            "PYTHONUNBUFFERED": "1",
            "CHECK_DOCS_LINE": str(self.at),
            "HF_HUB_OFFLINE": "1",  # pages promise to run without a network
        }

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers.values():
            worker.close()

    def stop(self) -> None:
        """End what is running now; from another thread, ``run`` then fails."""
        for worker in list(self.workers.values()):
            worker.signal(signal.SIGKILL)

    def run(self, block: Block) -> Outcome:
        """Run one block after those before it."""
        start, before = time.monotonic(), self.log.stat().st_size
        self.at.unlink(missing_ok=True)
        file = self.state / f"{block.line}.{block.language}"
        file.write_text("\n" * (block.line - 1) + block.code, "utf-8")
        worker = self._worker(block.language)
        if block.language == "bash":
            n = worker.number
            asked = f". '{file}' </dev/null {n}>&-; echo good >&{n}\n"
        else:
            asked = f"{file}\t{block.page}\n"
        said = worker.run(asked, self.limit)
        seconds = time.monotonic() - start
        with self.log.open("rb") as log:
            log.seek(before)
            printed = log.read().decode("utf-8", "replace")
        line, problem = block.line, ""
        if said is None:
            problem = f"took more than {self.limit:g} seconds"
        elif said != "good":
            at = said.removeprefix("bad").strip()
            if self.at.exists():
                at = self.at.read_text().strip()
            line = int(at) if at.isdigit() else line
            problem = "failed"
        else:
            missing = [text for text in block.expected if text not in printed]
            if missing:
                problem = f"did not print {missing[0]!r}"
        tail = "\n".join(printed.rstrip().splitlines()[-TAIL:])
        return Outcome(problem=problem, line=line, output=tail, seconds=seconds)

    def _worker(self, language: str) -> Worker:
        if language not in self.workers:
            if language == "bash":
                argv = ["bash", "--noprofile", "--norc", "-s"]
            else:
                argv = [sys.executable, "-c", PYTHON]
            worker = Worker(argv, self.folder, self.env, self.log)
            if language == "bash":
                assert worker.process.stdin is not None
                worker.process.stdin.write(SHELL.encode())
            self.workers[language] = worker
        return self.workers[language]
