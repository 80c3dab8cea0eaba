# All commands for building and testing. `make help` lists the most important targets, and `make help-all` all of them.
# The workflows call only these targets.

PG_CONFIG ?= pg_config
CARGO ?= cargo

export PG_CONFIG
# Root must not compile in a folder of somebody else, because files of root would remain among the user's. `sudo make
# install`, which pgxnclient calls as well, copies what the user has built. Whoever became a user by `sudo -iu` has
# SUDO_USER as well, but is not root.
ifeq ($(MAKELEVEL),0)
by_sudo := $(and $(SUDO_USER),$(filter 0,$(shell id -u)),$(filter-out 0,$(shell stat -c %u .)))
ifneq ($(and $(by_sudo),$(filter-out install uninstall,$(or $(MAKECMDGOALS),help))),)
$(error call make without sudo; it calls sudo itself where that is needed)
endif
endif
# Compilers and servers fail if TMPDIR is set to a directory that does not exist.
ifeq ($(wildcard $(TMPDIR)/.),)
unexport TMPDIR
endif
# With RUST_BACKTRACE, errors of PostgreSQL would contain a backtrace.
unexport RUST_BACKTRACE
# The library must be created in target/, whatever the user's Cargo configuration says.
unexport CARGO_BUILD_TARGET CARGO_TARGET_DIR

# These variables are expanded only when they are used, because PostgreSQL may be installed by a prerequisite.
pg_major = $(shell $(PG_CONFIG) --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')
pg_features = --no-default-features --features pg$(pg_major)

# All crates except the extension and its border to PostgreSQL. They can be compiled and tested without PostgreSQL.
pure_crates = --workspace --exclude simhash_pg --exclude pg_border

version = $(shell sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
sql_files = sql/conditions.sql sql/code.sql sql/gist.sql sql/hamming.sql \
            sql/simhash.sql sql/weighted.sql sql/explain.sql sql/spelling.sql sql/sketch.sql sql/gin.sql sql/minhash.sql sql/rarity.sql sql/rare_code.sql sql/passage.sql \
            sql/html.sql sql/trigger.sql sql/pairs.sql sql/histogram.sql sql/differences.sql

# The order of the targets is that of `make help-all`.

.PHONY: help help-all

help:
	@cat tools/help

help-all:
	@cat tools/help-all

# To see what it does

.PHONY: demo demo-dedup demo-versions demo-images demo-web

# The demos use the extension if a package has installed it. Otherwise, they build and install it first.
demo:
	@tools/tests/with-extension $(version) demo tools/demos/demo

demo-dedup:
	@tools/tests/with-extension $(version) demo tools/demos/demo-dedup

demo-versions:
	@tools/tests/with-extension $(version) demo tools/demos/demo-versions

demo-images:
	@tools/tests/with-extension $(version) images tools/demos/demo-images

# The explorer can display a table of any database, in which case nothing has to be built.
demo-web:
	@$(if $(TABLE),,tools/tests/with-extension --as-installed $(version) python) tools/demos/demo-web

# To build and install

.PHONY: all build install uninstall deb dist site clean

# pgxnclient calls this target before `make install`.
all: build

build: prepare-build
	@$(MAKE) --silent target/simhash_pg--$(version).sql
	@ls target/release/libsimhash_pg.* >/dev/null 2>&1 || echo 'compiling for the first time: 5 to 15 minutes, half of them for the last crate, and 1 GB in target'
	@PGRX_PG_CONFIG_PATH="$(PG_CONFIG)" tools/packages/each-minute compiling \
		$(CARGO) build --release --lib $(pg_features) --target-dir target || tools/packages/explain-failure
	@echo $(pg_major) >target/built-for

target/simhash_pg--$(version).sql: $(sql_files) Makefile
	@mkdir -p target
	@{ printf '%s\n' '\echo Use "CREATE EXTENSION simhash_pg" to load this file. \quit'; \
	   for file in $(sql_files); do echo; cat $$file; done; } > $@

ifneq ($(by_sudo),)
install:
	@tools/packages/install --built $(version)
else
install: $(if $(DESTDIR),,prepare-install) build
	@tools/packages/install $(version)
endif

uninstall:
	@tools/packages/install --uninstall

# SOURCES is a directory with the sources of a release. The default is this version.
deb: prepare-deb
	@tools/packages/deb $(SOURCES)

dist:
	@tools/packages/dist $(version)

# Creates a website from the documentation, with a search, in target/site/html.
site: prepare-site
	@tools/packages/site target/site

# Cargo need not be installed.
clean:
	rm -rf target

# While you write

.PHONY: check test installcheck lint check-all-pg check-upgrade

# Checks the crates that do not need PostgreSQL.
check: prepare-check
	$(CARGO) fmt --all --check
	$(CARGO) clippy $(pure_crates) --all-targets -- --deny warnings
	$(CARGO) test --quiet $(pure_crates)

test: prepare-test install
	@tools/tests/test

# Runs the SQL tests in a running server. `pg_buildext installcheck` calls this target.
installcheck:
	@tools/tests/installcheck

lint: prepare-lint
	@tools/checks/lint

check-all-pg: prepare-build
	@tools/checks/check-all-pg

check-upgrade: prepare-test install
	@tools/checks/check-upgrade $(version)

# Further tests

.PHONY: check-cargo-pgrx soak fuzz test-drivers test-python test-web test-deb test-dist test-matrix test-cassert \
        test-core test-random test-asan coverage mutants miri test-arm64 test-s390x audit

check-cargo-pgrx: prepare-test install
	@tools/checks/check-cargo-pgrx

# Each variable determines how long one of the tests runs.
soak: prepare-test install
	@ROUNDS=$${ROUNDS:-400} CRASHES=$${CRASHES:-150} STANDBY_SECONDS=$${STANDBY_SECONDS:-180} \
		SECONDS_OF_LOAD=$${SECONDS_OF_LOAD:-300} STORM_SECONDS=$${STORM_SECONDS:-3000} QUERIES=$${QUERIES:-30000} JOBS=$${JOBS:-1} REFUSALS=$${REFUSALS:-100} \
		CANARIES=$${CANARIES:-100} PAIRS=$${PAIRS:-3000} ONLY=tap TESTS="010 011 012 013 016 027 034 036" tools/tests/test

fuzz: prepare-fuzz
	@tools/tests/fuzz

test-drivers: prepare-drivers install
	@tools/tests/test-drivers
	@tools/tests/test-clients

test-python: prepare-python install
	@tools/tests/test-python

test-web: prepare-web install
	@tools/tests/test-web

test-deb:
	@for major in $(or $(MAJORS),15 17); do tools/tests/test-deb $$major $(version) || exit 1; done

test-dist: prepare-dist dist
	@tools/tests/test-dist $(version)

test-matrix:
	@tools/tests/test-matrix $(or $(MAJORS),15 16 17 18 19)

# Tests the other versions of PostgreSQL even if the tests of one version fail, or if it is not available.
test-cassert test-core:
	@. tools/tests/folders.sh; failed=; for major in $(or $(MAJORS),15 18 19); do tools/tests/$@ $$major || failed="$$failed $$major"; done; \
		[ -z "$$failed" ] || { echo "$@ failed:$$failed"; exit 1; }

test-random: prepare-random install
	@tools/tests/test-random

test-asan: prepare-test
	@tools/tests/test-asan

coverage: prepare-test
	@tools/tests/coverage

mutants: prepare-$(if $(filter near_join,$(ONLY)),test,check)
	@tools/tests/mutants

miri: prepare-miri
	@tools/tests/miri

test-arm64:
	@tools/tests/test-emulated arm64 $(version)

test-s390x:
	@tools/tests/test-emulated s390x $(version)

# This is separate from lint, because it downloads a database of vulnerabilities.
audit: prepare-lint
	target/checkers/bin/cargo-deny check
	target/checkers/bin/cargo-deny --manifest-path clients/python/Cargo.toml check

# To measure

.PHONY: bench compare experiment

bench: prepare-test install
	@bench/run

compare: prepare-python install
	@bench/compare/run

experiment: prepare-experiment install
	@bench/similarity_index/run

# The other targets call these first. They install the packages that are missing, or print their names if they cannot be
# installed.

prepared = build check deb lint test demo images python web experiment site random dist drivers fuzz miri

.PHONY: prepare-install $(addprefix prepare-,$(prepared))

$(addprefix prepare-,$(prepared)): prepare-%:
	@tools/packages/prepare $*

prepare-install:
	@tools/packages/prepare install
	@tools/packages/install --before
