# One target for each thing that a developer or CI does; `make` alone lists them.
#
# SEED          campaigns: the seed that reproduces a run
# KILLS         crash-test: how many processes are killed (2000)
# CASES         crash-points: a sample of so many cases (0: all); STEP, AT and MODE name one
# PART          file-test, disk-full, network-test: one part of it
# DURATION, FAULTS  network-test: at least so many seconds (600) and faults (120)
# HOURS         soak: how long in all (8), over all interruptions
# QUICK=1       bench: under two minutes, with fewer repetitions

SHELL := /bin/bash
# Where the campaigns find what they run. Debug builds: they check more, and the kernel takes most of the time.
PROGRAMS = $$(swift build --show-bin-path)
.DEFAULT_GOAL := help
.PHONY: help system-packages build test check lint format docs demo bench crash-test stress-tsan journal-random \
  merge-random planted-bugs simulate crash-points file-test disk-full network-test copy-test campaign-test soak fuzz \
  power-loss disk-points sanitize coverage clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

system-packages: ## install the system packages that the build needs, if any is missing
	@scripts/system-packages

build: system-packages ## build syncd for release
	swift build -c release --product syncd

test: system-packages ## build and run all tests, and print their number
	scripts/test

lint: ## check the format of all sources
	scripts/lint

format: ## rewrite all sources in the house format
	scripts/lint --fix

check: system-packages ## all checks before a merge: clean build with warnings as errors, imports, format, tests
	scripts/check

docs: system-packages ## build the documentation of Store, without a warning
	scripts/docs

demo: system-packages ## two replicas of a real database converge over HTTP, live and readable
	scripts/demo

bench: system-packages ## measure against plain SQLite, side by side
	scripts/bench

crash-test: system-packages ## kill daemons and writers in the middle of their work; nothing acknowledged may be lost
	swift build --product syncd
	swift build --product todo-service
	scripts/campaign crash-test --syncd $(PROGRAMS)/syncd --todo-service $(PROGRAMS)/todo-service

crash-points: system-packages ## fail or kill each write, sync, rename, send of a canonical script: CASES, STEP, AT, MODE
	swift build --product syncd
	scripts/campaign crash-points --syncd $(PROGRAMS)/syncd

file-test: system-packages ## several daemons on a file, files moved and removed, storms of writers, foreign pragmas: PART, ROUNDS
	swift build --product syncd
	scripts/campaign file-test --syncd $(PROGRAMS)/syncd

disk-full: system-packages ## full disks, file-size limits, few descriptors, little memory; needs root: PART
	swift build --product syncd
	scripts/campaign disk-full --syncd $(PROGRAMS)/syncd

network-test: system-packages ## partitions, slow and falsifying networks in namespaces; needs root, nftables: DURATION, FAULTS, PART
	scripts/system-packages nftables iproute2 util-linux
	swift build --product syncd
	scripts/campaign network-test --syncd $(PROGRAMS)/syncd

copy-test: system-packages ## restore and copy files under daemons that are killed: ROUNDS
	swift build --product syncd
	scripts/campaign copy-test --syncd $(PROGRAMS)/syncd

campaign-test: system-packages ## show that the checks of the campaigns can fail
	swift build --product syncd
	scripts/campaign campaign-test --syncd $(PROGRAMS)/syncd

soak: system-packages ## the same for HOURS (8); goes on where it was interrupted; needs root, nftables
	scripts/system-packages nftables iproute2 util-linux
	swift build -c release --product syncd
	scripts/campaign soak --syncd "$$(swift build -c release --show-bin-path)/syncd"

stress-tsan: system-packages ## 100 tasks read and write for 10 s under the thread sanitizer: TASKS, DURATION, SEED
	scripts/stress-tsan

sanitize: system-packages ## the tests under a sanitizer: SANITIZER (address; or thread), FILTER
	SANITIZER="$(SANITIZER)" FILTER="$(FILTER)" scripts/sanitize

coverage: system-packages ## the tests with coverage; each refusal of Journal and Sync must have been seen to happen
	scripts/coverage

journal-random: system-packages ## random statements on random schemas against the journal: SEED, SCHEMAS (500), STATEMENTS each (101)
	swift build --build-tests
	TANDEM_SEED=$(SEED) TANDEM_SCHEMAS=$(SCHEMAS) TANDEM_STATEMENTS=$(STATEMENTS) \
	  swift test --skip-build --filter RandomJournalTests

merge-random: system-packages ## random histories against the model of merging, and batches in every order: SEED, COUNT (10000), SETS (1000), WHOLE (4), KNOBS
	swift build -c release --product merge-random
	SEED=$(SEED) COUNT=$(COUNT) SETS=$(SETS) WHOLE=$(WHOLE) KNOBS=$(KNOBS) "$$(swift build -c release --show-bin-path)/merge-random"

planted-bugs: system-packages ## plant real bugs in a scratch copy, and show that the harness catches each: BUG, SEEDS (400), SEED
	scripts/planted-bugs

simulate: system-packages ## lives of clusters in virtual time, with faults: SEED, COUNT, OPTIONS (--help)
	swift build -c release --product simulate
	"$$(swift build -c release --show-bin-path)/simulate" $(or $(SEED),1) $(or $(COUNT),1) \
	  --record Tests/Harness/Simulator/Regressions/seeds.txt $(OPTIONS)

fuzz: system-packages ## libFuzzer on every decoder and a whole endpoint: TARGET (all), SECONDS for each (60), EXECUTIONS
	TARGET="$(TARGET)" DURATION="$(SECONDS)" EXECUTIONS="$(EXECUTIONS)" scripts/fuzz

power-loss: system-packages ## machines on simulated disks lose power at many moments: IMAGES (50 000), SEED (1)
	swift build -c release --product power-loss
	IMAGES=$(IMAGES) SEED=$(SEED) "$$(swift build -c release --show-bin-path)/power-loss" $(if $(JSON),--json)

disk-points: system-packages ## everything that can go wrong, at every operation of one script on the disk
	swift build -c release --product power-loss
	"$$(swift build -c release --show-bin-path)/power-loss" points

clean: ## remove everything that was built
	rm -rf .build .build-check .build-tsan .build-address .build-thread .build-coverage .build-planted .build-fuzz
