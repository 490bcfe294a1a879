"""English names of Wikidata's properties, for RDF files that hold statements alone.

``wikidata_properties.txt`` has the properties that most statements have.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import resources

from kgscout_jax.graph.read.rdf_labels import KNOWN, LabelSink

_WIKIDATA = ("http://www.wikidata.org/prop/", "http://www.wikidata.org/entity/P")


@cache
def _wikidata_properties() -> dict[str, str]:
    """The English names of Wikidata's properties of most statements, by their ids."""
    file = resources.files("kgscout_jax.graph.read") / "wikidata_properties.txt"
    lines = file.read_text("utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def with_known_labels(
    name_of: Callable[[str], str], labels: LabelSink | None
) -> Callable[[str], str]:
    """A function that names IRIs; of a property of Wikidata it gives the label too.

    Args:
        name_of: names an IRI, by its last segment.
        labels: receives English names, for files that have none of the language.
    """
    if labels is None:
        return name_of

    def name(iri: str) -> str:
        id = name_of(iri)
        if iri.startswith(_WIKIDATA) and (label := _wikidata_properties().get(id)):
            labels(id, label, KNOWN)
        return id

    return name
