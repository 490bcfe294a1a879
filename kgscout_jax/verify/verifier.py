"""Verdicts on statements: supported, contradicted or unknown, with the triplets.

A claim is supported if a triplet of the graph joins its two names and no other relation
fits its words much better. It is contradicted if the relation that fits best is
functional in the graph and leads from one of the names to something else. All else is
unknown: the graph is not expected to be complete. A negated claim is judged the other
way round.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.link.graph_index import linker_of
from kgscout_jax.text.encoder import SentenceEncoder
from kgscout_jax.text.relation_words import relation_words, split_words
from kgscout_jax.types import replace_surrogates
from kgscout_jax.verify.arcs import ArcFinder, Arcs, Path
from kgscout_jax.verify.claims import Claim, find_claims
from kgscout_jax.verify.contexts import ContextFinder
from kgscout_jax.verify.meanings import Meaning
from kgscout_jax.verify.mentions import Mention
from kgscout_jax.verify.relation_model import RelationModel
from kgscout_jax.verify.relation_words import (
    ClaimWords,
    claim_words,
    content_lemmas,
    direction,
)
from kgscout_jax.verify.values import parse_value
from kgscout_jax.verify.verdicts import (
    NO_EVIDENCE,
    OPPOSITE,
    ClaimVerdict,
    Evidence,
    Thresholds,
    Verdict,
    flat,
    likeliest,
    likelihood,
)

MAX_TRIPLETS = 20
"""Triplets shown with a verdict."""
_ADJUNCT = re.compile(
    r"\b(?:in|on|at|near|since|until|before|after|during|than|(?P<own>for|from|as))"
    r"(?:\s+(?:the|an?))?\s*$",
    re.I,
)
"""What may begin a place, a time or a comparison; ``own`` if not the relation's own."""
_NEGATION = re.compile(r"\b(?:not|never|cannot|neither)\b|n['’]t\b", re.I)
GENERIC = content_lemmas(
    "film movie company firm city town country place person people man woman book song "
    "album thing creature animal kind type lie lies located situated".split()
)
"""Words for things that name no relation."""


class Verifier:
    """Judges statements by one graph; safe to use from many threads at once."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        encoder: SentenceEncoder | None = None,
        *,
        thresholds: Thresholds | None = None,
        model: RelationModel | None = None,
        cache: FilePath | None = None,
    ) -> None:
        """
        Args:
            graph: in memory or memory-mapped.
            encoder: of relations and claims; None for the default one.
            thresholds: where verdicts begin.
            model: scores relations; None for that of the package.
            cache: folder for embeddings; default $KGSCOUT_CACHE or ~/.cache/kgscout.
        """
        self.graph = graph
        self.thresholds = thresholds or Thresholds()
        self.model = model or RelationModel(
            graph, encoder or SentenceEncoder(), cache=cache
        )
        self.arcs = ArcFinder(graph)
        self.contexts = ContextFinder(graph, self.arcs)

    def verify(self, text: str) -> list[ClaimVerdict]:
        """The verdict on each atomic claim of a text.

        Raises:
            UserError: there is no text.
        """
        if not isinstance(text, str) or not text.strip():
            raise UserError(f"statement: found {text!r}, expected some text")
        linker = linker_of(self.graph)
        claims = find_claims(replace_surrogates(text), linker)
        return [self.judge(claim) for claim in claims]

    def judge(self, claim: Claim) -> ClaimVerdict:
        """The verdict on one claim."""
        verdict, evidence = self._judge(claim)
        if len(_negations(claim)) % 2:
            verdict = OPPOSITE[verdict]
        unnamed = self.graph.unnamed_mask
        # A fact through an unnamed entity reads from its named head on.
        ids = sorted(
            evidence.ids[:MAX_TRIPLETS],
            key=lambda i: bool(unnamed[self.graph.triplets[i, 0]]),
        )
        return ClaimVerdict(
            text=claim.text,
            verdict=verdict,
            triplets=tuple(self.graph.triplet(i) for i in ids),
            probability=float(np.exp(evidence.log_probability)),
        )

    def _judge(self, claim: Claim) -> tuple[Verdict, Evidence]:
        nothing = NO_EVIDENCE
        names = [m for m in claim.mentions if not self._is_of_relation(claim, m)]
        mentions = names if len(names) > 1 else list(claim.mentions)
        linked = [m for m in mentions if m.entities]
        unlinked = [m for m in mentions if not m.entities]
        if not linked:
            return "unknown", nothing
        alone = len(mentions) == 2
        contradictions = []
        best = nothing
        for a, b in combinations(mentions, 2):
            if not (a.entities or b.entities):
                continue
            joined, against = self._pair(claim, a, b, alone)
            extra = [
                m for m in linked if m not in (a, b) and not self._is_word(claim, m)
            ]
            better = joined.log_probability > best.log_probability
            known = all(m in (a, b) for m in unlinked)
            if better and known and self._explained(extra, joined):
                best = joined
            contradictions.append(against)
        if best.ids:
            return "supported", best
        stated = self.contexts.evidence(claim)
        if stated is not None:
            verdict = "supported" if stated.supports else "contradicted"
            return verdict, Evidence(stated.ids, 0.0)
        against = max(contradictions, key=lambda e: e.log_probability, default=nothing)
        return ("contradicted", against) if against.ids else ("unknown", nothing)

    def _is_of_relation(self, claim: Claim, mention: Mention) -> bool:
        """Whether no entity but a relation, its words or initials: IATA code, CEO."""
        text, start, stop = claim.text, mention.start, mention.stop
        while start and not text[start - 1].isspace():
            start -= 1
        while stop < len(text) and not text[stop].isspace():
            stop += 1
        if text[start:stop].strip(".,;:!?\"'()") in self._relation_names:
            return True
        words = tuple(split_words(text[mention.start : mention.stop]))
        if mention.whole:
            named = text[mention.start : mention.stop].islower()
            return named and len(words) > 1 and words in self._relation_words
        return self._words_of_relations.issuperset(words)

    def _is_word(self, claim: Claim, mention: Mention) -> bool:
        """Whether a common word that says nothing of its own: "the film", "club"."""
        words = split_words(claim.text[mention.start : mention.stop])
        known = content_lemmas(words) <= GENERIC
        return mention.plain and (known or self._words_of_relations.issuperset(words))

    @cached_property
    def _relation_names(self) -> frozenset[str]:
        """Names of relations that nobody but the graph writes so: place_of_birth."""
        return frozenset(n for n in self.graph.relations if re.search(r"\w[._/]\w", n))

    @cached_property
    def _relation_words(self) -> frozenset[tuple[str, ...]]:
        return frozenset(tuple(relation_words(name)) for name in self.graph.relations)

    @cached_property
    def _words_of_relations(self) -> frozenset[str]:
        words = self._relation_words
        initials = ("".join(w[0] for w in each) for each in words if len(each) > 1)
        return frozenset(initials).union(*words)

    def _pair(
        self, claim: Claim, a: Mention, b: Mention, alone: bool
    ) -> tuple[Evidence, Evidence]:
        """The evidence for and against a claim about two of its names.

        Args:
            claim: a claim.
            a: a name of it.
            b: a later one.
            alone: whether it has no other names.
        """
        text = claim.text
        for start, stop in _negations(claim):
            text = text[:start] + " " * (stop - start) + text[stop:]
        words = claim_words(text, (a.start, a.stop), (b.start, b.stop))
        finder, limits = self.arcs, self.thresholds
        from_a = [(e, finder.arcs(e)) for e in a.entities]
        from_b = [(e, finder.arcs(e)) for e in b.entities]
        paths_a = {p for _, arcs in from_a for p in arcs.targets}
        paths_b = {finder.reverse(p) for _, arcs in from_b for p in arcs.targets}
        paths = paths_a | paths_b
        half = finder.n_relations
        near = sorted({arc % half for path in paths for arc in path})
        relations = self.model.relations(words, near)
        ends_a = {arc for path in paths_a for arc in path}
        ends_b = {finder.inverse(arc) for path in paths_b for arc in path}
        meaning_a, meaning_b = (Meaning(self.graph, text, each) for each in (a, b))
        ends_b |= self._value_ends(from_a, meaning_b)
        ends_a |= self._value_ends(from_b, meaning_a)
        logs = self.model.log_probabilities(
            self.model.features(words, relations, ends_a, ends_b), relations
        )
        arcs = [*relations, *(r + half for r in relations)]
        score = dict(zip(arcs, logs.tolist(), strict=True))
        top = max(score.values(), default=-np.inf)

        def fit(path: Path) -> float:
            return max(score[arc] for arc in path)

        # "Heat is a drama": the names alone must tell the relation.
        bare = words.content <= GENERIC
        identity = bare and words.is_identity and not b.plain
        identity = identity and self._alike(ends_a, ends_b)
        support = limits.bare if bare else limits.support
        behind = limits.bare_behind if bare else limits.behind
        joined = against = NO_EVIDENCE
        related = False
        sides = ((from_a, meaning_b, True), (from_b, meaning_a, False))
        for side, other, forward in sides:
            for _, found in side:
                fits = {}
                for path, targets in found.targets.items():
                    ids = other.triplets(targets)
                    related |= bool(ids)
                    way = path if forward else finder.reverse(path)
                    value = fit(way)
                    if ids and value >= top - behind and not self._turned(way, words):
                        fits[path] = value, flat(ids)
                if not identity:
                    joined = max(joined, likeliest(fits, support), key=likelihood)
        least = limits.despite if related else limits.contradict
        if any(m.value is not None and m.value.year is None for m in (a, b)):
            least = max(least, limits.value)
        for side, other, forward in sides:
            for _, found in side:
                rivals: dict[frozenset[int], dict[Path, Any]] = {}
                for path, targets in found.targets.items():
                    value = fit(path if forward else finder.reverse(path))
                    ids = flat(targets.values())
                    # Relations that lead to the same are one: capital, capital of.
                    rivals.setdefault(frozenset(targets), {})[path] = value, ids
                for reached, fits in rivals.items():
                    best = max(fits, key=lambda path: fits[path][0])
                    if (
                        fits[best][0] >= top - limits.rival
                        and self._excludes(best, len(reached))
                        and self._comparable(best, reached, other)
                        and (
                            self._same_kind(best, reached, other.mention, related)
                            or (alone and self._stated(best, words, other))
                        )
                    ):
                        found_here = likeliest(fits, least)
                        against = max(against, found_here, key=likelihood)
        return joined, against

    def _turned(self, path: Path, words: ClaimWords) -> bool:
        """Whether the words state the one relation of a path the other way round."""
        relation = self.graph.relations[path[0] % self.arcs.n_relations]
        sign = 1 if path[0] < self.arcs.n_relations else -1
        return len(path) == 1 and direction(words, relation) == -sign

    def _value_ends(
        self, side: Sequence[tuple[int, Arcs]], meaning: Meaning
    ) -> set[int]:
        """The arc types that lead out of a value, like any other value of its kind."""
        return {
            self.arcs.inverse(arc)
            for _, found in side
            for path, targets in found.targets.items()
            if meaning.comparisons(targets) & {"same", "differs"}
            for arc in path
        }

    def _alike(self, ends_a: set[int], ends_b: set[int]) -> bool:
        """Whether two things have mostly the same relations, as two persons do."""
        common = len(ends_a & ends_b)
        return common >= self.thresholds.alike * min(len(ends_a), len(ends_b))

    def _excludes(self, path: Path, n: int) -> bool:
        """Whether the ``n`` entities that a path leads to leave no room for another."""
        if n > 1:
            return False
        limits, finder = self.thresholds, self.arcs
        if finder.functionality(path) < limits.functional:
            return False
        # By chance nearly every relation of a small graph is functional one way.
        inverse = path[0] >= finder.n_relations
        return not inverse or finder.sources(path) >= limits.sources

    def _comparable(
        self, path: Path, targets: frozenset[int], meaning: Meaning
    ) -> bool:
        """Whether a name is another value than those that a path leads to.

        A name that the graph joins to what the path leads to is none: the headquarters
        are in Milan and in Italy. It is if the path leads to it elsewhere and the two
        are joined one to one: another team, which is the rival of this one.
        """
        mention = meaning.mention
        if meaning.comparisons(targets) & {"same", "open"}:
            return False
        entities = set(mention.entities)
        if mention.value is None and entities & targets:
            return False
        finder, limit = self.arcs, self.thresholds.functional
        elsewhere = self._ends(path, mention)
        return not any(
            entities & set(reached)
            and finder.functionality(way) >= limit
            and not (elsewhere and finder.functionality(finder.reverse(way)) >= limit)
            for target in targets
            for way, reached in finder.arcs(target).targets.items()
        )

    def _ends(self, path: Path, mention: Mention) -> bool:
        """Whether a path leads from anything to what a mention names."""
        last = self.arcs.inverse(path[-1])
        return any(last in self.arcs.ends(entity) for entity in mention.entities)

    def _same_kind(
        self, path: Path, targets: frozenset[int], mention: Mention, related: bool
    ) -> bool:
        """Whether a mention and the ``targets`` are names, or all of them values.

        A name that the graph joins otherwise (``related``) must be an end of the path
        elsewhere: who "plays as a winger" plays for no winger.
        """
        values = [parse_value(self.graph.entities[e]) is not None for e in targets]
        if mention.value is not None or any(values):
            return mention.value is not None and all(values)
        return not related or self._ends(path, mention)

    def _stated(self, path: Path, words: ClaimWords, meaning: Meaning) -> bool:
        """Whether a claim names a relation, and the mention as what it leads to.

        "The captain of Leeds is 1990" does, "Leeds was founded in Yorkshire" does not
        even if the graph knows the year: it may be about the place.
        """
        names = [self.graph.relations[arc % self.arcs.n_relations] for arc in path]
        spelled = [relation_words(name) for name in names]
        adjunct = _ADJUNCT.search(meaning.before)
        own = adjunct and adjunct["own"]
        if adjunct and not (own and any(own.lower() in each for each in spelled)):
            return False
        lemmas = map(content_lemmas, spelled)
        return any(each and each <= words.content for each in lemmas)

    def _explained(self, extra: Sequence[Mention], joined: Evidence) -> bool:
        """Whether the graph joins every further name to the fact that was found."""
        rows = np.asarray(self.graph.triplets[list(joined.ids)])
        inside = set(rows[:, [0, 2]].ravel().tolist())
        for mention in extra:
            near = set()
            for entity in mention.entities:
                for targets in self.arcs.arcs(entity).targets.values():
                    near |= set(targets)
            if not near & inside and not set(mention.entities) & inside:
                return False
        return True


def _negations(claim: Claim) -> list[tuple[int, int]]:
    """The spans of words that negate a claim, outside its names."""
    return [
        match.span()
        for match in _NEGATION.finditer(claim.text)
        if not any(m.start <= match.start() < m.stop for m in claim.mentions)
    ]


def verify(
    text: str, graph: KnowledgeGraph, encoder: SentenceEncoder | None = None
) -> list[ClaimVerdict]:
    """The verdict on each atomic claim of a text; see ``Verifier``."""
    return Verifier(graph, encoder).verify(text)
