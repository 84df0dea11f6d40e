# Everything runs in a private environment, .venv, that the first target to need it sets up.
# Needed on the machine: Python 3.10 to 3.13 with venv, and (for lazy execution) a C++ compiler.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
JOBS   ?= 2
# The back end of MLX on Linux (cpu, cuda12 or cuda13); on macOS every choice means Metal.
MLX    ?= cpu

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check bench wheel wheels release-check first-hour docs mlx-kernels lock clean

help:
	@echo "make demo    what AnyMetal does, in under a minute"
	@echo "make test    the test suite"
	@echo "make test-slow  the long runs: fuzzing, every case on every CPU level"
	@echo "make check   ruff, mypy and who may import whom"
	@echo "make bench   speed beside hand-written C++, PyTorch, MLX and NumPy"
	@echo "make wheel   a wheel with the bridge to MLX inside, for this Python and this MLX"
	@echo "make wheels  such wheels for all of Python 3.10 to 3.13 that are there, each tried in a bare place"
	@echo "make release-check  whether what would be published is whole and works"
	@echo "make first-hour  what a newcomer does, from the wheel, in a bare Debian where one can be made"
	@echo "make docs    the site of these pages, in site/"
	@echo "make mlx-kernels MLX_SRC=...  every kernel of MLX's own back end, from a checkout of MLX"
	@echo "make lock    choose the versions of development and CI anew"
	@echo "make clean   remove the environment"

demo: $(VENV)/.stamp-dev
	$(BIN)/anymetal demo

test: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(JOBS) $(PYTEST_ARGS)

test-slow: $(VENV)/.stamp-dev
	$(BIN)/python -m pytest -n $(JOBS) -m slow $(PYTEST_ARGS)

check: $(VENV)/.stamp-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy examples/*.py
	$(BIN)/lint-imports --no-cache --no-logo

bench: $(VENV)/.stamp-bench
	$(BIN)/python -m benchmarks $(or $(BENCH_ARGS),--write)
	$(if $(BENCH_ARGS),,$(BIN)/python -m benchmarks.paths --write)

# Not isolated: the bridge must be built for the MLX that it will meet.
wheel: $(VENV)/.stamp-dev
	ANYMETAL_SHIP_BRIDGE=1 $(BIN)/python -m pip wheel --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --wheel-dir dist .
	@ls dist/*.whl

wheels:
	$(PYTHON) release/wheels.py $(PYTHONS)

release-check: $(VENV)/.stamp-dev $(VENV)/.stamp-release
	$(BIN)/python release/check.py

first-hour: $(VENV)/.stamp-dev
	$(BIN)/python release/first_hour.py

# Needs no network once its packages are there.
docs: $(VENV)/.stamp-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "to read it: $(BIN)/python -m http.server --directory site"

# What is done stands in MLX_STATE: the same call goes on where the one before has stopped.
MLX_STATE ?= .mlx-kernels
MLX_KERNELS = $(BIN)/python -m anymetal.testing.mlx_kernels --source $(MLX_SRC) --state $(MLX_STATE) --jobs $(JOBS) $(MLX_ARGS)
mlx-kernels: $(VENV)/.stamp-dev
	@test -n "$(MLX_SRC)" || { echo "make mlx-kernels needs MLX_SRC=, a checkout of MLX"; exit 2; }
	-$(MLX_KERNELS)
	$(MLX_KERNELS) --check --page

# The lock file has the hash of every file that pip may install, for all supported versions of
# Python. The bill of materials in the wheel (PEP 770) lists what a user's installation is made of.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.10 --upgrade \
  --generate-hashes --no-header --no-annotate --no-emit-index-url --extra $(MLX)
lock: $(VENV)/.stamp-lock
	$(LOCK) --extra dev pyproject.toml --output-file requirements.lock
	$(LOCK) pyproject.toml --output-file $(VENV)/runtime.lock
	$(PYTHON) -m venv --clear --without-pip $(VENV)/runtime
	$(BIN)/python -m pip --python $(VENV)/runtime/bin/python install --quiet \
	  --disable-pip-version-check --require-hashes --requirement $(VENV)/runtime.lock
	$(BIN)/cyclonedx-py environment --output-reproducible --short-PURLs --mc-type library \
	  --pyproject pyproject.toml --output-file anymetal.cdx.json $(VENV)/runtime/bin/python

clean:
	rm -rf $(VENV)

# A stamp is younger than pyproject.toml when its packages are installed. What the demo and the tests
# use is locked, as far as the back end is the CPU's.
$(VENV)/.stamp-dev: pyproject.toml requirements.lock | $(VENV)/bin/python
ifeq ($(MLX),cpu)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-deps --no-build-isolation --editable .
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$(MLX),dev]'
endif
	@touch $@

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' || { \
	  echo "AnyMetal needs Python 3.10 to 3.13, but $(PYTHON) is:" >&2; \
	  $(PYTHON) --version >&2; echo "Choose another: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make environments: its venv module is missing." >&2; \
	  echo "On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.stamp-%: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --editable '.[$(MLX),$*]'
	@touch $@
