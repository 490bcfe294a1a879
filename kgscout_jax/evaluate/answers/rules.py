"""Rules by which given answers are compared with gold ones, by the paper's name.

A rule set turns one question's predictions and gold answers into figures in [0, 1]
(``rog``'s precision can be larger). None of them leaves a question out: no prediction,
or no gold answer, is scored like any other question, by the rule that ``definitions``
states.

Deviations from the sources, all of them where the source crashes or is silent:

- RoG's script divides by zero on a question without gold answers; here all its figures
  are 0. GNN-RAG's crashes on lists; here they are read as RoG's script reads them.
- RoG's script drops repeats from a prediction that is a list, and orders the rest by
  how often each came; ``rog`` takes the list as it stands, ``rog_script`` does that.
- KG-RAG (section 5.3) flags as hallucinated what lacks perfect precision "and" shows
  indicators such as "I don't know", after its definition as content that is not in the
  ground truth. Both readings are given: ``hallucination`` counts substantive replies
  with a token that the gold answer lacks, ``hallucination_as_written`` counts imprecise
  replies that do show an indicator. There is no manual review.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgscout_jax.types import Triplet, entity_key

Scorer = Callable[[Sequence[str], Sequence[str]], dict[str, float]]
"""Predictions and gold answers of a question -> metric -> figure."""

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_WORD = re.compile(r"\w+")
_UNCERTAIN = re.compile(
    r"\b(i (do not|dont) know|(i am|im) (not sure|unsure|unable)|not available"
    r"|(cannot|can not|cant) (answer|determine|provide|find)|unable to"
    r"|(no|not enough|insufficient) information|unknown|not (mentioned|provided))\b"
)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """One way of judging answers."""

    name: str
    """By which it is chosen."""
    source: str
    """The papers, or the definition, that it follows."""
    definitions: Mapping[str, str]
    """Metric -> the sentence that defines it, in the order of the tables."""
    score: Scorer
    """Figures of one question, in that order."""


def normalize(text: str) -> str:
    """The normal form of RoG, GNN-RAG and SQuAD.

    Lower-cased; ASCII punctuation deleted (so "u.s." is one word, "us"); then the words
    a, an and the become a space; then white space is collapsed. The order matters: an
    article that punctuation was glued to is one only afterwards, and white space that
    an article leaves behind goes last.

    (Their scripts then remove ``<pad>``, which by that time has lost its brackets:
    nothing to reproduce.)
    """
    words = text.lower().translate(_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", words).split())


def contains(text: str, gold: str) -> bool:
    """Whether the normal form of ``gold`` is a substring of the text's.

    A gold answer that is all punctuation and articles has an empty normal form, which
    is a substring of everything.
    """
    return normalize(gold) in normalize(text)


def tokens(text: str) -> list[str]:
    """The words of the normal form, as SQuAD's script counts them."""
    return normalize(text).split()


def token_overlap(prediction: str, gold: str) -> tuple[float, float, float]:
    """Token precision, recall and F1 (SQuAD); all 0 if either has no token."""
    answer_tokens, gold_tokens = Counter(tokens(prediction)), Counter(tokens(gold))
    common = (answer_tokens & gold_tokens).total()
    return _prf(common, answer_tokens.total(), gold_tokens.total())


def rouge_l(prediction: str, gold: str) -> tuple[float, float, float]:
    """ROUGE-L precision, recall and F1 (Lin, 2004, with beta = 1).

    From the longest common subsequence of the lower-cased words, punctuation left out,
    no stemming.
    """
    words, gold_words = _WORD.findall(prediction.lower()), _WORD.findall(gold.lower())
    common = longest_common_subsequence(words, gold_words)
    return _prf(common, len(words), len(gold_words))


def longest_common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Its length, in O(len(left) * len(right)) time and one row of memory."""
    row = [0] * (len(right) + 1)
    for token in left:
        diagonal = 0
        for j, other in enumerate(right, start=1):
            above = row[j]
            row[j] = diagonal + 1 if token == other else max(above, row[j - 1])
            diagonal = above
    return row[-1]


def groundedness(answers: Sequence[str], triplets: Sequence[Triplet]) -> float | None:
    """The share of the given answers that are a head or a tail of the kept triplets.

    Compared as entities are: lower-cased, white space collapsed. None where no answer
    is given: there is nothing to be grounded.
    """
    keys = dict.fromkeys(map(entity_key, answers))
    if not keys:
        return None
    ends = {entity_key(end) for head, _, tail in triplets for end in (head, tail)}
    return sum(key in ends for key in keys) / len(keys)


def is_uncertain(text: str) -> bool:
    """Whether a reply says that it does not know."""
    words = text.lower().replace("’", "").translate(_PUNCTUATION).split()
    return bool(_UNCERTAIN.search(" ".join(words)))


def _rog(predictions: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    if not predictions or not gold:
        return dict.fromkeys(_ROG_DEFINITIONS, 0.0)
    everything = normalize(" ".join(predictions))
    matched = sum(normalize(answer) in everything for answer in gold)
    precision, recall = matched / len(predictions), matched / len(gold)
    first = normalize(predictions[0])
    return {
        "accuracy": recall,
        "hit": float(matched > 0),
        "hits@1": float(any(normalize(answer) in first for answer in gold)),
        "f1": _f1(precision, recall),
        "precision": precision,
        "recall": recall,
    }


def _rog_script(predictions: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    # Counter.most_common keeps the order of first occurrence among equals
    return _rog([text for text, _ in Counter(predictions).most_common()], gold)


def _kgscout(predictions: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    answers = list(dict.fromkeys(map(entity_key, predictions)))
    gold_keys = set(map(entity_key, gold))
    matched = sum(answer in gold_keys for answer in answers)
    precision, recall, f1 = _prf(matched, len(answers), len(gold_keys))
    return {
        "hit": float(matched > 0),
        "hits@1": float(bool(answers) and answers[0] in gold_keys),
        "f1": f1,
        "em": float(bool(gold_keys) and set(answers) == gold_keys),
        "precision": precision,
        "recall": recall,
    }


def _kg_rag(predictions: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    text = ", ".join(predictions)
    words = tokens(text)
    overlaps = [token_overlap(text, answer) for answer in gold]
    imprecise = bool(words) and all(precision < 1 for precision, _, _ in overlaps)
    uncertain = is_uncertain(text)
    return {
        "em": float(bool(words) and any(tokens(answer) == words for answer in gold)),
        "f1": max((f1 for _, _, f1 in overlaps), default=0.0),
        "accuracy": float(any(f1 > 0 for _, _, f1 in overlaps)),
        "hallucination": float(imprecise and not uncertain),
        "hallucination_as_written": float(imprecise and uncertain),
    }


def _pg_akv(predictions: Sequence[str], gold: Sequence[str]) -> dict[str, float]:
    text = " ".join(predictions)
    best = max((rouge_l(text, answer)[::-1] for answer in gold), default=(0.0,) * 3)
    return dict(zip(_PG_AKV_DEFINITIONS, best, strict=True))


def _prf(matched: float, n_answers: int, n_gold: int) -> tuple[float, float, float]:
    if not n_answers or not n_gold:
        return 0.0, 0.0, 0.0
    precision, recall = matched / n_answers, matched / n_gold
    return precision, recall, _f1(precision, recall)


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0


_ROG_DEFINITIONS = {
    "accuracy": (
        "Mean share of the gold answers whose normal form (lower case, ASCII "
        "punctuation deleted, the words a, an, the left out, white space collapsed) is "
        "a substring of that of all predictions joined by a space."
    ),
    "hit": "Share of questions with at least one such gold answer.",
    "hits@1": (
        "Share of questions with a gold answer whose normal form is a substring of "
        "that of the first prediction."
    ),
    "f1": "Mean over questions of the harmonic mean of precision and recall.",
    "precision": (
        "Mean over questions of the number of gold answers found, as in accuracy, by "
        "the number of predictions (not of right predictions: it exceeds 1 where one "
        "prediction holds several gold answers)."
    ),
    "recall": "The same as accuracy.",
}

_KGSCOUT_DEFINITIONS = {
    "hit": (
        "Share of questions with at least one gold answer among the answers given; two "
        "answers are the same when they are lower-cased, white space collapsed."
    ),
    "hits@1": "Share of questions whose first answer is a gold one.",
    "f1": (
        "Macro-F1: mean over questions of the F1 of the set of answers given against "
        "the set of gold answers."
    ),
    "em": "Share of questions where the two sets are equal.",
    "precision": "Mean share of the answers given that are gold; none given: 0.",
    "recall": "Mean share of the gold answers that are given.",
}

_KG_RAG_DEFINITIONS = {
    "em": (
        "Share of questions whose answers given, as one text, equal a gold answer "
        "after SQuAD's normalisation."
    ),
    "f1": (
        "Mean over questions of the token F1 of the answers given, as one text, with "
        "the closest gold answer."
    ),
    "accuracy": (
        "Share of questions whose answers given have a word in common with a gold "
        "answer, articles not counted."
    ),
    "hallucination": (
        "Share of questions whose answers given hold a word that each of the gold "
        "answers lacks, those that say 'I don't know' in one way or another excepted."
    ),
    "hallucination_as_written": (
        "The paper's sentence word by word: no perfect token precision, and an "
        "indicator such as 'I don't know' present."
    ),
}

_PG_AKV_DEFINITIONS = {
    "rouge_l": (
        "Mean over questions of the ROUGE-L F1 (longest common subsequence of lower-"
        "cased words) of the answers given, joined by a space, with the closest gold "
        "answer."
    ),
    "rouge_l_recall": "The recall that belongs to it.",
    "rouge_l_precision": "The precision that belongs to it.",
}

RULES = {
    rules.name: rules
    for rules in (
        Rules(
            name="rog",
            source="RoG (Luo et al., 2024) and GNN-RAG (Mavromatis and Karypis, 2024)",
            definitions=_ROG_DEFINITIONS,
            score=_rog,
        ),
        Rules(
            name="rog_script",
            source="RoG's script: as rog, and lists lose repeats, the frequent first",
            definitions=_ROG_DEFINITIONS,
            score=_rog_script,
        ),
        Rules(
            name="kgscout",
            source="equality of entities, as everywhere in this project",
            definitions=_KGSCOUT_DEFINITIONS,
            score=_kgscout,
        ),
        Rules(
            name="kg_rag",
            source="KG-RAG, section 5.3, with SQuAD's normalisation",
            definitions=_KG_RAG_DEFINITIONS,
            score=_kg_rag,
        ),
        Rules(
            name="pg_akv",
            source="PG&AKV: ROUGE-L for open-ended answers",
            definitions=_PG_AKV_DEFINITIONS,
            score=_pg_akv,
        ),
    )
}
"""Name -> rules."""
