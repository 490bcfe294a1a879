"""A model's word on names that may be one entity's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgscout_jax.errors import UserError
from kgscout_jax.ingest.extract.protocol import NestedTriplet, Node
from kgscout_jax.reason.completions import Request
from kgscout_jax.reason.endpoint import Endpoint

SAME = """\
A: {a}
known of A: {about_a}
B: {b}
known of B: {about_b}
Are A and B two names of one and the same thing? Reply with yes or no."""


class ModelJudge:
    """Asks a model; what it does not affirm stays apart."""

    def __init__(self, endpoint: Endpoint, triplets: Iterable[NestedTriplet]):
        self.endpoint = endpoint
        self.facts: dict[str, str] = {}
        for triplet in triplets:
            for node in (triplet.head, triplet.tail):
                self._note(node, triplet)

    def _note(self, node: Node, triplet: NestedTriplet) -> None:
        if isinstance(node, str):
            self.facts.setdefault(node, triplet.label)

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Whether both names of each pair name one thing.

        Raises:
            UserError: the model does not answer.
        """
        requests = [
            Request(
                messages=(
                    (
                        "user",
                        SAME.format(
                            a=a,
                            b=b,
                            about_a=self.facts.get(a, "nothing"),
                            about_b=self.facts.get(b, "nothing"),
                        ),
                    ),
                )
            )
            for a, b in pairs
        ]
        replies = self.endpoint.ask_all(requests)
        errors = [each.error for each in replies if each.text is None]
        if errors:
            raise UserError(
                f"{self.endpoint.settings.url}: {len(errors)} of {len(pairs)} pairs of "
                f"names have no reply ({errors[0]}); the same command asks for those"
            )
        return [(each.text or "").strip().lower().startswith("yes") for each in replies]
