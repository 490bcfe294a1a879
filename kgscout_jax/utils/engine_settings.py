"""The settings of an engine, in every command that spreads its work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgscout_jax.errors import UserError
from kgscout_jax.utils.checks import check_at_least
from kgscout_jax.utils.cpus import cpus
from kgscout_jax.utils.engine import Engine, LocalEngine
from kgscout_jax.utils.ray_engine import RayEngine

EngineName = Literal["local", "ray"]


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Where the questions of a command are worked on."""

    engine: EngineName = "local"
    """What does the work: processes of this machine, or actors of a Ray cluster, which
    must see the same files at the same paths."""
    workers: int | None = None
    """Processes that share the questions; default: this one alone, on a Ray cluster
    one per GPU, or per CPU where it has none."""
    ray_address: str | None = None
    """Address of the Ray cluster; default $RAY_ADDRESS, else a new local cluster."""

    def __post_init__(self) -> None:
        check_at_least(1, workers=self.workers)
        if self.ray_address is not None and self.engine != "ray":
            raise UserError(
                f"--ray-address: found {self.ray_address!r} with --engine "
                f"{self.engine}, expected --engine ray"
            )

    def open_engine(self) -> Engine:
        """The engine; where other processes compute, JAX leaves devices to them."""
        workers = self.workers if self.engine == "ray" else self.workers or 1
        engine = engine_of(self.engine, workers, self.ray_address, gpus=True)
        if engine.is_remote:
            import jax

            jax.config.update("jax_platforms", "cpu")
        return engine


ENGINE_FIELDS = frozenset(EngineSettings.__dataclass_fields__)
"""Settings that change no result, and stand in none."""


def engine_of(
    name: EngineName,
    workers: int | None = None,
    address: str | None = None,
    *,
    gpus: bool = False,
) -> Engine:
    """The engine by its name.

    Args:
        name: local or ray.
        workers: processes of a local engine, at most so many actors on Ray; None for
            one per CPU.
        address: of the Ray cluster, "auto" for the one on this machine; None: that in
            $RAY_ADDRESS, else a new one on this machine.
        gpus: whether each actor takes a GPU of its own on a cluster that has some.

    Raises:
        UserError: Ray is not installed, or the cluster does not answer.
    """
    if name == "ray":
        return RayEngine(address, workers, gpus=gpus)
    return LocalEngine(workers or cpus())
