# Needs Python 3.11 or newer and make, nothing else. Everything is installed into .venv.
# Another interpreter: make PYTHON=/path/to/python3.12 test

PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
RUN := $(VENV)/bin/python -m

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help install demo test check-types run-fast test-slow bench docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' \
	  | while IFS='|' read -r target text; do printf '  %-10s %s\n' "$$target" "$$text"; done

install: $(VENV)/.dev ## install the package with all that the tests and benchmarks need

demo: $(VENV)/.runtime ## see it work, in a minute
	$(VENV)/bin/definetti demo

test: $(VENV)/.dev ## format, lint and type checks, then the fast tests and every docstring example
	$(RUN) ruff format --check .
	$(RUN) ruff check .
	@$(MAKE) --no-print-directory --jobs=2 check-types run-fast

check-types run-fast: $(VENV)/.dev
check-types: # beside the tests, since it takes half a minute of one core
	$(RUN) mypy
run-fast: # a file's tests by one worker: what they compile is compiled once
	$(RUN) pytest -n $(WORKERS) --dist loadfile

test-slow: $(VENV)/.dev ## the long tests: whole products and grids, many moments, the source distribution
	$(RUN) pytest -n $(WORKERS) -m slow

bench: $(VENV)/.dev ## run the benchmarks
	$(RUN) benchmarks

docs: $(VENV)/.docs ## build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict

clean: ## remove .venv and everything else that these targets made
	rm -rf $(VENV) site dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: an environment is made once and installed into again only when pyproject.toml changes.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "definetti needs Python 3.11 or newer, and '$(PYTHON)' is not." >&2; \
	  echo "Name one that is: make PYTHON=/path/to/python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.runtime: pyproject.toml | $(VENV)/.created
	$(RUN) pip install --quiet --disable-pip-version-check --editable '.[cli,plot]'
	@touch $@

$(VENV)/.dev $(VENV)/.docs: $(VENV)/.%: pyproject.toml | $(VENV)/.created
	$(RUN) pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@ $(VENV)/.runtime
