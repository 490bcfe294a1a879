"""A model behind a real HTTP server that can write paragraphs and judge them.

It tells the prompts apart by their words, believes the context that it is shown, and
misbehaves as the ``script`` of the server says.
"""

import contextlib
import re

from reason.unruly_server import Handler, serving

from kgscout_jax.cli.main import main

ANSWER = "Alien was directed by Ridley Scott. Alien was released in 1950."


class Scholar(Handler):
    """Answers, judges, writes questions."""

    def reply(self, body):
        value = super().reply(body)
        choice = value["choices"][0]
        text = self.server.words(body["messages"][-1]["content"], body)
        choice["message"]["content"] = text
        if body.get("logprobs") and self.server.has_logprobs:
            top = [{"token": "4", "logprob": -0.5}, {"token": "2", "logprob": -1.5}]
            token = {"token": text, "logprob": -0.5, "bytes": None, "top_logprobs": top}
            choice["logprobs"] = {"content": [token], "refusal": None}
        return value


def field(name, prompt):
    return re.search(rf"^{name}: (.*)$", prompt, re.MULTILINE)[1]


def is_known(fact, context):
    """Whether all longer words of a fact occur in the context."""
    words = re.findall(r"\w{4,}", fact.lower().replace("was", ""))
    return all(word in context.lower() for word in words)


def scholarly(prompt, body):
    """What a good model says."""
    if "Evaluation Form" in prompt:
        return "4"
    if "Write three evaluation steps" in prompt:
        return "1. Read it.\n2. Rate it."
    if "Please breakdown" in prompt:
        return f"- {prompt.rpartition('Sentence: ')[2].partition(chr(10))[0]}"
    if "Does the context support" in prompt:
        context, _, rest = prompt.partition("Statement: ")
        return str(is_known(rest.partition("\n")[0], context))
    if "Revised statement:" in prompt:
        return field("Statement", prompt)
    if "Related or Foreign" in prompt:
        return "Related"
    if "search query" in prompt:
        return field("Statement", prompt)
    if "[Not Supported]" in prompt:
        context, _, fact = prompt.partition("Statement: ")
        return "So.\n[Supported]" if is_known(fact, context) else "[Not Supported]"
    if "Reasoning:" in prompt:
        return f"Because.\nAnswer: {ANSWER}"
    return ANSWER


@contextlib.contextmanager
def scholar(script=(), words=scholarly, *, has_logprobs=True, **options):
    """A server like ``serving`` with a model that can judge."""
    with serving(script, **options) as server:
        server.RequestHandlerClass = Scholar
        server.words, server.has_logprobs = words, has_logprobs
        yield server


def run_open(questions, graph, out, server, *more):
    """The exit code of ``kgscout eval open``."""
    return main(
        [
            "eval", "open", "--questions", str(questions), "--kg", str(graph),
            "--out", str(out), "--llm", server.url, "--model", "m", "--retries", "1",
            "--backoff", "0.01", "--workers", "1", *map(str, more),
        ]
    )  # fmt: skip
