"""The scout and the graphs of a service, warm before the first request."""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import folder_of
from kgscout_jax.export.format import is_exported
from kgscout_jax.export.hub import is_hub_name
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.open_graph import named_files, open_named_graphs
from kgscout_jax.serve.graphs import named_paths, open_graphs
from kgscout_jax.serve.settings import LoadSettings
from kgscout_jax.utils.buckets import bucket
from kgscout_jax.utils.progress import ProgressBar

if TYPE_CHECKING:
    from kgscout_jax.inference.scout import Scout
    from kgscout_jax.policy.inputs import PolicyInputs

logger = logging.getLogger("kgscout.serve")
PATIENCE = 1.0
"""Seconds that stopping waits for the shape under way."""


def check_paths(settings: LoadSettings) -> None:
    """Raise UserError if a graph's file or the policy's folder is missing."""
    kg, graphs = settings.kg, settings.graphs
    files = named_paths(kg) if kg or not graphs else {}
    members = named_files(graphs) if graphs else {}
    for path in itertools.chain(*files.values(), *members.values()):
        if not path.exists():
            raise UserError(f"{path}: no such file or folder")
    name = settings.policy
    if name is not None and not is_hub_name(name) and not is_exported(folder_of(name)):
        raise UserError(f"{name}: not an exported policy (see kgscout export)")


def load(
    settings: LoadSettings,
) -> tuple[Scout, dict[str, KnowledgeGraph]]:
    """The scout and its graphs by name, ready for requests.

    Args:
        settings: paths of the policy and the graphs.

    Raises:
        UserError: a graph or the policy is missing or damaged.
    """
    check_paths(settings)
    options = settings.read_options
    graphs = open_graphs(settings.kg, options) if settings.kg else {}
    members = open_named_graphs(settings.graphs, options) if settings.graphs else {}
    from kgscout_jax.inference.scout import Scout

    # The bundled policy is the one that was tested; the first run would be compiled.
    bundled = settings.policy is None
    scout = Scout.from_pretrained(
        settings.policy,
        verify=not bundled,
        keep_products=settings.keep_products,
        joint_encoding=settings.joint_encoding,
    )
    if members:
        graphs["+".join(members)] = scout.merged(members)
    for name, graph in graphs.items():
        size = len(graph.entities), len(graph.triplets)
        logger.info("%s: %d entities, %d triplets", name, *size)
        if len(graph.triplets) <= settings.embed_up_to:
            try:
                graph.embed(scout.encoder)
            except UserError as error:  # for example an unwritable folder
                logger.warning("%s: embedded as it is asked for (%s)", name, error)
        # loads the linker and the graph's arrays, and compiles a common shape
        scout.retrieve("who is that?", graph, 1)
    return scout, graphs


@contextlib.contextmanager
def compilation(
    scout: Scout, graphs: Iterable[KnowledgeGraph], batch: int
) -> Iterator[threading.Thread]:
    """Compile every possible shape in a thread, which is told to end with the context.

    The thread is given: it may be alive for minutes, since nothing interrupts the
    compiler.
    """
    stop = threading.Event()
    arguments = (scout, list(graphs), batch, stop)
    thread = threading.Thread(
        target=compile_for, args=arguments, name="compile", daemon=True
    )
    thread.start()
    try:
        yield thread
    finally:
        stop.set()
        thread.join(PATIENCE)


def compile_for(
    scout: Scout,
    graphs: Iterable[KnowledgeGraph],
    batch: int,
    stop: threading.Event | None = None,
) -> set[tuple[int, int, int]]:
    """Compile the network for every possible shape of questions, small batches first.

    With joint encoding also the encoder, for questions of common lengths. It ends early
    once ``stop`` is set. Compiled functions are cached on disk.

    Returns:
        (questions, candidates, relations) of each shape, all of them buckets.
    """
    from kgscout_jax.inference.question_encoder import joint_batches
    from kgscout_jax.inference.scoring import network_outputs, questions_per_call

    most = min(batch, questions_per_call())
    sizes = [1 << i for i in range((most - 1).bit_length() + 1)]
    if scout.joint_encoding:
        for texts in joint_batches():
            if stop is not None and stop.is_set():
                break
            scout.encode(texts)
    largest = scout.cut.candidates
    shapes = {
        (b, n, u)
        for graph in graphs
        if len(graph.triplets)
        for n in buckets_up_to(min(len(graph.triplets), largest), largest)
        for u in buckets_up_to(min(len(graph.relations), n), n)
        for b in sizes
    }
    with ProgressBar(len(shapes), "compiling the network", "shapes") as bar:
        for shape in sorted(shapes):
            if stop is not None and stop.is_set():
                break
            outputs = network_outputs(scout.exported, _of_shape(*shape, scout))
            np.asarray(outputs.logits)
            bar.update()
    return shapes


def buckets_up_to(most: int, largest: int) -> list[int]:
    """All buckets that hold 1 to ``most`` of at most ``largest``."""
    buckets = [bucket(1, largest)]
    while buckets[-1] < most:
        buckets.append(bucket(buckets[-1] + 1, largest))
    return buckets


def _of_shape(b: int, n: int, u: int, scout: Scout) -> PolicyInputs:
    """Inputs of the network in one shape."""
    from kgscout_jax.inference.inputs import Candidates, QuestionVectors, inputs_of

    d = scout.encoder.identity.dimension
    candidates = Candidates(
        ids=np.zeros(n, np.int32),
        triplets=np.zeros((n, d), np.float16),
        ppr=np.zeros((n, 2), np.float32),
        relations=np.zeros(u, np.int32),
        relation_index=np.zeros(n, np.int32),
        nodes=np.zeros((n, 2), np.int32),
        entities=np.zeros(1, np.int32),
        topics=np.zeros(0, np.int32),
        relation_match=np.zeros(n, np.float32),
        seconds=0.0,
    )
    words = [] if scout.exported.needs_words else None
    question = QuestionVectors(whole=np.zeros(d, np.float16), words=words)
    table = np.zeros((1, d), np.float16)
    largest = scout.cut.candidates
    products = None if scout.products is None else [scout.products.zeros(n, u)] * b
    return inputs_of([question] * b, [candidates] * b, [table] * b, largest, products)
