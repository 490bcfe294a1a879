"""Progress as log lines: what stands in them."""

import time

import pytest

from kgscout_jax.utils.progress import ProgressBar, rate_text


@pytest.mark.parametrize(
    ("rate", "text"),
    [(1234.5, "1234"), (34.6, "35"), (4.04, "4"), (0.333, "0.33"), (0.05, "0.05")],
)
def test_a_slow_rate_is_a_fraction(rate, text):
    assert rate_text(rate) == text


def test_a_line_has_count_rate_and_the_time_left(caplog):
    with caplog.at_level("INFO", logger="kgscout"), ProgressBar(4, "x", "steps") as bar:
        bar._started = bar._last_report = time.monotonic() - 30
        bar.update(1, loss=2)
    (line,) = caplog.messages
    assert line == "x: 1 of 4, 0.033 steps/s, about 1:30 left, loss 2"
