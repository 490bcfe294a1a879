"""The result of retrieval for one question, in the forms that callers use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from jaxtyping import Float32, Int32

from kgscout_jax.errors import UserError
from kgscout_jax.inference.answer_kinds import AnswerKind
from kgscout_jax.inference.result_json import (
    result_object,
    retrieved_record,
)
from kgscout_jax.types import ROLES, Answer, Retrieved, Triplet

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

    from kgscout_jax.graph.link import Link
    from kgscout_jax.graph.provenance import Source
    from kgscout_jax.reason.readers.protocol import Evidence

Scored = tuple[str, str, str, float]
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
    ``yes_no``: yes or no; ``number``: computed over values of ``support``."""
    support: tuple[Answer, ...] = ()
    """The entities behind a count or a yes or no, at most 100."""
    abstained: bool = False
    """Whether the policy could answer but is not sure enough, or found no topic."""
    best_guesses: tuple[Answer, ...] = ()
    """The most probable answers where it abstains."""
    negation: str = ""
    """The word by which the question negates, which is why the policy abstains: a walk
    finds what is joined, and without that word the answers would be others."""
    read_as: str = ""
    """The question as it was read, where words of it are misspelt."""
    provenance: tuple[tuple[Source, ...], ...] = ()
    """Where each triplet stands in the documents that the graph was made of; () for any
    other graph."""
    sources: tuple[tuple[str, ...], ...] = ()
    """The graphs that state each triplet, by name, in its words or in others; () where
    one graph was asked."""
    triplet_ids: Int32[np.ndarray, "k"] = field(
        default_factory=lambda: np.empty(0, np.int32)
    )
    """The rows of ``triplets`` in the graph that was asked."""
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
        from kgscout_jax.reason.prompts import source_note, triplet_line

        return "\n".join(
            triplet_line(each, scores=scores) + source_note(source)
            for each, source in zip(self.scored, self._graph_texts, strict=True)
        )

    @property
    def _graph_texts(self) -> tuple[str, ...]:
        """The names of the graphs of each triplet; "" each where one was asked."""
        return tuple(map(", ".join, self.sources)) or ("",) * len(self)

    @property
    def prompt_sources(self) -> tuple[str, ...]:
        """Where each triplet stands, as a prompt says it; () where nobody knows.

        Without documents if the tokens of a prompt were counted, which had none.
        """
        if self.provenance and not self.selection:
            return tuple(map(self.source_text, range(len(self))))
        return self._graph_texts if self.sources else ()

    def as_paths(self, *, scores: bool = False) -> str:
        """The triplets as chains from the topics, a chain a line."""
        from kgscout_jax.reason.path_text import path_lines

        lines = path_lines(
            self.scored, self.topics, scores=scores, sources=self._graph_texts
        )
        return "\n".join(lines)

    def to_pandas(self) -> pd.DataFrame:
        """The triplets as a DataFrame with head, relation, tail and score.

        And ``sources``, where several graphs were asked.

        Raises:
            UserError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise UserError("to_pandas needs pandas (pip install pandas)") from None
        table = pd.DataFrame(list(self.scored), columns=[*ROLES, "score"])
        if self.sources:
            table["sources"] = [list(names) for names in self.sources]
        return table

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
        from kgscout_jax.inference.result_view import result_view
        from kgscout_jax.show import write_page

        write_page(Path(path), result_view(self, answers=answers, title=title))
        return Path(path)

    def to_page(self) -> str:
        """The page of ``to_html`` as text."""
        from kgscout_jax.inference.result_view import result_view
        from kgscout_jax.show import graph_page

        return graph_page(result_view(self))

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = escape(self.to_page())
        return (
            f'<iframe srcdoc="{page}" style="width: 100%; height: 560px; border: 0" '
            'sandbox="allow-scripts"></iframe>'
        )

    def to_record(self, id: str) -> Retrieved:
        """As a line of ``retrieved.jsonl``, with topics and links."""
        return retrieved_record(self, id)

    def to_dict(self) -> dict[str, Any]:
        """Question, topics, answers and triplets as JSON values, each with its names.

        ``best_guesses`` where the policy abstains, ``support`` of a count or a yes or
        no, ``selection`` unless it is the k best, ``topics_not_found`` if there are.
        Each triplet has ``sources``, the names of graphs, where several were asked.
        """
        return result_object(self)

    def source_object(self, rank: int) -> dict[str, Any]:
        """Where a triplet stands: JSON fields ``sources``, ``provenance``, if known."""
        fields: dict[str, Any] = {}
        if self.sources:
            fields["sources"] = list(self.sources[rank])
        if self.provenance:
            places = self.provenance[rank]
            fields["provenance"] = [each.to_json() for each in places]
        return fields

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

    @property
    def abstention_note(self) -> str:
        """Why there is no answer beyond a low probability, for people; "" mostly."""
        if not self.negation:
            return ""
        word = self.negation
        return f"The question is negated ({word}): facts tell what is, not what is not."

    @property
    def empty_note(self) -> str:
        """Why there are no triplets, for people; "" where there are."""
        if self.triplets:
            return ""
        if not self.topics:
            missing = ", ".join(self.topics_not_found)
            return (
                f"Not in the graph: {missing}."
                if missing
                else "No entity of the graph was found in the question."
            )
        if not self.n_candidates:
            return f"No triplets lie around {', '.join(self.topics)}."
        return f"The selection kept none of {self.n_candidates:,} triplets."

    def source_text(self, rank: int) -> str:
        """The graphs and the first place that state a triplet; "" if unknown."""
        places = self.provenance[rank] if self.provenance else ()
        more = f" (+{len(places) - 1})" if len(places) > 1 else ""
        place = f"{places[0]}{more}" if places else ""
        graphs = ", ".join(self.sources[rank]) if self.sources else ""
        return ": ".join(filter(None, (graphs, place)))

    def evidence(self, id: str = "0") -> Evidence:
        """The input of a reader of ``kgscout_jax.reason``."""
        from kgscout_jax.reason.readers.protocol import Evidence

        return Evidence(
            id=id,
            question=self.question,
            topics=self.topics,
            triplets=self.scored,
            sources=self.prompt_sources,
        )
