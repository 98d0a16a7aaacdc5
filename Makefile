# Rackboot. `make` lists the targets. Only Go is needed for build, test and demo;
# the tools of the others are pinned in tools/go.mod and built on first use.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO        ?= go
VERSION   ?= 0.2.0-dev
TOOL      := $(GO) tool -modfile=tools/go.mod
# The time of the commit goes into the programs, where git says it: an agent takes no time
# before that for the present one.
STAMP     := $(if $(shell git status --porcelain >/dev/null 2>&1 && echo yes),true,false)
BUILD     := CGO_ENABLED=0 $(GO) build -buildvcs=$(STAMP) -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
# What packages and images are made for.
ARCHES    ?= amd64 arm64
FORMATS   ?= deb rpm
# Where they, and the programs in them, are put.
DIST      ?= $(CURDIR)/dist
RELEASE   ?= $(CURDIR)/bin
# Where `make install` puts things, below DESTDIR.
PREFIX     ?= /usr/local
SYSCONFDIR ?= /etc
DESTDIR    ?=
# The time of everything that is made is that of the commit, so that two builds are the same.
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
# More arguments for go test, as in `make test ARGS='-run Hold -v'`.
ARGS      ?=
# The release that this tree is to work with, v0.1.0: its commit, because not every clone has tags.
FROM      ?= 66fc704b9667f204946104e6a3543ccc98873778
# How long each fuzz target runs.
FUZZTIME  ?= 5s
# Everything but the tests with real brokers, browsers, TPMs, images and firmware, which `make integration`
# runs, as it runs those with the build tag host.
TESTED     = $$($(GO) list ./... | grep -Ev '^rackboot/integration/(alone|brokers|firmware|images|packaging|page|tpm)$$')
# And but long walks and tables, a sixth of what is left; CI has them in a stage of its own, and `make walks` runs them.
WALKS      = ^rackboot/integration/(cures|faults|holds)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## the six programs, into bin/
	$(BUILD) -o bin/ ./cmd/rack...

# Hub and agents whole, with firmware that gives up as real firmware does: they come last, when nothing is compiled and
# linked beside them.
LAST       = rackboot/integration/rack rackboot/integration/site
.PHONY: test
test: ## the tests that need nothing but Go, the long ones with fewer steps
	@export RACKBOOT_TEST_SHORT=1; code=0; \
	$(GO) test -p $$(($$(nproc) + 1)) $(ARGS) $$(echo $(TESTED) | tr ' ' '\n' | grep -Ev '$(WALKS)$$' | grep -Fxv $(LAST:%=-e %)) || code=1; \
	$(GO) test $(ARGS) $(LAST) || code=1; \
	exit $$code

.PHONY: walks
walks: ## what make test leaves out: walks through faults, vectors of holds, hints on every simulated BMC
	@$(GO) test $(ARGS) $$($(GO) list ./integration/... | grep -E '$(WALKS)$$')

.PHONY: race
race: ## the same, whole, with the race detector
	@$(GO) test -race $(ARGS) $(TESTED)

.PHONY: install
install: build ## programs, units, manual pages, completions and examples below DESTDIR and PREFIX, /usr/local by default
	tools/install install bin '$(DESTDIR)' '$(PREFIX)' '$(SYSCONFDIR)'

.PHONY: uninstall
uninstall: build ## take them away again; files in /etc and the folders of the daemons stay
	tools/install uninstall bin '$(DESTDIR)' '$(PREFIX)' '$(SYSCONFDIR)'

.PHONY: release
release:
	for arch in $(ARCHES); do GOOS=linux GOARCH=$$arch $(BUILD) -o $(RELEASE)/$$arch/ ./cmd/rack...; done
	$(GO) -C tools run ./licenses -texts $(RELEASE)/copyright $(ARCHES:%=$(RELEASE)/%/*)

.PHONY: packages
packages: release ## deb and rpm for ARCHES, into dist/
	nfpm=$$($(TOOL) -n nfpm); \
	for arch in $(ARCHES); do NFPM=$$nfpm VERSION=$(VERSION) FORMATS='$(FORMATS)' tools/packages/build $$arch $(RELEASE)/$$arch $(RELEASE)/copyright $(DIST); done

.PHONY: images
images: release ## container images of hub and agent for ARCHES, as OCI archives into dist/
	$(GO) -C tools run ./images -version $(VERSION) -copyright $(RELEASE)/copyright -out $(DIST) $(ARCHES:%=$(RELEASE)/%)

.PHONY: dist
dist: ## packages, images, a bill of materials and SHA256SUMS, into dist/, which has nothing else then
	tools/dist $(DIST)
	$(MAKE) packages images
	$(GO) -C tools run ./licenses -bom $(DIST)/rackboot-$(VERSION).cdx.json -version $(VERSION) $(ARCHES:%=$(RELEASE)/%/*)
	cp NOTICE $(DIST)/
	cd $(DIST) && sha256sum $$(find . -type f ! -name SHA256SUMS | cut -c3- | sort) >SHA256SUMS

.PHONY: demo
demo: build ## show the main job with two simulated servers; KEEP=1 stays up, ARGS='--scenario holds' shows another
	bin/rackboot-sim demo $(if $(KEEP),--keep) $(ARGS)

.PHONY: integration
integration: ## what needs more than Go: root, ip, nft and curl; real brokers; Chromium; images of xorriso; a TPM of swtpm; real firmware (QEMU, OVMF) in network namespaces, as root on Debian 12
	integration/packages
	$(GO) test -count=1 -tags=host -timeout=5m $(ARGS) $$(grep -rl '^//go:build host$$' --include='*_test.go' . | xargs -n 1 dirname | sort -u)
	$(GO) test -count=1 -timeout=5m $(ARGS) ./integration/images -require=iso
	$(GO) test -count=1 -timeout=6m $(ARGS) ./integration/page -require=chromium,axe
	$(GO) test -count=1 -timeout=5m $(ARGS) ./integration/tpm -require=swtpm,images,logs
	$(GO) test -count=1 -timeout=5m $(ARGS) ./integration/brokers -require=mosquitto,nats,registry
	$(GO) test -count=1 -timeout=19m $(ARGS) ./integration/firmware -require=root,qemu

.PHONY: first-hour
first-hour: ## the commands of README and guide as a newcomer runs them, each timed, as root; ARGS=-cold builds everything anew
	$(GO) test -tags=host -count=1 -v -timeout=20m -run='^TestJourneys$$' ./integration/firsthour $(ARGS)

.PHONY: pictures
pictures: ## draw docs/pictures anew: what the commands of README and guide show, of the last commit, as root
	$(GO) test -tags=host -count=1 -run '^TestJourneys$$/^(readme|guide)$$' ./integration/firsthour -pictures=$(CURDIR)/docs/pictures

.PHONY: storm
storm: build ## hub, agent and ten machines as processes, under every fault, as root; ARGS='-seed N -faults disk,read -for 20m'; of several hubs ARGS='-hubs 2'
	CGO_ENABLED=0 $(GO) build -buildvcs=false -trimpath -ldflags '-s -w' -tags storm -o bin/storm/ ./cmd/rackboot-hub ./cmd/rackboot-agent ./integration/storm
	$(if $(findstring -hubs,$(ARGS)),CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w' -o bin/storm/ github.com/nats-io/nats-server/v2)
	bin/storm/storm -bin bin $(ARGS)

.PHONY: interwork
interwork: build ## hub and agent one release apart, as processes under faults, as root; FROM=TAG ARGS='-for 5m'
	VERSION=$(VERSION) FROM=$(FROM) integration/interwork/run $(ARGS)

.PHONY: bench-iso
bench-iso: ## upload a file of 5 GiB into the hub's store: speed and memory; needs 6 GiB in TMPDIR
	$(GO) test ./hub/iso -run='^$$' -bench=Upload -benchtime=1x -timeout=30m

.PHONY: model
model: ## two hubs on one store, and all that can become of a rack in some steps from any moment: 12 million states in 1 to 6 minutes; ARGS=-model-states=20000000
	GOGC=40 $(GO) test ./hub/link -count=1 -timeout=120m -run='^TestHubsModel$$' -v -model-depth=5 -model-states=12000000 -model-every=4096 $(ARGS)

.PHONY: soak
soak: ## what is too long for each commit: millions of random steps of the decisions, a million of hub and agent, an hour of storm and one of several hubs, arm64 firmware (QEMU, AAVMF), firmware that measures into a TPM, Debian's installer from a repository that is cut off, and to a boot from disk, which needs Debian's mirror, as root on Debian 12
	$(GO) test ./protocol/decide -count=1 -timeout=30m -run='^TestProperties$$' -rapid.checks=10000 -v
	$(GO) test ./integration/faults -count=1 -timeout=60m -run='^TestRandomInterleavings$$' -steps=1000000 -keep-going -v
	$(MAKE) storm ARGS='-for 1h -require=root'
	$(MAKE) storm ARGS='-hubs 2 -for 30m -require=root'
	$(MAKE) storm ARGS='-hubs 3 -for 30m -require=root'
	$(GO) test ./integration/brokers -count=1 -timeout=20m -run='^TestManyRacksOfTwoHubs$$' -racks=100 -within=10s -v -require=mosquitto,nats
	integration/packages arm64
	$(GO) test -tags=soak -count=1 -timeout=19m $(ARGS) ./integration/firmware -run='AAVMF|BootEnvMirror' -require=root,qemu
	$(GO) test -tags=soak -count=1 -timeout=30m $(ARGS) ./integration/tpm -run='^TestFirmware' -require=swtpm,images,qemu
	integration/packages debian
	$(GO) test -tags=soak -count=1 -timeout=130m $(ARGS) ./integration/firmware -run='^TestOVMFDebian$$' -require=root,qemu

.PHONY: check
check: vet lint test ## what to run before sending a change

.PHONY: vet
vet: ## go vet, and the guard tests of the tree
	$(GO) vet -tags=host ./...
	$(GO) test .

.PHONY: lint
lint: ## golangci-lint with .golangci.yml
	$(TOOL) golangci-lint run ./...

.PHONY: format
format: ## gofumpt and goimports over the tree
	$(TOOL) golangci-lint fmt ./...

.PHONY: vuln
vuln: ## govulncheck; needs vuln.go.dev, or GOVULNDB with a copy of it
	$(TOOL) govulncheck ./...

.PHONY: licenses
licenses: build ## write docs/DEPENDENCIES.md and NOTICE: what the programs contain, and its licences
	@$(GO) -C tools run ./licenses -table $(or $(OUT),$(CURDIR))/docs/DEPENDENCIES.md -notice $(or $(OUT),$(CURDIR))/NOTICE $(CURDIR)/bin/rack*

.PHONY: fuzz
fuzz: ## each fuzz target for FUZZTIME
	@packages=$$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n 1 dirname | sort -u); \
	test -n "$$packages"; \
	GO=$(GO) xargs -P 2 -n 1 .ci/fuzz $(FUZZTIME) <<< "$$packages"

.PHONY: openapi
openapi: ## rewrite docs/openapi.json, and the JSON Schemas of configs/schemas
	$(GO) test ./hub/api/route -run '^TestFieldDocsAreTheComments$$' -update
	$(GO) test ./hub/api -run '^TestOpenAPIPage$$' -update
	$(GO) test ./hub/api/route -run '^TestKindSchemas$$' -update

.PHONY: client
client: ## rewrite client/client.gen.go from docs/openapi.json
	@$(GO) -C tools run ./client -document $(CURDIR)/docs/openapi.json -out $(or $(OUT),$(CURDIR)/client)/client.gen.go

.PHONY: bench
bench: ## every benchmark
	@$(GO) test -run '^$$' -bench . -benchmem $(ARGS) $(TESTED)

.PHONY: bench-bmc
bench-bmc: ## the BMC driver against 200 slow simulated BMCs, four to five minutes
	$(GO) run ./integration/benchbmc $(ARGS)

.PHONY: bench-netboot
bench-netboot: ## the boot servers beside Kea, dnsmasq, nginx and tftpd-hpa, as root, five to ten minutes; ARGS=-install gets those
	$(GO) run ./integration/benchnetboot $(ARGS)

.PHONY: bench-storm
bench-storm: ## a room of 500 servers that boots at once, beside Kea, dnsmasq, nginx and tftpd-hpa, five rounds, as root, about an hour; ARGS=-install gets those; ARGS='-only storm -field https -json'
	$(GO) run ./integration/benchnetboot -only dhcp,offers,storm -rounds 5 -period 2s $(ARGS)

.PHONY: bench-fs
bench-fs: ## files out of an ISO image beside nginx with the extracted ones, rendering for 1,000 servers, swaps under load, three minutes; ARGS=-install gets nginx
	$(GO) run ./integration/benchfs $(ARGS)

.PHONY: bench-rack
bench-rack: ## one rackboot-sim rack with 500 machines that are all installed at once: time, memory; a few minutes; ARGS=-machines=100
	$(GO) test -tags=host ./integration/sim -run='^$$' -bench='^BenchmarkRack$$' -benchtime=1x -timeout=15m $(ARGS)

.PHONY: bench-agent
bench-agent: ## memory and processor time of an agent that reads 500 machines, two minutes; ARGS=-poll=500ms
	$(GO) test -tags=host ./integration/sim -run='^$$' -bench='^BenchmarkAgent$$' -benchtime=1x -timeout=15m $(ARGS)

.PHONY: bench-claims
bench-claims: ## 500 claims given to one agent at once, until the last machine is switched on, half a minute; ARGS=-claims=50
	$(GO) test ./agent -run='^$$' -bench='^BenchmarkClaims$$' -benchtime=1x -timeout=15m $(ARGS)

.PHONY: bench-fence
bench-fence: ## from a hold to its receipt, alone and under five loads, four to six minutes
	$(GO) run ./integration/benchfence $(ARGS)

.PHONY: bench-fleet
bench-fleet: build ## a hub with 100, 300 and 1,000 racks of 50 servers at rest, under holds, after power cuts and kill -9, 25 minutes; ARGS='-racks=100'
	$(GO) run ./integration/benchfleet -commit="$$(git rev-parse --short HEAD 2>/dev/null)" $(ARGS)

.PHONY: mutate-bmc
mutate-bmc: ## take behaviours out of BMC driver and simulator; a test must notice each, ten to twenty minutes
	$(GO) run ./integration/mutate $(ARGS)

.PHONY: mutate-decide
mutate-decide: ## break what decides about boots; the properties must notice each, five minutes
	$(GO) run ./integration/mutate $(ARGS) decide.txt

.PHONY: cover
cover: ## statement coverage by package, and cover.html
	@mkdir -p bin
	@$(GO) test -coverprofile=bin/cover.out -coverpkg=./... $(ARGS) $(TESTED)
	@$(GO) tool cover -html=bin/cover.out -o bin/cover.html
	@$(GO) tool cover -func=bin/cover.out | tail -n 1

.PHONY: clean
clean: ## remove bin/ and dist/
	rm -rf bin dist
