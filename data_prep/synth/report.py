"""The report of a folder of questions: what was made, with examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from data_prep.synth.frames import SPLITS
from data_prep.synth.generation import Generation
from data_prep.synth.model_wordings import ModelNotes
from data_prep.synth.question import SynthQuestion, arc_name
from kgscout_jax.graph.knowledge_graph import KnowledgeGraph

EXAMPLES = 5
"""Questions of each shape and number of hops."""


def report(
    graph: KnowledgeGraph,
    made: Generation,
    questions: Mapping[str, list[SynthQuestion]],
    asked: int,
    notes: ModelNotes | None,
) -> dict[str, Any]:
    """The report as JSON values.

    Args:
        graph: the graph.
        made: the questions of the templates, and what was dropped.
        questions: the final questions of each split.
        asked: how many questions were wanted.
        notes: what the language model did; None without one.
    """
    every = [question for split in SPLITS for question in questions[split]]
    relations = Counter(
        arc_name(graph, arc).lstrip("^")
        for question in every
        for leg in question.draft.legs
        for arc in set(leg.path)
    )
    out: dict[str, Any] = {
        "questions": {split: len(questions[split]) for split in SPLITS},
        "asked_for": asked,
        "shapes": {
            split: dict(sorted(Counter(map(shape_name, questions[split])).items()))
            for split in SPLITS
        },
        "relations": {
            "used": len(relations),
            "in_graph": len(graph.relations),
            "most_used": dict(relations.most_common(20)),
        },
        "topics": len({leg.topic for q in every for leg in q.draft.legs}),
        "paths": len({q.draft.signature for q in every}),
        "frames": len({frame for q in every for frame in q.wording.frames}),
        "answers_per_question": {
            "mean": _mean([len(q.draft.answers) for q in every]),
            "one": sum(len(q.draft.answers) == 1 for q in every),
        },
        "words_per_question": _mean([len(q.text.split()) for q in every]),
        "drafts": dict(made.sampled),
        "dropped": {name: n for name, n in sorted(made.dropped.items()) if n},
        "examples": _examples(graph, every),
    }
    if notes is not None:
        out["model"] = {
            "requests": notes.requests,
            "from_cache": notes.from_cache,
            "prompt_tokens": notes.prompt_tokens,
            "reply_tokens": notes.reply_tokens,
            "worded": notes.worded,
            "refused": dict(sorted(notes.refused.items())),
            "judged": notes.judged,
            "natural": notes.natural,
            "natural_share": round(notes.natural / notes.judged, 3)
            if notes.judged
            else None,
            "unclear": notes.unclear,
            "judged_not_natural": notes.unnatural,
        }
    return out


def shape_name(question: SynthQuestion) -> str:
    """Shape and hops, such as "chain 2"."""
    hops = max(len(leg.links) for leg in question.draft.legs)
    return f"{question.draft.shape} {hops}"


def _mean(values: list[int]) -> float:
    return round(sum(values) / len(values), 2) if values else 0.0


def _examples(
    graph: KnowledgeGraph, questions: list[SynthQuestion]
) -> dict[str, list[dict[str, Any]]]:
    """Some questions of each shape, spread over all of it."""
    by_shape: dict[str, list[SynthQuestion]] = {}
    for question in questions:
        by_shape.setdefault(shape_name(question), []).append(question)
    out = {}
    for name, group in sorted(by_shape.items()):
        step = max(len(group) // EXAMPLES, 1)
        records = [question.record(graph) for question in group[::step][:EXAMPLES]]
        fields = ("question", "answer", "q_entity", "paths")
        out[name] = [{field: record[field] for field in fields} for record in records]
    return out


def markdown(values: Mapping[str, Any]) -> str:
    """The report as a page."""
    relations, answers = values["relations"], values["answers_per_question"]
    total = sum(values["questions"].values())
    names = sorted({name for shapes in values["shapes"].values() for name in shapes})
    lines = [
        "# Questions from a graph",
        "",
        f"{total:,} questions of {values['asked_for']:,} asked for, about "
        f"{values['topics']:,} topics, along {values['paths']:,} paths and "
        f"{relations['used']:,} of {relations['in_graph']:,} relations, in "
        f"{values['frames']:,} frames. {answers['mean']} answers a question on "
        f"average, one for {answers['one']:,} of them; "
        f"{values['words_per_question']} words.",
        "",
        "| shape and hops | " + " | ".join(values["questions"]) + " |",
        "|---" * (1 + len(values["questions"])) + "|",
        *(
            f"| {name} | "
            + " | ".join(
                str(shapes.get(name, 0)) for shapes in values["shapes"].values()
            )
            + " |"
            for name in names
        ),
        "| all | " + " | ".join(map(str, values["questions"].values())) + " |",
        "",
        "## Left out",
        "",
        *(f"- {count:,}: {name}" for name, count in values["dropped"].items()),
        "",
    ]
    if model := values.get("model"):
        lines += ["## Language model", "", *_model_lines(model, total), ""]
    lines += ["## Examples", ""]
    for name, examples in values["examples"].items():
        lines += [f"### {name}", ""]
        for example in examples:
            shown = ", ".join(example["answer"][:3])
            more = len(example["answer"]) - 3
            shown += f" and {more} more" if more > 0 else ""
            lines.append(f"- {example['question']} → {shown}")
        lines.append("")
    return "\n".join(lines)


def _model_lines(model: Mapping[str, Any], total: int) -> list[str]:
    """What the model did, as items."""
    refused = ", ".join(f"{n} {why}" for why, n in model["refused"].items())
    lines = [
        f"- {model['worded']:,} of {total:,} questions are in its words"
        + (f"; refused: {refused}" if refused else ""),
        f"- {model['requests']:,} requests, {model['from_cache']:,} from stored "
        f"replies, {model['prompt_tokens']:,} tokens sent, "
        f"{model['reply_tokens']:,} received",
    ]
    if model["judged"]:
        lines.append(
            f"- natural by its own judgement: {model['natural']:,} of "
            f"{model['judged']:,} ({model['natural_share']:.1%}), "
            f"{model['unclear']:,} without a clear reply"
        )
        lines += [f"  - not natural: {text}" for text in model["judged_not_natural"]]
    return lines
