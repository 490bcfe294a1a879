"""Which end of a relation a question of one clause asks for."""

import pytest

from kgscout_jax.text.asked_kind import question_tokens
from kgscout_jax.text.stated_relation import all_answer_ends, answer_ends

HEADS, TAILS, BOTH, NONE = {0}, {1}, {0, 1}, set()


@pytest.mark.parametrize(
    ("question", "relation", "ends"),
    [
        # Active and passive, of the question and of the relation.
        ("Who mentors Ann Lee?", "mentored_by", TAILS),
        ("Whom does Ann Lee mentor?", "mentored_by", HEADS),
        ("Who was mentored by Ann Lee?", "mentored_by", HEADS),
        ("Who was Ann Lee mentored by?", "mentored_by", TAILS),
        ("Who mentors Ann Lee?", "mentors", HEADS),
        ("Which people did Ann Lee mentor?", "mentors", TAILS),
        ("Who was mentored by Ann Lee?", "mentors", TAILS),
        ("By whom was Ann Lee mentored?", "mentors", HEADS),
        ("Who wrote Ann Lee?", "written_by", TAILS),
        ("Which papers did Ann Lee author?", "authors", HEADS),
        ("Who directed Ann Lee?", "directors", TAILS),
        ("What year was Ann Lee built?", "year_built", TAILS),
        # Prepositions must be the same.
        ("Which team does Ann Lee play for?", "athleteplaysforteam", TAILS),
        ("Which team does Ann Lee play for?", "athleteplaysinleague", NONE),
        ("For which team does Ann Lee play?", "athleteplaysforteam", TAILS),
        ("Who plays for Ann Lee?", "athleteplaysforteam", HEADS),
        ("How many people work on Ann Lee?", "worksOn", HEADS),
        ("Where does Ann Lee live?", "lives_in", TAILS),
        ("Where was Ann Lee born?", "wasBornIn", TAILS),
        ("Who was born in Ann Lee?", "wasBornIn", HEADS),
        ("Which station is Ann Lee affiliated with?", "station affiliated with", TAILS),
        ("Which prize did Ann Lee win?", "hasWonPrize", TAILS),
        # Other phrases, where the relation leads to what is asked for.
        ("Who works in Ann Lee?", "department", HEADS),
        ("In which department does Ann Lee work?", "department", TAILS),
        ("In which firm does Ann Lee work?", "department", NONE),
        ("Into which sea does Ann Lee flow?", "mouth of the watercourse", TAILS),
        ("In which country does Ann Lee live?", "city", NONE),
        ("Which actors portray people working at Ann Lee?", "works for", NONE),
        # What is in a place is located there.
        ("Which courts are in Ann Lee?", "is located in", HEADS),
        ("Which courts are in Ann Lee?", "founded in", NONE),
        ("Who is in Ann Lee?", "located_in", NONE),
        # What holds both ways has no direction.
        ("Which genes interact with Ann Lee?", "interacts_with", BOTH),
        # Nouns: what a relation calls its tails, or with "of" its heads.
        ("Who were the pupils of Ann Lee?", "pupil_of", HEADS),
        ("What is the capital of Ann Lee?", "location.country.capital", TAILS),
        ("Who are Ann Lee's children?", "has_child", TAILS),
        ("Who is the CEO of Ann Lee?", "is chief executive officer of", HEADS),
        ("Who is the CFO of Ann Lee?", "is chief executive officer of", NONE),
        ("Name the siblings of Ann Lee", "sibling", BOTH),
        ("Who is Ann Lee married to?", "isMarriedTo", BOTH),
        ("What did Ann Lee carry?", "carried", TAILS),
        ("Who are the pupils of Ann Lee's wife?", "pupil_of", NONE),
        ("Who is the boss of the pupil of Ann Lee?", "pupil_of", NONE),
        # Who does what a verb says, as a noun of the question or of the graph.
        ("Who is Ann Lee's mentor?", "mentored_by", TAILS),
        ("Who was the teacher of Ann Lee?", "taught_by", TAILS),
        ("Who is the owner of Ann Lee?", "owns", HEADS),
        ("Who commanded Ann Lee?", "Commander", TAILS),
        ("Who was commanded by Ann Lee?", "commander", HEADS),
        ("Which ships does Ann Lee own?", "owner_of", TAILS),
        ("Who commanded for Ann Lee?", "commander", NONE),
        # What the topic is to them, in either order.
        ("Ann Lee is the owner of which firms?", "owner", HEADS),
        ("Which firms is Ann Lee the owner of?", "owner", HEADS),
        ("Of what is Ann Lee the capital?", "capital", HEADS),
        ("How many firms share the owner Ann Lee?", "owner", HEADS),
        # Another name of the relation, or of its inverse.
        ("Who employs Ann Lee?", "worksFor", TAILS),
        ("Who are the employees of Ann Lee?", "worksFor", HEADS),
        ("Which band is Ann Lee a member of?", "has_member", HEADS),
        ("What band is Ann Lee in?", "bandMember", HEADS),
        ("Who was Ann Lee's doctoral advisor?", "academic_advisor_of", HEADS),
        ("Which country does Ann Lee belong to?", "located_in", TAILS),
        ("Which league does Ann Lee play in?", "plays_in_club", NONE),
        ("When was Ann Lee released?", "publisher", NONE),
        ("When was Ann Lee released?", "publication date", TAILS),
        ("Who looks after Ann Lee?", "looked_after_by", TAILS),
        ("What is Ann Lee's postcode?", "zip", TAILS),
        ("What is the mass of Ann Lee?", "weight_kg", TAILS),
        ("What is the serial number of Ann Lee?", "serial_no", TAILS),
        ("Ann Lee vendor", "vendor_id", TAILS),
        ("What is the area of Ann Lee?", "Land size (sq km)", TAILS),
        ("Who heads Ann Lee?", "led_by", TAILS),
        ("Who has Ann Lee eyes?", "eye color", HEADS),
        ("Which films has Ann Lee directed?", "director", HEADS),
        ("What else is Ann Lee called?", "hasExactSynonym", TAILS),
        # Words are left out.
        ("books written by Ann Lee", "author", HEADS),
        ("all books by Ann Lee", "hasAuthor", HEADS),
        ("films starring Ann Lee", "acted_in", TAILS),
        ("movies that Ann Lee directed", "director", HEADS),
        ("cities in Ann Lee", "located_in", HEADS),
        ("Go services owned by Ann Lee", "owns", NONE),
        ("papers citing Ann Lee", "cites", HEADS),
        ("people working for Ann Lee", "works_for", HEADS),
        # When, with the relation's preposition.
        ("When did Ann Lee open?", "opened in", TAILS),
        ("What year did the Ann Lee station close?", "closed_in", TAILS),
        ("When was Ann Lee opened?", "opened_by", NONE),
        # A relation of a preposition and a noun.
        ("Which stops are on Ann Lee?", "is on line", HEADS),
        ("Which line is Ann Lee on?", "is_on_line", TAILS),
        # A range is no country.
        ("Which mountain range is Ann Lee part of?", "country", NONE),
        ("Who is the prime minister of Ann Lee?", "head of state", NONE),
        # What was so is only asked for as that.
        ("Who used to work for Ann Lee?", "formerly_worked_for", HEADS),
        ("Who previously worked for Ann Lee?", "works_for", NONE),
        # Words that only ask for an answer.
        ("Could you please tell me Ann Lee's mentor?", "mentored_by", TAILS),
        ("I'd like to know who mentors Ann Lee", "mentored_by", TAILS),
        ("Do you know who mentors Ann Lee, please?", "mentored_by", TAILS),
        # The noun beside the topic.
        ("What nationality is Ann Lee?", "nationality", TAILS),
        ("For Ann Lee, what is the capital?", "capital", TAILS),
        ("Ann Lee's capital is what?", "capital", TAILS),
        ("What is the capital of Ann Lee called?", "capital", TAILS),
        ("What kind of film is Ann Lee?", "film", NONE),
        # More than one relation, another form, or no verb.
        ("Who mentors the boss of Ann Lee?", "mentored_by", NONE),
        ("Who mentors people that Ann Lee knows?", "mentored_by", NONE),
        ("Which film's director mentors Ann Lee?", "mentored_by", NONE),
        ("Does Bo mentor Ann Lee?", "mentored_by", NONE),
        ("Who mentors Ann Lee or Ann Lee?", "mentored_by", NONE),
        ("Who spouses Ann Lee?", "spouse", NONE),
        ("", "mentored_by", NONE),
    ],
)
def test_voice_and_word_order_say_which_end_is_asked_for(question, relation, ends):
    assert answer_ends(question_tokens(question, ["Ann Lee"]), relation) == ends


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which club does Ann Lee play for?", ["plays_for_club"]),
        ("Which national team does Ann Lee play for?", ["plays_for_national_team"]),
        ("Which club did Ann Lee previously play for?", ["previously_played_for"]),
        ("Who plays for Ann Lee?", ["plays_for_club", "plays_for_national_team"]),
        (
            "Whom did Ann Lee play for?",
            ["plays_for_club", "plays_for_national_team", "previously_played_for"],
        ),
    ],
)
def test_of_relations_of_one_verb_the_noun_and_the_tense_tell(question, said):
    relations = ["plays_for_club", "plays_for_national_team", "previously_played_for"]
    ends = all_answer_ends(question_tokens(question, ["Ann Lee"]), relations)
    assert [name for name, each in zip(relations, ends, strict=True) if each] == said
