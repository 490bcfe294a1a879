"""A world for batches of answers: shards, a policy, and a model that can read.

The model is a real HTTP server. It answers with the tail of the first triplet in its
prompt whose relation is the good one, which leads to the planted answer.
"""

import contextlib
import json
import re
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from reason.unruly_server import Handler, serving
from written_shards import DIMENSION, ENCODER

from kgscout_jax.cli.main import eval_main
from kgscout_jax.learn.checkpoints import RunFolder
from kgscout_jax.learn.config import TrainConfig
from kgscout_jax.learn.trained_policy import PARAMS
from kgscout_jax.policy.registry import config_to_json, weight_shapes
from kgscout_jax.policy.walk_config import WalkConfig

GOOD_LINE = re.compile(r"^- [^,]*, is good, (.+)$", re.MULTILINE)
NOT_AVAILABLE = "answer not available"


class Sage(Handler):
    """Answers from the triplets, or says that it cannot."""

    def reply(self, body):
        value = super().reply(body)
        # the last message holds the question's triplets
        found = GOOD_LINE.findall(body["messages"][-1]["content"])
        text = json.dumps({"ans": found[:1] or [NOT_AVAILABLE]})
        value["choices"][0]["message"]["content"] = f"{text}\n\nReason: it says so."
        return value


@contextlib.contextmanager
def sage(script=(), **options):
    """A server like ``serving``, whose model can read."""
    with serving(script, **options) as server:
        server.RequestHandlerClass = Sage
        yield server


def write_run(path: Path) -> Path:
    """A run's folder with one checkpoint: a walk policy with random parameters."""
    config = WalkConfig(
        dimension=DIMENSION, width=8, hidden=6, walkers=2, steps=2, condition=6,
        answers=5, word_rank=0,
    )  # fmt: skip
    rng = np.random.default_rng(33)  # of weights with some right answers
    weights = jax.tree.map(
        lambda leaf: jnp.asarray(0.5 * rng.normal(size=leaf.shape), jnp.float32),
        weight_shapes(config),
    )
    run = RunFolder(path)
    run.write_config(
        {
            "config": TrainConfig(shards=Path("s"), run=path, k=12).to_dict(),
            "policy": config_to_json(config),
            "encoder": ENCODER,
            "shards": {"source": "tiny", "fingerprint": "other"},
        }
    )
    run.save(7, {PARAMS: weights}, 1.0)
    run.close()
    return path


N = 14
"""Questions of the test split: 12 with many triplets, one with few, one with none."""


def flags(shards, out, *more, server=None):
    url = server if isinstance(server, str) else server and server.url
    model = ["--llm", url, "--model", "m", "--retries", "1", "--backoff", "0.01"]
    return [
        "answers", "--shards", str(shards), "--out", str(out), "--split", "test",
        *(model if server else []), *map(str, more),
    ]  # fmt: skip


def batch(*arguments, **options):
    return eval_main(flags(*arguments, **options), "eval.py")


def metrics(out):
    return json.loads((out / "metrics.json").read_text())


def lines(out, name):
    text = (out / f"questions-{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def contents(out):
    """What stands in a batch's files, but for times and where replies came from."""
    found = {path.name: lines(out, path.stem[10:]) for path in out.glob("*.jsonl")}
    return timeless({**found, "metrics.json": metrics(out)})


def timeless(value):
    if isinstance(value, list):
        return [timeless(each) for each in value]
    if not isinstance(value, dict):
        return value
    changing = ("seconds", "seconds_to_rank", "from_cache", "out", "llm", "concurrency")
    changing = (*changing, "commands")
    return {k: timeless(v) for k, v in value.items() if k not in changing}
