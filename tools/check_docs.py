"""Run the code blocks of the documentation: python -m tools.check_docs

Each page's blocks run from top to bottom in a fresh folder, with one shell and one
Python for all of them. ``docs_pages`` says how a page's source marks a block that is
not run, what one must print, and which page runs first; such a page runs once, and
whoever needs it gets a copy of its folder. Run or not,
every ``kgscout`` command and flag on a page must exist, and links between files must
lead somewhere.
"""

from __future__ import annotations

import ast
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from kgscout_jax.cli.runner import guarded, parse
from kgscout_jax.errors import UserError
from tools.docs_flags import HelpOf, help_of, problems_of
from tools.docs_pages import Block, Page, broken_links, read_page
from tools.docs_shells import Session

RUN = "docs/*.md"
READ = ("README.md", "recipes/*.md")
"""What is run, and what is only read, where no page is named."""


@dataclass(frozen=True, kw_only=True)
class CheckSettings:
    """Run the code blocks of Markdown pages; exits 1 where one fails.

    Example: python -m tools.check_docs docs/tutorial.md
    """

    pages: Annotated[
        tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="PAGE")
    ] = ()
    """Pages to run; default: all of docs/, and README.md and recipes/ are read."""
    read: tuple[Path, ...] = ()
    """Pages whose commands are not run: they and their flags must exist."""
    jobs: int = 2
    """Pages that run at a time."""
    limit: float = 600.0
    """Seconds that one block may take."""
    keep: Path | None = None
    """Folder where the pages' folders are left; default: they are deleted."""

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise UserError(f"--jobs: found {self.jobs}, expected at least 1")
        if not self.limit > 0:
            raise UserError(f"--limit: found {self.limit:g}, expected above 0 seconds")


@dataclass(kw_only=True)
class Result:
    """What became of a page."""

    page: Page
    run: int = 0
    commands: int = 0
    """Commands of this project that were found to exist, flags and all, or not."""
    problems: list[str] = field(default_factory=list)
    """Each begins with page:line."""
    seconds: float = 0.0

    @property
    def marked(self) -> int:
        """How many blocks are not run because the page says so."""
        return sum(bool(block.not_run) for block in self.page.blocks)


def main(args: Sequence[str] | None = None) -> int:
    """The exit code: 1 where something is wrong, 2 where a page cannot be read."""

    def work() -> int:
        given = sys.argv[1:] if args is None else args
        settings = parse(CheckSettings, given, "python -m tools.check_docs")
        run, read = settings.pages, settings.read
        if not run and not read:
            run = tuple(sorted(Path().glob(RUN)))
            read = tuple(sorted(path for name in READ for path in Path().glob(name)))
        return check(run, read, settings)

    return guarded(work)


def check(
    run: Sequence[Path],
    read: Sequence[Path],
    settings: CheckSettings,
    help_of: HelpOf = help_of,
) -> int:
    """Check pages and print what became of them; the exit code.

    Raises:
        UserError: a page cannot be read, or needs itself.
    """
    pages = in_order(run)
    results: list[Result] = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="check-docs-") as name:
        root = (settings.keep or Path(name)).absolute()
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise UserError(f"--keep: {root} holds something, expected an empty folder")
        done: dict[Path, Future[Result]] = {}
        sessions: list[Session] = []
        with ThreadPoolExecutor(settings.jobs) as pool:
            # In order: whatever a page waits for has begun before it.
            for page in pages:
                done[page.path] = pool.submit(
                    run_page, page, root, settings.limit, done, sessions, help_of
                )
            try:
                for page in pages:
                    results.append(done[page.path].result())
                    tell(results[-1])
            except KeyboardInterrupt:
                pool.shutdown(wait=False, cancel_futures=True)
                for session in sessions:
                    session.stop()
                raise
        for path in read:
            results.append(read_only(read_page(path), help_of))
            tell(results[-1])
    bad = sum(len(result.problems) for result in results)
    print(
        f"check-docs: {sum(r.run for r in results)} blocks run, "
        f"{sum(r.marked for r in results)} marked as not run, "
        f"{sum(r.commands for r in results)} commands read, {bad} wrong, "
        f"{time.monotonic() - start:.0f} s"
    )
    return int(bad > 0)


def in_order(paths: Sequence[Path]) -> list[Page]:
    """The pages and those that they need, each behind all that it needs."""
    known: dict[Path, Page] = {}
    under_way: list[Path] = []

    def visit(path: Path) -> None:
        path = Path(path)
        if path in known:
            return
        if path in under_way:
            raise UserError(f"{path}: needs itself")
        under_way.append(path)
        page = read_page(path)
        for name in page.needs:
            visit(needed(page, name))
        known[path] = page
        under_way.pop()

    for path in paths:
        visit(path)
    return list(known.values())


def needed(page: Page, name: str) -> Path:
    """The path of a page that ``page`` needs."""
    return page.path.parent / f"{name}.md"


def folder_of(root: Path, page: Path) -> Path:
    """Where a page's blocks run."""
    return root / page.with_suffix("").as_posix().strip("/").replace("/", "-")


def run_page(
    page: Page,
    root: Path,
    limit: float,
    done: dict[Path, Future[Result]],
    sessions: list[Session],
    help_of: HelpOf,
) -> Result:
    """Read a page, then run its blocks, up to the first that fails.

    Args:
        page: to run.
        root: where the pages' folders are.
        limit: seconds that one block may take.
        done: by path, the results of the pages that this one may need.
        sessions: where the page's own is put, for whoever wants to stop it.
        help_of: says which flags a command has.
    """
    result = read_only(page, help_of)
    folder = folder_of(root, page.path)
    folder.mkdir()
    for name in page.needs:
        other = needed(page, name)
        if done[other].result().problems:
            result.problems.append(f"{page.path}:1: not run, for {other} has failed")
            return result
        shutil.copytree(
            folder_of(root, other), folder, symlinks=True, dirs_exist_ok=True
        )
    start = time.monotonic()
    state = folder.with_name(f".{folder.name}")
    with Session(folder, state, limit) as session:
        sessions.append(session)
        for block in page.blocks:
            if block.not_run:
                continue
            outcome = session.run(block)
            result.run += 1
            if outcome.problem:
                told = [f"{page.path}:{outcome.line}: {outcome.problem}"]
                told += [f"    {line}" for line in outcome.output.splitlines()]
                result.problems.append("\n".join(told))
                break
    result.seconds = time.monotonic() - start
    return result


def read_only(page: Page, help_of: HelpOf) -> Result:
    """Check what can be checked without running anything."""
    result = Result(page=page, problems=broken_links(page))
    for block in (*page.blocks, *page.quoted):
        if block.language == "python":
            result.problems += syntax_of(block)
            continue
        count, told = problems_of(block, help_of)
        result.commands += count
        result.problems += told
    return result


def syntax_of(block: Block) -> list[str]:
    """A line where Python cannot read the block."""
    try:
        ast.parse("\n" * (block.line - 1) + block.code)
    except SyntaxError as error:
        return [f"{block.page}:{error.lineno}: {error.msg}"]
    return []


def tell(result: Result) -> None:
    """Print what became of a page."""
    page = result.page
    parts = [f"{result.commands} commands"]
    if page.blocks:
        parts.append(f"{result.run} of {len(page.blocks)} blocks run")
    if result.run:
        parts.append(f"{result.seconds:.0f} s")
    print(f"{page.path}: {', '.join(parts)}")
    for block in page.blocks:
        if block.not_run:
            print(f"  not run, line {block.line}: {block.not_run}")
    for problem in result.problems:
        print(problem)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
