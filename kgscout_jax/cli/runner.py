"""How every command runs: arguments to settings, one-line errors, exit codes.

Nothing heavy is imported before the arguments are known to be good.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import io
import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from kgscout_jax.cli.argument_values import check_no_empty_path, check_values
from kgscout_jax.cli.arguments import similar_flags, with_kg_lists, with_named_graphs
from kgscout_jax.cli.help import Capture, tidy_help
from kgscout_jax.errors import UserError
from kgscout_jax.utils.presets import preset_class

C = TypeVar("C")


@dataclass(frozen=True)
class Command:
    """A command: its line of help, its settings, and the function that takes them."""

    usage: str
    """The name and its positional arguments."""
    summary: str
    settings: str
    """The settings' class, as ``module:name``; importing it is cheap."""
    function: str
    """``module:name`` of the function; it returns an exit code or anything else."""
    uses_jax: bool = False
    """Whether JAX is configured before the function's module is imported."""


def run_command(command: Command, args: Sequence[str], prog: str) -> int:
    """The exit code of a command with these arguments."""

    def run() -> int:
        settings = parse(imported(command.settings), args, prog)
        if command.uses_jax:
            from kgscout_jax.utils.jax_setup import setup_jax

            setup_jax()
        code = imported(command.function)(settings)
        return code if isinstance(code, int) else 0

    return guarded(run)


def imported(place: str) -> Any:
    """What ``module:name`` names.

    Raises:
        UserError: it is in data_prep, or needs it, and another package has that name.
    """
    module, _, name = place.partition(":")
    if module.startswith(("data_prep.", "kgscout_jax.fit.")):
        from kgscout_jax.utils.extras import check_data_prep

        check_data_prep()
    return getattr(importlib.import_module(module), name)


def guarded(run: Callable[[], int | None]) -> int:
    """The exit code of ``run``: bad input is one line on stderr and 2.

    Interrupted from the keyboard: 130. Anything else that is raised is a defect and
    keeps its traceback, unless a folder that was opened turns out to be damaged.
    """
    # Not imported for this: --help is quick, and a new process has opened nothing.
    if (manifest := sys.modules.get("kgscout_jax.utils.manifest")) is not None:
        manifest.forget_opened()
    logging.basicConfig(
        level=logging.WARNING, format="%(message)s", stream=sys.stderr, force=True
    )
    logging.getLogger("kgscout").setLevel(logging.INFO)
    try:
        return run() or 0
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    except ModuleNotFoundError as error:
        from kgscout_jax.utils.extras import missing_line

        if (line := missing_line(error)) is None:  # a defect
            raise
        print(f"error: {line}", file=sys.stderr)
        return 2
    except MemoryError:
        print("error: not enough memory", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        from kgscout_jax.utils.disk_space import no_room, no_room_error

        if (reason := no_room(error)) is not None:  # of a library, or another process
            path = Path(getattr(error, "filename", None) or ".").absolute()
            print(f"error: {no_room_error(path, reason)}", file=sys.stderr)
            return 2
        if isinstance(error, OSError) and error.filename is not None:
            # A name that is too long, a loop of links, a file without rights.
            from kgscout_jax.utils.io import short_path

            print(
                f"error: {short_path(error.filename)}: {error.strerror}",
                file=sys.stderr,
            )
            return 2
        # Damaged data may raise anything anywhere; it is looked for before a
        # traceback is shown.
        from kgscout_jax.utils.manifest import damage

        if (problem := damage()) is None:
            raise
        print(f"error: {problem}", file=sys.stderr)
        return 2


def parse(config: type[C], args: Sequence[str], prog: str) -> C:
    """The arguments as a config dataclass; exits 0 on --help.

    Raises:
        UserError: a flag is unknown, missing or has a bad value.
    """
    import tyro

    settings = preset_class(config, args)
    fields = [field.name for field in dataclasses.fields(cast(Any, settings))]
    if "kg" in fields and not getattr(settings, "many_graphs", False):
        args = with_kg_lists(args, fields)
    if "graphs" in fields:
        args = with_named_graphs(args)
    check_no_empty_path(args, settings)
    output, shown = io.StringIO(), Capture(sys.stdout.encoding)
    try:
        with contextlib.redirect_stderr(output), contextlib.redirect_stdout(shown):
            return tyro.cli(
                settings,
                args=list(args),
                prog=prog,
                config=(tyro.conf.DisallowNone,),
            )
    except SystemExit as stop:
        if stop.code != 2:
            print(tidy_help(shown.getvalue(), getattr(settings, "groups", {})), end="")
            raise
    check_values(args, settings)
    found = boxed_message(output.getvalue()) + similar_flags(args, settings)
    raise UserError(f"{found} (see {prog} --help)")


def boxed_message(output: str) -> str:
    """The message in a box drawn by tyro, as one line.

    Without box-drawing characters, the title replaces the upper edge of the box.
    """
    lines = output.splitlines()
    boxed = [line.strip("│ ") for line in lines if line.startswith("│")]
    parts: list[list[str]] = [[]]
    for line in boxed or lines:
        if line.strip() and not line.strip(" ─-"):
            parts.append([])
        else:
            parts[-1].append(line.strip())
    message = parts[0] if boxed else parts[min(1, len(parts) - 1)]
    return " ".join(" ".join(message).split())
