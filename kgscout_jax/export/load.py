"""An exported policy: the folder's format, and reading it.

    config.json        format and version; policy, encoder, preparation, training;
                       size and sha256 of the three files below
    model.safetensors  every parameter by its name in ``PolicyWeights``, float32
    policy.stablehlo   ``jax.export`` of the network, its parameters inside:
                       (q[b,d], T[b,n,d], R[b,n,d], ppr[b,n,2], mask[b,n]) -> logits;
                       of the walk policy and the MLP two more arguments, nodes[b,n,2]
                       and topics[b,v]
    golden.npz         inputs of that call and the logits it gave when it was exported
    README.md          the model card

``config.json`` and ``model.safetensors`` are the export; ``policy.stablehlo`` is for
programs without this package, within JAX's window of compatibility. Reading needs jax,
numpy and safetensors: neither flax, optax and orbax nor the training code, but for
``Exported.policy``.
"""

from __future__ import annotations

import dataclasses
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from kgscout_jax.data.shards import DIRECTIONS
from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json, sha256_file

if TYPE_CHECKING:
    from kgscout_jax.policy.config import NetworkConfig
    from kgscout_jax.policy.inputs import PolicyInputs
    from kgscout_jax.policy.module import Policy
    from kgscout_jax.policy.registry import PolicyWeights
    from kgscout_jax.retrieve.budget import Calibration
    from kgscout_jax.text.encoder import EncoderIdentity

FORMAT = "kgscout-policy"
VERSION = 1
CONFIG, MODEL, STABLEHLO = "config.json", "model.safetensors", "policy.stablehlo"
GOLDEN, CARD = "golden.npz", "README.md"
CHECKED = (MODEL, STABLEHLO, GOLDEN)
"""Files whose size and sha256 stand in ``config.json``."""
FILES = (CONFIG, *CHECKED, CARD)
NEEDED = ("policy", "encoder", "preparation", "training", "tolerance", "files")
"""What a reader takes from ``config.json``."""
INPUTS = ("question", "triplets", "relations", "ppr", "mask")
"""Arguments of the exported call, in their order."""
PLACES = ("nodes", "topics")
"""Its further arguments, where the network needs them: local node ids of head and tail,
int32, below v; and which of the v nodes the question is about, bool."""


@dataclass(frozen=True, kw_only=True)
class Preparation:
    """How the subgraphs and candidates were made that the policy was trained on."""

    hops: int | None
    """Radius of the ball; None: questions brought their own subgraph."""
    max_triplets: int | None
    """Size that subgraphs were cut to by PageRank; None: not cut."""
    candidates: int
    """Nearest to the question by cosine that are kept for the network."""
    direction: str
    """How PageRank walks edges: both or directed."""
    cut: str = "ppr"
    """What ranked triplets for the cut: a guided walk, or PageRank (the thesis)."""
    select: str = "cosine"
    """What ranked candidates: hybrid, or cosine (the thesis)."""
    ppr_threshold: float | None = None
    """Both ends of every triplet held this much PageRank."""
    hub_degree: int | None = None
    """Balls did not walk through entities with more triplets than this."""

    def __post_init__(self) -> None:
        for name, optional in (
            ("hops", True),
            ("max_triplets", True),
            ("candidates", False),
            ("hub_degree", True),
        ):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole and value >= 1) and not (optional and value is None):
                expected = "a whole number above 0" + (" or null" if optional else "")
                raise UserError(f"preparation.{name}: {value!r}, expected {expected}")
        for name, known in (
            ("direction", DIRECTIONS),
            ("cut", ("guided", "ppr")),
            ("select", ("hybrid", "cosine")),
        ):
            if getattr(self, name) not in known:
                raise UserError(
                    f"preparation.{name}: {getattr(self, name)!r}, expected one of "
                    f"{', '.join(known)}"
                )
        threshold = self.ppr_threshold
        if threshold is not None and not (
            isinstance(threshold, float) and 0 < threshold < 1
        ):
            raise UserError(
                f"preparation.ppr_threshold: {threshold!r}, expected a number between "
                "0 and 1, or null"
            )


def arguments_of(config: NetworkConfig) -> tuple[str, ...]:
    """Names of the arguments of the exported call, in their order."""
    from kgscout_jax.policy.registry import needs_topology

    return (*INPUTS, *PLACES) if needs_topology(config) else INPUTS


class Golden(NamedTuple):
    """Inputs of the exported call, padding and an empty question among them."""

    question: Float[np.ndarray, "b d"]
    triplets: Float[np.ndarray, "b n d"]
    relations: Float[np.ndarray, "b n d"]
    ppr: Float[np.ndarray, "b n 2"]
    mask: Bool[np.ndarray, "b n"]
    logits: Float[np.ndarray, "b n"]
    nodes: Int[np.ndarray, "b n 2"] | None = None
    topics: Bool[np.ndarray, "b v"] | None = None

    @property
    def arguments(self) -> tuple[np.ndarray, ...]:
        """What the exported call takes."""
        arrays = (self.question, self.triplets, self.relations, self.ppr, self.mask)
        if self.nodes is None or self.topics is None:
            return arrays
        return *arrays, self.nodes, self.topics

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What ``golden.npz`` holds."""
        return {k: v for k, v in self._asdict().items() if v is not None}

    @property
    def inputs(self) -> PolicyInputs:
        """What the network takes."""
        from kgscout_jax.policy.inputs import PolicyInputs

        return PolicyInputs.from_full(*map(_on_device, self.arguments))


@dataclass(frozen=True)
class Exported:
    """An exported policy that has been read and checked."""

    path: Path
    about: dict[str, Any]
    """``config.json``."""
    config: NetworkConfig
    encoder: EncoderIdentity
    """Of the encoder whose embeddings the policy takes."""
    preparation: Preparation
    weights: PolicyWeights
    golden: Golden

    @property
    def k(self) -> int | None:
        """How many triplets training kept at most; None where it is not told."""
        k = self.about["training"].get("settings", {}).get("k")
        return k if isinstance(k, int) else None

    @cached_property
    def _logits(self) -> Callable[[PolicyWeights, PolicyInputs], Float[Array, "b n"]]:
        import jax

        from kgscout_jax.policy.registry import policy_logits

        return jax.jit(lambda weights, x: policy_logits(weights, self.config, x))

    def logits(self, inputs: PolicyInputs) -> Float[Array, "b n"]:
        """Logits of all candidates, -inf where the mask is False; jitted.

        Shapes: as ``policy_logits``; compiles once per shape of the inputs.
        """
        return self._logits(self.weights, inputs)

    @cached_property
    def stablehlo(self) -> Callable[..., Float[Array, "b n"]]:
        """The call in ``policy.stablehlo``, compared with the golden logits.

        Shapes:
            question [b, d], triplets [b, n, d], relations [b, n, d], ppr [b, n, 2]:
            float32; mask [b, n]: bool; where the network needs places also nodes
            [b, n, 2]: int32, topics [b, v]: bool. Any b, n and v from 1.
            Returns [b, n], float32.

        Raises:
            UserError: this JAX cannot read the file, or its logits differ.
        """
        import jax
        import jax.export

        file = self.path / STABLEHLO
        try:
            call = jax.jit(jax.export.deserialize(bytearray(file.read_bytes())).call)
            logits = np.asarray(call(*self.golden.arguments))
        except Exception as error:  # whatever JAX says of a file it cannot run
            raise UserError(
                f"{file}: JAX {jax.__version__} cannot run it ({first_line(error)}); "
                f"{MODEL} does not depend on the version"
            ) from error
        # Its matmuls have the platform's own precision, unlike those of the check of
        # the network: on an accelerator float32 may mean three digits.
        cpu = jax.default_backend() == "cpu"
        tolerance = self.about["tolerance"] if cpu else TOLERANCE["bfloat16"]
        check_golden(file, logits, self.golden, tolerance)
        return call

    @cached_property
    def policy(self) -> Policy:
        """The same policy as a flax module, for evaluation or further training."""
        from kgscout_jax.policy.module import Policy

        return Policy(self.config, self.weights)


TOLERANCE = {"float32": 1e-3, "bfloat16": 5e-2}
"""By compute dtype: how far logits may be from the golden ones, relative to the largest
of these. Another machine sums in another order; other weights differ by more."""


# --- reading


def load_exported(path: Path | str, *, verify: bool = True) -> Exported:
    """The policy in a folder that ``kgscout export`` wrote.

    Args:
        path: the folder.
        verify: also run the network on the golden inputs (compiles once).

    Raises:
        UserError: the folder is missing, newer, damaged, foreign or does not fit
            together, or the network's logits are not the golden ones.
    """
    path = Path(path)
    about = read_about(path)
    file = path / CONFIG
    check_files(path, about)
    config, encoder, preparation = read_parts(file, about)
    weights = read_weights(path / MODEL, config)
    golden = read_golden(path / GOLDEN, config)
    exported = Exported(path, about, config, encoder, preparation, weights, golden)
    if verify:
        import jax

        with jax.default_matmul_precision("highest"):
            logits = np.asarray(exported.logits(golden.inputs))
        check_golden(path / MODEL, logits, golden, about["tolerance"])
    return exported


def is_exported(path: Path) -> bool:
    """Whether a folder says of itself that it is an exported policy."""
    try:
        about = read_json(path / CONFIG)
    except UserError:
        return False
    return isinstance(about, dict) and about.get("format") == FORMAT


def read_about(path: Path) -> dict[str, Any]:
    """``config.json``, of this format and version, with all that is needed of it."""
    file = path / CONFIG
    if not path.is_dir():
        raise UserError(f"{path}: no such folder")
    if not file.exists():
        raise UserError(f"{path}: no {CONFIG}, this is not an exported policy")
    about = read_json(file)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        run = isinstance(about, dict) and {"config", "policy", "shards"} <= set(about)
        hint = "; this is a run, see kgscout export" if run else ""
        raise UserError(f"{file}: not the configuration of a {FORMAT}{hint}")
    version = about.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        hint = "; written by a newer kgscout-jax, update yours" if newer else ""
        raise UserError(
            f"{file}: format version is {version}, expected {VERSION}{hint}"
        )
    missing = [key for key in NEEDED if not about.get(key)]
    if missing:
        raise UserError(f"{file}: damaged, no {', '.join(missing)}")
    for key in set(NEEDED) - {"tolerance"}:
        if not isinstance(about[key], dict):
            raise UserError(f"{file}: {key} is {about[key]!r}, expected an object")
    tolerance = about["tolerance"]
    # Not above 1: a folder must not switch the comparison off.
    if not isinstance(tolerance, float) or not 0 < tolerance <= 1:
        raise UserError(
            f"{file}: tolerance is {tolerance!r}, expected above 0, up to 1"
        )
    return about


def check_files(path: Path, about: Mapping[str, Any]) -> None:
    """Raise UserError unless every file has the size and checksum written down."""
    for name in CHECKED:
        file, entry = path / name, about["files"].get(name)
        if not isinstance(entry, dict) or not {"bytes", "sha256"} <= set(entry):
            raise UserError(f"{path / CONFIG}: damaged, no size and checksum of {name}")
        if not file.is_file():
            raise UserError(f"{file}: missing")
        size = file.stat().st_size
        if size != entry["bytes"]:
            raise UserError(
                f"{file}: {size} bytes, expected {entry['bytes']}: truncated or "
                "changed since it was exported"
            )
        if sha256_file(file) != entry["sha256"]:
            raise UserError(f"{file}: checksum differs from the one in {CONFIG}")


def read_parts(
    file: Path, about: Mapping[str, Any]
) -> tuple[NetworkConfig, EncoderIdentity, Preparation]:
    """The records in ``config.json``."""
    from kgscout_jax.policy.registry import config_from_json
    from kgscout_jax.text.encoder import EncoderIdentity

    try:
        config = config_from_json(about["policy"])
        preparation = record(Preparation, about["preparation"], "preparation")
        encoder = record(EncoderIdentity, about["encoder"], "encoder")
    except UserError as error:
        raise UserError(f"{file}: {error}") from None
    except (TypeError, ValueError) as error:
        raise UserError(f"{file}: policy: {first_line(error)}") from None
    if encoder.dimension != config.dimension:
        raise UserError(
            f"{file}: encoder.dimension is {encoder.dimension}, expected "
            f"{config.dimension} as in policy.dimension"
        )
    return config, encoder, preparation


def record(kind: type[Any], fields: Mapping[str, Any], where: str) -> Any:
    """A record out of JSON; raises UserError where names or simple types are wrong."""
    known = {field.name: field for field in dataclasses.fields(kind)}
    for name, field in known.items():
        required = field.default is dataclasses.MISSING
        if required and name not in fields:
            raise UserError(f"{where}.{name}: missing")
    for name, value in fields.items():
        if name not in known:
            raise UserError(f"{where}.{name}: unknown field")
        simple = {"str": str, "int": int}.get(str(known[name].type))
        if simple is not None and type(value) is not simple:
            expected = {"str": "a string", "int": "a whole number"}[simple.__name__]
            raise UserError(f"{where}.{name}: {value!r}, expected {expected}")
    return kind(**fields)


def read_weights(file: Path, config: NetworkConfig) -> PolicyWeights:
    """The parameters in ``model.safetensors``, on the default device."""
    import jax
    from safetensors import SafetensorError, safe_open

    from kgscout_jax.policy.registry import weight_shapes

    shapes = weight_shapes(config)
    wanted = named_leaves(shapes)
    leaves = []
    try:
        with safe_open(file, framework="numpy") as opened:
            saved = {name: opened.get_slice(name) for name in opened.keys()}  # noqa: SIM118
            for name in sorted(saved.keys() | wanted.keys()):
                if name not in saved or name not in wanted:
                    what = "not a parameter" if name in saved else "missing"
                    raise UserError(f"{file}: {name} is {what} of this policy")
                found = (saved[name].get_dtype(), tuple(saved[name].get_shape()))
                expected = ("F32", wanted[name].shape)
                if found != expected:
                    raise UserError(
                        f"{file}: {name} is {found[0]} {found[1]}, expected "
                        f"{expected[0]} {expected[1]}"
                    )
            leaves = [_on_device(opened.get_tensor(name)) for name in wanted]
    except SafetensorError as error:
        told = first_line(error)
        raise UserError(f"{file}: not a whole safetensors file ({told})") from None
    return jax.tree.unflatten(jax.tree.structure(shapes), leaves)


def read_golden(file: Path, config: NetworkConfig) -> Golden:
    """The arrays in ``golden.npz``; raises UserError where they do not fit."""
    try:
        with np.load(file, allow_pickle=False) as opened:
            arrays = {name: opened[name] for name in opened.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        told = first_line(error)
        raise UserError(f"{file}: not a whole .npz file ({told})") from None
    names = (*INPUTS, "logits", *arguments_of(config)[len(INPUTS) :])
    missing = [name for name in names if name not in arrays]
    if missing:
        raise UserError(f"{file}: no {', '.join(missing)}")
    golden = Golden(**{name: arrays[name] for name in names})
    b, n = golden.mask.shape if golden.mask.ndim == 2 else (0, 0)
    d, v = config.dimension, arrays[names[-1]].shape[-1] if b else 0
    shapes = (
        (b, d),
        (b, n, d),
        (b, n, d),
        (b, n, 2),
        (b, n),
        (b, n),
        (b, n, 2),
        (b, v),
    )
    dtypes = {"mask": bool, "topics": bool, "nodes": np.int32}
    for name, shape in zip(names, shapes, strict=False):
        array, dtype = arrays[name], dtypes.get(name, np.float32)
        if array.shape != shape or array.dtype != dtype or not array.size:
            raise UserError(
                f"{file}: {name} is {array.dtype} {array.shape}, expected "
                f"{np.dtype(dtype)} {shape}, not empty"
            )
    return golden


def check_golden(
    file: Path, found: np.ndarray, golden: Golden, tolerance: float
) -> None:
    """Raise UserError unless the logits found are the golden ones, within tolerance."""
    mask = golden.mask
    if not np.array_equal(np.isneginf(found), ~mask):
        raise UserError(f"{file}: logits are not -inf exactly where the mask is False")
    largest = float(np.abs(golden.logits[mask]).max(initial=1e-3))
    off = float(np.abs(found[mask] - golden.logits[mask]).max(initial=0.0))
    if not off <= tolerance * largest:  # not: nan too
        raise UserError(
            f"{file}: its logits differ by {off:.2g} from those in {GOLDEN}, expected "
            f"at most {tolerance * largest:.2g}: parameters, settings or code are not "
            "those that were exported"
        )


# --- names of parameters


def leaf_name(place: Any) -> str:
    """The name in ``model.safetensors`` of a leaf at a pytree's path."""
    import jax

    return jax.tree_util.keystr(place, simple=True, separator=".")


def named_leaves(tree: Any) -> dict[str, Any]:
    """The leaves of a pytree by their names, in their order."""
    import jax

    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {leaf_name(place): leaf for place, leaf in leaves}


def _on_device(array: np.ndarray) -> Array:
    import jax.numpy as jnp

    return jnp.asarray(array)


def first_line(error: BaseException) -> str:
    """What an exception says, its first line and no more than a line's worth."""
    said = str(error).strip() or type(error).__name__
    return said.splitlines()[0][:160]


def load_calibration(path: Path) -> Calibration | None:
    """The calibration of an exported policy; None of a run, or if there is none.

    Raises:
        UserError: it is damaged.
    """
    from kgscout_jax.retrieve.budget import Calibration

    if not is_exported(path):
        return None
    value = read_json(path / CONFIG).get("calibration")
    if value is None:
        return None
    return Calibration.from_dict(value, f"{path / CONFIG}: calibration")
