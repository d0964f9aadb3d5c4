# Interlock: every command a newcomer or a machine needs. `make help` lists them.

SHELL       := /bin/bash
BIN         := bin/interlock
LISTEN      ?= 127.0.0.1:8765
DATA        ?= demo
STATE       ?= state
# Symbols of static libraries are not exported: nothing looks them up, and their table is 6.7 MB.
LDFLAGS     := -s -w -extldflags "-static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL"
# Tests link DuckDB some twenty times: mold, where it is, does it in a third of the time.
QUICKLINK   := -ldflags "-w $$(command -v mold >/dev/null && echo -extldflags=-fuse-ld=mold)"
# Prints what was skipped and why; with INTERLOCK_REQUIRE=all a skip is a failure.
# Tests start it as server, command and worker: each start of a process that carries the race detector
# costs a fifth of a second. Workers are watched by it in the tests of their own packages.
PLAIN       := bin/plain/interlock
REPORT      := go run ./scripts/testreport -missing bin/missing
# Tests that the race detector would keep from what they measure, and those that only compute (racetest.Skip).
UNRACED     := ^(TestHostileModels|TestMemory|TestALargeResultIsStoredOnce|TestRestingThreads.*|TestRunningTurnsHoldTextsOfThePast|TestFollowersShareAResult|TestGoldTables|TestGermanQuestions|TestCalibrationElsewhere|TestQuality|TestBankStatements|TestOtherKinds|TestTrainingOnASample|TestWideTablesAndLongCells|TestManyEqualAmounts|TestConfirmedPartOfASum|TestOrdinaryQuestions|TestJudgeStatements|TestJudgeBusiness|TestUnanswerable|TestDemoDialogues|TestLongLists|TestHostileAnswers|TestBounds|TestWrittenCells|TestBlindCorpus|TestBombsStayInTheWorker|TestUnreadable|TestFlaws|TestTruth|TestTruthOfOtherSeeds|TestGoldenQueriesOfOtherSeeds|TestDocumentsFitTickets|TestFidelityOfColumns|TestBuildAsPeopleWrite|TestFidelityOfWorkbooks|TestImportIsBoundedOnDisk|TestWorkbookBomb)$$
UNRACED_IN  := ./cmd/interlock ./internal/demo ./internal/document ./internal/engine ./internal/figure ./internal/nlq ./internal/query ./internal/recon ./internal/retrieve
# SQLite's own code computes and starts no goroutines: the race detector watches who calls it, not its
# loops, which it makes ten times slower. A package belongs here only when it holds no copy of generic
# code of sync or sync/atomic: the linker may take that copy for all, and the detector then sees races
# in sync.Map that are none.
UNWATCHED   := modernc.org/sqlite/lib modernc.org/libc modernc.org/memory
RACE        := -race $(foreach lib,$(UNWATCHED),-gcflags=$(lib)=-race=false)
LINT        := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.14.0
export CGO_ENABLED := 1
# Snowflake's driver would write a shared library to the temp folder at each start and load it.
export GOFLAGS := $(strip $(GOFLAGS) -tags=minicore_disabled)

.DEFAULT_GOAL := help
.PHONY: help setup weights page build run test lint bench demo screenshots clean

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup:
	@scripts/setup.sh

weights:
	@scripts/weights.sh

page: ## build the page into web/dist
	@scripts/page.sh

build: weights page ## build bin/interlock
	go build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/interlock

demo: build ## make the demo datasets in demo/
	@test -e $(DATA) || ./$(BIN) demo --out $(DATA)

run: ## set everything up and serve on http://127.0.0.1:8765
	@command -v gcc >/dev/null && command -v npm >/dev/null || scripts/setup.sh
	@$(MAKE) --no-print-directory -j2 setup demo
	./$(BIN) serve --listen $(LISTEN) --data $(DATA) --state $(STATE)

test: ## set everything up and run every test with the race detector
	@scripts/setup.sh test
	@scripts/page.sh
	@! command -v npm >/dev/null || npm --prefix web/app run --silent test
	go build $(QUICKLINK) -o $(PLAIN) ./cmd/interlock
	set -o pipefail; INTERLOCK_PLAIN_PROGRAM=$(CURDIR)/$(PLAIN) go test $(RACE) -shuffle=on -timeout 45m $(QUICKLINK) -json ./... | $(REPORT)
	set -o pipefail; go test -run '$(UNRACED)' -timeout 15m $(QUICKLINK) -json $(UNRACED_IN) | $(REPORT)

lint: ## golangci-lint with the reasons in .golangci.yaml, and the checks of the page
	@scripts/page.sh install
	@! command -v npm >/dev/null || npm --prefix web/app run --silent check
	go run $(LINT) run ./...

bench: ## print our figures beside the peers and the bare drivers, made in this run
	go run ./bench

screenshots: build ## take pictures of every view of the page into bin/screenshots
	@scripts/screenshots.sh

clean: ## remove what was built
	rm -rf bin web/dist/assets web/dist/index.html
