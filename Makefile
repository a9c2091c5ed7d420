# The targets that a developer or CI runs; `make` alone lists them. Everything but the campaigns on random input and
# the benchmarks uses the debug configuration, so one build serves the demo, the tests and the other campaigns.
#
# Variables of the command line reach the programs through the environment.
#
# SEED               random campaigns: the first seed; a failure prints the command that reproduces it
# WRITES             apps: transactions of a machine in a round (40)
# NAME               campaign: which one; without it, the campaigns are listed
# KILLS              campaign crash-test: how many processes are killed (2000)
# CASES              campaign crash-points: a sample of so many cases (0: all); STEP, AT and MODE name one
# PART, ROUNDS       campaign file-test, disk-full, network-test: one part; file-test, copy-test, clone-test: how many rounds
# DURATION, FAULTS   campaign network-test: at least so many seconds (600) and faults (120)
# HOURS              campaign network-test: runs for so many hours, and goes on where it was interrupted
# MAINTAINER         package: whom it names, as `Name <address>`
# BUILT=1            merge-random, simulate, power-loss, store-test: the programs are built
# REPLAY=1           simulate: the recorded scenarios, which failed once
# MARKS=1            simulate: few recorded scenarios, which together must take every rare path
# ENGINE             store-test: the server: seaweedfs, ceph, moto, or dir for none; KILLS: how often something is killed
#                    (50). bench ONLY=archive: seaweedfs, or dir for none
# QUICK=1            bench: some minutes, with fewer repetitions

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help build demo bench test check lint coverage sanitize campaign apps merge-random simulate power-loss fuzz \
  planted-bugs docs site site-test package package-test metrics-test page-test store-test system-packages clean

REGRESSIONS := Tests/Harness/Simulator/Regressions/seeds.txt
COVER := Tests/Harness/Simulator/Regressions/cover.txt

# Builds a harness for release and gives the path of its program: these spend their time in computing.
RELEASE = $(if $(BUILT),,swift build -c release --product $(1) && )"$$(swift build -c release --show-bin-path)/$(1)"

help: ## list the targets
	@awk -F ':.*## ' '/^##@/ { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

##@ Build and try

build: system-packages ## build syncd for release
	swift build -c release --product syncd

package: system-packages ## build a Debian package of syncd in .build/package: MAINTAINER
	@scripts/system-packages dpkg-dev
	@scripts/package

package-test: package ## install, upgrade, run, remove and purge the package in a scratch root (root)
	scripts/package-test .build/package/syncd_*.deb

demo: system-packages ## two replicas of a real database converge over HTTP, live and readable
	scripts/demo

bench: system-packages ## measure against plain SQLite, side by side: QUICK
	scripts/bench

##@ Before a merge

test: system-packages ## build and run all tests, and print their number
	scripts/test

check: system-packages ## all checks before a merge: clean build with warnings as errors, imports, format, lists, tests
	scripts/check

lint: ## check the format of all sources; FIX=1 rewrites them
	scripts/lint $(if $(FIX),--fix)

coverage: system-packages ## the tests with coverage; a test must reach each refusal of Journal and Sync
	scripts/coverage

sanitize: system-packages ## the tests under a sanitizer: SANITIZER (address, thread), FILTER; STRESS=1: 100 tasks under the thread sanitizer
	$(if $(STRESS),scripts/stress-tsan,SANITIZER="$(SANITIZER)" FILTER="$(FILTER)" scripts/sanitize)

##@ Campaigns on random input and against faults (docs/RELIABILITY.md)

campaign: system-packages ## real processes, files and networks: NAME (crash-test, crash-points, file-test, copy-test, disk-full, network-test, clone-test, campaign-test)
	@if [ -z "$(NAME)" ]; then scripts/campaign; exit 64; fi
	@if [ "$(NAME)" = network-test ]; then scripts/system-packages nftables iproute2 util-linux; fi
	swift build --product syncd
	$(if $(filter crash-test,$(NAME)),swift build --product todo-service)
	scripts/campaign $(if $(HOURS),$(NAME:network-test=soak),$(NAME)) --syncd "$$(swift build --show-bin-path)/syncd" \
	  $(if $(filter crash-test,$(NAME)),--todo-service "$$(swift build --show-bin-path)/todo-service")

apps: system-packages ## real programs from PyPI (Django, SQLAlchemy, peewee, Datasette) on two replicas: SEED, WRITES (40), OPTIONS
	swift build --product syncd
	scripts/campaign apps --syncd "$$(swift build --show-bin-path)/syncd" $(OPTIONS)

merge-random: system-packages ## random histories against the model of merging, batches in every order, fleets that migrate, shared archives, hubs that die, leaves, and returns from behind the horizon: SEED, COUNT (10000), SETS (1000), WHOLE (4), FLEETS (1000), ARCHIVES (1000), HUBS (1000), RETURNS (1000), LEAVES (1000), KNOBS
	$(call RELEASE,merge-random)

simulate: system-packages ## simulated clusters in virtual time, with faults: SEED, COUNT, OPTIONS (--help); REPLAY=1: those that once failed; MARKS=1: few that take every rare path
	$(call RELEASE,simulate) $(if $(REPLAY),--replay $(REGRESSIONS),$(if $(MARKS),--replay $(COVER) --marks,$(or $(SEED),1) $(or $(COUNT),1) --record $(REGRESSIONS))) $(OPTIONS)

power-loss: system-packages ## machines on simulated disks lose power at many moments: IMAGES (50000), SEED (1); POINTS=1: each fault at each operation of one script
	$(call RELEASE,power-loss) $(if $(POINTS),points) $(if $(JSON),--json)

fuzz: system-packages ## libFuzzer on every decoder and a whole endpoint: TARGET (all), SECONDS for each (60), EXECUTIONS
	TARGET="$(TARGET)" DURATION="$(SECONDS)" EXECUTIONS="$(EXECUTIONS)" scripts/fuzz

planted-bugs: system-packages ## plant mutations in a scratch copy; the harness must catch each: BUG, SEEDS (400), SEED
	scripts/planted-bugs

page-test: system-packages ## the pages of a daemon in a headless Chromium: PICTURES names a directory for pictures (root)
	scripts/system-packages chromium chromium-driver
	swift build --product syncd
	scripts/page-test $(PICTURES)

metrics-test: system-packages ## /metrics, the alert rules and the dashboard against a real Prometheus
	swift build --product syncd
	scripts/metrics-test "$$(swift build --show-bin-path)/syncd"

store-test: system-packages ## object stores against a real S3 server; then replicas, hubs and the server are killed: ENGINE (seaweedfs, ceph, moto, dir), KILLS (50)
	scripts/store-test

##@ Documentation and housekeeping

docs: system-packages ## build the documentation of Store, Journal and Sync; a warning fails
	scripts/docs

site: docs ## one site of all documentation, with a search, in .build/site; a dead link fails
	@scripts/system-packages python3-venv
	scripts/site

site-test: ## search and read the site of `make site` in a headless Chromium: PICTURES names a directory for pictures (root)
	scripts/system-packages chromium chromium-driver
	scripts/site-test $(PICTURES)

system-packages: ## install the system packages that the build needs, if any is missing
	@scripts/system-packages

clean: ## remove everything that was built
	rm -rf .build .build-check .build-tsan .build-address .build-thread .build-coverage .build-planted .build-fuzz
