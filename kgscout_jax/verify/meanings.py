"""What a name or a value of a claim may mean among the entities of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.verify.mentions import Mention
from kgscout_jax.verify.values import Comparison, compare, parse_value


class Meaning:
    """A mention in the text of its claim, compared with each entity once."""

    def __init__(self, graph: KnowledgeGraph, text: str, mention: Mention) -> None:
        self.graph, self.mention = graph, mention
        self.before, self.after = text[: mention.start], text[mention.stop :]
        self._compared: dict[int, Comparison | None] = {}

    def comparison(self, entity: int) -> Comparison | None:
        """How a stated value compares with an entity; None if one of them is none."""
        if self.mention.value is None:
            return None
        if entity not in self._compared:
            known = parse_value(self.graph.entities[entity])
            self._compared[entity] = (
                None
                if known is None
                else compare(self.mention.value, known, self.before, self.after)
            )
        return self._compared[entity]

    def comparisons(self, entities: Iterable[int]) -> set[Comparison | None]:
        """Those with each of some entities."""
        if self.mention.value is None:
            return {None}
        return {self.comparison(entity) for entity in entities}

    def triplets(self, targets: Mapping[int, tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The triplets to those of the ``targets`` that the name or value may mean."""
        ids = [
            targets[e]
            for e in self.mention.entities
            if e in targets and self.comparison(e) in (None, "same")
        ]
        if ids or self.mention.value is None:
            return ids
        return [ids for e, ids in targets.items() if self.comparison(e) == "same"]
