# The commands of this project. Only Go and git are needed; see README.md.

VERSION ?= $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' internal/cli/version.go)
GOFLAGS_BUILD = -trimpath -ldflags "-s -w"
# The race detector needs a C compiler; without one the tests run without it.
RACE := $(shell command -v cc >/dev/null 2>&1 || command -v gcc >/dev/null 2>&1 || command -v clang >/dev/null 2>&1 && echo -race)
TEST ?= ./...

.PHONY: build demo test check fmt vet lint cross tidy generate bench fuzz real clean install

build: ## bin/oh, one static binary
	CGO_ENABLED=0 go build $(GOFLAGS_BUILD) -o bin/oh ./cmd/oh

install: ## oh into $GOBIN
	CGO_ENABLED=0 go install $(GOFLAGS_BUILD) ./cmd/oh

demo: build ## the main job with a scripted model: no key, no network
	./bin/oh demo

test: ## all tests
	go test $(RACE) -shuffle=on -timeout 20m $(TEST)

check: fmt vet lint tidy test cross ## what every change has to pass

fmt:
	@out=$$(gofmt -l . ); if [ -n "$$out" ]; then echo "gofmt would change:"; echo "$$out"; exit 1; fi

vet:
	go vet ./...

lint: ## golangci-lint, when it is installed
	@if command -v golangci-lint >/dev/null 2>&1; then golangci-lint run ./...; else echo "golangci-lint is not installed: skipped"; fi

tidy:
	go mod tidy -diff

cross: ## everything compiles on every system that is supported
	@for os in linux darwin windows; do for arch in amd64 arm64; do \
		echo "$$os/$$arch"; CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go build -o /dev/null ./cmd/oh || exit 1; \
		CGO_ENABLED=0 GOOS=$$os GOARCH=$$arch go vet ./... || exit 1; done; done

bench: build ## the table of bench/, beside a program that does the same with nothing else
	go run ./bench/cmd/report -oh ./bin/oh

fuzz: ## each fuzz target for a short while
	@go list ./... | while read -r p; do go test -list '^Fuzz' $$p | grep '^Fuzz' | while read -r f; do \
		echo "$$p $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $${FUZZTIME:-10s} $$p || exit 1; done || exit 1; done

real: build ## against llama.cpp's server and a tiny model, both built and kept in .cache/real
	sh e2e/real/setup.sh .cache/real
	OH_REAL_DIR=$(CURDIR)/.cache/real OH_REAL_BINARY=$(CURDIR)/bin/oh go test -tags real -count=1 -timeout 60m -v ./e2e/real

clean:
	rm -rf bin dist
