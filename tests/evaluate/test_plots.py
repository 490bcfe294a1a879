"""Plots: that they are whole images and show what they should."""

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from kgscout_jax.errors import UserError
from kgscout_jax.evaluate import plots
from kgscout_jax.evaluate.plots import metric_against_k, reward_against_epoch
from kgscout_jax.evaluate.retrieval.metrics import DEFINITIONS

pytestmark = pytest.mark.usefixtures("own_pictures")
NOTHING = {"value": None, "low": None, "high": None, "n": 0}


def report(ks=(10, 30), n=20, without=(), twins=()):
    """A report with ``kgscout`` at 0.6, ``cosine`` at 0.5 and the ceiling at 0.9.

    Each metric is a little lower than the one before, those of ``twins`` are not.
    """
    names = {"kgscout": 0.6, "cosine": 0.5, "ceiling": 0.9}

    def entry(value, metric):
        place = (1 + list(DEFINITIONS).index(metric)) * (metric not in twins)
        value -= 1e-6 * place
        return {"value": value, "low": value - 0.05, "high": value + 0.05, "n": n}

    return {
        **{
            name: {
                metric: {
                    str(k): NOTHING if metric in without else entry(value, metric)
                    for k in ks
                }
                for metric in DEFINITIONS
            }
            for name, value in names.items()
        },
        "retrievers": list(names),
        "ks": list(ks),
        "split": "dev",
        "level": 0.95,
        "context": {"measured_on": "webqsp"},
    }


@pytest.fixture
def saved(monkeypatch):
    """Figures as they are saved."""
    figures: list[Figure] = []
    save = plots.save_figure
    monkeypatch.setattr(
        plots, "save_figure", lambda f, p: (figures.append(f), save(f, p))
    )
    return figures


@pytest.mark.parametrize(
    "ks",
    [
        (10, 30),
        pytest.param((7,), marks=pytest.mark.extended),
        pytest.param((10, 11, 30, 50, 100, 150, 1000), marks=pytest.mark.extended),
    ],
)
def test_metric_against_k(tmp_path, saved, ks):
    without = ("triplet_recall",)
    files = metric_against_k(report(ks, without=without), tmp_path)
    starts = {".png": b"\x89PNG", ".pdf": b"%PDF", ".svg": b"<?xml"}
    assert [path.suffix for path in files] == list(starts)
    for path in files:
        assert path.read_bytes().startswith(starts[path.suffix])
    pixels = matplotlib.image.imread(tmp_path / "metric_against_k.png")
    assert pixels.shape[0] > 400 and np.ptp(pixels) > 0.5
    panels = [panel for panel in saved[0].axes if panel.get_title()]
    shown = [panel.get_title().split()[0] for panel in panels]
    assert shown == [name for name in DEFINITIONS if name not in without]
    for panel in panels:
        lines = {line.get_label(): line for line in panel.get_lines()}
        assert list(lines) == ["kgscout", "cosine", "ceiling"]
        np.testing.assert_allclose(lines["kgscout"].get_ydata(), 0.6, atol=1e-4)
        assert lines["kgscout"].get_xdata().tolist() == list(ks)
        assert lines["ceiling"].get_linestyle() == "--"
        assert len(panel.collections) == 2  # a band each, none for the ceiling
        assert panel.get_title().endswith("(n = 20)")
        assert panel.xaxis.get_tick_params()["labelbottom"]
    assert "webqsp, dev" in saved[0].get_suptitle()


@pytest.mark.extended
def test_metrics_with_the_same_figures_share_a_panel(tmp_path, saved):
    twins = ("answer_recall", "answer_recall_kg")
    metric_against_k(report(twins=twins), tmp_path)
    titles = [panel.get_title() for panel in saved[0].axes if panel.get_title()]
    assert len(titles) == len(DEFINITIONS) - 1
    assert "answer_recall\nand answer_recall_kg (n = 20)" in titles


def test_reward_against_epoch(tmp_path, saved):
    rows = [
        {"kind": "step", "step": 1, "reward": 9.0},
        {"kind": "epoch", "epoch": 2, "train_reward": 3.0, "dev_reward": 2.0},
        {"kind": "epoch", "epoch": 1, "train_reward": 1.0, "dev_reward": 1.5},
        {"kind": "epoch", "epoch": 2, "train_reward": 4.0, "dev_reward": 2.5},
        {"kind": "epoch", "epoch": 3, "train_reward": 5.0},
    ]
    path = reward_against_epoch(rows, tmp_path / "r.png")
    assert matplotlib.image.imread(path).shape[0] > 300
    (panel,) = saved[0].axes
    lines = {line.get_label(): line for line in panel.get_lines()}
    # The repeated epoch of a resumed run counts once, as it was last.
    assert lines["train"].get_xydata().tolist() == [[1, 1], [2, 4], [3, 5]]
    assert lines["dev"].get_xydata().tolist() == [[1, 1.5], [2, 2.5]]
    assert panel.get_xlabel() == "epoch"


def test_without_rewards_nothing_is_drawn(tmp_path):
    with pytest.raises(UserError, match="no row of kind 'epoch'"):
        reward_against_epoch([{"kind": "step"}], tmp_path / "r.png")
    assert list(tmp_path.iterdir()) == []
