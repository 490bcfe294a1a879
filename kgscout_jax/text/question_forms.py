"""Other forms of questions for a number, or for yes or no, and the usual ones.

"Acme headcount" asks how many people are in Acme, and "am I right that Bern is in
France" whether it is.
"""

from __future__ import annotations

from collections.abc import Callable

from kgscout_jax.text.claim_forms import claim_forms
from kgscout_jax.text.count_forms import count_forms
from kgscout_jax.text.spelling import Correction


def question_forms(
    question: str, says: Callable[[str], bool] = lambda _: False
) -> list[Correction]:
    """What stands in a question for its usual form, in the order of places.

    Args:
        question: the question.
        says: whether a relation of the graph is called by a word.

    >>> from kgscout_jax.text.spelling import corrected
    >>> def usual(text):
    ...     return corrected(text, question_forms(text))
    >>> usual("Am I right that Bern is in France?")
    'is Bern in France?'
    >>> usual("Bern in France, yes or no"), usual("I heard Ann employs Bo, is that so?")
    ('is Bern in France', 'does Ann employs Bo')
    >>> usual("Acme number of sales"), usual("Rapid squad size")
    ('how many sales does Acme have', 'how many members does Rapid have')
    >>> usual("How often did Ann win a prize in Bern?")
    'how many prizes did Ann win in Bern?'
    >>> usual("Does any firm in Bern sell kites, and if so which?")
    'which firm in Bern sell kites?'
    >>> usual("Could nausea be a side effect of Halovir?")
    'is nausea a side effect of Halovir?'
    """
    return claim_forms(question) or count_forms(question, says)
