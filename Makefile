# Banyan. `make demo` and `make test` install what they lack; the rest assumes it.

GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOFUMPT  := mvdan.cc/gofumpt@v0.12.0

GO       ?= go
FUZZTIME ?= 10s
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X github.com/seed-ff860830/banyan/internal/buildinfo.version=$(VERSION)

export CGO_ENABLED = 0

.PHONY: help demo test test-fast check build bench fuzz lint fmt generate deps clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

deps: ## install Python, numpy, pandas and scipy where they are missing
	@./scripts/install-deps.sh

build: ## build bin/banyan, one static binary
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/banyan ./cmd/banyan

demo: deps build ## run the main job end to end and print the tree and the table
	$(GO) run ./examples/demo

test: deps ## every test, with the race detector
	CGO_ENABLED=1 $(GO) test -race -shuffle=on -timeout 15m ./...
	cd bench && $(GO) vet ./... && CGO_ENABLED=1 $(GO) test -race ./...

test-fast: ## the tests without the race detector, short
	$(GO) test -short ./...

bench: deps ## every figure we quote, beside its peers, in one run
	cd bench && $(GO) run ./parse
	cd bench && $(GO) run ./forkcost
	cd bench && $(GO) run ./graph
	cd bench && $(GO) run ./load

fuzz: ## each fuzz target for FUZZTIME
	@./scripts/fuzz.sh $(FUZZTIME)

fmt: ## format the code
	$(GO) run $(GOFUMPT) -w .

lint: ## golangci-lint with the rules of .golangci.yml
	$(GO) run $(GOLANGCI) run ./...

generate: ## write the generated files anew
	$(GO) generate ./...

check: ## vet, lint, format, tidy, generated files, cross-builds; ends in an empty diff
	$(GO) vet ./...
	$(GO) run $(GOLANGCI) run ./...
	@bad=$$($(GO) run $(GOFUMPT) -l .); if [ -n "$$bad" ]; then echo "not formatted by gofumpt:"; echo "$$bad"; exit 1; fi
	$(GO) mod tidy -diff
	cd bench && $(GO) mod tidy -diff
	$(GO) generate ./...
	GOOS=linux GOARCH=arm64 $(GO) build -o /dev/null ./cmd/banyan
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/banyan
	git diff --exit-code
	@untracked=$$(git status --porcelain); if [ -n "$$untracked" ]; then echo "left behind:"; echo "$$untracked"; exit 1; fi

clean: ## remove what was built
	rm -rf bin out
