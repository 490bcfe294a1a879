"""At which end of a relation a question asks, where it says that relation and no more.

"Who mentors Ann" and "who was mentored by Ann" share their words; voice and word order
tell them apart. Read are questions of one clause: a question word with a noun or
without, one verb, one topic, and the preposition of the verb; and "the students of Ann"
where a relation is called ``student`` or ``student_of``. No inflections are looked
up, because that takes seconds to load: words are compared by their stems.
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
    is_finite,
    is_past,
    noun_kind,
    singular,
)
from kgscout_jax.text.question_clause import (
    PLACES,
    TIMES,
    Clause,
    asked_noun,
    clause_of,
    is_clause,
)
from kgscout_jax.text.question_noun import noun_of_answer, noun_of_topic
from kgscout_jax.text.relation_groups import names_in_group
from kgscout_jax.text.relation_phrases import (
    initials,
    other_names,
    relation_forms,
    word_forms,
)
from kgscout_jax.text.relation_predicate import (
    NOUN_WORDS,
    dated_deed,
    doer_end,
    head_role,
    predicate_words,
    verb_stems,
    within_phrase,
    without_auxiliaries,
)
from kgscout_jax.text.relation_words import (
    FORMER,
    PREPOSITIONS,
    RANK_ADVERBS,
    last_word,
    relation_words,
)
from kgscout_jax.text.stems import agent_stem, stem

_MUTUAL_NOUNS = frozenset(
    "spouse wife husband partner sibling brother sister twin cousin friend neighbor "
    "neighbour colleague relative rival peer".split()
)
_REPORTS = frozenset(("report", "subordinate"))
"""What those are who report to somebody."""
_BY = "by"
"""Marks the groups of those who made something."""
_MOST = 2
"""Names of one end, as a multiple of those of the other, that decide."""
_FORMER_WORDS = FORMER | {"past", "once"}
_PLACES = frozenset(
    "country nation continent city town state county province district".split()
)
_PLACES_AT_ALL = frozenset("place location area region part".split())
_PAST = frozenset("did was were had".split())
"""Verbs of questions that may ask how it was."""
_USED_TO = {("used", "to"), ("use", "to")}


_MUTUAL = frozenset(map(
    stem,
    "interact associate marry resemble compete collaborate border adjoin "
    "overlap".split(),
))  # fmt: skip
"""Stems of verbs that hold both ways."""


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
    ends = _ends_by_names(words, relations)
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
    ends = _ends_by_names(words, relations)
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
    if words[0] == "where":
        relations = [each for each in relations if _leads_to(each, "place")]
    if words[0] == "when" or not TIMES.isdisjoint(noun):
        relations = [each for each in relations if _leads_to(each, "time")]
    if noun_form := vague_noun(words):
        own = _ends_by_names(noun_form, [*relations])
        found = dict(zip(relations, own, strict=True))
        if not any(own):
            found = _ends_by_groups(noun_form, relations)
        if any(found.values()):
            return {relation: each for relation, each in found.items() if each}
    ends = {each: _ends_by_group(tuple(words), each) for each in relations}
    return _of_noun(noun, ends)


@lru_cache(maxsize=1 << 12)
def _leads_to(relation: str, kind: Kind) -> bool:
    """Whether a relation of the groups goes by a name for times or places.

    >>> _leads_to("came_out", "time"), _leads_to("died_of", "place")
    (True, False)
    """
    names = [name for name, inverse in names_in_group(relation) if not inverse]
    within = kind == "place" and any(name.split()[-1] in PLACES for name in names)
    return within or any(noun_kind(name) == kind for name in names)


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
    if clause is not None and _is_other_object(clause, relation):
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
    """``_ends_by_names`` of one name."""
    return _ends_by_names(words, [name])[0]


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
    ends = frozenset[int]().union(*_ends_by_names(words, names))
    mutual = not _MUTUAL_NOUNS.isdisjoint(relation_words(relation)[-1:])
    return frozenset((HEAD, TAIL)) if ends and mutual else ends


def _ends_by_names(
    words: Sequence[str], relations: Sequence[str]
) -> list[frozenset[int]]:
    """``all_answer_ends`` by the relations' names alone."""
    if noun := noun_of_topic(words):
        return [_ends_of_noun(noun, each) for each in relations]
    if noun := noun_of_answer(words):
        ends = [_ends_of_noun(noun, each) for each in relations]
        return [frozenset(1 - end for end in each) for each in ends]
    clause = clause_of(tuple(words))
    if clause is None:
        return [frozenset()] * len(relations)
    said, nothing = stem(clause.verb), frozenset[int]()
    # "Which stops are on X", by ``is_on_line``
    within = (clause.preposition,) if clause.implied else ()
    timed = clause.timed and not clause.preposition
    return [
        frozenset([HEAD])
        if within and within_phrase(each)[:1] == within
        else frozenset([TAIL])
        if timed and dated_deed(each) == said
        else _ends_of_clause(clause, each)
        if said in verb_stems(each)
        else nothing
        for each in relations
    ]


def _ends_of_clause(clause: Clause, relation: str) -> frozenset[int]:
    """See ``answer_ends``."""
    asked, doer = clause.preposition, doer_end(relation, clause.verb)
    if active := _active(relation):
        return frozenset(1 - end for end in _ends_of_clause(clause, active))
    if _says_noun_and_verb(clause, relation):
        return frozenset([TAIL])
    if doer is None:
        predicate = predicate_words(relation)
        if not predicate or stem(predicate[0]) != stem(clause.verb):
            return frozenset()
        if stem(clause.verb) in _MUTUAL:
            return frozenset((HEAD, TAIL))
        own = predicate[1] if len(predicate) > 1 else ""
        if _is_other_object(clause, relation):
            return frozenset()
        if "by" not in (own, asked):
            same = own == asked or (clause.adverbial and own in PLACES)
            end = TAIL if clause.topic_first else HEAD
            return frozenset([end]) if same else frozenset()
        if {own, asked} - {"by", ""}:
            return frozenset()
        doer = TAIL if own == "by" else HEAD
    # Doer and deed, whichever voice the relation and the question have.
    if asked not in ("", "by") or clause.passive != (asked == "by"):
        return frozenset()
    asks_doer = clause.topic_first == clause.passive
    return frozenset([doer if asks_doer else 1 - doer])


def _active(relation: str) -> str:
    """ "Looked after" of "looked after by", whose ends are the other way round; "" of
    other names."""
    words = without_auxiliaries(relation_words(relation))
    is_passive = words[2:] == [_BY] and is_past(words[0]) and words[1] in PREPOSITIONS
    return " ".join(words[:2]) if is_passive else ""


def _says_noun_and_verb(clause: Clause, relation: str) -> bool:
    """Whether a relation is called by both: "what year was X built", ``year_built``.

    So is ``feeds_river``. Or it is called by the verb and a rank, ``first_approved``.
    """
    words = {*relation_words(relation)} - PREPOSITIONS
    said = {*map(stem, (*clause.noun, clause.verb))}
    return (
        clause.topic_first
        and len(words) > 1
        and {*map(stem, words - RANK_ADVERBS)} == said
    )


def _is_other_object(clause: Clause, relation: str) -> bool:
    """Whether a relation names its tails, and a question asks for others: a league,
    where X plays in a club."""
    words = relation_words(relation)
    if not clause.noun or not clause.topic_first:
        return False
    if len(words) == 1 and words[0] in _PLACES:  # no range is a country
        named = word_forms(words[0])
        return named.isdisjoint(word_forms(clause.noun[-1])) and not (
            _PLACES_AT_ALL.intersection(clause.noun)
        )
    if len(words) < 3:
        return False
    if not predicate_words(relation):
        return False  # The state is no object in "head of state".
    last = words[-1]
    if last in PREPOSITIONS or words[-2] not in PREPOSITIONS:
        return False
    return word_forms(clause.noun[-1]).isdisjoint(word_forms(last))


def noun_ends(word: str, relation: str) -> frozenset[int]:
    """The ends of a relation where those stand that a word calls so.

    Both where the relation is a verb, or is called otherwise.

    >>> noun_ends("advisor", "hasAcademicAdvisor") == {TAIL}
    True
    >>> noun_ends("pupils", "pupil_of") == {HEAD}
    True
    >>> noun_ends("owner", "owns") == {HEAD, TAIL}
    True
    """
    words = relation_words(relation)
    is_noun = base_noun(word) in {base_noun(each) for each in words}
    if not is_noun or predicate_words(relation) or base_noun(word) in _MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if len(words) > 1 and words[-1] == "of" else TAIL])


def _ends_of_noun(noun: tuple[str, ...], relation: str) -> frozenset[int]:
    """The ends of a relation where the topic's so-called stand.

    What a relation calls its tails, or its heads where "of" follows.
    """
    if singular(within_phrase(relation)[1:]) == noun:
        return frozenset([TAIL])
    if noun == (head_role(relation),):
        return frozenset([HEAD])
    words = relation_words(relation)
    words = without_auxiliaries(words)
    verb, *rest = predicate_words(relation) or ("",)
    if verb and len(words) > 1 and (base_noun(words[-1]),) == noun:
        return frozenset([TAIL])  # "starred actors" are tails, though actors star
    plain = rest in ([], ["by"]) or (is_finite(verb) and not is_past(verb))
    if verb and plain and agent_stem(noun[-1]) == stem(verb):
        # "The mentor of X" of "mentored by" and of "mentors"; its players "play in" it
        return frozenset([TAIL if rest == ["by"] else HEAD])
    if (verb, rest) == ("reports", ["to"]) and noun[-1] in _REPORTS:
        return frozenset([HEAD])
    is_of = len(words) > 1 and words[-1] == "of"
    words = words[:-1] if is_of else words
    # A salesperson is one word of a question, and two of a relation; a CEO is three.
    same = singular(words) == noun or "".join(singular(words)) == "".join(noun)
    if not same and "".join(noun) not in initials(words):
        return frozenset()
    if noun[-1] in _MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if is_of else TAIL])
