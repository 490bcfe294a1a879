"""Nodes at the end of the steps that a question names one after the other.

"What prizes did the children of Ann win" is answered by the prizes of her children,
whatever else lies around her; "Ann's aunts" by the sisters of her parents. A policy
that has not seen a graph often stops a step too early.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise, zip_longest

import numpy as np
from jaxtyping import Bool

from kgscout_jax.retrieve.family import Family
from kgscout_jax.retrieve.local_graph import LocalGraph
from kgscout_jax.retrieve.named_relations import needs_no_word
from kgscout_jax.text.kin_words import (
    Kin,
    asked_kin,
    kin_relation,
    one_word_kin,
    says_kin,
)
from kgscout_jax.text.kinds import noun_kind
from kgscout_jax.text.name_ends import noun_ends
from kgscout_jax.text.question_chain import ChainWord, QuestionChain, question_chain
from kgscout_jax.text.relation_phrases import own_forms, relation_forms, word_forms
from kgscout_jax.text.relation_words import (
    is_another_post,
    is_of_life,
    relation_words,
)
from kgscout_jax.text.stated_relation import answer_ends

NamedEnds = tuple[tuple[int, frozenset[int]], ...]
"""Relations by number, with the ends where a step may lead."""
Step = Kin | NamedEnds
"""To relatives, or by named relations."""
_PEOPLE = frozenset("people persons inhabitants residents citizens".split())
LIVING = frozenset("live lives living lived reside inhabit".split())
"""What the people of a population do."""
POPULATION = frozenset("population inhabitants".split())
"""Words of relations to how many live somewhere."""
_SITED = frozenset("located situated based headquartered lie lies".split())
"""Verbs for what stays where it is: a place of birth is something else."""
MOST = 60
"""Nodes of an answer."""


def chain_nodes(
    question: str,
    topics: Sequence[str],
    around: LocalGraph,
    unnamed: Bool[np.ndarray, "v"],
    possible: Bool[np.ndarray, "v"],
    likely: Bool[np.ndarray, "v"],
) -> Bool[np.ndarray, "v"] | None:
    """The nodes at the end of named steps; None: there are none.

    Two steps or more, or one to relatives: single relations are ``stated_nodes``.

    Args:
        question: the question.
        topics: names that it mentions.
        around: its candidates.
        unnamed: True at nodes without a name.
        possible: False at nodes that are of another kind than the answer.
        likely: True at those of its kind.
    """
    if len(around.mentions) != 1:
        return None
    kin = asked_kin(question, topics)
    if kin and _has_own_relation(kin, around.relations):
        kin = []
    chain = chain_here(question, topics, around.relations)
    chains = [] if chain is None else _ways(chain, around.relations)
    if not kin and not chains:
        return None
    family = None
    if kin or any(isinstance(step, Kin) for way in chains for step in way):
        family = Family(around, len(unnamed))
    start = around.topic_mask(len(unnamed))

    def end(way: Sequence[Step]) -> Bool[np.ndarray, "v"]:
        out = np.zeros_like(start)
        for each in _without_return(way):
            nodes = start
            for step in each:
                nodes = _next(nodes, step, around, family)
            out |= nodes
        return out & ~start & ~unnamed

    relatives = [end([each]) for each in kin]
    if any(nodes.any() for nodes in relatives):
        return np.logical_or.reduce(relatives)
    for way in chains:
        nodes = end(way) & possible
        if chain is not None and _asks_for_place(chain) and not (nodes & likely).any():
            # "In which city does Ann's wife work": in that of her firm.
            nodes = _next(nodes, _into_places(around), around, None) & likely
        of_kin = any(isinstance(step, Kin) for step in way)
        if 0 < nodes.sum() <= MOST and (of_kin or (nodes & likely).any()):
            return nodes
    return None


def chain_here(
    question: str, topics: Sequence[str], relations: Sequence[str]
) -> QuestionChain | None:
    """The chain of a question to a graph with these relations.

    How many people live in Bern is one step, where one leads to its population.
    """
    chain = question_chain(question, topics)
    if chain is None or not chain.words or chain.kind not in _PEOPLE:
        return chain
    if chain.words[-1].text not in LIVING:
        return chain
    if all(POPULATION.isdisjoint(relation_words(each)) for each in relations):
        return chain
    return QuestionChain([*chain.words[:-1], ChainWord("population")], None)


def _asks_for_place(chain: QuestionChain) -> bool:
    """Whether a place of some kind is asked for, rather than "where"."""
    return chain.kind is not None and noun_kind(chain.kind) == "place"


def _into_places(around: LocalGraph) -> Step:
    """The step from a node to where it is."""
    return tuple(
        (number, frozenset([1]))
        for number, relation in enumerate(around.relations)
        if needs_no_word(relation)
    )


def _has_own_relation(asked: Sequence[Kin], relations: Sequence[str]) -> bool:
    """Whether a relation of more words speaks of the relatives that are asked for."""
    return any(
        says_kin(relation, kin) and kin_relation(relation) is None
        for relation in relations
        for kin in asked
    )


def _ways(chain: QuestionChain, relations: Sequence[str]) -> list[list[Step]]:
    """Readings of a chain as at least two steps, the best first."""
    steps = _steps(chain.words, relations)
    if not steps:
        return []
    ways = [steps]
    if chain.kind is not None:
        kind = ChainWord(chain.kind, joined=True)
        longer = _steps([*chain.words, kind], relations) or steps
        if len(longer) == len(steps):  # "what prizes did they win"
            ways = [longer, steps]
        elif chain.words[-1].is_noun:  # "which nationality is the wife of"
            vague = noun_kind(chain.kind) in ("person", "place")
            ways = [steps, longer] if vague else [longer, steps]
    return [way for way in ways if len(way) > 1]


def _steps(words: Sequence[ChainWord], relations: Sequence[str]) -> list[Step] | None:
    """The steps that words name; None where one names none."""
    steps: list[Step] = []
    texts: list[str] = []
    relations_of: list[NamedEnds] = []
    asked = {word.text for word in words}
    likely = [
        (number, relation)
        for number, relation in enumerate(relations)
        if not is_another_post(relation, asked)
    ]
    for word, following in zip_longest(words, words[1:]):
        kin = one_word_kin(word.text)
        if kin and following and following.joined and not one_word_kin(following.text):
            phrase = word.text, following.text
            if any(all(_names(each, r) for each in phrase) for _, r in likely):
                kin = None  # "parent peak", which no child has
        named = _most_like(
            word.text,
            relations,
            tuple(
                (number, ends)
                for number, relation in likely
                if (ends := named_step_ends(word.text, word.clause, relation))
            ),
        )
        both = _both(relations_of[-1], named) if steps and word.joined else ()
        own = {number for number, _ in named if _names(word.text, relations[number])}
        if own and own.isdisjoint(number for number, _ in both):
            both = ()  # "The elevation of the peak": a step of its own
        if kin is not None or (steps and isinstance(steps[-1], Kin)):
            # "Parent company" is no relative, "the child of Ann's father" is one.
            both = tuple(e for e in both if kin_relation(relations[e[0]]) is None)
        if both and word.text != texts[-1]:
            steps[-1] = relations_of[-1] = both
        elif kin is None and not named:
            return None
        else:
            steps.append(named if kin is None else kin)
            relations_of.append(named)
        texts.append(word.text)
    return steps


def _without_return(way: Sequence[Step]) -> list[list[Step]]:
    """The way, once in each direction of relations that two steps in turn may take in
    both: the owner of an owner is none of the firms that it owns."""
    named = [{} if isinstance(step, Kin) else dict(step) for step in way]
    again = {
        number
        for one, other in pairwise(named)
        for number in one.keys() & other.keys()
        if len(one[number]) == len(other[number]) == 2
    }
    if not again:
        return [[*way]]
    return [
        [
            step
            if isinstance(step, Kin)
            else tuple((n, frozenset([end]) if n in again else e) for n, e in step)
            for step in way
        ]
        for end in (0, 1)
    ]


def _both(one: NamedEnds, other: NamedEnds) -> NamedEnds:
    """Relations that both words name."""
    ends = dict(other)
    return tuple((n, own & ends[n] or own) for n, own in one if n in ends)


def _most_like(word: str, relations: Sequence[str], named: NamedEnds) -> NamedEnds:
    """Of relations that only related words name those that most groups of them do: a
    manager is rather the head coach than the captain."""
    own = [relations[number] for number, _ in named]
    if any(_names(word, each) or kin_relation(each) is not None for each in own):
        return named
    forms = word_forms(word)
    shared = [len(forms & relation_forms(relations[number])) for number, _ in named]
    most = max(shared, default=0)
    return tuple(each for each, n in zip(named, shared, strict=True) if n == most)


def _says(word: str, relation: str) -> bool:
    return not word_forms(word).isdisjoint(relation_forms(relation))


def _names(word: str, relation: str) -> bool:
    """Whether a relation says a word itself, and not only one related to it."""
    return bool(own_forms(word_forms(word) & relation_forms(relation)))


@lru_cache(maxsize=1 << 16)
def named_step_ends(
    word: str, clause: tuple[str, ...], relation: str
) -> frozenset[int]:
    """Where the nodes stand that a word calls by a relation; empty if it does not.

    ``clause``: see ``ChainWord``.
    """
    if not _says(word, relation) or (word in _SITED and is_of_life(relation)):
        return frozenset()
    ends = answer_ends(clause, relation) if clause else frozenset[int]()
    return ends or noun_ends(word, relation)


def _next(
    nodes: Bool[np.ndarray, "v"],
    step: Step,
    around: LocalGraph,
    family: Family | None,
) -> Bool[np.ndarray, "v"]:
    """The nodes that a step leads to from these; ``family`` for steps to relatives."""
    if isinstance(step, Kin):
        assert family is not None
        return family.relatives(nodes, step)
    out = np.zeros_like(nodes)
    for number, ends in step:
        triplets = around.nodes[around.relation_index == number]
        for end in ends:
            out[triplets[nodes[triplets[:, 1 - end]], end]] = True
    return out & ~nodes
