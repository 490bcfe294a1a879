"""Questions that are not in English, whose words are no misspelt English ones."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kgscout_jax.text.words import FUNCTION_WORDS

_FUNCTION_WORDS = frozenset(
    # German
    "wie wer wen wem wessen wann wo woher wohin warum welche welcher welches welchen "
    "welchem ist sind wurde wurden wird werden haben gibt der das dem ein eine einer "
    "eines einem einen und oder nicht mit von zu zum zur für auf aus bei im viele "
    # French
    "quel quelle quels quelles qui que où quand combien comment pourquoi est sont "
    "était ont le la les du au aux une un des dans par avec et ou pas de "
    # Spanish and Portuguese
    "cuál cuáles cual quién quiénes quien qué dónde donde cuándo cuando cuántos "
    "cuántas cuánto cómo es son el los las del una por para con y no en "
    "qual quais quem onde quando quantos como é são o os da dos das um uma "
    # Italian
    "chi che cosa dove quanto quanti quante quale quali è sono il lo gli della dello "
    "dei degli delle nel nella di con per e "
    # Dutch
    "welke wanneer waar hoeveel hoe wat zijn werd heeft hebben het een van voor".split()
)
_SHARED = frozenset("in was an is a am do me on will as no per i".split())
"""Words of English and of one of these too, which tell nothing."""
_MOST_UNKNOWN = 0.5
"""Share of unknown words from which on a question may be in any language."""


def is_in_other_language(words: Sequence[str], unknown: Collection[str]) -> bool:
    """Whether a question is more likely in another language than misspelt.

    It has more function words of German, French, Spanish, Portuguese, Italian or Dutch
    than of English; or none of English, and two unknown words or more that make up
    half of it.

    Args:
        words: of the question, casefolded, without those of names.
        unknown: those of them that are no English words.

    >>> is_in_other_language("wie tief ist das".split(), ["tief"])
    True
    >>> is_in_other_language("who is the auther of la strada".split(), ["auther"])
    False
    """
    english = sum(word in FUNCTION_WORDS - _SHARED for word in words)
    other = sum(word in _FUNCTION_WORDS - _SHARED for word in words)
    if other or english:
        return other > english
    return len(unknown) > 1 and len(unknown) >= _MOST_UNKNOWN * len(words)
