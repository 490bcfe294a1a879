"""The metrics that stand for all of them."""

from __future__ import annotations

MAIN_METRICS = ("answer_hit", "answer_recall", "path_hit", "path_triplet_recall")
"""What the terminal and a model card show; ``metrics.json`` has the rest."""
