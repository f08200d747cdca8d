# Every target makes its own environment: with uv when it is there, else with venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COVERAGE := --cov --cov-report=term --cov-fail-under=90
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_PYTHON_DOWNLOADS := never
# Some machines switch bytecode off; without it every start of a command compiles all libraries again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check lint types wheel bench lock clean

demo: $(READY) ## Take a ticket with a real failure to a tested patch, and show what the next run learnt
	@$(BIN)/ticketsmith demo

test: $(READY) ## Run the tests, with branch coverage
	@rm -f .coverage .coverage.*
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder $(COVERAGE)

check: $(READY) ## What to run before a pull request: all that CI runs, without coverage, which takes a quarter of the time
	@$(MAKE) --no-print-directory -j 3 lint types wheel
	@$(MAKE) --no-print-directory test COVERAGE=

lint: $(READY)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: $(READY)
	@$(BIN)/mypy

wheel: $(READY) ## Build the wheel, install it without any tool of ours, and run its --help
	@rm -rf build/wheel && mkdir -p build/wheel
	@$(BIN)/python -m hatchling build -t wheel -d build/wheel
	@sh .ci/try-wheel build/wheel $(PYTHON)

bench: $(READY) ## Measure; see tests/benchmarks
	@$(BIN)/python -m tests.benchmarks

lock: ## Write both lock files anew (needs uv)
	@uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--upgrade pyproject.toml -o requirements.lock
	@uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--group dev pyproject.toml -c requirements.lock -o .ci/dev.lock

$(READY): .ci/dev.lock pyproject.toml
	@sh .ci/make-environment $(VENV) .ci/dev.lock $(PYTHON)
	@touch $@

clean:
	@rm -rf $(VENV) build .coverage .coverage.* .mypy_cache .pytest_cache .ruff_cache .hypothesis
