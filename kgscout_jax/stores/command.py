"""``kgscout store``: a graph into a database, and out of it, in bulk."""

from __future__ import annotations

import tempfile
from pathlib import Path

from kgscout_jax.errors import UserError
from kgscout_jax.graph.build.driver import build_graph
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.stores.connect import connect
from kgscout_jax.stores.cypher import BATCH, CypherStore
from kgscout_jax.stores.protocol import node_texts
from kgscout_jax.stores.settings import StoreSettings
from kgscout_jax.text.cache import EmbeddingCache
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.types import display_name
from kgscout_jax.utils.io import write_lines
from kgscout_jax.utils.progress import ProgressBar


def copy_graph(settings: StoreSettings) -> None:
    """Import or export the graph, and print how much it was.

    Raises:
        UserError: the graph cannot be read or written, or the database does not answer.
    """
    if settings.action == "import":
        import_graph(settings)
    else:
        export_graph(settings)


def import_graph(settings: StoreSettings) -> None:
    """Write the triplets into the store, and the embedding of every node."""
    graph = open_graph(settings.kg, options=settings.read_options)
    encoder = SentenceEncoder(settings.encoder, near=False)
    store = connect(settings.store, encoder.identity.dimension)
    cache = EmbeddingCache(encoder)
    with ProgressBar(len(graph), "triplets", "triplets") as bar:
        for start in range(0, len(graph), BATCH):
            ids = range(start, min(start + BATCH, len(graph)))
            store.write([graph.triplet(i) for i in ids], {})
            bar.update(len(ids))
    n = len(graph.entities)
    with ProgressBar(n, "vectors of nodes", "nodes") as bar:
        for start in range(0, n, BATCH):
            ids = range(start, min(start + BATCH, n))
            names = [str(graph.entities[i]) for i in ids]
            rows = cache.embed(node_texts(names), what="nodes")
            store.write([], dict(zip(names, rows, strict=True)))
            bar.update(len(names))
    print(f"{settings.store}: {len(graph):,} triplets, {n:,} nodes with vectors")


def export_graph(settings: StoreSettings) -> None:
    """Write the triplets of the store as a file or a GRAPH folder."""
    (out,) = settings.kg
    is_file = out.suffix == ".tsv"
    if is_file and out.exists() and not settings.overwrite:
        raise UserError(f"{out}: exists already; --overwrite overwrites it")
    encoder = SentenceEncoder(settings.encoder, near=False)
    store = connect(settings.store, encoder.identity.dimension)
    n = write_triplets(store, out) if is_file else 0
    if not is_file:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "triplets.tsv"
            n = write_triplets(store, file)
            build_graph([file], out, overwrite=settings.overwrite)
    print(f"{out}: {n:,} triplets")


def write_triplets(store: CypherStore, file: Path) -> int:
    """Write all triplets as lines with tabs; their number.

    Raises:
        UserError: there are none.
    """
    triplets = store.export()
    if not triplets:
        raise UserError("the store holds no triplets")
    rows = ("\t".join(map(display_name, triplet)) for triplet in triplets)
    write_lines(file, ["head\trelation\ttail", *rows])
    return len(triplets)
