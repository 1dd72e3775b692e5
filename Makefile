# `make quickstart` and `make test` do all their own set-up; a second run does not redo it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help quickstart test test-all lint format bench bench-mem0 bench-recall bench-extract clean

help:
	@echo "make quickstart  install, ingest the example conversations, ask them questions"
	@echo "make test        the test-suite;  make test-all adds the tests that take minutes"
	@echo "make lint        formatting, lint, types, the direction of imports"
	@echo "make bench       speed and size;  make bench-mem0 side by side with mem0;  make bench-recall on LoCoMo;  make bench-extract what is kept"

# Debian ships venv without ensurepip, so the environment is made without pip and filled from outside.
$(BIN)/python:
	$(PYTHON) -m venv --without-pip $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	$(PYTHON) -m pip --python $(BIN)/python install --quiet --editable '.[dev]'
	@touch $@ $(VENV)/.installed

quickstart: $(VENV)/.installed
	@$(BIN)/lukasa demo

test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m "not slow" --cov --cov-report=term:skip-covered

test-all: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.installed-dev
	$(BIN)/python -m bench.speed

bench-mem0: $(VENV)/.installed-dev
	$(BIN)/python -m bench.mem0

bench-recall: $(VENV)/.installed-dev
	$(BIN)/python -m bench.locomo

bench-extract: $(VENV)/.installed-dev
	$(BIN)/python -m bench.extract

clean:
	rm -rf $(VENV) .venv-* .pytest_cache .ruff_cache .hypothesis .coverage
