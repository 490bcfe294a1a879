"""Rows of PG&AKV in a batch of answers: pseudo-graphs alone, and verified ones.

- ``pseudo``: what the model guesses, unverified;
- ``verified``: verified by cosine; one more row for each further threshold or number of
  entities;
- ``verified_scout``: verified with KG-Scout's candidates and chances instead of
  cosines, the pseudo-triplets as extra queries;
- ``scout_pseudo``: no verification, KG-Scout's triplets with those extra queries.

The first three are read from their facts alone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgscout_jax.data.shards import Shards, Split
from kgscout_jax.evaluate.settings import VERIFIED, AnswerSettings
from kgscout_jax.graph.arrays import group_by
from kgscout_jax.graph.merge import merge_graphs
from kgscout_jax.graph.opaque_names import opaque_mask
from kgscout_jax.graph.open_graph import open_graph
from kgscout_jax.pseudo.answers import FactsReader
from kgscout_jax.pseudo.draft import OUTCOMES, Draft
from kgscout_jax.pseudo.facts import (
    Fact,
    FactSource,
    VectorFacts,
    beside_unnamed,
    graph_facts,
    prune,
    query_embedder,
)
from kgscout_jax.pseudo.settings import PseudoSettings
from kgscout_jax.pseudo.verification import VERDICTS, PseudoGraphs, VerifiedGraph
from kgscout_jax.reason.calls import Model, Spending
from kgscout_jax.reason.completions import EndpointSettings
from kgscout_jax.retrieve.hypotheses import with_hypotheses
from kgscout_jax.retrieve.kgscout import KGScout
from kgscout_jax.retrieve.named_rankings import NamedRankings
from kgscout_jax.retrieve.protocol import Rankings
from kgscout_jax.retrieve.retrieved_file import retrieved_records
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.linearize import linearize
from kgscout_jax.types import Question, Triplet, entity_key, replace_surrogates
from kgscout_jax.utils.io import write_lines

if TYPE_CHECKING:
    from kgscout_jax.policy.module import Policy

THRESHOLDS = tuple(round(0.3 + 0.05 * i, 2) for i in range(14))
ENTITIES = (1, 2, 3, 5, 10, 20, 50)
"""Values at which what pruning leaves is measured; it costs no call."""


@dataclass
class PseudoRows:
    """The rows of one batch; the pseudo-graphs are written once for all of them."""

    settings: AnswerSettings
    shards: Shards
    split: Split
    endpoint: EndpointSettings
    policy: Policy | None = None
    models: dict[str, Model] = field(default_factory=dict)
    """Row -> the model with what was asked for it; "pseudo" holds the drafts too."""
    graphs: dict[str, list[VerifiedGraph]] = field(default_factory=dict)
    """Row -> the verified graph of each question."""

    @cached_property
    def questions(self) -> list[str]:
        """The texts of the questions."""
        return [info.text for info in self.split.questions]

    @cached_property
    def drafts(self) -> list[Draft]:
        """The pseudo-graph of each question."""
        return self.method("drafts").draft(self.questions)

    @cached_property
    def encoder(self) -> SentenceEncoder:
        """That of the shards."""
        trained = self.shards.manifest["encoder"]
        return SentenceEncoder(
            trained["name"], backend=trained.get("backend", "auto"), near=False
        )

    def method(self, row: str, **changes: Any) -> PseudoGraphs:
        """PG&AKV with the first of the settings' values, or others."""
        prices = self.settings.input_price, self.settings.output_price
        model = self.models.setdefault(row, Model(self.endpoint, prices))
        settings = PseudoSettings(
            form=self.settings.pseudo,
            entities=self.settings.entities[0],
            threshold=self.settings.threshold[0],
            facts=self.settings.facts,
        )
        return PseudoGraphs(model, replace(settings, **changes))

    def variants(self, name: str) -> dict[str, PseudoGraphs]:
        """Row -> method: of ``verified`` one for each further value."""
        methods = {name: self.method(name)}
        if name == VERIFIED:
            for value in self.settings.threshold[1:]:
                row = f"{name}, threshold {value:g}"
                methods[row] = self.method(row, threshold=value)
            for number in self.settings.entities[1:]:
                row = f"{name}, {number} entities"
                methods[row] = self.method(row, entities=number)
        return methods

    def rankings(self, name: str, k: int) -> dict[str, Rankings]:
        """Row -> the triplets of each question, at most ``k``."""
        if name == "scout_pseudo":
            self.method(name)
            return {name: replace(self.by_policy(k), retriever=name)}
        if name == "pseudo":
            self.method(name)
            rows = NamedRankings(self.shards, len(self.drafts), k)
            for i, draft in enumerate(self.drafts):
                rows.put(i, [(*triplet, 0.0) for triplet in draft.triplets])
            return {name: rows.rankings(name, {})}
        source = self.source(name)
        out = {}
        for row, method in self.variants(name).items():
            graphs = method.verify(self.questions, self.drafts, source)
            self.graphs[row] = graphs
            rows = NamedRankings(self.shards, len(graphs), k)
            for i, graph in enumerate(graphs):
                facts = [(*fact.triplet, fact.score) for fact in graph.graph]
                rows.put(i, facts, trace=graph.log())
            out[row] = rows.rankings(row, {})
        return out

    def source(self, name: str) -> FactSource:
        """Where the pseudo-graphs of a row are looked up."""
        if name != VERIFIED:
            return self
        if self.settings.sources:
            graphs = {path.stem: open_graph((path,)) for path in self.settings.sources}
            return graph_facts(merge_graphs(graphs, self.encoder), self.encoder)
        shards = self.shards
        triplets, unnamed = np.asarray(shards.triplets), opaque_mask(shards.entities)
        ends = [group_by(triplets[:, place], len(unnamed)) for place in (0, 2)]
        return VectorFacts(
            size=len(shards.triplet_embeddings),
            rows=shards.triplet_vectors,
            triplet=self._triplet,
            embed=query_embedder(self.encoder),
            beside=beside_unnamed(triplets, unnamed, ends),
        )

    def _triplet(self, i: int) -> Triplet:
        head, relation, tail = self.shards.triplets[i].tolist()
        entities = self.shards.entities
        return entities[head], self.shards.relations[relation], entities[tail]

    # ------------------------------------------------- KG-Scout as a FactSource

    has_cosines = False

    def search(
        self, questions: Sequence[str], drafts: Sequence[Sequence[Triplet]], n: int
    ) -> list[list[Fact]]:
        """As many candidates as cosine would find at most, by the policy's chances."""
        del questions
        records = retrieved_records(
            self.shards, self.split, self.by_policy(n * max(map(len, drafts)))
        )
        return [
            [
                Fact((h, r, t), float(1 / (1 + np.exp(-score))))
                for h, r, t, score in list(record.triplets)[: n * len(draft)]
            ]
            for record, draft in zip(records, drafts, strict=True)
        ]

    def by_policy(self, k: int) -> Rankings:
        """KG-Scout's ranking with the pseudo-triplets as extra queries."""
        assert self.policy is not None
        embed = query_embedder(self.encoder)
        guesses = [embed(list(map(linearize, one.triplets))) for one in self.drafts]
        vectors = with_hypotheses(np.asarray(self.split.question_embeddings), guesses)
        split = replace(self.split, question_embeddings=vectors)
        return KGScout(self.policy).rank(self.shards, split, max(k, 1))

    # ------------------------------------------------------------------ report

    def reader(self, row: str) -> FactsReader | None:
        """What reads a row from its facts alone; None for scout_pseudo."""
        if row == "scout_pseudo":
            return None
        ids = [info.id for info in self.split.questions]
        failed: Sequence[str | None] = [one.error for one in self.graphs.get(row, ())]
        failed = failed or [one.error for one in self.drafts]
        errors = {id: e for id, e in zip(ids, failed, strict=True) if e is not None}
        return FactsReader(self.models[row], errors)

    def report(self) -> dict[str, Any]:
        """The part ``pseudo`` of ``metrics.json``."""
        n = len(self.drafts)
        outcomes = Counter(one.outcome for one in self.drafts)
        drafts = total(self.models["drafts"])
        report = {
            "form": self.settings.pseudo,
            "questions": n,
            "outcomes": {name: outcomes[name] for name in OUTCOMES},
            "causes": self._causes(0),
            "causes_after_repair": self._causes(1),
            "triplets": sum(len(one.triplets) for one in self.drafts) / max(n, 1),
            "rows": {
                row: self._row(row, drafts)
                for row in self.models
                if row != "drafts"
            },
        }  # fmt: skip
        if VERIFIED in self.graphs:
            report["sweep"] = sweep(
                self.graphs[VERIFIED],
                self.split.questions,
                self.method(VERIFIED).settings,
            )
        return report

    def _causes(self, reply: int) -> dict[str, int]:
        """Why a first or second reply did not run -> how many."""
        causes = [one.causes[reply : reply + 1] for one in self.drafts]
        return dict(Counter(cause for some in causes for cause in some))

    def _row(self, row: str, drafts: Mapping[str, float]) -> dict[str, Any]:
        own, graphs = total(self.models[row]), self.graphs.get(row, [])
        n = max(len(self.drafts), 1)
        verdicts = Counter(one.verdict for graph in graphs for one in graph.judged)
        return {
            "per_question": {key: (own[key] + drafts[key]) / n for key in own},
            "verdicts": {name: verdicts[name] for name in VERDICTS} if graphs else {},
            "added": sum(len(one.added) for one in graphs),
            "malformed": sum(one.malformed for one in graphs),
            "compared_with": sum(len(one.facts) for one in graphs) / n,
            "facts": sum(len(one.graph) for one in graphs) / n,
            "stages": {
                stage: asdict(one) for stage, one in self.models[row].spending.items()
            },
        }

    def write(self, folder: Path) -> None:
        """Write ``pseudo.jsonl``: a line per row and question."""
        lines = (
            {"row": row, "id": info.id, **graph.to_json()}
            for row, graphs in self.graphs.items()
            for info, graph in zip(self.split.questions, graphs, strict=True)
        )
        write_lines(
            folder / "pseudo.jsonl",
            (replace_surrogates(json.dumps(x, ensure_ascii=False)) for x in lines),
        )


def total(model: Model) -> dict[str, float]:
    """Calls, tokens and dollars of a model, over all stages."""
    spent: Sequence[Spending] = list(model.spending.values())
    return {
        "calls": sum(one.calls for one in spent),
        "prompt_tokens": sum(one.prompt_tokens for one in spent),
        "reply_tokens": sum(one.reply_tokens for one in spent),
        "cost": sum(one.cost for one in spent),
    }


def sweep(
    graphs: Sequence[VerifiedGraph],
    questions: Sequence[Question],
    settings: PseudoSettings,
) -> dict[str, list[dict[str, float]]]:
    """What pruning leaves at other thresholds, and of other numbers of entities.

    ``holds``: percent of questions with a gold answer among the facts that the model
    would see; ``facts``: their mean number.
    """
    gold = [
        set(map(entity_key, (*one.answers, *one.answers_in_graph))) for one in questions
    ]

    def point(value: float, entities: int, threshold: float) -> dict[str, float]:
        left = [
            prune(
                one.found, entities=entities, threshold=threshold, ends=settings.ends
            )[: settings.facts]
            for one in graphs
        ]
        holds = [
            any(entity_key(end) in wanted for f in facts for end in f.triplet[::2])
            for facts, wanted in zip(left, gold, strict=True)
        ]
        return {
            "value": value,
            "holds": 100 * float(np.mean(holds)),
            "facts": float(np.mean([len(facts) for facts in left])),
        }

    return {
        "threshold": [point(x, settings.entities, x) for x in THRESHOLDS],
        "entities": [point(x, x, settings.threshold) for x in ENTITIES],
    }
