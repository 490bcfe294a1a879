"""From a question's scores to its result: ranking, selection, answers with paths."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float, Float32, Int

from kgscout_jax.export.load import Exported
from kgscout_jax.graph.class_closure import classes_of
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.alias_answers import read_alias
from kgscout_jax.inference.answer_kinds import asks_yes_no, mentions
from kgscout_jax.inference.candidate_order import order_of, other_order
from kgscout_jax.inference.definitions import definition_word
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.flag_answers import as_yes_no, read_flag
from kgscout_jax.inference.inputs import Candidates, ProductRows
from kgscout_jax.inference.kept_products import KeptProducts
from kgscout_jax.inference.node_answers import (
    NodeAnswers,
    Path,
    faithful_paths,
    read_answers,
)
from kgscout_jax.inference.question_mentions import Mention, question_mentions
from kgscout_jax.inference.result import RetrievalResult
from kgscout_jax.inference.row_label import row_label
from kgscout_jax.inference.same_values import read_same
from kgscout_jax.inference.scoring import (
    NO_SCORES,
    PendingScores,
    Scores,
    start_scores,
    walkers_of,
)
from kgscout_jax.inference.search import Search
from kgscout_jax.inference.selection import (
    SelectionConfig,
    subset,
)
from kgscout_jax.inference.sources import sources_of
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import must_compare, read_comparison
from kgscout_jax.inference.value_candidates import with_values, without_limits
from kgscout_jax.inference.yes_no import (
    Stated,
    by_statement,
    read_yes_no,
    yes_no_turns,
)
from kgscout_jax.policy.registry import is_general
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.retrieve.constraints import QuestionConstraints, question_constraints
from kgscout_jax.retrieve.interleaving import interleaved_logits
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.value_test import Outcome, ValueTest
from kgscout_jax.text.aggregate_question import aggregate_question
from kgscout_jax.text.negation import has_negating_word, negation_of
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_question import ValueQuestion, compares_two
from kgscout_jax.text.value_words import relation_keys, word_key
from kgscout_jax.text.words import question_words
from kgscout_jax.types import Answer, Triplet

if TYPE_CHECKING:
    from kgscout_jax.retrieve.budget import Calibration


@dataclass(frozen=True, kw_only=True)
class ScoredQuestion:
    """A question with all that is known of it before triplets are selected."""

    text: str
    graph: KnowledgeGraph
    start: SearchStart
    candidates: Candidates | None
    scores: Scores = NO_SCORES
    general: bool = False
    """Whether the policy is one for any graph, see ``KGScout``."""
    compared: ValueQuestion | None = None
    """What it wants of values, with entities for its topics; None: nothing."""
    constraints: QuestionConstraints | None = None
    """What it asks for of its candidates; None: not read yet."""
    values: ValueTest | None = None
    """The test of values; None where it compares none that are here."""
    outcome: Outcome | None = None
    """What values decided."""
    entity_set: EntitySet | None = None
    """Its answer, if it is found over the whole graph; None: a walk finds it."""
    decision: NodeAnswers | None = None
    """The answer that values alone decide; None: they do not."""
    answers: NodeAnswers | None = None
    """None without candidates or without an answer head."""

    @property
    def mentions(self) -> list[Int[np.ndarray, "g"]]:
        """The topics, grouped by the words that name them."""
        return mentions(self.start.ids, self.start.links)

    @property
    def named(self) -> list[Mention]:
        """The names that its words hold, among its candidates."""
        assert self.candidates is not None
        return question_mentions(
            self.text, self.candidates, self.mentions, self.start.links, self.name_of
        )

    @property
    def negation(self) -> str:
        """The word that negates it; "" where none does."""
        assert self.candidates is not None
        read = self.constraints is not None and self.constraints.negated
        if read or self.entity_set is not None or not has_negating_word(self.text):
            return ""
        spans = [(each.start, each.stop) for each in self.named]
        relations = map(self.relation_of, self.candidates.relations.tolist())
        return negation_of(self.text, spans, [*relations])

    @property
    def stated(self) -> Stated | None:
        """What its triplets say of the statement that a yes-or-no question makes."""
        # Inflected forms take long to load, and other questions do not need them.
        from kgscout_jax.inference.statements import read_statement

        if (found := self.candidates) is None:
            return None
        named = self.named
        same = read_same(self.text, self.topic_names, found, named, self.relation_of)
        if same is not None:
            return same
        unnamed = self.graph.unnamed_mask[found.entities]

        def classes(nodes: frozenset[int]) -> frozenset[int]:
            wider = classes_of(self.graph, found.entities[[*nodes]])
            return frozenset(np.flatnonzero(np.isin(found.entities, wider)).tolist())

        return read_statement(
            self.text, found, named, self.relation_of, unnamed, classes
        )

    def flag_answers(self, least: float) -> NodeAnswers | None:
        """Yes or no by a flag of its one topic; None for other questions."""
        found = self.candidates
        if found is None or not asks_yes_no(self.text):
            return None
        relations = [*map(self.relation_of, found.relations.tolist())]
        nodes = texts_of(self.graph.entities, found.entities)
        said = self.start.names(self.text, self.graph)
        return read_flag(self.text, said, found, self.scores, relations, nodes, least)

    def alias_answer(self, least: float) -> NodeAnswers | None:
        """The entity that it calls by another name; None for other questions."""
        found = self.candidates
        if found is None or not any(x.how == "alias" for x in self.start.links):
            return None
        return read_alias(
            self.text,
            self.start.links,
            self.start.names(self.text, self.graph),
            found,
            self.scores,
            [self.relation_of(int(i)) for i in found.relations],
            texts_of(self.graph.entities, found.entities),
            least,
        )

    @property
    def topic_names(self) -> list[str]:
        """The names of its topics."""
        return [self.name_of(int(entity)) for entity in self.start.ids]

    def name_of(self, entity: int) -> str:
        """The name of an entity."""
        return str(self.graph.entities[entity])

    def relation_of(self, relation: int) -> str:
        """The name of a relation."""
        return self.graph.relation_names[relation]

    @property
    def ranking_logits(self) -> Float32[np.ndarray, "n"]:
        """The logits by which triplets are selected."""
        found, nodes = self.candidates, self.scores.nodes
        if not self.general or found is None or nodes is None:
            return self.scores.logits
        logits = interleaved_logits(
            self.scores.logits, nodes, found.nodes, found.relation_index, found.topics
        )
        return self.entity_set.logits(found, logits) if self.entity_set else logits

    @property
    def must_pass(self) -> bool:
        """Whether only what passes the test of values is an answer."""
        asked, found = self.compared, self.candidates
        if asked is None or found is None:
            # "Which is busier, A or B": no graph says what busy is. Nor is a mean one
            # of the values.
            two = len(self.start.ids) > 1 and compares_two(self.text)
            return two or (found is not None and self._needs_values(found))
        return must_compare(
            self.text,
            asked,
            self.values,
            map(self.relation_of, found.relations.tolist()),
            [self.name_of(int(found.entities[node])) for node in found.topics],
        )

    def _needs_values(self, found: Candidates) -> bool:
        """Whether it asks for a mean or a sum that no relation of its topic says."""
        asked = aggregate_question(self.text)
        if asked is None:
            return False
        of_topic = np.isin(found.nodes[:, 0], found.topics)
        own = np.unique(found.relation_index[of_topic])
        names = [self.relation_of(int(found.relations[i])) for i in own]
        keys = {*map(word_key, asked.measure)}
        return not any(
            asked.word in relation_words(name) or keys <= relation_keys(name)
            for name in names
        )

    def by_values(self, search: Search, least: float) -> ScoredQuestion:
        """The question with other scores by what it asks for.

        With the answer that values alone decide, if they do.

        Args:
            search: of the question.
            least: P(answer) below which there is no answer.
        """
        if self.candidates is not None and search.entity_set is not None:
            decision = search.entity_set.answers(self.candidates, self.scores)
            return dataclasses.replace(
                self.constrained(), entity_set=search.entity_set, decision=decision
            )
        if self.candidates is None or self.compared is None:
            return self.constrained()
        found, scores = with_values(search, self.candidates, self.scores)
        constraints = self.constraints if found is self.candidates else None
        valued = dataclasses.replace(
            self, candidates=found, scores=scores, constraints=constraints
        )
        valued = valued.constrained()
        decision = read_comparison(self.text, valued.values, scores, least)
        if decision is None and asks_yes_no(self.text):
            # Its turns go to the network, which takes no more candidates.
            return self.constrained()
        return dataclasses.replace(valued, decision=decision)

    def with_constraints(self) -> ScoredQuestion:
        """The question with what it asks for, which does not depend on scores."""
        if (found := self.candidates) is None:
            return self
        compared = self.compared and self.compared.with_topics(found.node_of)
        text = self.start.walked or self.text
        names = self.start.names(self.text, self.graph)
        definition = None
        if not question_words(text, names):
            definition = definition_word(text, self.graph, found)
        constraints = question_constraints(
            text,
            names,
            compared,
            LocalGraph(
                [self.relation_of(int(relation)) for relation in found.relations],
                found.relation_index,
                found.nodes,
                [each for each in map(found.nodes_of, self.mentions) if len(each)],
                lambda nodes: texts_of(self.graph.entities, found.entities[nodes]),
                self.graph.relation_index,
            ),
            self.graph.unnamed_mask[found.entities],
            definition,
        )
        return dataclasses.replace(self, constraints=constraints)

    def constrained(self) -> ScoredQuestion:
        """The question with other scores by what it asks for."""
        found, nodes = self.candidates, self.scores.nodes
        if found is None or nodes is None:
            return self
        if (wanted := self.constraints) is None:
            return self.with_constraints().constrained()
        if self.start.excluded:
            left_out = np.isin(found.entities, self.start.excluded)
            nodes = np.where(left_out, -np.inf, nodes).astype(np.float32)
        new = wanted.logits(self.scores.logits, nodes, general=self.general)
        scores = dataclasses.replace(
            self.scores,
            logits=new.triplets,
            nodes=new.nodes,
            doubts=new.doubts,
            stated=wanted.stated,
        )
        return dataclasses.replace(
            self, scores=scores, values=wanted.values, outcome=new.outcome
        )

    def result(
        self,
        k: int,
        selection: SelectionConfig,
        calibration: Calibration | None,
        walkers: int,
    ) -> RetrievalResult:
        """The result of the question.

        Args:
            k: maximum number of triplets.
            selection: which triplets are selected.
            calibration: required with a target.
            walkers: of the policy; 0 without an answer head.

        Raises:
            UserError: the token budget is too small for the template and the question.
        """
        empty = RetrievalResult(
            question=self.text,
            topics=tuple(dict.fromkeys(map(self._topic_name, self.start.ids.tolist()))),
            links=self.start.links,
            topics_not_found=(*self.start.unknown, *self.start.absent),
            scores=self.scores.logits,
            abstained=walkers > 0,
        )
        if self.candidates is None:
            _, report = selection.positions(empty, k, empty.scores, calibration)
            return dataclasses.replace(empty, selection=report)
        closed: list[Path] = []
        answers = self._with_dead_ends(self.candidates)
        if answers is not None and selection.form == "answers":
            closed = answers.paths(self.candidates, walkers)
        depth = selection.depth(k)
        if selection.retriever == "scout":
            logits = self.ranking_logits
            order, ranks = order_of(self.candidates, logits, depth, closed)
            values = logits[order]
        else:
            logits = self.scores.logits
            order, values = other_order(
                selection.retriever, self.candidates, self.scores, depth
            )
            ranks = []
        ranking = self._ranking(empty, self.candidates, order, values)
        kept, report = selection.positions(ranking, k, logits, calibration, ranks)
        result = subset(ranking, kept, report)
        if answers is None:
            return result
        if negation := self.negation:
            return dataclasses.replace(
                result, kind=answers.kind, abstained=True, negation=negation
            )
        kept_candidates = order[np.asarray(kept, np.int64)]
        paths = faithful_paths(
            answers, self.candidates, walkers, kept_candidates, closed
        )
        rows = dict(zip(kept_candidates.tolist(), result.triplets, strict=True))
        evidence = [tuple(rows[position] for position in path) for path in paths]
        fields = self._answer_fields(self.candidates, answers, evidence)
        return dataclasses.replace(result, **fields)

    def _topic_name(self, entity: int) -> str:
        """The name of a topic; of a row without a name what the question calls it."""
        if self.graph.unnamed_mask[entity]:
            for link in self.start.links:
                if link.entity == entity and link.how == "alias":
                    return self.text[link.start : link.stop]
        return self.name_of(entity)

    def _ranking(
        self,
        empty: RetrievalResult,
        candidates: Candidates,
        order: Int[np.ndarray, "k"],
        values: Float[np.ndarray, "k"],
    ) -> RetrievalResult:
        """The candidates in ``order`` as triplets of names, with their scores."""
        entities, relations = self.graph.entities, self.graph.relation_names
        ids = candidates.ids[order]
        rows = np.asarray(self.graph.triplets[ids]).tolist()
        ends = np.unique([(head, tail) for head, _, tail in rows])
        names = dict(zip(ends.tolist(), texts_of(entities, ends), strict=True))
        return dataclasses.replace(
            empty,
            triplets=tuple((names[h], relations[r], names[t]) for h, r, t in rows),
            triplet_ids=ids,
            sources=sources_of(self.graph, ids),
            scores=np.asarray(values, np.float32),
            relation_match=tuple(candidates.relation_match[order].tolist()),
            n_candidates=len(candidates.ids),
            seconds=self.scores.seconds,
            abstained=False,
        )

    def _with_dead_ends(self, candidates: Candidates) -> NodeAnswers | None:
        """The answers, whose paths pass no ids."""
        if self.answers is None:
            return None
        names = map(self.relation_of, candidates.relations.tolist())
        of_ids = np.array([relation_words(name)[-1:] == ["id"] for name in names], bool)
        if not of_ids.any():
            return self.answers
        dead = of_ids[candidates.relation_index]
        return dataclasses.replace(self.answers, dead_ends=dead)

    def _answer_fields(
        self,
        candidates: Candidates,
        answers: NodeAnswers,
        paths: Sequence[tuple[Triplet, ...]],
    ) -> dict[str, Any]:
        """Fields of the result."""
        ids = candidates.entities[answers.nodes].tolist()
        named = tuple(
            Answer(
                name=row_label(self.graph, entity),
                probability=probability,
                path=paths[i] if i < len(paths) else (),
            )
            for i, (entity, probability) in enumerate(
                zip(ids, answers.probabilities.tolist(), strict=True)
            )
        )
        fields: dict[str, Any] = {
            "kind": answers.kind,
            "abstained": answers.abstained,
        }
        if answers.kind != "set":
            fields["support"] = named
            path = named[0].path if answers.kind == "yes_no" else ()
            value = answers.value
            named = (Answer(name=value, probability=answers.probability, path=path),)
        return {**fields, "best_guesses" if answers.abstained else "answers": named}


def scored_questions(
    exported: Exported,
    searches: Sequence[Search],
    *,
    largest: int,
    min_probability: float | None,
    products: KeptProducts | None = None,
) -> list[ScoredQuestion]:
    """The scores of each question, and its answers by a policy with an answer head.

    Args:
        exported: the policy.
        searches: the questions.
        largest: maximum number of candidates of a question.
        min_probability: of the best answer; None: as the policy was calibrated.
        products: of the graphs, where they are kept.
    """

    def start(
        rows: Sequence[int], candidates: Sequence[Candidates | None]
    ) -> PendingScores:
        vectors = [searches[i].vectors for i in rows]
        tables = [searches[i].table.relations for i in rows]
        kept = None if products is None else partial(products_of, products, rows)
        return start_scores(exported, vectors, candidates, tables, largest, kept)

    def score(rows: Sequence[int], candidates: Sequence[Candidates]) -> list[Scores]:
        return start(rows, candidates).wait()

    def products_of(
        products: KeptProducts, rows: Sequence[int], i: int, found: Candidates
    ) -> ProductRows:
        search = searches[rows[i]]
        return products.of(search.table, len(search.graph), found)

    candidates = [without_limits(each) for each in searches]
    pending = start(range(len(searches)), candidates)
    scored = [
        ScoredQuestion(
            text=each.text,
            graph=each.graph,
            start=each.start,
            candidates=found,
            general=is_general(exported.config),
            compared=each.compared,
        )
        for each, found in zip(searches, candidates, strict=True)
    ]
    answers = walkers_of(exported) > 0
    if answers:  # While the device computes.
        scored = [each.with_constraints() for each in scored]
    scored = [
        dataclasses.replace(each, scores=of_question)
        for each, of_question in zip(scored, pending.wait(), strict=True)
    ]
    if answers:
        scale = exported.answer_scale
        least = scale.abstention if min_probability is None else min_probability
        scored = [
            each.by_values(search, least)
            for each, search in zip(scored, searches, strict=True)
        ]
        scored = with_answers(scored, score, scale, least)
    return scored


def with_answers(
    questions: Sequence[ScoredQuestion],
    score: Callable[[Sequence[int], Sequence[Candidates]], list[Scores]],
    scale: AnswerScale,
    least: float,
) -> list[ScoredQuestion]:
    """The questions with their answers.

    Args:
        questions: without answers.
        score: scores of questions, given by position, with other candidates.
        scale: the policy's probabilities.
        least: P(answer) below which there is no answer.
    """
    turns = {
        i: found
        for i, each in enumerate(questions)
        if each.candidates is not None
        and each.decision is None
        and (found := yes_no_turns(each.text, each.candidates, each.mentions))
    }
    rows = [i for i, found in turns.items() for _ in found]
    starts = [candidates for found in turns.values() for candidates, _ in found]
    of_turns = iter(score(rows, starts) if rows else [])
    out = []
    for i, each in enumerate(questions):
        if each.decision is not None:
            each = dataclasses.replace(each, answers=each.decision)
        elif i in turns:
            scores = [next(of_turns) for _ in turns[i]]
            lowest = np.inf if each.must_pass else least
            answers = read_yes_no(turns[i], scores, scale, lowest)
            answers = by_statement(answers, each.stated, lowest)
            each = dataclasses.replace(each, answers=answers)
        elif (flag := each.flag_answers(least)) is not None:
            each = dataclasses.replace(each, answers=flag)
        elif (alias := each.alias_answer(least)) is not None:
            each = dataclasses.replace(each, answers=alias)
        elif each.candidates is not None:
            answers = read_answers(
                each.text,
                each.candidates,
                each.scores,
                scale,
                each.name_of,
                each.relation_of,
                least,
                each.outcome,
                must_pass=each.must_pass,
            )
            answers = as_yes_no(each.text, answers, each.candidates, each.name_of)
            each = dataclasses.replace(each, answers=answers)
        if each.start.absent and each.answers is not None:
            each = dataclasses.replace(each, answers=each.answers.doubted(least))
        out.append(each)
    return out
