"""English stop words of entity linking.

``GRAMMAR`` are function words. ``QUESTION_WORDS`` are typical of questions, mostly
relations and types ("currency", "directed", "president"). Graphs have entities of these
names, but questions rarely refer to them.
"""

from __future__ import annotations

GRAMMAR = frozenset(
    """
    a about after all also am an and any are as at be been before being both but by
    can could did do does done during each either else every fewer for from get gets
    getting go goes going got had has have having he her here hers him his how i if
    in into is it its just least less like many me mine more most much must my near
    no not now of off on one only or other others our out over own please same shall
    she should show since so some such tell than that the their them then there
    these they this those to too under until up us very was way we were what whats
    when where which while who whom whos whose why will with within without would
    you your s t re ll ve d m
    """.split()
)

QUESTION_WORDS = frozenset(
    """
    act acted acting actor actors actress album albums also appear appears area art
    artist artists attend author award awards band bands based be became become
    belong best big biggest birth book books border born build built buried buy
    called came capital career cause celebrate celebrity center century character
    characters child children cities city club coach college colleges come company
    considered continent control countries country county couple create created
    creator cross currency current date dates day days death deceased degree
    describe die died different direct directed director directors discover district
    document education else end established ethnicity event ever exist explain
    explored fact faith famous father fight film films find first fly follow food
    form found founded founder gender genre genres give government grew group guy
    happen happened have head heir held high history hold holiday home house husband
    important industry inspired institution instrument invent invented inventor
    invention job join kid kill killed kind know known language languages large
    largest last lead leader leaders learn live lived lives located location long
    look made main major make makes man married mascot mean member members mother
    movement movie movies music name named names nation nationality nations need
    number occupation office official old oldest open originate owner own parent
    parents part partner party pay people person place places play played player
    plays point political popular population position practice president prize
    produce product profession province publish rating ratings received record
    region release released religion religions represent responsible role run say
    school schools screenwriter season see sell series serve sex sibling siblings
    sister brother son daughter sing singer situated song songs speak speciality
    spoken sport sports spouse star starred starring stars start started state
    states stay stand student study style system take talk team teams television
    term theme thing time timezone today top topic topics town train trip tv type
    types university use used visit vote want war wear went wife win won word work
    worked write writer writers writes written wrote year years zone
    """.split()
)
"""Selected by hand, not by frequency in any set of questions."""

PREPOSITIONS = frozenset(
    "of in on at by from for with about to near into during between against".split()
)
STOP_WORDS = GRAMMAR | QUESTION_WORDS
"""Words that are not looked up on their own."""
