"""The result of retrieval for one question, in the forms that callers use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float32

from kgscout_jax.errors import UserError
from kgscout_jax.inference.answer_kinds import AnswerKind
from kgscout_jax.types import Answer, Retrieved, Triplet

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from kgscout_jax.graph.link import Link
    from kgscout_jax.graph.provenance import Source
    from kgscout_jax.reason.readers.protocol import Evidence
    from kgscout_jax.show import GraphView

Scored = tuple[str, str, str, float]
NEAREST = "The question names no entity; nearest triplets by their vectors:"
ROLES = ("head", "relation", "tail")
Status = Literal["answered", "not sure", "evidence only", "no topic", "nothing found"]


@dataclass(frozen=True, kw_only=True, repr=False)
class RetrievalResult:
    """The triplets selected for a question, best first."""

    question: str
    topics: tuple[str, ...] = ()
    """Entities that the search started from, as the graph shows them."""
    triplets: tuple[Triplet, ...] = ()
    """(head, relation, tail), best first."""
    scores: Float32[np.ndarray, "k"]
    """The policy's logit of each triplet; descending, unless they form paths."""
    links: tuple[Link, ...] = ()
    """Links of topics to words of the question; () if the caller names topics."""
    topics_not_found: tuple[str, ...] = ()
    """Topics of the caller that are not in the graph."""
    relation_match: tuple[float, ...] = ()
    """Cosine of the question and the relation's phrase, per triplet."""
    n_candidates: int = 0
    """Number of candidates that the policy scored."""
    seconds: float = 0.0
    """Time to rank, without encoding and linking; its share of a batch."""
    selection: Mapping[str, Any] = field(default_factory=dict)
    """Facts of the selection, unless it is the k best: ``target`` and ``presence`` (the
    calibrated probability of an answer), ``form`` and ``tokens`` (of a prompt)."""
    answers: tuple[Answer, ...] = ()
    """From the graph itself, most probable first; () where the policy abstains or has
    no answer head. The triplets of their paths are among ``triplets``."""
    kind: AnswerKind = "set"
    """``set``: answers are entities; ``count``: one number, the size of ``support``;
    ``yes_no``: yes or no."""
    support: tuple[Answer, ...] = ()
    """The entities behind a count or a yes or no, at most 100."""
    abstained: bool = False
    """Whether the policy could answer but is not sure enough, or found no topic."""
    best_guesses: tuple[Answer, ...] = ()
    """The most probable answers where it abstains."""
    provenance: tuple[tuple[Source, ...], ...] = ()
    """Where each triplet stands in the documents that the graph was made of; () for any
    other graph."""
    nearest: bool = False
    """Whether the question names no entity and ``triplets`` are those nearest to it by
    their vectors, with cosines as ``scores``."""

    def __repr__(self) -> str:
        best = ", ".join(
            f"{each.name[:60]} ({each.probability:.2f})"
            for each in (self.answers or self.best_guesses)[:3]
        )
        return (
            f"RetrievalResult({self.question[:80]!r}: {self.status}"
            f"{f', {best}' if best else ''}; {len(self)} triplets)"
        )

    def __len__(self) -> int:
        return len(self.triplets)

    @property
    def scored(self) -> tuple[Scored, ...]:
        """(head, relation, tail, score), best first."""
        pairs = zip(self.triplets, self.scores.tolist(), strict=True)
        return tuple((*triplet, score) for triplet, score in pairs)

    @property
    def confidence(self) -> float:
        """The probability of the best answer or guess; 0 where there is none."""
        first = (*self.answers, *self.best_guesses)[:1]
        return first[0].probability if first else 0.0

    @property
    def answer_entities(self) -> tuple[Answer, ...]:
        """The entities of the answers: ``support`` of a count or yes or no."""
        if self.abstained:
            return ()
        return self.answers if self.kind == "set" else self.support

    def as_text(self, *, scores: bool = False) -> str:
        """One triplet a line, as the thesis puts them into a prompt."""
        from kgscout_jax.reason.prompts import triplet_line

        return "\n".join(triplet_line(each, scores=scores) for each in self.scored)

    def as_paths(self, *, scores: bool = False) -> str:
        """The triplets as chains from the topics, a chain a line."""
        from kgscout_jax.reason.path_text import path_lines

        return "\n".join(path_lines(self.scored, self.topics, scores=scores))

    def to_pandas(self) -> pd.DataFrame:
        """The triplets as a DataFrame with head, relation, tail and score.

        Raises:
            UserError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise UserError("to_pandas needs pandas (pip install pandas)") from None
        return pd.DataFrame(list(self.scored), columns=[*ROLES, "score"])

    def to_networkx(self) -> nx.MultiDiGraph[str]:
        """The triplets as edges with relation, score and rank (from 1).

        Nodes are names; topics are marked by the attribute ``topic``.
        """
        import networkx as nx

        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(question=self.question)
        graph.add_nodes_from(self.topics)
        for rank, (head, relation, tail, score) in enumerate(self.scored, start=1):
            graph.add_edge(
                head, tail, key=relation, relation=relation, score=score, rank=rank
            )
        for node, attributes in graph.nodes(data=True):
            attributes["topic"] = node in self.topics
        return graph

    def to_html(
        self,
        path: Path | str,
        *,
        answers: tuple[str, ...] | None = None,
        title: str = "",
    ) -> Path:
        """Write a page that draws the triplets, and return its path.

        It lists the answers from the graph with their probabilities, and marks them and
        the paths to them.

        Args:
            path: the file; it opens without a network.
            answers: entities to mark as the answers, with the shortest paths to them;
                None for those from the graph.
            title: the heading; default "KG-Scout".
        """
        from kgscout_jax.show import write_page

        write_page(Path(path), self._view(answers, title))
        return Path(path)

    def to_page(self) -> str:
        """The page of ``to_html`` as text."""
        from kgscout_jax.show import graph_page

        return graph_page(self._view(None, ""))

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = escape(self.to_page())
        return (
            f'<iframe srcdoc="{page}" style="width: 100%; height: 560px; border: 0" '
            'sandbox="allow-scripts"></iframe>'
        )

    def _view(self, answers: tuple[str, ...] | None, title: str) -> GraphView:
        """The drawing."""
        from kgscout_jax.reason.path_text import path_line
        from kgscout_jax.show import AnswerLine, GraphView

        shown = self.answers or self.best_guesses
        paths, marked = None, tuple(answers or ())
        if answers is None and shown:
            marked = tuple(answer.name for answer in self.answer_entities)
            rank_of = {t: rank for rank, t in reversed([*enumerate(self.triplets)])}
            paths = [
                [rank_of[triplet] for triplet in answer.path]
                for answer in self.answer_entities
            ]
        note = ""
        if self.nearest:
            note = NEAREST
        elif self.abstained:
            note = "Not sure; best guesses:" if shown else "Not sure: nothing found."
        lines = [*shown, *self.support] if self.kind == "count" else shown
        return GraphView(
            title=title or "KG-Scout",
            question=self.question,
            topics=self.topics,
            answers=marked,
            triplets=self.scored,
            paths=paths,
            answer_lines=[
                AnswerLine(
                    answer.name,
                    answer.probability,
                    path_line(answer.path, answer.name),
                )
                for answer in lines
            ],
            answer_note=note,
            sources=[self.source_text(rank) for rank in range(len(self.provenance))],
        )

    def to_record(self, id: str, *, retriever: str = "kgscout") -> Retrieved:
        """As a line of ``retrieved.jsonl``, with topics and links."""
        extra: dict[str, Any] = {"topics": list(self.topics)}
        extra["linked"] = [
            {
                "name": link.name,
                "how": link.how,
                "score": round(link.score, 4),
                "start": link.start,
                "stop": link.stop,
            }
            for link in self.links
        ]
        if self.topics_not_found:
            extra["topics_not_found"] = list(self.topics_not_found)
        if self.provenance:
            extra["provenance"] = [
                [source.to_json() for source in each] for each in self.provenance
            ]
        if self.nearest:
            extra["nearest"] = True
        extra |= {**self.selection, **self.answer_record()}
        return Retrieved(
            id=id,
            question=self.question,
            retriever=retriever,
            triplets=self.scored,
            seconds=self.seconds,
            extra=extra,
        )

    def answer_record(self) -> dict[str, Any]:
        """The answers from the graph as JSON fields; {} without an answer head.

        ``graph_answers`` and ``best_guesses`` hold name, probability and path, as
        triplets; ``kind``, ``support`` and ``abstained`` as the fields of this class.
        """
        if not self.answers and not self.abstained:
            return {}
        record: dict[str, Any] = {
            "kind": self.kind,
            "abstained": self.abstained,
            "graph_answers": [answer_json(each) for each in self.answers],
        }
        if self.abstained:
            record["best_guesses"] = [answer_json(each) for each in self.best_guesses]
        if self.support:
            record["support"] = [answer_json(each) for each in self.support]
        return record

    @property
    def status(self) -> Status:
        """How the question was answered, in two words."""
        if self.answers:
            return "answered"
        if not self.triplets:
            return "nothing found"
        if self.nearest:
            return "no topic"
        return "not sure" if self.abstained else "evidence only"

    def to_dict(self) -> dict[str, Any]:
        """Question, topics, answers and triplets as JSON values, each with its names.

        ``best_guesses`` where the policy abstains, ``support`` of a count or a yes or
        no, ``selection`` unless it is the k best, ``topics_not_found`` if there are.
        """
        record: dict[str, Any] = {
            "question": self.question,
            "status": self.status,
            "kind": self.kind,
            "topics": list(self.topics),
            "answers": answer_objects(self.answers),
            "triplets": [
                {
                    **triplet_object(triplet),
                    "score": round(score, 4),
                    **self.source_object(rank),
                }
                for rank, (*triplet, score) in enumerate(self.scored)
            ],
        }
        if self.abstained:
            record["best_guesses"] = answer_objects(self.best_guesses)
        if self.support:
            record["support"] = answer_objects(self.support)
        if self.nearest:
            record["nearest"] = True
        if self.topics_not_found:
            record["topics_not_found"] = list(self.topics_not_found)
        if self.selection:
            record["selection"] = dict(self.selection)
        return record

    def source_object(self, rank: int) -> dict[str, Any]:
        """Where a triplet stands, as the JSON field ``provenance``; {} if unknown."""
        if not self.provenance:
            return {}
        return {"provenance": [each.to_json() for each in self.provenance[rank]]}

    def source_text(self, rank: int) -> str:
        """The first place that states a triplet, for people; "" if unknown."""
        sources = self.provenance[rank] if self.provenance else ()
        more = f" (+{len(sources) - 1})" if len(sources) > 1 else ""
        return f"{sources[0]}{more}" if sources else ""

    def evidence(self, id: str = "0") -> Evidence:
        """The input of a reader of ``kgscout_jax.reason``."""
        from kgscout_jax.reason.readers.protocol import Evidence

        return Evidence(
            id=id,
            question=self.question,
            topics=self.topics,
            triplets=self.scored,
        )


def triplet_object(triplet: Sequence[str]) -> dict[str, Any]:
    """A triplet as a JSON object."""
    return dict(zip(ROLES, triplet, strict=True))


def answer_objects(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Answers as JSON objects with the triplets of their paths as objects."""
    return [
        {
            "name": answer.name,
            "probability": round(answer.probability, 4),
            "path": [triplet_object(triplet) for triplet in answer.path],
        }
        for answer in answers
    ]


def answer_json(answer: Answer) -> dict[str, Any]:
    """An answer as JSON fields."""
    return {
        "name": answer.name,
        "probability": round(answer.probability, 4),
        "path": [list(triplet) for triplet in answer.path],
    }
