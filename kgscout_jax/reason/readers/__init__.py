"""Readers: what turns a question and its triplets into answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgscout_jax.reason.readers.protocol import Reader
    from kgscout_jax.reason.selection import PromptSettings


def make_reader(
    url: str,
    model: str,
    prompt: PromptSettings | None = None,
    **endpoint: Any,
) -> Reader:
    """The reader of the language model at ``url``.

    Args:
        url: base URL of an OpenAI-compatible server.
        model: the model's name there.
        prompt: how questions are put to the model; default: the thesis's prompt.
        endpoint: further fields of ``EndpointSettings``.

    Raises:
        UserError: the settings cannot work, or a library is missing.
    """
    from kgscout_jax.reason.completions import EndpointSettings
    from kgscout_jax.reason.readers.model import ModelReader
    from kgscout_jax.reason.selection import PromptSettings

    settings = EndpointSettings(url=url, model=model, **endpoint)
    return ModelReader(settings, prompt or PromptSettings())
