"""What ``kgscout fit`` gains on graphs that its base has not seen, see ``fit.sh``.

    python recipes/fit_gains.py questions SHARDS SPLIT OUT.jsonl
    python recipes/fit_gains.py collect POLICY ... --into FIGURES.json

``questions`` writes the questions of a split as JSON lines, for ``--questions``.
``collect`` reads the fit.json of policies; the name of a policy's folder is its row's.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from view import Mean

from kgscout_jax.data.shards import Shards
from kgscout_jax.errors import UserError
from kgscout_jax.utils.io import read_json, write_json, write_lines

REAL = "real"
"""The set of fit.json that was given with --questions."""


def write_questions(folder: Path, split: str, out: Path) -> int:
    """Write the questions of a split; their number.

    Raises:
        UserError: as ``Shards.open``, or there is no such split.
    """
    questions = Shards.open(folder).split(split).questions
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "id": question.id,
            "question": question.text,
            "q_entity": list(question.topics),
            "answer": list(question.answers),
        }
        for question in questions
    ]
    write_lines(out, [json.dumps(row, ensure_ascii=False) for row in rows])
    return len(questions)


def gains(policy: Path, figures: Path) -> dict[str, Any]:
    """The figures of one policy, beside those of a policy trained on such questions.

    Args:
        policy: folder that ``kgscout fit`` wrote.
        figures: folder with zero_shot_NAME.json of the same set, for its row "trained".

    Raises:
        UserError: there is no fit.json, or no question of people was measured.
    """
    file = policy / "fit.json"
    result = read_json(file)
    if REAL not in result["measured"]:
        raise UserError(f"{file}: no questions of people, expected --questions")
    measured = result["measured"][REAL]
    zero_shot = read_json(figures / f"zero_shot_{policy.name}.json")
    seeds = [seed["figures"] for seed in zero_shot["seeds"]]
    return {
        "set": policy.name,
        "questions": measured["questions"],
        "trained_on": result["trained_on"],
        "seconds": round(sum(result["seconds"].values())),
        "settings": result["settings"],
        "rows": [
            {
                "metric": row["metric"],
                "k": row["k"],
                **{name: row[name]["value"] for name in ("base", "fitted")},
                **row["difference"],
                "trained": Mean(seeds, "trained", row["metric"], str(row["k"])).value,
            }
            for row in measured["rows"]
            if "difference" in row
        ],
    }


def main(words: Sequence[str] | None = None) -> int:
    """Write; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    questions = commands.add_parser("questions")
    questions.add_argument("shards", type=Path)
    questions.add_argument("split")
    questions.add_argument("out", type=Path)
    collect = commands.add_parser("collect")
    collect.add_argument("policies", nargs="+", type=Path, metavar="POLICY")
    collect.add_argument("--into", type=Path, required=True)
    args = parser.parse_args(words)
    try:
        if args.command == "questions":
            print(write_questions(args.shards, args.split, args.out), "questions")
        else:
            figures = args.into.parent
            measured = [gains(policy, figures) for policy in args.policies]
            write_json(args.into, {"kind": "fits", "measured": measured})
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
