# Each target sets up what it needs: Python 3.11 or newer, pip and make are enough.
PYTHON ?= python3
VENV ?= .venv
# Keeps torch to its CPU build. On a machine with a GPU: make demo CONSTRAINTS=
CONSTRAINTS ?= -c constraints-cpu.txt
BIN := $(VENV)/bin
# Tests start many processes: each would compile the modules again where this is set.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo kg-rag test test-extended test-slow test-thorough check-docs docs lint setup clean

demo: setup
	$(BIN)/python recipes/demo.py

# From sixty documents to answers with the places they come from, offline.
kg-rag: setup
	cd recipes && ../$(BIN)/python kg_rag.py ../build/kg_rag

test: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not extended"

# Arrays are checked against their annotations here: that takes a third of the time of
# the tests of the networks.
SHAPES := --jaxtyping-packages=kgscout_jax.policy,kgscout_jax.graph.walk,array_shapes.check
test-extended: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal $(SHAPES) -m "extended and not slow"
	$(BIN)/python -m pytest -n 2 --dist worksteal $(SHAPES) -m "not extended and not slow" tests/policy tests/graph/test_guided.py

test-slow: setup
	$(BIN)/pip install --quiet --disable-pip-version-check $(CONSTRAINTS) -e '.[ray,wandb]'
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 --dist worksteal $(SHAPES) -m slow --timeout 3600

# Every property test with 200 random inputs instead of 12.
test-thorough: setup
	HYPOTHESIS_PROFILE=thorough $(BIN)/python -m pytest -n 2 --dist worksteal -m "hypothesis and not slow" --timeout 3600

check-docs: setup
	$(BIN)/python -m pytest docs -rs -o addopts="-q" --timeout 1800

# The pages keep their places, so that their links work.
docs: setup
	$(BIN)/pip install --quiet --disable-pip-version-check $(CONSTRAINTS) -e '.[docs]'
	rm -rf build/pages && mkdir -p build/pages
	git ls-files '*.md' ':!docs/site' | xargs cp --parents -t build/pages
	cp docs/site/reference.md build/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo build/site/README.html

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

setup: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints-cpu.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check $(CONSTRAINTS) -e '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) demo build *.egg-info .pytest_cache .ruff_cache .hypothesis
