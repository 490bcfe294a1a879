"""From a graph to worded, verified questions per split."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from data_prep.synth.ambiguity import Ambiguity
from data_prep.synth.arc_index import ArcIndex
from data_prep.synth.draft import Draft
from data_prep.synth.frames import SPLITS
from data_prep.synth.link_words import LinkLexicon
from data_prep.synth.node_types import end_types
from data_prep.synth.question import SynthQuestion
from data_prep.synth.relation_facts import (
    RelationFacts,
    arc_weights,
    is_sayable,
    relation_facts,
)
from data_prep.synth.sampler import Sampler
from data_prep.synth.selection import Selection, quotas
from data_prep.synth.settings import SynthSettings
from data_prep.synth.shapes import (
    BETWEEN,
    sample_chains,
    sample_implied,
    sample_pairs,
)
from data_prep.synth.value_shapes import sample_values
from data_prep.synth.verify import true_answers
from data_prep.synth.wordings import Wordings
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.text.values import is_number, is_year
from kgscout_jax.utils.progress import ProgressBar

CLASSES = {
    "chain 1": 0.19,
    "chain 2": 0.15,
    "chain 3": 0.09,
    "implied 2": 0.14,
    "implied 3": 0.11,
    "pair 1": 0.10,
    "pair 2": 0.05,
    "count 1": 0.04,
    "count 2": 0.03,
    "value 1": 0.06,
    "value 2": 0.04,
}
"""Share of each shape and number of hops; shapes that a graph does not give go to the
others."""
PLENTY = 4
"""Drafts per question: dev and test need paths and topics of their own."""
ROUNDS = 6
"""Attempts to sample enough drafts of a class."""


@dataclass
class Generation:
    """The questions of a graph, and what was left out."""

    questions: dict[str, list[SynthQuestion]]
    dropped: Counter[str] = field(default_factory=Counter)
    """Drafts by the reason for which they are no questions."""
    sampled: Counter[str] = field(default_factory=Counter)
    """Distinct drafts by class."""


def generate(graph: KnowledgeGraph, settings: SynthSettings) -> Generation:
    """The questions of all splits; the same for the same graph and settings."""
    rng = np.random.default_rng([settings.seed, 15])
    index = ArcIndex.of(graph)
    facts = relation_facts(index, rng)
    most = BETWEEN * settings.max_answers
    kinds = np.array([fact.kind for fact in facts])
    meaning = np.array([fact.asked for fact in facts])
    literal = (kinds == "number") | (kinds == "date")
    accept = np.concatenate([meaning, np.where(literal, 0.1 * meaning, meaning)])
    named = ~np.asarray(graph.unnamed_mask)
    sampler = Sampler(index, arc_weights(index, facts, most), accept, named, most, rng)
    out = Generation({split: [] for split in SPLITS})
    if sampler.is_empty:
        return out
    classes = {
        name: share
        for name, share in CLASSES.items()
        if int(name.split()[1]) <= settings.hops
    }
    ambiguity = Ambiguity(index)
    lexicon = LinkLexicon(graph.relations, end_types(graph, facts, rng))
    pools: dict[str, list[Draft]] = {}
    with ProgressBar(len(classes), "paths") as bar:
        for name, share in classes.items():
            wanted = PLENTY * round(settings.questions * share) + 200

            def sample(n: int, name: str = name) -> list[Draft]:
                shape, hops = name.split()
                args = (n, int(hops), settings.max_answers)
                if shape == "pair":
                    deep = hops == "2"
                    return sample_pairs(sampler, n, settings.max_answers, deep=deep)
                if shape == "value":
                    return sample_values(sampler, facts, *args)
                if shape == "implied":
                    return sample_implied(sampler, facts, *args)
                counted = shape == "count"
                drafts = sample_chains(sampler, *args, counted=counted)
                return [d for d in drafts if not counted or _counts_entities(d, facts)]

            drafts: dict[object, Draft] = {}
            for _ in range(ROUNDS):
                before = len(drafts)
                for draft in sample(2 * wanted):
                    drafts.setdefault(draft.key, draft)
                if len(drafts) >= wanted or len(drafts) == before:
                    break
            clear = ambiguity.without_ambiguous(list(drafts.values()))
            out.dropped["ambiguous"] += len(drafts) - len(clear)
            usual = [
                draft
                for draft in clear
                if not draft.implied or lexicon.implies(draft.legs[0], draft.implied)
            ]
            out.dropped["steps that nobody leaves out"] += len(clear) - len(usual)
            pools[name] = usual
            out.sampled[name] = len(drafts)
            bar.update()
    _Writer(graph, settings, Wordings(graph, lexicon), pools, out).write()
    return out


def _counts_entities(draft: Draft, facts: Sequence[RelationFacts]) -> bool:
    """Whether the answers are entities: nobody asks how many heights there are."""
    last = draft.legs[0].path[-1]
    return last >= len(facts) or facts[last].kind == "entity"


class _Writer:
    """Words the drafts that the splits take."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        settings: SynthSettings,
        wordings: Wordings,
        pools: dict[str, list[Draft]],
        out: Generation,
    ) -> None:
        self.graph, self.settings = graph, settings
        self.wordings, self.out = wordings, out
        self.selection = Selection(pools, graph.relations, settings.seed)
        self.classes = {name: CLASSES[name] for name in pools}
        self.taken: set[object] = set()
        self.texts: set[str] = set()
        self.nameable = lru_cache(maxsize=None)(self._nameable)

    def write(self) -> None:
        """Fill the splits, dev and test first."""
        sizes = quotas(self.settings.questions, self.classes)
        with ProgressBar(self.settings.questions, "questions", "questions") as bar:
            for split in reversed(SPLITS):
                missing = 0
                for name, quota in sizes[split].items():
                    missing += quota - self._fill(split, name, quota, bar)
                for name in sizes[split]:
                    if missing:
                        missing -= self._fill(split, name, missing, bar)

    def _fill(self, split: str, name: str, quota: int, bar: ProgressBar) -> int:
        """Add up to ``quota`` questions of a class; returns how many."""
        count = 0
        if not quota:
            return 0
        for draft in self.selection.drafts(split, name, quota):
            if draft.key in self.taken:
                continue
            self.taken.add(draft.key)
            question = self._question(draft, split)
            if question is None:
                continue
            self.selection.claim(draft, split)
            self.out.questions[split].append(question)
            count += 1
            bar.update()
            if count == quota:
                break
        return count

    def _question(self, draft: Draft, split: str) -> SynthQuestion | None:
        if not all(self.nameable(leg.topic) for leg in draft.legs) or not all(
            self.nameable(answer) for answer in draft.answers
        ):
            self.out.dropped["name not fit to say, or of several entities"] += 1
            return None
        if any(leg.turns_in_place(len(self.graph.relations)) for leg in draft.legs):
            self.out.dropped["steps back to where they come from"] += 1
            return None
        topics = [self.graph.entities[leg.topic] for leg in draft.legs]
        if any(is_number(name) and not is_year(name) for name in topics):
            self.out.dropped["a number as topic"] += 1
            return None
        if draft.implied and topics[0][:1].isdigit():
            self.out.dropped["a value as topic, with steps left out"] += 1
            return None
        if (
            draft.shape == "count"
            and self.graph.find(str(len(draft.answers))) is not None
        ):
            self.out.dropped["a count that is also an entity"] += 1
            return None
        rng = random.Random(f"{self.settings.seed} {split} {draft.key}")
        wording = self.wordings.word(draft, split, rng)
        if wording is None:
            self.out.dropped["no wording, or one that names an answer"] += 1
            return None
        text = wording.text.lower().rstrip("?.")
        if text in self.texts:
            self.out.dropped["worded like another"] += 1
            return None
        if true_answers(self.graph, draft) != set(draft.answers):
            self.out.dropped["answers differ from the graph"] += 1
            return None
        self.texts.add(text)
        number = len(self.out.questions[split])
        return SynthQuestion(f"{split}-{number}", draft, wording)

    def _nameable(self, entity: int) -> bool:
        """Whether a question can name an entity, and that one alone."""
        if not is_sayable(self.graph, entity):
            return False
        found: Sequence[int] = self.graph.find_every(
            self.graph.entities[entity]
        ).tolist()
        return list(found) == [entity]
