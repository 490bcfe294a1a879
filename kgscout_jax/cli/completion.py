"""``kgscout completion``: what a shell needs to complete commands and flags."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Union

import tyro


@dataclass(frozen=True, kw_only=True)
class CompletionSettings:
    """Print the completions of a shell: commands, flags, choices and files.

    Example: eval "$(kgscout completion bash)"
    """

    shell: tyro.conf.Positional[Literal["bash", "zsh", "fish"]]
    """The shell that reads them; docs/tutorial.md has the line for each."""


def print_completion(settings: CompletionSettings) -> None:
    """Print the completion script of a shell."""
    from kgscout_jax.cli.main import COMMANDS
    from kgscout_jax.cli.runner import imported

    tree: dict[str, Any] = {}
    for name, command in COMMANDS.items():
        place, settings_class = tree, imported(command.settings)
        *groups, last = name.split()
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = settings_class
    out = io.StringIO()
    arguments = ["--tyro-print-completion", settings.shell]
    with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
        tyro.cli(commands_type(tree), prog="kgscout", args=arguments)
    # A description is one line; the script has line ends within as two characters.
    print(re.sub(r"(?<=\S)\\n(?=\w)", " ", out.getvalue()), end="")


def commands_type(tree: Mapping[str, Any]) -> Any:
    """The type that tyro takes for a tree of commands."""
    return Union[  # noqa: UP007 (of a tuple)
        tuple(
            Annotated[
                commands_type(each) if isinstance(each, Mapping) else each,
                tyro.conf.subcommand(name),
            ]
            for name, each in tree.items()
        )
    ]
