"""The picture of host and device against spans and rows made by hand."""

from __future__ import annotations

import json

import matplotlib.colors
import matplotlib.image
import numpy as np
import pytest

from kgscout_jax.cli.main import main
from kgscout_jax.learn.timeline_file import Span, write_timeline
from kgscout_jax.runs.step_timeline import (
    StepTimeline,
    colours_of,
    draw_timelines,
    letters_of,
    text_line,
)
from kgscout_jax.utils.plotting import COLOURS


def test_each_column_shows_what_took_most_of_it():
    spans = [
        Span("host", "read", 0.0, 1.0),
        Span("host", "wait", 1.0, 3.0),
        Span("host", "reward", 3.2, 4.0),
    ]
    letters = letters_of(["read", "wait", "reward"])
    assert letters == {"read": "r", "wait": ".", "reward": "e"}
    assert text_line(spans, letters, 5.0, 5) == "r..e "


@pytest.fixture
def run(tmp_path):
    row = {"kind": "epoch", "step": 5, "epoch": 1, "seconds": 2.0}
    row |= {"device_wait_share": 0.25, "host_us_per_question": 123.0}
    (tmp_path / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "config.json").write_text('{"config": {}, "policy": {}}')
    spans = [Span("host", "read", 7.0, 7.5), Span("device", "update", 7.5, 8.0)]
    write_timeline(tmp_path, 5, spans)
    return tmp_path


@pytest.mark.usefixtures("own_pictures")
def test_figures_and_lanes_are_printed_and_drawn(run, tmp_path, capsys):
    assert main(["runs", str(run), "--timeline"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("device_wait_share" in line and "0.25" in line for line in lines)
    assert any("host_us_per_question" in line and "123" in line for line in lines)
    (host,) = [line.split()[1] for line in lines if line.startswith("  host  ")]
    (device,) = [line.split()[1] for line in lines if line.startswith("  device  ")]
    assert set(host) == {"r"} and set(device) == {"u"}
    assert abs(len(host) - len(device)) <= 1  # half of the time each
    picture = tmp_path / "steps.png"
    assert main(["runs", str(run), "--timeline", str(picture)]) == 0
    assert len(set(matplotlib.image.imread(picture).reshape(-1).tolist())) > 2


def test_a_name_has_one_colour_in_all_panels():
    colours = colours_of(["wait", "read", "update", "read", "wait"])
    assert list(colours) == ["wait", "read", "update"]
    assert colours["wait"] == "#DDDDDD" and len(set(colours.values())) == 3


@pytest.mark.usefixtures("own_pictures")
def test_the_legend_covers_no_bar(tmp_path):
    """Whatever the names: a picture with long ones has all of the host's bar."""
    pictures = []
    for names in (["a", "b"], ["read a batch", "update"]):
        spans = [Span("host", names[0], 0.0, 1.0), Span("device", names[1], 0.0, 1.0)]
        out = tmp_path / f"{names[1]}.png"
        draw_timelines([StepTimeline(run="r", spans=spans, figures={})], out)
        image = matplotlib.image.imread(out)
        first = matplotlib.colors.to_rgb(COLOURS[0])
        inside = np.isclose(image[..., :3], first, atol=0.01).all(axis=-1)
        wide = inside.sum(axis=1) > image.shape[1] / 2
        # every row of pixels of the bar is as long as the longest
        pictures.append((wide.sum(), np.ptp(inside[wide].sum(axis=1))))
    assert pictures[0] == pictures[1] and pictures[0][0] > 20 and pictures[0][1] <= 1


def test_a_run_without_a_timeline_and_a_damaged_one_are_named(run, capsys):
    file = run / "timeline.json"
    file.write_text('{"spans": [["host", "read", 0.0]]}')
    assert main(["runs", str(run), "--timeline"]) == 2
    assert "timeline.json: damaged" in capsys.readouterr().err
    file.unlink()
    assert main(["runs", str(run), "--timeline"]) == 2
    assert "at the end of each epoch" in capsys.readouterr().err
