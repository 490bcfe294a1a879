"""Drawings of a question's triplets: one HTML file that needs nothing else."""

from kgscout_jax.show.page import (
    graph_assets,
    graph_fragment,
    graph_page,
    report_scripts,
    write_page,
)
from kgscout_jax.show.report_page import report_page
from kgscout_jax.show.view import MAX_DRAWN, AnswerLine, GraphView

__all__ = [
    "MAX_DRAWN",
    "AnswerLine",
    "GraphView",
    "graph_assets",
    "graph_fragment",
    "graph_page",
    "report_page",
    "report_scripts",
    "write_page",
]
