"""Sixty documents written from the built-in world, with the facts that they state.

Three styles (an encyclopedia, notes of a traveller, a newsletter) and three formats
(text, Markdown, HTML). Wordings vary, the facts of a country are spread over documents,
and the newsletter adds people and firms that nobody asks for. Every sentence states
known facts, so what is extracted can be compared with them exactly.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from data_prep.sources.world_facts import world_facts
from kgscout_jax.ingest.extract.protocol import NestedTriplet, label
from kgscout_jax.types import Triplet, entity_key
from kgscout_jax.utils.io import write_text

DOCUMENTS, COUNTRIES = 60, 24
WORDINGS: dict[str, tuple[str, ...]] = {
    "capital": (
        "The capital of {h} is {t}.",
        "{t} is the capital of {h}.",
        "{h}'s capital is {t}.",
        "{h} is governed from {t}, its capital.",
    ),
    "currency": (
        "The currency of {h} is the {t}.",
        "{h} uses the {t} as its currency.",
        "In {h}, people pay with the {t}.",
    ),
    "language": (
        "{t} is an official language of {h}.",
        "{t} is spoken in {h}.",
        "The people of {h} speak {t}.",
    ),
    "region": (
        "{h} is a country in {t}.",
        "{h} lies in {t}.",
        "{h} is part of {t}.",
    ),
    "borders": ("{h} borders {t}.", "{h} shares a border with {t}."),
    "city of": (
        "{h} is a city in {t}.",
        "{h} lies in {t}.",
        "{h}, a city in {t}, attracts many visitors.",
    ),
    "time zone": (
        "The time zone of {h} is {t}.",
        "Its time zone is {t}.",
        "Clocks in {h} show {t} time.",
    ),
    "airport": (
        "{h} serves {t}.",
        "{t} is served by {h}.",
        "Flights to {t} land at {h}.",
    ),
    "code": (
        "The IATA code of {h} is {t}.",
        "{h} has the IATA code {t}.",
        "{t} is the IATA code of {h}.",
    ),
    "founded": (
        "{h} founded {t} in {year}.",
        "{t} was founded by {h} in {year}.",
        "In {year}, {h} founded {t}.",
    ),
}
"""Relation -> its wordings; {h} and {t} are head and tail."""
WORDS = {
    "capital": "capital|governed",
    "currency": "currenc|use|pay",
    "language": "language|spoken|speak",
    "region": r"\bin\b|part|region",
    "borders": "border",
    "city of": r"\bin\b|city",
    "time zone": "time|show|clock",
    "airport": "serve|airport|land|flight",
    "code": "code",
    "founded": "found",
    "attracts": "attract",
}
"""Relation -> what the words of an extracted relation must hold."""
RELATIONS = {
    "location.country.capital": "capital",
    "location.country.currency_used": "currency",
    "location.country.languages_spoken": "language",
    "location.country.subregion": "region",
    "location.country.borders": "borders",
    "location.city.country": "city of",
    "location.city.time_zone": "time zone",
    "aviation.airport.city_served": "airport",
    "aviation.airport.iata_code": "code",
}
FIRST = (
    "Maren Jonas Aline Viktor Sofia Pedro Helga Tomas Irene Bruno Clara Oskar".split()
)
LAST = "Holt Berg Lindqvist Moreau Castro Weber Novak Rossi Keller Duarte".split()
FIRMS = "Northwind Bluestone Redwood Silverline Hartmann Oakfield Westport".split()


@dataclass(frozen=True)
class Question:
    """A question with its answers."""

    text: str
    answers: tuple[str, ...]
    hops: int


@dataclass(frozen=True)
class Corpus:
    """Documents, the facts that they state, and questions about them."""

    documents: dict[str, str]
    facts: set[Triplet]
    nested: set[tuple[Triplet, str]]
    """(fact, year)."""
    questions: list[Question]


def known_world() -> dict[str, dict[str, list[str]]]:
    """Relation -> head -> tails, of the built-in world."""
    index: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in world_facts().triplets:
        if relation in RELATIONS:
            index[RELATIONS[relation]][head].append(tail)
    return index


def plain(name: str) -> bool:
    """Whether a name is written in plain letters, without a second one in brackets."""
    return re.fullmatch(r"[A-Z][a-z]+( [A-Z][a-z]+)*", name) is not None


class _Writer:
    """Sentences and the facts in them."""

    def __init__(self, chance: random.Random):
        self.chance = chance
        self.facts: set[Triplet] = set()
        self.nested: set[tuple[Triplet, str]] = set()

    def say(self, head: str, relation: str, tail: str, *, own: bool = False) -> str:
        """A sentence; ``own``: its subject was named just before."""
        self.facts.add((head, relation, tail))
        wordings = [
            each for each in WORDINGS[relation] if own or not each.startswith("Its")
        ]
        wording = self.chance.choice(wordings)
        if "visitors" in wording:
            self.facts.add((head, "attracts", "many visitors"))
        return wording.format(h=head, t=tail)

    def founding(self) -> str:
        """A sentence that nobody asks about; its year hangs on the fact."""
        person = f"{self.chance.choice(FIRST)} {self.chance.choice(LAST)}"
        firm = f"{self.chance.choice(FIRMS)} {self.chance.choice(['Mills', 'Press'])}"
        year = str(self.chance.randint(1870, 1999))
        self.facts.add((person, "founded", firm))
        self.nested.add(((person, "founded", firm), year))
        wording = self.chance.choice(WORDINGS["founded"])
        return wording.format(h=person, t=firm, year=year)


def write_corpus(seed: int = 0) -> Corpus:
    """The corpus; it depends on the seed and the versions of the data packages only."""
    chance = random.Random(seed)
    world = known_world()
    served: dict[str, list[str]] = defaultdict(list)
    for airport, cities in world["airport"].items():
        served[cities[0]].append(airport)
    countries = sorted(
        name
        for name, capitals in world["capital"].items()
        if plain(name) and plain(capitals[0]) and capitals[0] != name
        and len(world["borders"][name]) >= 2 and world["currency"][name]
    )  # fmt: skip
    countries = chance.sample(countries, COUNTRIES)
    capitals = {tails[0] for tails in world["capital"].values()}
    cities = [
        chance.choice(found)
        for country in countries
        if (found := sorted(
            city for city, tails in world["city of"].items()
            if tails == [country] and plain(city) and city not in capitals
            and len(served[city]) == 1 and plain(served[city][0])
        ))
    ]  # fmt: skip
    writer = _Writer(chance)
    documents = {}
    for country in countries:
        sentences = [writer.say(country, "region", world["region"][country][0])]
        sentences += [writer.say(country, "capital", world["capital"][country][0])]
        for other in world["borders"][country][:2]:
            sentences.append(writer.say(country, "borders", other))
        documents[f"encyclopedia/{country.lower()}.md"] = (
            f"# {country}\n\n{' '.join(sentences)}\n"
        )
    for city in cities:
        country, airport = world["city of"][city][0], served[city][0]
        sentences = [
            writer.say(city, "city of", country),
            writer.say(city, "time zone", world["time zone"][city][0], own=True),
            writer.say(airport, "airport", city),
            writer.say(airport, "code", world["code"][airport][0]),
        ]
        documents[f"notes/{city.lower()}.txt"] = "\n".join(sentences) + "\n"
    letters = DOCUMENTS - len(documents)
    for number in range(letters):
        items = [writer.founding(), writer.founding()]
        for country in countries[number::letters]:
            items.append(writer.say(country, "currency", world["currency"][country][0]))
            items.append(writer.say(country, "language", world["language"][country][0]))
        chance.shuffle(items)
        body = "".join(f"<p>{item}</p>" for item in items)
        page = f"<html><head><title>News</title></head><body>{body}</body></html>\n"
        documents[f"letters/{number + 1:02}.html"] = page
    questions = _questions(writer.facts)
    return Corpus(documents, writer.facts, writer.nested, questions)


def _questions(facts: set[Triplet]) -> list[Question]:
    """One and two hops over what the documents state."""
    tails: dict[tuple[str, str], list[str]] = defaultdict(list)
    for head, relation, tail in sorted(facts):
        tails[head, relation].append(tail)
    one = {
        "capital": "What is the capital of {h}?",
        "currency": "What is the currency of {h}?",
        "city of": "In which country is {h}?",
        "code": "What is the IATA code of {h}?",
        "time zone": "What is the time zone of {h}?",
    }
    questions = [
        Question(one[relation].format(h=head), tuple(answers), 1)
        for (head, relation), answers in tails.items()
        if relation in one
    ]
    for (head, relation), answers in tails.items():
        if relation == "capital":
            money = tails[head, "currency"]
            text = f"What is the currency of the country whose capital is {answers[0]}?"
            questions += [Question(text, tuple(money), 2)] * bool(money)
        if relation == "city of":
            text = f"What is the capital of the country in which {head} lies?"
            capital = tails[answers[0], "capital"]
            questions += [Question(text, tuple(capital), 2)] * bool(capital)
    return questions


def write_documents(corpus: Corpus, folder: Path) -> None:
    """Write the documents below a folder."""
    for name, text in corpus.documents.items():
        write_text(folder / name, text)


def name_key(name: str) -> str:
    """A name without its article."""
    return re.sub("^(the|a|an) ", "", entity_key(name)).rstrip(".")


@dataclass(frozen=True)
class Match:
    """How extracted triplets compare with the facts."""

    extracted: int
    right: int
    facts: int
    found: int
    nested: int
    nested_found: int

    @property
    def precision(self) -> float:
        """Right triplets of those extracted."""
        return self.right / max(self.extracted, 1)

    @property
    def recall(self) -> float:
        """Facts found, nested ones included."""
        return (self.found + self.nested_found) / max(self.facts + self.nested, 1)


def compare(extracted: Sequence[NestedTriplet], corpus: Corpus) -> Match:
    """Exact comparison: both names equal, and the relation in its words.

    "is a country" says nothing wrong and no fact of the corpus: kinds are not counted.
    """
    pairs: dict[frozenset[str], list[Triplet]] = defaultdict(list)
    for fact in corpus.facts:
        pairs[frozenset((name_key(fact[0]), name_key(fact[2])))].append(fact)
    found: set[Triplet] = set()
    nested: set[tuple[Triplet, str]] = set()

    def facts_of(triplet: NestedTriplet) -> list[Triplet]:
        ends = frozenset((name_key(label(triplet.head)), name_key(label(triplet.tail))))
        words = triplet.relation.lower()
        return [
            fact for fact in pairs.get(ends, ()) if re.search(WORDS[fact[1]], words)
        ]

    right = counted = 0
    for triplet in extracted:
        if triplet.relation in ("is a", "is an", "is"):
            continue
        counted += 1
        if isinstance(triplet.head, NestedTriplet):
            dated = {
                (fact, label(triplet.tail)) for fact in facts_of(triplet.head)
            } & corpus.nested
            nested |= dated
            # "uses the euro as its currency" hangs a true word on a true fact
            role = triplet.relation == "as" and bool(facts_of(triplet.head))
            right += bool(dated) or role
        elif matched := facts_of(triplet):
            found.update(matched)
            right += 1
    sizes = len(corpus.facts), len(found), len(corpus.nested), len(nested)
    return Match(counted, right, *sizes)
