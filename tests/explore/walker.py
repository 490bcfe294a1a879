"""A model behind a real HTTP server that walks one edge, as its prompts ask it to."""

import contextlib
import re

from reason.unruly_server import Handler, serving


class Walker(Handler):
    """Plans from ``server.plan``, chooses what ``server.wants``, answers with the
    last end of the facts.
    """

    def reply(self, body):
        value = super().reply(body)
        prompt = body["messages"][-1]["content"]
        value["choices"][0]["message"]["content"] = self.words(prompt)
        return value

    def words(self, prompt):
        if "Which of these" in prompt:
            numbers = [
                number
                for number, name in re.findall(r"^(\d+)\. (.+)$", prompt, re.MULTILINE)
                if name.partition(" (")[0] in self.server.wants
            ]
            return ", ".join(numbers) or "0"
        if "Reply with one word" in prompt:
            return "RESPOND"
        if "Answer from these facts alone" in prompt:
            return re.findall(r"->\((.+)\)$", prompt, re.MULTILINE)[-1]
        return self.server.plan


@contextlib.contextmanager
def walking(plan, wants):
    """The running server."""
    with serving() as server:
        server.RequestHandlerClass = Walker
        server.plan, server.wants = plan, wants
        yield server
