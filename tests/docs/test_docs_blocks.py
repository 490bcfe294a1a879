"""How the blocks of a page are run: docs/conftest.py."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).resolve().parents[2] / "docs"
AFTER_FAILURE = "an earlier block of the page, or of one it needs, has failed"
PAGES = {
    "needing": """<!-- needs: first -->
~~~bash
[ $(cat n) = 41 ]; echo 1 > n
(while true; do touch alive; sleep 0.05; done) &
~~~
<!-- expect: 42 -->
~~~python
import time
from pathlib import Path
Path("alive").unlink(missing_ok=True)
time.sleep(0.3)
assert not Path("alive").exists()
print(40 + int(Path("n").read_text()) + 1)
~~~
""",
    "first": """~~~python
from pathlib import Path
answer = 41
~~~
~~~sh
echo 41 > n; echo x >> count
~~~
<!-- not run: needs a GPU -->
~~~bash
false
~~~
~~~json
not json
~~~
~~~python
assert answer == int(Path("n").read_text()) and Path("count").read_text() == "x\\n"
~~~
""",
    "error": "~~~bash\ntrue\nls nowhere | sort\n~~~\n~~~bash\ntrue\n~~~\n",
    "unset": '~~~bash\necho "$unset"\n~~~\n',
    "python": "~~~python\n\n1 / 0\n~~~\n",
    "expect": "~~~sh\necho b\n~~~\n<!-- expect: b -->\n~~~sh\necho a\n~~~\n",
    "slow": "~~~sh\nsleep 60\n~~~\n",
    "after": "<!-- needs: error -->\n~~~sh\ntrue\n~~~\n",
}


def run_pages(folder: Path, pages: dict[str, str], *args: str) -> str:
    conftest = (DOCS / "conftest.py").read_text("utf-8")
    (folder / "conftest.py").write_text(conftest.replace("LIMIT = 600", "LIMIT = 2"))
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text.replace("~~~", "```"))
    command = [sys.executable, "-m", "pytest", "-rA", "--rootdir", folder, "-c"]
    done = subprocess.run(
        [*command, "/dev/null", "-p", "no:cacheprovider", *args],
        cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> str:
    return run_pages(tmp_path_factory.mktemp("pages"), PAGES)


def test_each_block_has_the_outcome_that_its_page_asks_for(report):
    report = re.sub(r"py:\d+:", "py:", report)
    lines = re.findall(r"^((?:PASSED|FAILED|SKIPPED).*)", report, re.MULTILINE)
    assert [line.replace(",column:1", "") for line in lines] == [
        "PASSED expect.md::line:1",
        "PASSED first.md::line:1",
        "PASSED first.md::line:5",
        "PASSED first.md::line:15",  # sees names and files of the lines above
        "PASSED needing.md::line:2",
        "PASSED needing.md::line:7",  # the background loop of line 2 has ended
        f"SKIPPED [2] conftest.py: {AFTER_FAILURE}",
        "SKIPPED [1] first.md: line 9: needs a GPU",
        "FAILED error.md::line:1 - AssertionError: the shell has ended with code 2",
        "FAILED expect.md::line:5 - AssertionError: did not print 'b'",
        "FAILED python.md::line:1 - ZeroDivisionError: division by zero",
        "FAILED slow.md::line:1 - TimeoutError: took more than 2 seconds",
        "FAILED unset.md::line:1 - AssertionError: the shell has ended with code 1",
    ]


def test_a_failure_shows_the_output_and_its_line(report):
    assert "nowhere" in report and "failed: line 2 of the block" in report


def test_a_needed_page_runs_first_even_if_it_is_not_named(tmp_path):
    pages = {name: PAGES[name] for name in ("first", "needing")}
    report = run_pages(tmp_path, pages, "needing.md")
    assert report.count("PASSED") == 2, report


def test_a_comment_before_no_block_is_refused(tmp_path):
    report = run_pages(tmp_path, {"page": "<!-- expect: x -->\n\ntext\n"})
    assert "a comment stands before no block" in report
