"""Pages of made-up batches, with names that would break a careless one."""

from kgscout_jax.evaluate.answers.cells import Cell
from kgscout_jax.evaluate.answers.evidence import GraphAnswers, Ranking
from kgscout_jax.evaluate.answers.page import Plot, report_html
from kgscout_jax.evaluate.answers.report import answer_report
from kgscout_jax.reason.readers.protocol import Reading
from kgscout_jax.types import Answer, Question

EVIL = "</script><img src=x onerror=\"document.title='broken'\"> & <!-- 'b'\u2028"
CONTEXT = {
    "measured_on": EVIL, "split": "dev", "questions": 3, "reader": "graph"
}  # fmt: skip
PLOTS = [
    Plot(
        title,
        b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">'
        b'<rect width="40" height="20" fill="teal"/></svg>',
    )
    for title in ("Hit against K", EVIL)
]


BEST = GraphAnswers(
    best=(
        Answer(name=EVIL, probability=0.75, path=(("b", "r", "c"), (EVIL, "s", "c"))),
        Answer(name="x", probability=0.125),
    ),
    is_answer=(True, False),
    abstention=0.2,
)


def cell(retriever, k, *, n=3, answers=None, gold=(EVIL,), triplets=3, name=EVIL):
    """``n`` questions; the second is wrong."""
    ring = [name, "b", "c", *(f"entity {i}" for i in range(triplets))]
    ranking = Ranking(
        triplets=tuple(
            (ring[i], "r", ring[(i + 1) % max(3, triplets)], (2.0, 1.0, 0.5)[i % 3])
            for i in range(triplets)
        ),
        flags=tuple((3, 0, 1)[i % 3] for i in range(triplets)),
    )
    given = answers if answers is not None else (EVIL, "x")
    return Cell(
        retriever=retriever,
        k=0 if retriever == "none" else k,
        infos=[
            Question(
                id=f"id {i}",
                text=name if i == 0 else f"question number {i}",
                topics=("b",),
                answers=gold,
                hop=None if i == 2 else i + 1,
            )
            for i in range(n)
        ],
        rankings=[Ranking() if retriever == "none" else ranking] * n,
        readings=[
            Reading(
                id=f"id {i}",
                answers=("wrong",) if i == 1 or retriever == "none" else given,
                outcome="json",
                raw=EVIL,
                prompt_hash="0123456789abcdef",
                prompt_tokens=100,
                reply_tokens=10,
                seconds=0.25,
            )
            for i in range(n)
        ],
        causes=["not_in_top_k" if retriever == "none" else "misread"] * n,
        in_prompt=[k] * n,
        graph=[]
        if retriever == "none"
        else [(BEST, BEST, GraphAnswers())[i % 3] for i in range(n)],
    )


def page(name=EVIL, scripts=()):
    """The page of a batch of three questions at K = 1, two of them at K = 3."""
    cells = {
        ("none", 1): cell("none", 1, name=name),
        ("cosine", 1): cell("cosine", 1, name=name),
        ("none", 3): cell("none", 3, name=name).first(2),
        ("cosine", 3): cell("cosine", 3, name=name).first(2),
    }
    report = answer_report(
        cells, rules="rog", settings={}, context=CONTEXT, resamples=50
    )
    return report_html(report, cells, plots=PLOTS, scripts=scripts)
