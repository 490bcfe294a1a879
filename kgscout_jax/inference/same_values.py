"""Whether two entities have the same of what a question names.

What each of them has is read from the triplets of the relation that the words state.
The walk, which looks for a way between the two, cannot tell: whoever shares an employer
is two steps apart, and so is whoever shares anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kgscout_jax.inference.inputs import Candidates
from kgscout_jax.inference.question_mentions import Mention
from kgscout_jax.inference.yes_no import Stated
from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.same_question import same_questions
from kgscout_jax.text.stated_relation import all_answer_ends


def read_same(
    question: str,
    names: Sequence[str],
    candidates: Candidates,
    mentions: Sequence[Mention],
    relation_of: Callable[[int], str],
) -> Stated | None:
    """Whether both have the same; "unsure" where one of them has nothing of the kind.

    None for other questions, and where no relation is what the words state.

    Args:
        question: the question.
        names: of its topics.
        candidates: of it.
        mentions: its names.
        relation_of: the name of a relation.
    """
    forms = same_questions(question_tokens(question, names))
    if not forms or len(mentions) != 2:
        return None
    relations = [relation_of(int(each)) for each in candidates.relations]
    ends = next(
        (ends for asked in forms if any(ends := all_answer_ends(asked, relations))), []
    )
    compared = False
    for number, of_relation in enumerate(ends):
        triplets = candidates.nodes[candidates.relation_index == number]
        for end in of_relation:
            one, other = (
                set(triplets[np.isin(triplets[:, 1 - end], [*each.nodes]), end])
                for each in mentions
            )
            if one & other:
                return "yes"
            compared |= bool(one and other)
    if not ends:
        return None
    return "no" if compared else "unsure"
