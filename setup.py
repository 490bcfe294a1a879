"""The page on PyPI: README.md with absolute links; all else is in pyproject.toml.

The repository's address is that of the workflow that builds a release, or of the
checkout's ``origin``. Without either the links stay as they are.
"""

import os
import re
import subprocess
from pathlib import Path

from setuptools import setup

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)]+)\)")


def repository() -> str:
    """The address of the repository's pages; empty if it is unknown."""
    names = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY")
    if all(os.environ.get(name) for name in names):
        return "/".join(os.environ[name] for name in names)
    command = ["git", "-C", str(Path(__file__).parent), "remote", "get-url", "origin"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, timeout=10)
    except OSError:
        return ""
    url = found.stdout.strip().removesuffix(".git")
    return url if url.startswith("https://") and "@" not in url else ""


url = repository()
readme = (Path(__file__).parent / "README.md").read_text("utf-8")
setup(
    long_description=LINK.sub(rf"]({url}/blob/main/\1)", readme) if url else readme,
    long_description_content_type="text/markdown",
    project_urls={
        "Source": url,
        "Documentation": f"{url}/tree/main/docs",
        "Changelog": f"{url}/blob/main/CHANGELOG.md",
        "Issues": f"{url}/issues",
    }
    if url
    else {},
)
