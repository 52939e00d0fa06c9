# Tools come from go.mod's "tool" lines: everybody runs the same versions.
GO ?= go
PACKAGES ?= ./...

.PHONY: help run dev build generate test check bench soak fuzz notices vendor-static vulndb screenshots

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: build ## build and serve the site on http://localhost:8080
	bin/docent serve

build: ## build bin/docent
	$(GO) build -trimpath -o bin/docent ./cmd/docent

dev: ## serve the site and rebuild it when a template or Go file changes
	DOCENT_DEV=on $(GO) tool templ generate --watch --proxy="http://127.0.0.1:8080" --open-browser=false --cmd="$(GO) run ./cmd/docent serve"

generate: ## generate the templates' Go code
	$(GO) tool templ generate

test: ## run all tests, on SQLite and, where it is installed, on PostgreSQL
	.ci/with-postgres $(GO) test -timeout 20m $(PACKAGES)

check: ## everything that must hold before a change is committed, except the tests
	@test -z "$$(gofmt -l $$(git ls-files '*.go' | grep -v _templ.go))" || { gofmt -l .; echo "gofmt differs"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) mod verify
	$(GO) mod tidy -diff
	.ci/generated-is-current

bench: ## measure speed, as ratios within one run
	.ci/with-postgres .ci/bench

fuzz: ## 10 seconds for each fuzz target
	.ci/fuzz 10s

soak: ## the long runs: fuzz targets for 10 minutes each
	.ci/fuzz 10m

vulndb: ## look for known faults in our dependencies
	.ci/vulncheck

screenshots: ## take the pictures of the documentation again
	DOCENT_SCREENSHOTS=$(CURDIR)/docs/screenshots $(GO) test -count=1 -run TestScreenshots ./cmd/docent

notices: ## list the modules in the program with their licences
	.ci/third-party >docs/third-party.md

vendor-static: ## fetch the pinned front-end files again
	node static/vendor.mjs
