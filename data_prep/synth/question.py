"""One question with its wording, and its line in a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from data_prep.synth.draft import Draft
from data_prep.synth.wordings import Wording
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph


@dataclass(frozen=True)
class SynthQuestion:
    """A question as it is written."""

    id: str
    draft: Draft
    wording: Wording
    reworded: str | None = None
    """The language model's wording, in place of the templates'."""

    @property
    def text(self) -> str:
        """The question."""
        return self.reworded or self.wording.text

    def record(self, graph: KnowledgeGraph) -> dict[str, Any]:
        """The fields of the ``kg`` source, and how the question was made."""
        draft = self.draft
        names = [graph.entities[answer] for answer in draft.answers]
        count = draft.shape == "count"
        record: dict[str, Any] = {
            "id": self.id,
            "question": self.text,
            "answer": [str(len(names))] if count else names,
            "q_entity": [graph.entities[leg.topic] for leg in draft.legs],
            "a_entity": names,
            "relevant_triples": [list(graph.triplet(i)) for i in draft.triplets],
            "hop": max(len(leg.links) for leg in draft.legs),
            "shape": draft.shape,
            "paths": [[arc_name(graph, arc) for arc in leg.path] for leg in draft.legs],
        }
        if draft.implied:
            record["implied"] = sum(map(len, draft.legs[0].links[: draft.implied]))
        back = draft.legs[0].steps_back(len(graph.relations))
        if draft.shape == "chain" and record["hop"] > 2 and back:
            record["back"] = back
        if draft.value is not None:
            value = draft.value
            record["value"] = {
                "relation": graph.relations[value.relation],
                "test": value.test,
                **({"threshold": value.threshold} if value.threshold else {}),
            }
        record["wording"] = "model" if self.reworded else list(self.wording.frames)
        return record

    def line(self, graph: KnowledgeGraph) -> str:
        """One line of a file of questions."""
        return json.dumps(self.record(graph), ensure_ascii=False)


def arc_name(graph: KnowledgeGraph, arc: int) -> str:
    """A relation, with ^ in front where it is followed from tail to head."""
    half = len(graph.relations)
    return ("^" if arc >= half else "") + graph.relations[arc % half]
