"""``kgscout push``: pass an exported policy on."""

from __future__ import annotations

from kgscout_jax.export import hub
from kgscout_jax.inference.settings import PushSettings


def push(settings: PushSettings) -> None:
    """Push to the hub or to a folder, and print where.

    Raises:
        UserError: no export, nowhere to push to, or something stands there.
    """
    place = hub.push(
        settings.policy,
        settings.repo,
        private=not settings.public,
        overwrite=settings.overwrite,
    )
    print(f"pushed to {place}")
