"""An encoder without a model, for tests of what is done with embeddings."""

from __future__ import annotations

import hashlib

import numpy as np

from kgscout_jax.text.encoder import BATCH, EncoderIdentity, SentenceEncoder

DIMENSION = 8


class HashEncoder(SentenceEncoder):
    """Embeds a string by its hash, and records the strings."""

    def __init__(self, fails_after: int | None = None) -> None:
        super().__init__()
        self.identity = EncoderIdentity(
            name="hash", weights_sha256="0" * 64, dimension=DIMENSION
        )
        self.texts: list[str] = []
        self.fails_after = fails_after
        """After this many strings, embedding is interrupted."""

    def stream(self, texts, *, batch_size=BATCH):
        for low in range(0, len(texts), batch_size):
            if self.fails_after is not None and len(self.texts) >= self.fails_after:
                raise KeyboardInterrupt
            batch = list(texts[low : low + batch_size])
            self.texts += batch
            keys = [f"{batch_size} {text}".encode("utf-8", "replace") for text in batch]
            hashes = [list(hashlib.sha256(key).digest()[:DIMENSION]) for key in keys]
            yield np.arange(low, low + len(batch)), np.array(hashes, np.float16) / 256
