# make demo    set everything up and deduplicate a sample collection
# make test    set everything up and run all checks and tests
# make check   linters and type checker only
# make bench   the speed benchmark, with peers in environments of their own
# make bench-index  the living index and the service, with peers (redis-server and wrk must be there)
# make nightly what takes too long for every change: the tests marked so, and the audit
# make audit   look the installed libraries up among the known vulnerabilities
# make quality how right every recipe is on labelled pages, where they are at hand

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check unit system plain bench bench-index audit nightly quality clean

demo: $(READY)
	@rm -rf build/demo
	@echo "== A small labelled collection: mirrors, edited copies, templates, many scripts"
	$(BIN)/neardup sample build/demo/sample
	@echo
	@echo "== Deduplicate it"
	$(BIN)/neardup dedup build/demo/sample/pages.jsonl -o build/demo/out
	@echo
	@echo "== Look"
	@$(BIN)/python examples/show_removed.py build/demo/out build/demo/sample/pages.jsonl
	@echo
	@echo "== How right was it? Its labels say:"
	@$(BIN)/neardup evaluate build/demo/sample/pages.jsonl --truth build/demo/sample/truth.tsv --recipe default --recipe alg-b -q
	@echo
	@echo "build/demo/out/report.html      open this: what went, how sure it is, group by group"
	@echo "build/demo/out/kept             the clean collection"
	@echo "build/demo/out/removed.parquet  every removed document, the kept one, the measured numbers"
	@echo "build/demo/out/run.json         what was done, with which parameters, how long each step took"
	@echo "build/demo/sample               the same pages as JSONL, Parquet, HTML files and WARC: try those too"
	@echo
	@echo "Search it, with the repeats folded: run this, and open the address that it prints"
	@echo "  $(BIN)/neardup serve --collection build/demo/out"

test: check unit plain

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

unit: $(READY) system
	$(BIN)/python -m pytest -n auto --dist loadgroup

# The tests need a real browser (NEARDUP_CHROMIUM may name one), a real PostgreSQL and a real Spark, which they start
# themselves, wrk, nginx, Java 17 for Spark, and for deploy/ bubblewrap and systemd's own checks of units.
system:
	@missing=""; \
	for name in "$$NEARDUP_CHROMIUM" chromium chromium-browser google-chrome none; do [ -n "$$name" ] && command -v "$$name" >/dev/null && break; done; \
	[ "$$name" != none ] || missing="chromium fonts-dejavu-core fonts-noto-cjk"; \
	command -v wrk >/dev/null || missing="$$missing wrk"; \
	PATH="$$PATH:/usr/sbin" command -v nginx >/dev/null || missing="$$missing nginx-light"; \
	ls /usr/lib/nginx/modules/ngx_stream_module.so >/dev/null 2>&1 || missing="$$missing libnginx-mod-stream"; \
	command -v bwrap >/dev/null || missing="$$missing bubblewrap"; \
	command -v systemd-analyze >/dev/null || missing="$$missing systemd"; \
	command -v initdb >/dev/null || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	java="$${JAVA_HOME:+$$JAVA_HOME/bin/}java"; \
	[ "$$($$java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')" -ge 17 ] 2>/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	[ -z "$$missing" ] || { \
	  [ "$$(id -u)" = 0 ] || { echo "the tests need more of the system: apt-get install $$missing"; exit 1; }; \
	  mkdir -p /etc/postgresql-common/createcluster.d; \
	  echo "create_main_cluster = false" > /etc/postgresql-common/createcluster.d/neardup.conf; \
	  apt-get update -q && apt-get install -q -y --no-install-recommends $$missing; }

# The kernels once more without the compiler: what plain Python says of them.
plain: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto tests/kernels

bench: $(READY)
	$(BIN)/python -m benchmarks.speed

bench-index: $(READY)
	$(BIN)/python -m benchmarks.index.speed
	$(BIN)/python -m benchmarks.index.peers
	$(BIN)/python -m benchmarks.index.http
	$(BIN)/python -m benchmarks.index.mixed

# pytest ends with 5 where no test is marked.
nightly: $(READY) system audit
	$(BIN)/python -m pytest -n auto --dist loadgroup -m nightly || [ $$? = 5 ]

audit: $(READY)
	$(BIN)/python scripts/audit.py

quality: $(READY)
	$(BIN)/python -m benchmarks.quality

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "neardup needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -q && apt-get install -q -y python3-venv; } || { echo "install python3-venv first"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e . --group dev
	@touch $(READY)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
