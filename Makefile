# Parley. `make help` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin
TESTS ?= tests
JOBS ?= 2

.PHONY: help install install-dev run test check audit bench demo demo-data pictures faults faults-smoke faults-figures soak

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: ## create .venv with pinned dependencies and the parley command
	@.ci/venv

install-dev: ## the same, plus what tests and checks need
	@.ci/venv dev

run: install ## start everything on this machine: web, workers, database, Redis
	@exec $(BIN)/parley up

demo: install ## take one interview from end to end and check every step
	@exec $(BIN)/parley demo

demo-data: install ## create an organization with invented candidates and interviews
	@exec $(BIN)/parley demo --data

pictures: install-dev ## retake the README's pictures, from demo data
	@$(BIN)/python bench/pictures.py

test: install-dev ## run the tests (on PostgreSQL with DATABASE_URL=postgresql://…)
	@.ci/missing
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup $(TESTS) $(PYTEST_ARGS)

check: install-dev ## static checks: lint, format, types, bandit, semgrep, advisories, import order, templates, style sheets, migrations, English
	@.ci/check

audit: install-dev ## compare locked versions with advisories; ONLINE=1 fetches the newest and runs pip-audit
	@.venv/bin/python .ci/audit.py $(if $(ONLINE),--renew)
	@$(if $(ONLINE),.ci/venv audit && .venv/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock)

bench: install-dev ## run the benchmarks; figures are ratios to a floor of the same run
	@.ci/bench

faults-smoke: install-dev ## break Parley on purpose, the quick set of every change: processes, Redis, database, disks, receivers, candidates
	@$(BIN)/python -m tests.faults --smoke

faults: install-dev ## the same with all cases and full sweeps; fails unless every case ran and passed
	@$(BIN)/python -m tests.faults --all

soak: install-dev ## break one installation repeatedly, by a seed: make soak HOURS=24
	@$(BIN)/python -m tests.faults.soak --hours $(or $(HOURS),24)

faults-figures: install-dev ## the large counts: events, chunks with power cuts, rounds of a hundred browsers
	@$(BIN)/python -m tests.faults.figures $(FIGURES)
