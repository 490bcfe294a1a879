"""Other forms of counts and of yes or no, and questions that are no such forms."""

import pytest

from kgscout_jax.text.question_forms import question_forms
from kgscout_jax.text.spelling import corrected


@pytest.mark.parametrize(
    ("question", "usual"),
    [
        ("Is it true that Ann was born in Bern?", "was Ann born in Bern?"),
        ("We heard that Acme has a shop in Oslo.", "has Acme a shop in Oslo."),
        ("Ann works for Acme, right?", "is Ann works for Acme"),
        ("Does Ann work for Acme, yes or no?", "Does Ann work for Acme"),
        ("Might Halovir be the cause of hiccups?", "is Halovir the cause of hiccups?"),
        ("Would Heat be directed by Mann?", "is Heat directed by Mann?"),
        ("Could Mann have directed Heat?", "has Mann directed Heat?"),
        ("Had Mann directed Heat?", "has Mann directed Heat?"),
        ("Should Heat star Mann?", "does Heat star Mann?"),
        ("Isn't Bern in France?", "is Bern in France?"),
        ("Won't Heat be shown in Bern?", "is Heat shown in Bern?"),
        ("Would you say Ann was born in Bern?", "was Ann born in Bern?"),
        ("how big is the Data Ops team?", "how many people are on the Data Ops team?"),
        ("Data Ops headcount", "how many members does Data Ops have"),
        ("Baobab Air pilot headcount", "how many pilots does Baobab Air have"),
        (
            "is anybody on Ops based in Bern, and if so who?",
            "who is on Ops based in Bern?",
        ),
        ("Is there something by Ann, if so, what?", "what is by Ann?"),
        ("Is there a shop in Bern, and what is it called?", "which shop is in Bern?"),
        ("any shops of Acme in Bern?", "are there any shops of Acme in Bern?"),
        ("Acme owned by Initech?", "is Acme owned by Initech?"),
        (
            "Bern Park number of protected trees",
            "how many protected trees does Bern Park have",
        ),
        ("What's the machine count in Bern?", "how many machines are in Bern?"),
        ("Felidae species count", "how many species does Felidae have"),
        ("Acme shops in Bern, any?", "are there any Acme shops in Bern?"),
        ("Heat 2 number of actors", "how many actors does Heat 2 have"),
    ],
)
def test_other_forms_are_put_in_the_usual_one(question, usual):
    assert corrected(question, question_forms(question)) == usual


@pytest.mark.parametrize(
    "question",
    [
        "Who holds the copyright?",
        "Which party is on the far right?",
        "What colour is it?",
        "Whose turn is it, yes or no?",
        "the director with the highest number of films",
        "average class size",
        "Please tell me the number of films by Mann",
        "Would you be a dear and list the films of Mann?",
        "Which of them, if any?",
        "any films by Mann after 1990?",
        "Which Acme shops were visited by Ann?",
        "Films directed by Mann?",
        "People born in Bern?",
        "Old films directed by Mann?",
        "head count",
        "Is there a film by Mann, and what is its budget?",
        "Who could Ann be the aunt of?",
        "Will Smith films",
        "Can you tell me who directed Heat?",
        "Isn't there a film by Mann?",
    ],
)
def test_other_questions_stay(question):
    assert not question_forms(question)


def test_what_a_relation_says_is_no_count():
    assert question_forms("Rapid squad size")
    assert not question_forms("Rapid squad size", {"size"}.__contains__)
