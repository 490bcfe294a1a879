"""The pages of the project that readers are given, in Markdown."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    page
    for pattern in (
        "README.md",
        "docs/*.md",
        "docs/decisions/*.md",
        "recipes/*.md",
        "benchmarks/*.md",
    )
    for page in sorted(ROOT.glob(pattern))
]
