"""The prompts of a chain of explorations, and how replies are read.

The paper's prompts are not published; these ask for short plain replies that a small
model can give: numbers of a list, one word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgscout_jax.explore.settings import PlanStep
from kgscout_jax.reason.prompts import Message
from kgscout_jax.stores.protocol import Step
from kgscout_jax.types import Triplet

PLAN = """\
You plan a search in a knowledge graph. The first step finds the entity that the \
question names; each further step follows one relation from what was found. Write one \
step a line, as "node: NAME" or "relation: WHAT TO FOLLOW", and nothing else."""
PLANS = (
    (
        "Which former husband of Elizabeth Taylor died in Chichester?",
        "node: Elizabeth Taylor\nrelation: former husbands\nrelation: place of death",
    ),
    (
        "What is the currency of the country whose capital is Lima?",
        "node: Lima\nrelation: country that it is the capital of\nrelation: currency",
    ),
    ("Who wrote Dracula?", "node: Dracula\nrelation: author"),
)
REPLAN = """\
This plan did not lead to the answer:
{plan}
Write a different plan for the same question: word its relations differently, or take \
them in another order."""
SELECT_NODES = """\
Question: {question}
Step: find {text}
Which of these entities does the step mean?
{options}
Reply with the number of the one that is meant. Only if the step means several, write \
their numbers with commas between them, at most {most}. Names may be spelled \
differently; 0 only if all of them are something else."""
SELECT_RELATIONS = """\
Question: {question}
Found so far: {nodes}
Step: {text}
Which of these relations of what was found comes closest to the step? Each has an \
example behind it.
{options}
Reply with the number of the closest one. Only if the step means several, write their \
numbers with commas between them, at most {most}. The graph words relations in its own \
way; 0 only if none of the examples is of the kind that the step looks for."""
EVALUATE = """\
Question: {question}
Facts found:
{path}
Steps that are left: {left}
Reply with one word: RESPOND if the facts hold the answer, CONTINUE if a step that is \
left may find it, REFINE if the search went wrong."""
ANSWER = """\
Facts:
{path}
Question: {question}
Answer from these facts alone, not from what you know. Reply with the name that \
answers and nothing else, no sentence; several with ";" between them; UNKNOWN if the \
facts do not say."""
REPAIR = "That is not in the form that was asked for. {form}"
FORMS = {
    "plan": 'Write lines "node: NAME" or "relation: WHAT TO FOLLOW" only.',
    "select": "Reply with numbers of the list only, such as 1, 3, or 0.",
    "evaluate": "Reply with RESPOND, CONTINUE or REFINE only.",
    "answer": "Reply with the answer only, or UNKNOWN.",
}
EVALUATIONS = {"respond": "respond", "continue": "continue", "refine": "refine"}
LINE = re.compile(
    r"^\W*(?:\d+[.):]\s*|step\s*\d+[.:]\s*)?(node|relation)s?\s*:\s*(.+)$",
    re.IGNORECASE,
)
SHOWN = 40
"""Facts of a path that the model sees, the last ones."""


def plan_messages(question: str, failed: Sequence[PlanStep]) -> list[Message]:
    """The request for a plan; ``failed`` is the one that failed, if any."""
    messages: list[Message] = [("system", PLAN)]
    for asked, plan in PLANS:
        messages += [("user", f"Question: {asked}"), ("assistant", plan)]
    text = f"Question: {question}"
    if failed:
        plan = "\n".join(f"{step.kind}: {step.text}" for step in failed)
        text += "\n" + REPLAN.format(plan=plan)
    return [*messages, ("user", text)]


def read_plan(reply: str) -> list[PlanStep] | None:
    """The steps of a plan; None if there are none, or no node to start from."""
    steps = []
    for line in reply.splitlines():
        if match := LINE.match(line.strip()):
            kind = "node" if match[1].lower() == "node" else "relation"
            steps.append(PlanStep(kind=kind, text=match[2].strip(" \"'`.")))
    return steps if steps and steps[0].kind == "node" else None


def options(names: Sequence[str]) -> str:
    """A list with numbers."""
    return "\n".join(f"{i}. {name}" for i, name in enumerate(names, start=1))


def relation_options(steps: Sequence[Step]) -> list[str]:
    """Each step with its example, written from what was found to what it leads to."""
    names = []
    for step in steps:
        if step.example is None:
            names.append(str(step))
        else:
            start, _, end = step.example if step.forward else step.example[::-1]
            names.append(f"{step} ({start} -> {end})")
    return names


def read_selection(reply: str, n: int, most: int) -> list[int] | None:
    """Positions from 0 of the chosen ones; None if the reply is none."""
    numbers = list(dict.fromkeys(int(x) for x in re.findall(r"\d{1,4}", reply)))
    if not numbers or len(reply) > 400:
        return None
    if any(number > n for number in numbers):
        return None
    return [number - 1 for number in numbers if number][:most]


def read_evaluation(reply: str) -> str | None:
    """``respond``, ``continue`` or ``refine``; None for anything else."""
    words = re.findall(r"[a-z]+", reply.lower())
    found = {EVALUATIONS[word] for word in words if word in EVALUATIONS}
    return found.pop() if len(found) == 1 else None


def read_answers(reply: str) -> tuple[str, ...] | None:
    """The answers; () where the facts do not say; None if the reply is none."""
    text = reply.strip().strip("`\"'")
    if not text or len(text) > 1000:
        return None
    if text.upper().startswith("UNKNOWN"):
        return ()
    parts = re.split(r"\s*[;\n]\s*", text.removeprefix("Answer:"))
    return tuple(dict.fromkeys(each.strip(" .\"'`") for each in parts if each.strip()))


def path_text(path: Sequence[Triplet]) -> str:
    """The facts of a path, the last ones."""
    lines = [f"({h})-[{r}]->({t})" for h, r, t in path[-SHOWN:]]
    return "\n".join(lines) or "none yet"
