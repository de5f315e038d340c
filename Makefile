# Everything a fresh Debian or Ubuntu machine with Go and Node needs is set up by the targets themselves.

SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
E2E_TOOLS := chromium vim htop

.PHONY: run build test test-go test-ui test-e2e bench measure fuzz fmt lint static static-is-fresh tools

run: build ## start the server; the link it prints opens it
	./tandem $(ARGS)

build: ## one binary, with the UI in it
	go build -o tandem .

test: lint test-go test-ui test-e2e ## all tests

test-go: node_modules # the oracle for terminal state is an npm package
	go test -race -timeout 15m ./...
	go test -run Flood ./ahp # of a size for which the race detector is too slow

test-ui: node_modules
	npm test

test-e2e: node_modules tools # the real binary in real Chromium
	npm run e2e

bench: ## ratios to a bare pty and a bare socket; takes about thirteen minutes
	go test ./server -run '^$$' -bench . -benchtime 1x -timeout 60m

measure: node_modules tools ## what a person waits for in the browser
	npm run measure

fuzz: ## each fuzz target for a short time
	./.ci/fuzz

fmt:
	gofmt -w $$(git ls-files '*.go')

lint: node_modules
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "run make fmt"; exit 1; }
	go vet ./...
	npm run check

static: node_modules ## build the UI into static/dist
	npm run build

static-is-fresh: static
	@git diff --exit-code --stat static/dist && test -z "$$(git status --porcelain static/dist)" || \
		{ echo "static/dist is not what web/ builds: run make static and commit it"; exit 1; }

node_modules: package-lock.json
	npm ci --no-audit --no-fund
	@touch node_modules

tools:
	@missing=; for tool in $(E2E_TOOLS); do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then $(SUDO) apt-get update && $(SUDO) apt-get install -y $$missing; fi
