"""A question with what is known of it before triplets are selected."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int

from kgscout_jax.graph.class_closure import classes_of
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.graph.string_table import texts_of
from kgscout_jax.inference.alias_answers import read_alias
from kgscout_jax.inference.answer_kinds import asks_yes_no, mentions
from kgscout_jax.inference.definitions import definition_word
from kgscout_jax.inference.entity_set import EntitySet
from kgscout_jax.inference.flag_answers import read_flag
from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.node_answers import (
    NodeAnswers,
)
from kgscout_jax.inference.question_mentions import Mention, question_mentions
from kgscout_jax.inference.same_values import read_same
from kgscout_jax.inference.scoring import (
    NO_SCORES,
    Scores,
)
from kgscout_jax.inference.search import Search
from kgscout_jax.inference.topics import SearchStart
from kgscout_jax.inference.value_answers import must_compare, read_comparison
from kgscout_jax.inference.value_candidates import with_values
from kgscout_jax.inference.yes_no import (
    Stated,
)
from kgscout_jax.retrieve.constrained_logits import QuestionConstraints
from kgscout_jax.retrieve.constraints import question_constraints
from kgscout_jax.retrieve.interleaving import interleaved_logits
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.value_test import Outcome, ValueTest
from kgscout_jax.text.aggregate_question import aggregate_question
from kgscout_jax.text.negation import has_negating_word, negation_of
from kgscout_jax.text.relation_words import relation_words
from kgscout_jax.text.value_question import ValueQuestion
from kgscout_jax.text.value_question_parser import compares_two
from kgscout_jax.text.value_words import relation_keys, word_key
from kgscout_jax.text.words import question_words


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
                self._walked(found),
                lambda nodes: texts_of(self.graph.entities, found.entities[nodes]),
                self.graph.relation_index,
                self.graph.decimal_commas,
            ),
            self.graph.unnamed_mask[found.entities],
            definition,
        )
        return dataclasses.replace(self, constraints=constraints)

    def _walked(self, found: Candidates) -> list[Int[np.ndarray, "g"]]:
        """The nodes of each mention that the walk starts from: no limit is one.

        Without any such mention those of all.
        """
        every = [each for each in map(found.nodes_of, self.mentions) if len(each)]
        if self.compared is None:
            return every
        return [each for each in every if np.isin(each, found.topics).all()] or every

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
