"""What a service imports before it listens."""

import subprocess
import sys

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")


@pytest.mark.extended
def test_the_service_needs_no_parser_and_no_pytorch_to_listen():
    code = (
        "import sys, kgscout_jax.serve.server, kgscout_jax.serve.mcp_server; "
        "sys.exit(str({'torch', 'spacy', 'data_prep'} & {*sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300
    )
    assert done.stderr.strip() == "set()"
