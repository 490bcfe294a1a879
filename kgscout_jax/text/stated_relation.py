"""At which end of a relation a question asks, where it says that relation and no more.

"Who mentors Ann" and "who was mentored by Ann" share their words; voice and word order
tell them apart. Read are questions of one clause: a question word with a noun or
without, one verb, one topic, and the preposition of the verb; and "the students of Ann"
where a relation is called ``student`` or ``student_of``. No inflections are looked
up, because that takes seconds to load: words are compared by their stems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from kgscout_jax.text.asked_kind import TOPIC
from kgscout_jax.text.kinds import (
    HEAD,
    IRREGULAR_VERBS,
    TAIL,
    base_noun,
    has_participle_ending,
    is_finite,
    is_past,
    singular,
    statement,
    verbs_of_agents,
)
from kgscout_jax.text.relation_phrases import other_names, word_forms
from kgscout_jax.text.relation_words import PREPOSITIONS, relation_words
from kgscout_jax.text.words import FUNCTION_WORDS

BE = frozenset("is are was were".split())
"""Forms of "be"."""
_HAVE = frozenset("has have had".split())
_HAVING = _HAVE | frozenset(("share", "shares"))
DO = _HAVE | frozenset("do does did can".split())
"""Other verbs that stand before a subject."""
_PASSED = frozenset(
    "the a an all some any other currently now also usually mainly typically first "
    "originally else".split()
)
_NO_NOUNS = (FUNCTION_WORDS | PREPOSITIONS | frozenset(",;:")) - {"name"}
_MUTUAL = frozenset(
    "interact associat marr resembl compet collaborat border adjoin overlap".split()
)
"""Stems of verbs that hold both ways."""
_MUTUAL_NOUNS = frozenset(
    "spouse wife husband partner sibling brother sister twin cousin friend neighbor "
    "neighbour colleague relative rival peer".split()
)
_DOERS = frozenset(
    "lead head host coach judge guide chair boss captain referee sponsor pilot cook "
    "tutor".split()
)
"""Nouns for doers that are the verb itself."""
_ASK = frozenset("who whom which what name list give show tell find me us".split())
_ASKING = _ASK | BE | _PASSED
_PLACES = frozenset("in at on".split())
"""Prepositions that "where" stands for."""
_ENDING = re.compile(r"(ies|ied|ing|ed|es|s|e)$")
_QUESTION_WORDS = frozenset("who whom which what where when many".split())
WITHOUT_NOUN = frozenset("who whom where when".split())
"""Question words that no noun follows."""
_NOUNS = 3
"""Words of the noun after "which"."""
OF = "of"
_COMING = frozenset(("come", "comes", "originate", "originates", "is", "are"))
"""What stands before "from" in a question for those of an origin."""
_CALLED = frozenset(("called", "named"))
_WHOSE = frozenset("of what which whom who".split())


class _Clause(NamedTuple):
    """The parts of a question of one clause."""

    verb: str
    preposition: str
    """Of the verb; "" for none."""
    passive: bool
    """Whether a form of "be" stands before the verb."""
    topic_first: bool
    """Whether the topic is the subject."""
    where: bool
    simple: bool
    """Whether it has a verb, and no other one stands before that."""
    noun: tuple[str, ...]
    """What the question word asks for: "which films"."""
    implied: bool = False
    """Whether it has no verb: "which courts are in Ohio" are those located there."""


@cache
def stem(word: str) -> str:
    """What the forms of a regular verb share, and the base form of an irregular one.

    >>> stem("mentors"), stem("carried"), stem("carries"), stem("wrote")
    ('mentor', 'car', 'car', 'writ')
    """
    word = IRREGULAR_VERBS.get(word, word)
    short = _ENDING.sub("", word)
    short = short if len(short) > 2 else word
    if len(short) > 3 and short[-1] == short[-2] and short[-1] not in "sl":
        short = short[:-1]  # preferred
    return short.removesuffix("y")


def answer_ends(words: Sequence[str], relation: str) -> frozenset[int]:
    """The ends of a relation, ``HEAD`` and ``TAIL``, that a question asks for.

    Empty where it does not say that relation, or more than it.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.
        relation: the relation.

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
    words: Sequence[str], relations: Sequence[str]
) -> list[frozenset[int]]:
    """``answer_ends`` of each relation; the question is read once.

    Where none is called by the noun that is asked for, other phrases for them count:
    the symptoms of a disease are its phenotypes.
    """
    own = _ends_by_names(words, relations)
    is_noun = noun_of_topic(words) or noun_of_answer(words)
    if any(own) or not (is_noun or (is_clause(words) and not _asked_noun(words))):
        return own
    return [_ends_by_other_names(words, each) for each in relations]


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
    clause = _clause(tuple(words))
    if clause is None:
        return [frozenset()] * len(relations)
    said, nothing = stem(clause.verb), frozenset[int]()
    return [
        _ends_of_clause(clause, each) if said in _verb_stems(each) else nothing
        for each in relations
    ]


@cache
def _verb_stems(relation: str) -> tuple[str, str]:
    """Stems of the verbs that may say a relation: of its doer's noun, and its own."""
    words, verb = relation_words(relation), _predicate(relation)[:1]
    doer = words[0] if len(words) - (words[-1:] == [OF]) == 1 else ""
    of_doer = stem(doer) if doer in _DOERS else _agent_stem(doer)
    return of_doer, "".join(map(stem, verb))


def _ends_of_clause(clause: _Clause, relation: str) -> frozenset[int]:
    """See ``answer_ends``."""
    asked, doer = clause.preposition, _doer_end(relation, clause.verb)
    if doer is None:
        predicate = _predicate(relation)
        if not predicate or stem(predicate[0]) != stem(clause.verb):
            return frozenset()
        if stem(clause.verb) in _MUTUAL:
            return frozenset((HEAD, TAIL))
        own = predicate[1] if len(predicate) > 1 else ""
        if _is_other_object(clause, relation):
            return frozenset()
        if "by" not in (own, asked):
            same = own == asked or (clause.where and not asked and own in _PLACES)
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


def _is_other_object(clause: _Clause, relation: str) -> bool:
    """Whether a relation names its tails, and a question asks for others: a league,
    where X plays in a club."""
    words = relation_words(relation)
    if not clause.noun or not clause.topic_first or len(words) < 3:
        return False
    last = words[-1]
    if last in PREPOSITIONS or words[-2] not in PREPOSITIONS:
        return False
    return word_forms(clause.noun[-1]).isdisjoint(word_forms(last))


def _doer_end(relation: str, verb: str) -> int | None:
    """The end of those who do what a verb says, where a relation is called like them.

    None for other relations.

    >>> _doer_end("director", "directed"), _doer_end("owner_of", "own")
    (1, 0)
    """
    words = relation_words(relation)
    is_of = words[-1:] == [OF]
    is_doer = stem(words[0]) == stem(verb) if words[0] in _DOERS else False
    if len(words) - is_of != 1 or not (is_doer or _agent_stem(words[0]) == stem(verb)):
        return None
    return HEAD if is_of else TAIL


@cache
def _agent_stem(noun: str) -> str:
    """The stem of the verb of a noun for its doers; "" for other nouns.

    >>> _agent_stem("commander"), _agent_stem("mentor"), _agent_stem("number")
    ('command', 'mentor', 'numb')
    """
    if verb := verbs_of_agents().get(noun):
        return stem(verb)
    return stem(noun[:-2]) if len(noun) > 5 and noun.endswith(("er", "or")) else ""


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
    if not is_noun or _predicate(relation) or base_noun(word) in _MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if len(words) > 1 and words[-1] == "of" else TAIL])


def noun_of_topic(words: Sequence[str]) -> tuple[str, ...]:
    """The noun phrase of a question that has but one, in singular; () for others.

    Args:
        words: of the question, ``TOPIC`` for those of its topic's name.

    >>> noun_of_topic(["who", "are", "the", "pupils", "of", TOPIC])
    ('pupil',)
    >>> noun_of_topic(["what", "is", "the", "date", "of", "birth", "of", TOPIC])
    ('date', 'of', 'birth')
    >>> noun_of_topic([TOPIC, "aircraft", "type"])
    ('aircraft', 'type')
    >>> noun_of_topic(["does", TOPIC, "have", "any", "pupils"])
    ('pupil',)
    >>> noun_of_topic(["what", "genre", "is", TOPIC])
    ('genre',)
    >>> noun_of_topic(["what", "colour", "are", TOPIC, "s", "eyes"])
    ('eye', 'color')
    >>> noun_of_topic(["which", "cars", "are", TOPIC])
    ()
    """
    return _noun_of_topic(tuple(words))


def noun_of_answer(words: Sequence[str]) -> tuple[str, ...]:
    """What the topic is to those that a question asks for; () for other questions.

    >>> noun_of_answer(["which", "firms", "have", TOPIC, "as", "owner"])
    ('owner',)
    >>> noun_of_answer(["what", "has", "the", "postal", "code", TOPIC])
    ('postal', 'code')
    >>> noun_of_answer(["whose", "mentor", "is", TOPIC])
    ('mentor',)
    >>> noun_of_answer(["which", "cars", "come", "from", TOPIC])
    ('origin',)
    >>> noun_of_answer([TOPIC, "is", "the", "mentor", "of", "which", "people"])
    ('mentor',)
    """
    return _noun_of_answer(tuple(words))


def content_words(noun: Sequence[str]) -> list[str]:
    """The words of a noun phrase that a relation would say.

    >>> content_words(["date", "of", "birth"]), content_words(["number", "of", "guest"])
    (['date', 'birth'], ['guest'])
    """
    return [word for word in noun if word not in (OF, "number")] or [*noun]


def is_clause(words: Sequence[str]) -> bool:
    """Whether a question is one clause of a verb and its topic.

    >>> is_clause(["who", "was", "mentored", "by", TOPIC]), is_clause(["is", TOPIC])
    (True, False)
    """
    return _clause(tuple(words)) is not None


def is_verbless(words: Sequence[str]) -> bool:
    """Whether a clause has no verb but "be": those that are somewhere.

    >>> is_verbless(["which", "courts", "are", "in", TOPIC])
    True
    """
    clause = _clause(tuple(words))
    return clause is not None and clause.implied


def is_simple_clause(words: Sequence[str]) -> bool:
    """Whether a question is a clause, and no other verb stands in it.

    >>> is_simple_clause(["who", "made", "parts", "used", "in", TOPIC])
    False
    """
    clause = _clause(tuple(words))
    return clause is not None and clause.simple


def clause_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun that a simple clause asks for: it says of what kind the answer is.

    () for other questions.

    >>> clause_noun(["which", "films", "did", TOPIC, "direct"])
    ('films',)
    """
    clause = _clause(tuple(words))
    return clause.noun if clause is not None and clause.simple else ()


def _asked_noun(words: Sequence[str]) -> tuple[str, ...]:
    """The noun behind "which" in a clause."""
    clause = _clause(tuple(words))
    return () if clause is None else clause.noun


def topic_as_one(words: Sequence[str]) -> list[str]:
    """The words of a question with one ``TOPIC`` for all words of a name."""
    return [w for i, w in enumerate(words) if not (w == TOPIC == words[i - 1] and i)]


def around_topic(words: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """The words before and after the one topic; None where there are several, or none.

    >>> around_topic(["who", "taught", TOPIC, TOPIC, "?"])
    (['who', 'taught'], ['?'])
    """
    tokens = topic_as_one(words)
    if tokens.count(TOPIC) != 1:
        return None
    at = tokens.index(TOPIC)
    return tokens[:at], tokens[at + 1 :]


def leading_verb(words: Sequence[str]) -> Sequence[str]:
    """The verb that words begin with, and its preposition."""
    return words[: 2 if words[1:2] and words[1] in PREPOSITIONS else 1]


def _without_auxiliaries(words: list[str]) -> list[str]:
    """The words of a relation's name without a leading "has" or "is"."""
    while len(words) > 1 and words[0] in BE | DO:
        words = words[1:]
    return words


@cache
def _noun_of_topic(words: tuple[str, ...]) -> tuple[str, ...]:
    """The noun phrase of "who are the pupils of X", "X's pupils", "X pupils" and "what
    pupils does X have", in singular.

    () for other questions.
    """
    if (parts := around_topic(words)) is None:
        return ()
    before, after = parts
    if before[:1] and before[0] in _ASK and before[1:2] == ["s"]:
        before = [before[0], *before[2:]]  # "what's"
    if before[-1:] == ["the"] and before[-2:-1] and before[-2] in BE:
        before = before[:-1]  # "what nationality is the X"
    if len(after) > 1 and after[-1] in _ASK and after[-2] in BE | _CALLED:
        after = after[:-2]  # "the capital of X is what"
    elif len(after) == 1 and after[0] in _CALLED:
        after = []
    if after[:1] in ([","], [":"]) and before in ([], ["for"]):
        # "X: capital", "for X, what is the capital"
        asked, noun = [], after[1 + _asking(after[1:]) :]
    elif part := _part_of_topic(before, after):
        asked, noun = [], part
    elif after[:1] == ["s"]:
        asked, noun = before, after[1:]
    elif had := _had_noun(before, after):
        asked, noun = [], had
    elif not before:
        asked, noun = before, after
    elif not after and before[0] in ("what", "which") and before[-1] in BE:
        # "What nationality is X", no "what kind of film is X" nor "which cars are X"
        several = before[0] == "which" and before[-1] in ("are", "were")
        asked, noun = [], [] if OF in before or several else before[1:-1]
    elif not after and before[-1:] == ["of"]:
        # "Which people work out of X" has no article.
        start = before.index("the") + 1 if "the" in before else _asking(before)
        if not start or before[start - 1] not in _QUESTION_WORDS:
            asked, noun = before[:start], before[start:-1]
        else:
            return ()
    else:
        return ()
    while noun and noun[-1] in BE | _CALLED:
        noun = noun[:-1]  # "who X's pupils are", "what X's capital is called"
    nouns = [noun]
    if OF in noun:  # "the date of birth of X"
        nouns = [noun[: noun.index(OF)], noun[noun.index(OF) + 1 :]]
    if not {*asked} <= _ASKING:
        return ()
    if not all(0 < len(each) <= _NOUNS for each in nouns):
        return ()
    if not all((_NO_NOUNS | BE).isdisjoint(each) for each in nouns):
        return ()
    return singular(noun)


@cache
def _noun_of_answer(words: tuple[str, ...]) -> tuple[str, ...]:
    """See ``noun_of_answer``."""
    if (parts := around_topic(words)) is None:
        return ()
    before, after = parts
    last = len(before)
    have = next((i for i, word in enumerate(before) if word in _HAVING), last)
    if before[:1] == ["whose"] and before[-1] in BE and not after:
        noun = before[1:-1]
    elif _comes_from(before) and not after:
        return ("origin",)
    elif inverse := _inverse_noun(before, after):
        noun = inverse
    elif _QUESTION_WORDS.isdisjoint(before[:2]) or have > _NOUNS + 1:
        return ()
    elif after[:1] == ["as"] and have == last - 1:
        noun = after[1:]
    else:
        noun = [] if after else before[have + 1 :]
    noun = noun[_asking(noun) :]
    if not 0 < len(noun) <= _NOUNS or (_NO_NOUNS | BE | DO).intersection(noun):
        return ()
    return singular(noun)


def _comes_from(before: Sequence[str]) -> bool:
    """Whether the topic is the origin of what is asked for: "which cars are from X"."""
    *asked, verb, last = ["", "", *before]
    short = len(asked) - 2 <= 1 + _NOUNS and _NO_NOUNS.isdisjoint(asked[3:])
    return last == "from" and verb in _COMING and short


def _inverse_noun(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "X is the owner of what" and "of which firms is X the owner".

    () of others.
    """
    kind = [word for word in before[:-1] if word not in _WHOSE]
    asks = before[1:] and before[0] in _WHOSE and before[-1] in BE
    asks = asks and len(kind) <= _NOUNS and _NO_NOUNS.isdisjoint(kind)
    if asks and after[:1] == ["the"]:
        noun = after[1:]
        if OF in before:
            return noun
        return noun[:-1] if noun[-1:] == [OF] else ()
    if not before and after[:1] and after[0] in BE and OF in after:
        place = len(after) - 1 - after[::-1].index(OF)
        if place + 1 < len(after) and after[place + 1] in _WHOSE:
            return after[1:place]
    return ()


def _part_of_topic(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "what colour are X's eyes" and of "what colour are the eyes of X".

    () of others.
    """
    verb = next((i for i, word in enumerate(before) if word in BE), 0)
    if verb < 2 or before[0] not in ("what", "which"):
        return ()
    part: Sequence[str] = ()
    if after[:1] == ["s"] and verb == len(before) - 1:
        part = after[1:]
    elif not after and before[verb + 1 : verb + 2] == ["the"] and before[-1] == OF:
        part = before[verb + 2 : -1]
    return [*singular(part), *before[1:verb]] if part else ()


def _had_noun(before: Sequence[str], after: Sequence[str]) -> Sequence[str]:
    """The noun of "what pupils does X have" and "does X have a pupil"; () of others."""
    if not (before[-1:] and before[-1] in DO and after[:1] == ["have"]):
        return ()
    if len(before) == 1:
        return after[1 + _asking(after[1:]) :]
    return before[1:-1] if before[0] in ("what", "which") and not after[1:] else ()


def _asking(words: Sequence[str]) -> int:
    """The number of words that ask, before a noun."""
    return next((i for i, word in enumerate(words) if word not in _ASKING), len(words))


def _ends_of_noun(noun: tuple[str, ...], relation: str) -> frozenset[int]:
    """The ends of a relation where the topic's so-called stand.

    What a relation calls its tails, or its heads where "of" follows.
    """
    words = relation_words(relation)
    words = _without_auxiliaries(words)
    verb, *rest = _predicate(relation) or ("",)
    if verb and len(words) > 1 and (base_noun(words[-1]),) == noun:
        return frozenset([TAIL])  # "starred actors" are tails, though actors star
    if verb and rest in ([], ["by"]) and _agent_stem(noun[-1]) == stem(verb):
        # "The mentor of X" of "mentored by" and of "mentors"
        return frozenset([TAIL if rest else HEAD])
    is_of = len(words) > 1 and words[-1] == "of"
    words = words[:-1] if is_of else words
    if singular(words) != noun:
        return frozenset()
    if noun[-1] in _MUTUAL_NOUNS:
        return frozenset((HEAD, TAIL))
    return frozenset([HEAD if is_of else TAIL])


@cache
def _predicate(relation: str) -> tuple[str, ...]:
    """The verb of a relation's name and its preposition; () for a name without."""
    whole = statement(relation)
    words = whole.predicate.split() if whole else relation_words(relation)
    words = _without_auxiliaries(words)
    if (
        len(words) > 2
        and words[-1] in PREPOSITIONS
        and has_participle_ending(words[-2])
    ):
        words = words[-2:]  # "station affiliated with"
    if not words or not _is_verb(words[0]):
        return ()
    if whole is None and words[1:] and words[1] not in PREPOSITIONS:
        # "coaches team", no "sales region"
        return tuple(words[:1]) if is_finite(words[0]) else ()
    return tuple(words[:2])


def _is_verb(word: str) -> bool:
    """Whether a word may be a verb with a subject, or a participle."""
    return word.endswith("s") or is_past(word)


@cache
def _clause(words: tuple[str, ...]) -> _Clause | None:
    """The parts of a question; None where it is of another form."""
    tokens = topic_as_one(words)
    fronted = ""
    if tokens[:1] and tokens[0] in PREPOSITIONS:
        fronted, tokens = tokens[0], tokens[1:]
    if tokens[:2] == ["how", "many"]:
        tokens = tokens[1:]
    if not tokens or tokens[0] not in _QUESTION_WORDS:
        return None
    where = tokens[0] == "where"
    asking = tokens[0]
    tokens = [word for word in tokens[1:] if word not in _PASSED]
    if tokens.count(TOPIC) != 1:
        return None
    at = tokens.index(TOPIC)
    before, after = tokens[:at], tokens[at + 1 :]
    helpers = [i for i, word in enumerate(before) if word in BE | DO]
    if len(helpers) > 1:
        return None
    place = helpers[0] if helpers else None
    passive = place is not None and before[place] in BE
    topic_first = place is not None and place == len(before) - 1
    if topic_first:
        noun, verb = before[:-1], after
    elif after:
        return None
    elif place is not None:
        noun, verb = before[:place], before[place + 1 :]
    else:
        end = len(before) - (before[-1:] != [] and before[-1] in PREPOSITIONS)
        noun, verb = before[: max(end - 1, 0)], before[max(end - 1, 0) :]
    if len(noun) > _NOUNS or _NO_NOUNS.intersection(noun):
        return None
    implied = passive and not topic_first and len(verb) == 1 and verb[0] in _PLACES
    if implied and noun:
        verb = ["located", *verb]
    if passive and topic_first and verb == ["from"]:
        verb, passive = ["come", "from"], False  # "where is X from"
    if not verb or verb[0] in _NO_NOUNS or len(verb) > 2:
        return None
    if verb[1:] and (fronted or verb[1] not in PREPOSITIONS):
        return None
    if not topic_first and fronted:
        return None
    preposition = fronted or (verb[1] if verb[1:] else "")
    # "Who taught the makers of", "which firm built parts used in"
    simple = not (asking in WITHOUT_NOUN and noun) and not any(map(is_past, noun[:-1]))
    return _Clause(
        verb[0], preposition, passive, topic_first, where,
        simple and not implied, (*noun,), implied,
    )  # fmt: skip
