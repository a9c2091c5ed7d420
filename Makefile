# One target for each thing that a developer or CI does; `make` alone lists them.
#
# ROUNDS, SEED  crash-test: how many rounds (200), and the seed that reproduces a run
# QUICK=1       bench: under two minutes, with fewer repetitions

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help system-packages build test check lint format docs demo bench crash-test stress-tsan journal-random merge-random power-loss disk-points clean

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
	scripts/crash-test

stress-tsan: system-packages ## 100 tasks read and write for 10 s under the thread sanitizer: TASKS, DURATION, SEED
	scripts/stress-tsan

journal-random: system-packages ## random statements on random schemas against the journal: SEED, SCHEMAS (500), STATEMENTS each (101)
	swift build --build-tests
	TANDEM_SEED=$(SEED) TANDEM_SCHEMAS=$(SCHEMAS) TANDEM_STATEMENTS=$(STATEMENTS) \
	  swift test --skip-build --filter RandomJournalTests

merge-random: system-packages ## random histories against the model of merging, and batches in every order: SEED, COUNT, SETS, KNOBS
	swift build -c release --product merge-random
	SEED=$(SEED) COUNT=$(COUNT) SETS=$(SETS) KNOBS=$(KNOBS) "$$(swift build -c release --show-bin-path)/merge-random"

power-loss: system-packages ## machines on simulated disks lose power at many moments: IMAGES (50 000), SEED (1)
	swift build -c release --product power-loss
	IMAGES=$(IMAGES) SEED=$(SEED) "$$(swift build -c release --show-bin-path)/power-loss" $(if $(JSON),--json)

disk-points: system-packages ## everything that can go wrong, at every operation of one script on the disk
	swift build -c release --product power-loss
	"$$(swift build -c release --show-bin-path)/power-loss" points

clean: ## remove everything that was built
	rm -rf .build .build-check .build-tsan
