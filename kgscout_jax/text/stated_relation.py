"""At which end of a relation a question asks, where it says that relation and no more.

Read are questions of one clause: a question word with a noun or without, one verb, one
topic, and the preposition of the verb; and "the students of Ann" where a relation is
called ``student`` or ``student_of``. Its own name counts first (``name_ends``), then
other phrases for it and the names of its groups.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import pairwise

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.full_question import full_question, made_noun, vague_noun
from kgscout_jax.text.kinds import (
    HEAD,
    TAIL,
    Kind,
    base_noun,
    noun_kind,
    singular,
)
from kgscout_jax.text.name_ends import MUTUAL_NOUNS, ends_by_names, is_other_object
from kgscout_jax.text.question_clause import (
    PLACES,
    TIMES,
    asked_noun,
    clause_of,
    is_clause,
)
from kgscout_jax.text.question_noun import noun_of_answer, noun_of_topic
from kgscout_jax.text.relation_groups import names_in_group
from kgscout_jax.text.relation_phrases import (
    other_names,
    relation_forms,
    word_forms,
)
from kgscout_jax.text.relation_predicate import (
    NOUN_WORDS,
)
from kgscout_jax.text.relation_words import (
    FORMER,
    PREPOSITIONS,
    last_word,
    relation_words,
)
from kgscout_jax.text.stems import agent_stem, stem

_BY = "by"
"""Marks the groups of those who made something."""
_MOST = 2
"""Names of one end, as a multiple of those of the other, that decide."""
_FORMER_WORDS = FORMER | {"past", "once"}
_PAST = frozenset("did was were had".split())
"""Verbs of questions that may ask how it was."""
_USED_TO = {("used", "to"), ("use", "to")}


def answer_ends(words: Sequence[str], relation: str) -> frozenset[int]:
    """The ends of a relation, ``HEAD`` and ``TAIL``, that a question asks for.

    Empty where it does not say that relation, or more than it.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.
        relation: the relation.

    >>> from kgscout_jax.text.asked_kind import TOPIC
    >>> answer_ends(["who", "mentors", TOPIC], "mentored_by") == {TAIL}
    True
    >>> answer_ends(["who", "was", "mentored", "by", TOPIC], "mentored_by") == {HEAD}
    True
    >>> answer_ends(["which", "drugs", "treat", TOPIC], "drug_treats_disease") == {HEAD}
    True
    >>> answer_ends(["who", "are", "the", "pupils", "of", TOPIC], "pupil_of") == {HEAD}
    True
    """
    return all_answer_ends(words, [relation])[0]


def all_answer_ends(
    words: Sequence[str],
    relations: Sequence[str],
    near: Collection[str] | None = None,
) -> list[frozenset[int]]:
    """``answer_ends`` of each relation; the question is read once.

    Where none is called by the noun that is asked for, other phrases for them count:
    the symptoms of a disease are its phenotypes, and who employs Ann is whom she works
    for.

    Args:
        words: see ``answer_ends``.
        relations: their names.
        near: those that may go by other phrases; None: all.
    """
    plain = without_former(words)
    former = len(plain) < len(words)
    words = full_question(plain)
    ends = ends_by_names(words, relations)
    likely = relations if near is None else near
    said = any(end for end, each in zip(ends, relations, strict=True) if each in likely)
    if noun_of_topic(words) or noun_of_answer(words):
        said = any(ends)  # A graph that knows presidents means no other head by it.
    if not said and _says_relation(words):
        found = _ends_by_phrases(words, likely) or _ends_by_groups(words, likely)
        if found or not any(ends):
            ends = [found.get(each, frozenset()) for each in relations]
    said = [i for i, each in enumerate(ends) if each]
    if not (said and (former or len(said) > 1)):
        return ends
    fitting: Sequence[str] = [relations[i] for i in said]
    if former:
        fitting = [each for each in fitting if _is_former(each)]
    elif _PAST.isdisjoint(words):
        fitting = [each for each in fitting if not _is_former(each)] or fitting
    fitting = _of_object(fitting, asked_noun(words))
    return [
        each if relations[i] in fitting else frozenset() for i, each in enumerate(ends)
    ]


def without_former(words: Sequence[str]) -> list[str]:
    """The words of a question but for those that ask how it was: "used to play for".

    >>> without_former(["who", "used", "to", "work", "for", TOPIC])
    ['who', 'work', 'for', '']
    """
    out = [word for word in words if word not in _FORMER_WORDS]
    places = [i for i, pair in enumerate(pairwise(out)) if pair in _USED_TO]
    return [
        word for i, word in enumerate(out) if i not in places and i - 1 not in places
    ]


def _of_object(relations: Sequence[str], noun: Sequence[str]) -> Sequence[str]:
    """Of relations that one question says those that name what it asks for; all where
    none does.

    "Which national team does X play for" is ``plays_for_national_team`` and not
    ``plays_for_club``.

    Args:
        relations: their names.
        noun: behind "which".
    """
    said = singular([*noun])
    return [
        each for each in relations if said and _object_of(each) == said
    ] or relations


@lru_cache(maxsize=1 << 12)
def _is_former(relation: str) -> bool:
    """Whether a relation's name says that it was so."""
    return not _FORMER_WORDS.isdisjoint(relation_words(relation))


@lru_cache(maxsize=1 << 12)
def _object_of(relation: str) -> tuple[str, ...]:
    """What stands behind the preposition of a relation's name, in singular.

    >>> _object_of("plays_for_national_teams")
    ('national', 'team')
    """
    words = relation_words(relation)
    places = [i for i, word in enumerate(words) if word in PREPOSITIONS]
    return singular(words[places[-1] + 1 :]) if places else ()


def named_ends(noun: Sequence[str], relations: Sequence[str]) -> list[frozenset[int]]:
    """The ends of relations where a topic's so-called stand: "X's pupils".

    By the relations' names, and other phrases for them, without ``relation_groups``.
    """
    words = [TOPIC, "s", *noun]
    ends = ends_by_names(words, relations)
    found = {} if any(ends) else _ends_by_phrases(words, relations)
    return [found.get(each, end) for each, end in zip(relations, ends, strict=True)]


def _says_relation(words: Sequence[str]) -> bool:
    """Whether a full question has the form of those that say one relation."""
    has_noun = noun_of_topic(words) or noun_of_answer(words) or made_noun(words)
    return bool(has_noun or is_clause(words) or vague_noun(words))


_Ends = dict[str, frozenset[int]]
"""The ends of relations, without those that a question does not say."""


def _ends_by_phrases(words: Sequence[str], relations: Collection[str]) -> _Ends:
    """``all_answer_ends`` by other phrases for each relation."""
    noun = _clause_noun(words)
    # "Actors portray people" are several nouns, or a clause of their own.
    if noun and not (len(noun) <= NOUN_WORDS and _has_preposition(words)):
        return {}
    likely = [each for each in relations if not noun or may_lead_to(each, noun[-1])]
    ends = {each: _ends_by_other_names(words, each) for each in likely}
    return {relation: each for relation, each in ends.items() if each}


def _ends_by_groups(words: Sequence[str], relations: Collection[str]) -> _Ends:
    """``all_answer_ends`` by the names of each relation's groups."""
    if noun := made_noun(words):
        ends = {each: _end_of_makers(each) for each in relations}
        return _of_noun(noun, ends)
    noun = _clause_noun(words)
    if len(noun) > NOUN_WORDS:
        return {}
    kind: Kind | None = "place" if words[0] == "where" else None
    if words[0] == "when" or not TIMES.isdisjoint(noun):
        kind = "time"
    if kind is not None:
        relations = [each for each in relations if _ends_of_kind(each, kind)]
    if noun_form := vague_noun(words):
        own = ends_by_names(noun_form, [*relations])
        found = dict(zip(relations, own, strict=True))
        if not any(own):
            found = _ends_by_groups(noun_form, relations)
        if any(found.values()):
            return {relation: each for relation, each in found.items() if each}
    ends = {each: _ends_by_group(tuple(words), each) for each in relations}
    if kind is not None:
        ends = {each: own & _ends_of_kind(each, kind) for each, own in ends.items()}
    return _of_noun(noun, ends)


@lru_cache(maxsize=1 << 12)
def _ends_of_kind(relation: str, kind: Kind) -> frozenset[int]:
    """The ends of a relation of the groups that go by a name for times or places.

    >>> _ends_of_kind("came_out", "time") == {TAIL}
    True
    >>> _ends_of_kind("died_of", "place"), _ends_of_kind("currency", "place") == {HEAD}
    (frozenset(), True)
    """
    return frozenset(
        HEAD if inverse else TAIL
        for name, inverse in names_in_group(relation)
        if noun_kind(name) == kind or (kind == "place" and name.split()[-1] in PLACES)
    )


def _clause_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun behind "which", where the question is no noun phrase itself."""
    is_noun = noun_of_topic(words) or noun_of_answer(words)
    return () if is_noun else asked_noun(words)


def _of_noun(noun: Sequence[str], ends: _Ends) -> _Ends:
    """The ends without those of relations that have no such noun, where others do."""
    said = " ".join(singular([*noun])) if noun else ""
    found = {relation: each for relation, each in ends.items() if each}
    fitting = {
        relation: each
        for relation, each in found.items()
        if any(name == said for name, _ in names_in_group(relation))
    }
    return fitting or found


def _end_of_makers(relation: str) -> frozenset[int]:
    """The end of what somebody made: "books by X" are those that X wrote."""
    return frozenset(
        HEAD if inverse else TAIL
        for name, inverse in names_in_group(relation)
        if name == _BY
    )


def _ends_by_group(words: tuple[str, ...], relation: str) -> frozenset[int]:
    """``answer_ends`` by the names of its group; none where these contradict."""
    clause = clause_of(words)
    if clause is not None and is_other_object(clause, relation):
        return frozenset()
    names, said = names_in_group(relation), _stems(words)
    ends = Counter(
        1 - end if inverse else end
        for name, inverse in names
        if not said.isdisjoint(_stems_of_name(name))
        for end in _ends_by_name(words, name)
    )
    if len({name for name, _ in names}) < len(names):
        return frozenset(ends)  # A mutual relation.
    # "Heads" is a verb or a plural: most names decide.
    likely = [end for end in ends if ends[end] >= _MOST * ends[1 - end]]
    return frozenset(likely)


@lru_cache(maxsize=1 << 12)
def _ends_by_name(words: tuple[str, ...], name: str) -> frozenset[int]:
    """``ends_by_names`` of one name."""
    return ends_by_names(words, [name])[0]


@lru_cache(maxsize=1 << 10)
def _stems(words: tuple[str, ...]) -> frozenset[str]:
    """Stems of words, of their singulars, and of the verbs of doers among them."""
    forms = {*words, *map(base_noun, words)}
    if "from" in words:
        forms.add("origin")  # see ``noun_of_answer``
    return frozenset((*map(stem, forms), *map(agent_stem, forms))) - {""}


@lru_cache(maxsize=1 << 12)
def _stems_of_name(name: str) -> frozenset[str]:
    """``_stems`` of a name, and of its words as one.

    A question without one of them does not say it.
    """
    words = relation_words(name)
    return _stems((*words, "".join(words)))


def _has_preposition(words: Sequence[str]) -> bool:
    """Whether the verb of a clause has one, which says more than the verb."""
    clause = clause_of(tuple(words))
    return clause is not None and bool(clause.preposition)


@lru_cache(maxsize=1 << 14)
def may_lead_to(relation: str, noun: str) -> bool:
    """Whether a relation, whose name is no verb, leads to what a noun asks for.

    It is called so, or by a noun for no kind where a place or a person is asked for.

    >>> may_lead_to("mouth of the watercourse", "sea"), may_lead_to("city", "country")
    (True, False)
    >>> may_lead_to("team", "club"), may_lead_to("department", "firm")
    (True, False)
    """
    own = base_noun(last_word(relation))
    kind = noun_kind(base_noun(noun))
    same = not relation_forms(relation).isdisjoint(word_forms(noun))
    return same or (kind != "thing" and noun_kind(own) != kind)


def _ends_by_other_names(words: Sequence[str], relation: str) -> frozenset[int]:
    """``answer_ends`` by other phrases for the relation."""
    if not (names := other_names(relation)):
        return frozenset()
    ends = frozenset[int]().union(*ends_by_names(words, names))
    mutual = not MUTUAL_NOUNS.isdisjoint(relation_words(relation)[-1:])
    return frozenset((HEAD, TAIL)) if ends and mutual else ends
