"""What a question leaves out."""

from __future__ import annotations

import pytest

from kgscout_jax.text.exceptions import exception_start, has_exception


@pytest.mark.parametrize(
    ("before", "start"),
    [
        ("Besides ", 0),
        ("Who other than the ", 4),
        ("Which firms apart from ", 12),
        ("Who, except for ", 5),
        ("Besides Ada, who works at ", None),
        ("Who sat beside ", None),
        ("", None),
    ],
)
def test_the_words_before_a_name_leave_it_out(before, start):
    assert exception_start(before) == start
    assert has_exception(before) or start is None
