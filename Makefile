# Parley. `make help` lists the targets.
SHELL := /bin/sh
.DEFAULT_GOAL := help
BIN := .venv/bin
TESTS ?= tests
# Databases, browsers and processes wait more than they work.
JOBS ?= 4

.PHONY: help install install-dev run test models-test browsers-test check guards audit release ranges machines image bench demo demo-data pictures faults faults-smoke faults-figures soak

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

models-test: install-dev ## run the tests with real speech models; NAMES="…" fetches others than Whisper base and Piper's Joe
	@$(BIN)/parley models install $(or $(NAMES),whisper-base piper-en_US-joe-medium)
	@$(BIN)/python -m pytest -n 0 --models tests/speech $(PYTEST_ARGS)

browsers-test: install-dev ## take spoken interviews in Chromium, Firefox and WebKit, with a sound card made for it, and open members' pages in them
	@.ci/browsers
	@$(BIN)/python -m pytest -n 0 --engines tests/browser/test_engines.py tests/browser/test_engines_pages.py $(PYTEST_ARGS)

check: install-dev ## static checks: lint, format, types, bandit, semgrep, advisories, import order, templates, style sheets, migrations, English
	@.ci/check

guards: install-dev ## remove guards one by one and show that a test fails without each; 5 to 18 minutes
	@$(BIN)/python -m tests.suite.removed_guards $(if $(ONLY),--only "$(ONLY)")

audit: install-dev ## compare locked versions with advisories; ONLINE=1 fetches the newest and runs pip-audit
	@.venv/bin/python .ci/audit.py $(if $(ONLINE),--renew)
	@$(if $(ONLINE),.ci/venv audit && .venv/audit/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.lock)

release: install-dev ## build wheel, source archive, container file, bill of materials and checksums into dist/, and try them; DRAFT=1 before the version is in the changelog
	@.ci/venv audit
	@$(BIN)/python .ci/release.py $(if $(DRAFT),--draft)
	@.ci/installed lock dist/*.whl
	@$(BIN)/python -m pytest -n0 -q tests/platform/test_upgrade.py

ranges: install-dev ## install the wheel with the newest of every dependency, then with the lock, and run the demo with each
	@rm -rf build/ranges && $(BIN)/python -m hatchling build --target wheel --directory build/ranges > /dev/null
	@.ci/installed newest build/ranges/*.whl
	@.ci/installed lock build/ranges/*.whl

machines: ## install and run Parley, its demo and its tests in fresh roots of Debian 12, 13 and forky, and with bad luck; needs root and mmdebstrap
	@.ci/machines $(RELEASES)

image: install-dev ## build the container images, run the demo in them, and run the compose file's services as processes; needs root, buildah and mmdebstrap
	@rm -rf build/images && mkdir -p build
	@.ci/image build/images
	@$(BIN)/python .ci/compose.py build/images

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
