"""``python -m data_prep SOURCE ...``, and with ``inspect`` or ``graph`` as SOURCE."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from kgscout_jax.cli.runner import guarded, parse


def main(args: Sequence[str] | None = None, prog: str = "python -m data_prep") -> int:
    """Prepare or inspect shards; returns the exit code."""
    args = list(sys.argv[1:] if args is None else args)
    if args[:1] == ["inspect"]:
        return inspect_main(args[1:], f"{prog} inspect")
    if args[:1] == ["graph"]:
        return graph_main(args[1:], f"{prog} graph")
    return guarded(lambda: _prepare(args, prog))


def inspect_main(args: Sequence[str], prog: str) -> int:
    """Print what is in a folder of shards; returns the exit code."""

    def work() -> None:
        from data_prep.inspect_command import InspectSettings, inspect

        inspect(parse(InspectSettings, args, prog))

    return guarded(work)


def graph_main(args: Sequence[str], prog: str) -> int:
    """Build, change or check a GRAPH folder; returns the exit code."""

    def work() -> None:
        from data_prep.graph_command import GraphSettings, graph

        graph(parse(GraphSettings, args, prog))

    return guarded(work)


def _prepare(args: Sequence[str], prog: str) -> None:
    from data_prep.settings import PrepSettings

    settings = parse(PrepSettings, args, prog)
    from data_prep.driver import prepare, prepare_part
    from data_prep.inspect_command import InspectSettings, inspect

    shards = prepare(settings) if settings.part is None else prepare_part(settings)
    if shards is not None:
        inspect(InspectSettings(shards=settings.out))


if __name__ == "__main__":
    sys.exit(main())
