"""The one place that makes a reader."""

import pytest

from kgscout_jax.errors import UserError
from kgscout_jax.reason.readers import make_reader
from kgscout_jax.reason.readers.model import ModelReader
from kgscout_jax.reason.selection import PromptSettings


def test_a_models_reader_has_the_settings_given():
    prompt = PromptSettings(prompt="zero_shot")
    reader = make_reader("http://x/v1", "m", prompt, retries=1, timeout=2.0)
    assert isinstance(reader, ModelReader)
    assert (reader.name, reader.prompt) == ("m", prompt)
    settings = reader.endpoint.settings
    assert (settings.url, settings.retries, settings.timeout) == ("http://x/v1", 1, 2.0)


def test_impossible_settings_are_refused():
    with pytest.raises(UserError, match="url: 'x'"):
        make_reader("x", "m")
