"""Actors of a Ray cluster as an engine."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.utils.cpus import cpus
from kgscout_jax.utils.engine import AHEAD

T = TypeVar("T")
R = TypeVar("R")

ANSWERS_IN = 10
"""Seconds in which a cluster must answer."""
RESTARTS = 3
"""Times that Ray replaces an actor that dies, and repeats its item."""


class RayEngine:
    """Actors of a Ray cluster, which must see the same files at the same paths.

    An actor gets its next item when it has done one, so slow machines get fewer. What
    a function opens stays open in the actor. Ray replaces an actor that dies and
    repeats its item, ``RESTARTS`` times.
    """

    is_remote = True
    embeds = True

    def __init__(
        self,
        address: str | None = None,
        workers: int | None = None,
        *,
        gpus: bool = False,
    ) -> None:
        self.address, self.workers, self.gpus = address, workers, gpus
        self._started = False
        self._actors = 0
        self._free: list[Any] = []
        self._busy: dict[Any, Any] = {}
        """What Ray will deliver -> the actor that works on it."""

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """``function`` of each item, in their order."""
        ray = self._ray()
        shared = ray.put(function)
        waiting, pending = iter(items), deque[Any]()
        try:
            while True:
                room = AHEAD * self._actors - len(pending)
                for item in itertools.islice(waiting, min(room, len(self._free))):
                    actor = self._free.pop()
                    pending.append(actor.call.remote(shared, item))
                    self._busy[pending[-1]] = actor
                if not pending and self._free:
                    return
                for done in ray.wait(list(self._busy))[0]:
                    self._free.append(self._busy.pop(done))
                while pending and pending[0] not in self._busy:
                    yield ray.get(pending.popleft())
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except ray.exceptions.RayError as error:
            raise UserError(
                f"--engine ray: {first_line(error)}: give the same command again"
            ) from None

    def _ray(self) -> Any:
        """The ray module, connected to a cluster on which the actors start."""
        try:
            import ray
        except ImportError:
            raise UserError(
                "--engine ray: Ray is not installed; pip install 'kgscout-jax[ray]'"
            ) from None
        if not ray.is_initialized():
            # Ray hides GPUs from actors that request none, but the encoder uses them.
            os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
            address = self.address or os.environ.get("RAY_ADDRESS")
            own: dict[str, Any] = {"num_cpus": self.workers, "include_dashboard": False}
            try:
                _check_answers(address or "")
                ray.init(
                    address=address or "local",
                    log_to_driver=False,
                    logging_level=logging.WARNING,
                    **({} if address else own),
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                where = address or "a local cluster"
                raise UserError(f"--engine ray: {where}: {first_line(error)}") from None
            self._started = True
        if not self._actors:
            self._start_actors(ray)
        return ray

    def _start_actors(self, ray: Any) -> None:
        resources = ray.cluster_resources()
        gpus = int(resources.get("GPU", 0)) if self.gpus else 0
        self._actors = self.workers or gpus or int(resources.get("CPU", 1))
        # Ray gives an actor one thread: sums of BLAS have the bits of as many as here.
        threads = os.environ.get("OMP_NUM_THREADS") or str(cpus())
        actor = ray.remote(
            **({"num_gpus": 1} if gpus else {"num_cpus": 1}),
            max_restarts=RESTARTS,
            max_task_retries=RESTARTS,
            runtime_env={"env_vars": {"OMP_NUM_THREADS": threads}},
        )(_Actor)
        for _ in range(self._actors):
            one = actor.remote(os.getcwd())
            self._busy[one.ready.remote()] = one

    def __enter__(self) -> RayEngine:
        self._ray()  # before JAX starts threads: Ray forks
        return self

    def __exit__(self, *_: object) -> None:
        if self._started:
            with contextlib.suppress(ImportError):
                import ray

                ray.shutdown()
        self._started, self._actors, self._free, self._busy = False, 0, [], {}


class _Actor:
    """Calls functions in the driver's folder, where there is one of that name."""

    def __init__(self, folder: str) -> None:
        with contextlib.suppress(OSError):
            os.chdir(folder)

    def ready(self) -> None:
        """Return when the actor has started."""

    def call(self, function: Callable[[T], R], item: T) -> R:
        """``function`` of the item."""
        return function(item)


def _check_answers(address: str) -> None:
    """Raise ConnectionError where nobody listens; Ray would try for many minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdigit()):  # auto, local
        return
    try:
        socket.create_connection((host, int(port)), ANSWERS_IN).close()
    except OSError as error:
        reason = error.strerror or error
        raise ConnectionError(f"no cluster answers ({reason})") from None
