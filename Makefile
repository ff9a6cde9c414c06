# `make` runs the default study, `make test` the tests; both set up what they need in .venv first.

.DEFAULT_GOAL := study
.DELETE_ON_ERROR:
SHELL := /bin/bash
# What is given, as in `make study STUDY=my.yaml`, is data: make expands nothing in it, and recipes
# find it in their environment, so that no shell reads it as commands.
define as_given
override $(1) := $$(value $(1))
export $(1)
endef
GIVEN := STUDY CORES PORT DATASET TEST_WORKERS PYTHON
$(foreach name,$(GIVEN),$(if $(filter command environment,$(firstword $(origin $(name)))),$(eval $(call as_given,$(name)))))
PYTHON ?= $(shell command -v python3.11 || command -v python3)
CORES ?= all
export PYTHON CORES
BIN := .venv/bin
READY := .venv/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
export MLFLOW_DISABLE_TELEMETRY := true
# After a killed run Snakemake finds its lock and asks for --unlock. Here flock tells whether a run
# is going on, so a lock without one is known to be stale.
LOCKED = flock --nonblock --close --conflict-exit-code 75 .venv/.running $(SHELL) -c
BUSY = || { code=$$?; [ $$code -ne 75 ] || echo "another make is running a study in this folder"; exit $$code; }

define run_study
	@python -m textbaselines.cli.arguments --cores "$$CORES" --study "$$STUDY" --results results
	@$(LOCKED) 'set -e; if [ -n "$$(ls -A .snakemake/locks 2>/dev/null)" ]; then snakemake $(1) --unlock; fi; snakemake $(1) --cores "$$CORES"' $(BUSY)
endef

# Replace the pins of a conda environment file, $(1), by those of a lock, $(2).
define pin
{ sed '/^      - /d' $(1); sed -n 's/^\([a-z0-9._-]*==[^ ]*\).*/      - \1/p' $(2); } > $(1).new
	mv $(1).new $(1)
endef

.PHONY: help checked-workers study paper survey plan serve ui track track-rebuild screenshots test lint format reference lock bench-tracking bench-grids simulations bench bench-solver bench-jobs bench-imdb bench-growth bench-workflow clean
study: $(READY) ## run config/config.yaml, or STUDY=my_study.yaml; on all cores, or CORES=2
	$(call run_study,$(if $(STUDY),--configfile "$$STUDY"))

help: ## this list
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "make %-15s %s\n", $$1, $$2}' Makefile

paper: $(READY) ## reproduce Wang & Manning (2012): needs the nine sets, by network or mirror
	$(call run_study,--configfile config/wang_manning.yaml)
	@tail -n 1 results/wang_manning/tables/paper.txt

survey: $(READY) ## every method on the nine sets
	$(call run_study,--configfile config/survey.yaml)

plan: $(READY) ## what a study would run and how long it takes (STUDY=config/survey.yaml)
	@python -m textbaselines.cli.arguments --cores "$$CORES" --study "$$STUDY"
	@python -m textbaselines plan $(if $(STUDY),--configfile "$$STUDY") \
	  $(if $(filter-out all,$(CORES)),--cores "$$CORES")

serve: $(READY) ## serve the champion of DATASET to this machine alone (PORT=5001)
	@python -m textbaselines.cli.arguments --port "$${PORT:-5001}"
	@python -m textbaselines serve --port "$${PORT:-5001}" -- "$$DATASET"

ui: $(READY) ## MLflow's pages of the runs, on this machine alone (PORT=5000)
	@python -m textbaselines.cli.arguments --port "$${PORT:-5000}"
	@python -m textbaselines ui --port "$${PORT:-5000}"

track: $(READY) ## log what is finished, also while a study runs
	python -m textbaselines track

track-rebuild: $(READY) ## make the store anew, after a move of the folder or an upgrade of MLflow
	python -m textbaselines track --rebuild

screenshots: $(READY) ## the pictures in docs/images/, of the default study's store (needs Chromium)
	python docs/screenshots.py

simulations: $(READY) ## the tests of significance on 200 simulated studies (make test has fewer)
	TEXTBASELINES_SIMULATIONS=200 pytest -s tests/significance/test_simulated_contrasts.py

BENCH_READY := .venv/.bench-ready

bench: $(BENCH_READY) ## race the peers on the same folds and grid, some ten minutes
	python benchmarks/bench_peers.py --output docs/performance

bench-solver: $(BENCH_READY) ## time and accuracy of the linear solvers at each tolerance
	python benchmarks/bench_solver.py --output docs/performance

bench-jobs: $(READY) ## the share of a training job outside the solver
	python benchmarks/bench_jobs.py --output docs/performance

bench-tracking: $(READY) ## measure logging and reading of 200 and of 10,000 runs
	python benchmarks/bench_tracking.py

bench-grids: $(READY) ## measure whole grids against their points one by one, family by family
	python benchmarks/bench_grids.py

bench-imdb: $(BENCH_READY) ## race fastText on IMDB, from raw text to test accuracy
	python benchmarks/bench_imdb.py

bench-growth: $(READY) ## time and memory up to a million documents
	python benchmarks/bench_growth.py --output docs/performance/growth

bench-workflow: $(READY) ## what Snakemake itself cost in the run that ended last
	python benchmarks/bench_workflow.py

test: checked-workers lint ## format, lint, types and the whole test suite (TEST_WORKERS=2)
	pytest -n "$${TEST_WORKERS:-2}" --dist loadgroup

checked-workers: $(READY)
	@python -m textbaselines.cli.arguments --workers "$${TEST_WORKERS:-2}"

lint: $(READY) ## format, lint and types alone
	ruff format --check .
	ruff check .
	snakefmt --check --line-length 100 Snakefile workflow/rules
	snakemake --lint
	mypy

format: $(READY) ## put the code into its format
	ruff check --fix .
	ruff format .
	snakefmt --line-length 100 Snakefile workflow/rules

reference: $(READY) ## make the schemas and the tables of every key in docs/ from the models
	python -m textbaselines.cli.reference

lock: $(READY) ## pin every dependency anew, with hashes; both conda environments follow
	uv pip compile --quiet --extra dev --generate-hashes --python-version 3.11 --no-annotate \
	  --no-header --no-emit-index-url --output-file requirements.lock pyproject.toml
	uv pip compile --quiet --extra bench --constraint requirements.lock --generate-hashes \
	  --python-version 3.11 --no-annotate --no-header --no-emit-index-url \
	  --output-file requirements-bench.lock pyproject.toml
	uv pip compile --quiet --constraint requirements.lock --python-version 3.11 --no-annotate \
	  --no-header --no-emit-index-url --output-file .venv/run.txt pyproject.toml
	$(call pin,environment.yml,requirements.lock)
	$(call pin,workflow/envs/run.yml,.venv/run.txt)

clean: ## remove the environment and every result
	rm -rf .venv .snakemake logs
	find results -mindepth 1 ! -path results/README.md -delete

$(BENCH_READY): $(READY) requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-bench.lock
	touch $@

$(READY): requirements.lock pyproject.toml
	@"$$PYTHON" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 is needed, but PYTHON is '$$PYTHON'," \
	  "which is $$("$$PYTHON" --version 2>/dev/null || echo 'no Python'):" \
	  "make PYTHON=/path/to/python3.11"; exit 1; }
	@"$$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "Python's venv module is missing: apt-get install python3.11-venv"; exit 1; }
	"$$PYTHON" -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(BIN)/python -m compileall -q src
	touch $@
