"""Tables of triplets that name their relation's column alone."""

from __future__ import annotations

import pytest

from kgscout_jax.graph.read.dialect import Dialect
from kgscout_jax.graph.read.relation_column import wide_relation_layout


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("exporter,relation,importer,usd A,SELLS,B,1 A,SELLS,C,2", (0, 1, 2)),
        ("person_a,person_b,relationship,since A,B,friend,1 A,C,friend,2", (0, 2, 1)),
        ("no,who,relation,whom,at 1,A,owns,B,x 2,C,owns,D,y", (1, 2, 3)),
        ("protein1,interaction,protein2,score A,binds,B,.1 A,binds,C,.2", (0, 1, 2)),
        # All in capitals, though each is another one.
        ("who,relation,whom,at A,OWNS,B,x C,RUNS,D,y", (0, 1, 2)),
        # An interaction of a drug is no relation, and these are no ends.
        ("drug,interaction,advice,level A,mild,rest,1 B,mild,rest,2", None),
        ("name,relationship,phone,town A,mother,12,X B,mother,34,Y", None),
        ("name,relationship,mail,town A,mother,a@x.org,X B,mother,b@x.org,Y", None),
        ("who,relation,whom,at A,owns,B,x C,likes,D,y", None),
        ("who,relation,whom A,owns,B C,owns,D", None),  # three columns are triplets
        ("who,relation,whom,at A,owns,B,x", None),  # one row shows nothing
    ],
)
def test_ends_stand_beside_the_relation(text, expected):
    rows = [line.split(",") for line in text.split(" ")]
    found = wide_relation_layout(Dialect(",", True), rows)
    assert (found and (found.head, found.relation, found.tail)) == expected
