"""The devices of a run, and the exchange between its processes.

Data parallel: one mesh axis over all devices of all processes. Batches are split over
their questions; every device has a copy of everything else (``sharded_table`` can split
the triplet table). Jitted functions see global arrays, so means, norms and random
numbers are those of the whole batch, whatever the number of devices. With one device
there is no mesh, and arrays are ordinary arrays.

Processes exchange data by collectives: all must make the same calls in the same order.
So an error in one process is raised in all, see ``synchronized``.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import Array

from kgscout_jax.errors import UserError, first_line
from kgscout_jax.learn.config import TrainConfig

logger = logging.getLogger("kgscout")

T = TypeVar("T")

LOST = re.compile(r"gloo|nccl|coordination|connection (reset|closed)", re.IGNORECASE)
"""In what JAX says when another process does not answer."""
AXIS = "data"
"""Name of the mesh's only axis."""
STOP_CHECK_EVERY = 10
"""Steps between checks for a stop in any process: each check waits for all."""


class LostProcessError(UserError):
    """Another process of the run is gone, so that this one cannot go on either."""


@dataclass(frozen=True)
class Devices:
    """The devices of a run, in the order of processes; see ``devices_of``."""

    mesh: Mesh | None = None
    """None: one device of one process."""

    @property
    def count(self) -> int:
        """Devices of all processes."""
        return 1 if self.mesh is None else self.mesh.size

    @property
    def processes(self) -> int:
        return 1 if self.mesh is None else jax.process_count()

    @property
    def process(self) -> int:
        """The number of this process, from 0."""
        return 0 if self.mesh is None else jax.process_index()

    @property
    def is_first(self) -> bool:
        """Whether this is the process that writes and logs."""
        return self.process == 0

    # --- batches

    def padded_size(self, size: int) -> int:
        """The next multiple of the number of devices."""
        return -(-size // self.count) * self.count

    def local_slice(self, size: int) -> slice:
        """This process's part of a batch padded to ``size`` questions."""
        share = size // self.processes
        return slice(self.process * share, (self.process + 1) * share)

    def shard(self, tree: Any) -> Any:
        """Global arrays from numpy arrays that hold this process's rows."""
        if self.mesh is None:
            return jax.tree.map(jax.device_put, tree)
        sharding = NamedSharding(self.mesh, PartitionSpec(AXIS))
        return jax.tree.map(
            lambda rows: jax.make_array_from_process_local_data(
                sharding, rows, (len(rows) * self.processes, *rows.shape[1:])
            ),
            tree,
        )

    def local_rows(self, array: Array) -> np.ndarray:
        """This process's part of a global array that is split over its first axis."""
        if self.processes == 1:
            return jax.device_get(array)
        shards = {s.index[0].start or 0: s.data for s in array.addressable_shards}
        return np.concatenate(jax.device_get([shards[i] for i in sorted(shards)]))

    # --- copies

    def replicate(self, tree: Any) -> Any:
        """A copy of each array on each device; all processes pass the same arrays."""
        if self.mesh is None:
            return tree
        sharding = NamedSharding(self.mesh, PartitionSpec())

        def copy(leaf: Any) -> Array:
            if isinstance(leaf, Array) and jnp.issubdtype(
                leaf.dtype, jax.dtypes.prng_key
            ):
                return jax.random.wrap_key_data(copy(jax.random.key_data(leaf)))
            leaf = np.asarray(leaf)
            return jax.make_array_from_callback(
                leaf.shape, sharding, lambda index: leaf[index]
            )

        return jax.tree.map(copy, tree)

    def put(self, array: np.ndarray) -> Array:
        """``array`` on each device; all processes pass the same one."""
        return jax.device_put(array) if self.mesh is None else self.replicate(array)

    def local_copy(self, tree: Any) -> Any:
        """Arrays on one device of this process, from copies on all devices."""
        if self.mesh is None:
            return tree
        return jax.tree.map(lambda leaf: leaf.addressable_data(0), tree)

    # --- between processes

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return bool(self.all_gather(np.asarray(flag)).any())

    def stop_requested(self, flag: bool, step: int) -> bool:
        """Whether any process has to stop; several processes check every few steps."""
        if self.processes == 1:
            return flag
        return step % STOP_CHECK_EVERY == 0 and self.any(flag)

    def sum(self, values: np.ndarray) -> np.ndarray:
        """The sum over processes, in the order of processes, in float64."""
        return self.all_gather(np.asarray(values, np.float64)).sum(axis=0)

    def all_gather(self, values: np.ndarray) -> np.ndarray:
        """The values of each process, of one shape, along a new first axis."""
        values = np.asarray(values)
        if self.processes == 1:
            return values[None]
        # As bytes: JAX would convert float64 to float32.
        flat = np.frombuffer(values.tobytes(), np.uint8)
        from jax.experimental import multihost_utils

        rows = np.asarray(multihost_utils.process_allgather(flat))
        return np.frombuffer(rows.tobytes(), values.dtype).reshape(-1, *values.shape)

    @contextlib.contextmanager
    def lost_process(self) -> Iterator[None]:
        """Context that raises LostProcessError where an exchange breaks off."""
        try:
            yield
        except (RuntimeError, ValueError) as error:
            if self.processes == 1 or not LOST.search(str(error)):
                raise
            raise LostProcessError(
                f"another process of the run is gone ({first_line(error)}); start all "
                "again, on any number of devices: they resume"
            ) from None

    def synchronized(self, function: Callable[[], T]) -> T:
        """The result of ``function`` here; all raise the UserError of any process."""
        if self.processes == 1:
            return function()
        result, problem = result_or_error(function)
        lengths = self.all_gather(np.asarray(len(problem)))
        if lengths.any():
            padded = np.zeros(int(lengths.max()), np.uint8)
            padded[: len(problem)] = np.frombuffer(problem, np.uint8)
            problems = self.all_gather(padded)
            process = int(np.flatnonzero(lengths)[0])
            raise UserError(problems[process, : lengths[process]].tobytes().decode())
        return result  # pyright: ignore[reportReturnType]

    def broadcast(self, function: Callable[[], Any]) -> Any:
        """The result of ``function`` in the first process: JSON, or a dict of arrays.

        The others do not call it, and raise the UserError that it raises there.
        """
        if self.processes == 1:
            return function()
        result, problem = result_or_error(function) if self.is_first else (None, b"")
        message = to_bytes(result, problem.decode()) if self.is_first else b""
        length = int(self.all_gather(np.asarray(len(message)))[0])
        from jax.experimental import multihost_utils

        buffer = np.zeros(length, np.uint8)
        if self.is_first:
            buffer[:] = np.frombuffer(message, np.uint8)
        buffer = np.asarray(multihost_utils.broadcast_one_to_all(buffer))
        return from_bytes(buffer.tobytes())


def devices_of(config: TrainConfig) -> Devices:
    """The devices that a config requests; joins the other processes first.

    Raises:
        UserError: too few devices, or the processes cannot connect.
    """
    join(config)
    every = jax.devices()
    if config.devices is None and len(every) == 1:
        return Devices()
    by_process: dict[int, list[Any]] = {}
    # In the order of processes, not of the network: a process's questions are
    # contiguous, and only one sum of small gradients crosses the network.
    for device in sorted(every, key=lambda device: (device.process_index, device.id)):
        by_process.setdefault(device.process_index, []).append(device)
    fewest = min(map(len, by_process.values()))
    if config.devices is None and len(set(map(len, by_process.values()))) > 1:
        logger.info("processes differ in devices: %d of each are used", fewest)
    each = config.devices or fewest
    if each > fewest:
        raise UserError(
            f"--devices: found {each}, expected at most {fewest}: a process has "
            f"{fewest} devices of kind {every[0].platform}"
        )
    selection = [device for some in by_process.values() for device in some[:each]]
    if len(selection) == 1:
        return Devices()
    return Devices(Mesh(np.array(selection), (AXIS,)))


def join(config: TrainConfig) -> None:
    """Connect this process with the run's other processes, if there are any.

    Raises:
        UserError: the processes cannot connect.
    """
    if config.coordinator is None and not config.distributed:
        return
    if jax.distributed.is_initialized():
        return
    try:
        if config.coordinator is None:
            jax.distributed.initialize()
        else:
            jax.distributed.initialize(
                config.coordinator, config.processes, config.process_id
            )
    except (RuntimeError, ValueError) as error:
        flag = "--distributed" if config.coordinator is None else "--coordinator"
        problem = first_line(error)
        raise UserError(f"{flag}: the processes did not meet ({problem})") from None
    if jax.process_index() > 0:
        logger.setLevel(logging.WARNING)  # the first process logs


def result_or_error(function: Callable[[], T]) -> tuple[T | None, bytes]:
    """The result of ``function``, or the message of its UserError."""
    try:
        return function(), b""
    except UserError as error:
        return None, str(error).encode() or b"failed"


def to_bytes(value: Any, problem: str) -> bytes:
    """A JSON value, a dict of arrays or a problem, as the bytes of an .npz file."""
    is_arrays = isinstance(value, dict) and any(
        isinstance(item, np.ndarray) for item in value.values()
    )
    arrays = {f"/{name}": item for name, item in value.items()} if is_arrays else {}
    header = [problem, is_arrays, None if is_arrays else value]
    buffer = io.BytesIO()
    text = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(buffer, allow_pickle=False, header=text, **arrays)
    return buffer.getvalue()


def from_bytes(data: bytes) -> Any:
    """The value that ``to_bytes`` packed; raises UserError if it was a problem."""
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        problem, is_arrays, value = json.loads(file["header"].tobytes())
        if problem:
            raise UserError(problem)
        if not is_arrays:
            return value
        return {name[1:]: file[name] for name in file.files if name != "header"}
