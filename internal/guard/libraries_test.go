package guard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A library says which packages import an outside module, or a part of one.
type library struct {
	path   string
	owners []string
	why    string // why more than one owner, where there are more
}

// libraries gives each outside library its owner. What everybody sees is our own
// word for it.
func libraries() []library {
	return []library{
		{"github.com/charmbracelet/x/vt", []string{"integration/shellpage/picture"}, ""},
		{"github.com/eclipse/paho.mqtt.golang", []string{"protocol/link"}, ""},
		{"github.com/fxamacker/cbor/v2", []string{"protocol/wire"}, ""},
		{"github.com/veraison/go-cose", []string{"protocol/wire"}, ""},
		{"github.com/klauspost/compress", []string{"protocol/wire", "protocol/backupfile", "netboot/fsview", "state/jetstream"}, "messages, archives, and copies of streams as their server reads them"},
		{"filippo.io/age", []string{"protocol/backupfile"}, ""},
		{"github.com/ProtonMail/go-crypto", []string{"hub/iso/openpgp"}, ""},
		{"github.com/ulikunitz/xz", []string{"netboot/fsview"}, ""},
		{"github.com/dgraph-io/badger/v4", []string{"state/badger"}, ""},
		{"github.com/minio/minio-go/v7", []string{"state/depot/s3"}, ""},
		{"google.golang.org/protobuf", []string{"state/badger", "agent/otlp"}, "in which Badger's tables have their checksums, and OTLP its messages"},
		{"go.opentelemetry.io/proto/slim/otlp", []string{"agent/otlp"}, ""},
		{"golang.org/x/net/http/httpguts", []string{"agent/otlp"}, ""},
		{"github.com/nats-io/nats.go", []string{"state/jetstream", "hub/broker", "hub/cluster"}, "the broker makes streams and hands out its in-process connection; cluster connects to servers of the user's"},
		{"github.com/nats-io/nats-server/v2/server", []string{"hub/broker"}, ""},
		{"github.com/nats-io/nats-server/v2/server/archive", []string{"state/jetstream"}, ""},
		{"github.com/stmcginnis/gofish", []string{"bmc/redfish"}, ""},
		{"github.com/insomniacslk/dhcp", []string{"netboot/dhcp", "netboot/dhcp6", "netboot/firmware", "netboot/probe", "integration/installer"}, "a codec: two servers and a simulated client; and the clients of images"},
		{"github.com/google/go-containerregistry", []string{"netboot/image", "integration/sim"}, "the puller, and a registry to pull from"},
		{"github.com/google/go-tpm/tpm2", []string{"netboot/attest/chip", "netboot/attest/enrol", "netboot/attest/quote", "netboot/attest/quotetest", "netboot/attest/seal", "netboot/attest/tpmkey", "integration/tpm/witness"}, "structures of TPMs, each where it is judged or made; and a machine that has one"},
		{"github.com/coreos/ignition/v2", []string{"netboot/ignition"}, ""},
		{"github.com/coreos/butane", []string{"netboot/ignition"}, ""},
		{"github.com/coreos/stream-metadata-go", []string{"hub/catalogue"}, ""},
		{"github.com/coreos/vcontext", []string{"netboot/ignition"}, ""},
		{"github.com/danielgtaylor/huma/v2", []string{"hub/api", "hub/api/gate", "hub/api/route"}, "routes, what requests pass before them, and handlers that stream"},
		{"github.com/chromedp/chromedp", []string{"integration/page"}, "a browser before the page"},
		{"github.com/chromedp/cdproto", []string{"integration/page"}, "what a browser says of a page's scripts"},
		{"github.com/oklog/ulid/v2", []string{"hub/daemon", "agent"}, "ids of holds, wherever they are placed"},
		{"github.com/Masterminds/sprig/v3", []string{"netboot/bootenv"}, ""},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"netboot/bootenv", "cmd/internal/manifest"}, "params of people, and files against the hub's schemas"},
		{"github.com/spf13/cobra", []string{"cmd/internal/cli/...", "cmd/internal/serve/...", "cmd/internal/simulate", "cmd/internal/manual"}, "command lines"},
		{"github.com/spf13/pflag", []string{"cmd/internal/cli/backup", "cmd/internal/cli/object", "cmd/internal/depots", "cmd/internal/manual"}, "their pages, and flags that two commands share"},
		{"charm.land/bubbletea/v2", []string{"cmd/internal/cli/top"}, "keys and screens of a terminal"},
		{"github.com/charmbracelet/x/ansi", []string{"cmd/internal/cli/top"}, "how wide a text is on a screen"},
		{"github.com/oapi-codegen/runtime", []string{"client"}, "what generated calls need to write parameters"},
		{"github.com/evanphx/json-patch/v5", []string{"cmd/internal/cli/object"}, ""},
		{"github.com/rogpeppe/go-internal/diff", []string{"cmd/internal/cli/object"}, ""},
		{"k8s.io/client-go/util/jsonpath", []string{"cmd/internal/cli/path"}, ""},
		{"github.com/goccy/go-yaml", []string{"agent/daemon", "hub/daemon", "cmd/internal/manifest", "integration/sim", "netboot/bootenv"}, "a reader for each file format, and what templates write"},
		{"github.com/prometheus/common/expfmt", []string{"hub/support"}, "metrics as a text"},
		{"github.com/prometheus/client_model", []string{"hub/exporter"}, "a fleet's series in few pieces of memory"},
		{"github.com/prometheus/client_golang", []string{"internal/metrics", "protocol/link", "state/...", "bmc/redfish", "netboot/...", "agent/...", "hub/...", "fdlimit", "ready"}, "metrics are made where they are counted"},
		{"github.com/mdlayher/packet", []string{"netboot/dhcp"}, ""},
		{"golang.org/x/net/ipv6", []string{"netboot/dhcp6"}, ""},
		{"golang.org/x/net/bpf", []string{"netboot/dhcp"}, ""},
		{"golang.org/x/sys", []string{"cmd/internal/terminal", "netboot/probe", "netboot/probe/discard", "netboot/probe/lldp", "netboot/tftp", "integration/benchnetboot", "integration/installer", "integration/netns", "integration/powerlog", "integration/tpm/witness", "protocol/link", "state/file"}, "what is typed unseen, and how big a screen is, three inits, the disks' requests, raw sockets, sockets without a goroutine, namespaces, a clock that nobody sets, a TCP option, and an exchange of folders"},
		{"github.com/coreos/go-oidc/v3/oidc", []string{"hub/people", "cmd/internal/cli/person"}, "who verifies tokens, and who asks for them"},
		{"github.com/go-jose/go-jose/v4", []string{"hub/people", "integration/identity"}, "keys of a provider, and one that signs"},
		{"golang.org/x/oauth2", []string{"hub/people", "cmd/internal/cli/person"}, "who has people log in at a provider"},
		{"github.com/zitadel/oidc/v3", []string{"integration/identity"}, ""},
		{"golang.org/x/sync", []string{"internal/metrics", "agent/...", "hub/...", "netboot/httpboot", "netboot/tftp"}, "groups of goroutines"},
		{"golang.org/x/time", []string{"agent/boot", "agent/discover", "agent/files", "agent/link", "agent/reports", "agent/server", "agent/stream", "hub/api", "hub/api/gate", "hub/link", "hub/wake"}, "limits of rates"},
	}
}

// testLibraries are what tests import on top.
func testLibraries() []library {
	anywhere := []string{"..."}
	return []library{
		{"github.com/google/go-cmp", anywhere, ""},
		{"go.uber.org/goleak", anywhere, ""},
		{"pgregory.net/rapid", anywhere, ""},
		{"github.com/rogpeppe/go-internal", []string{"cmd/..."}, "scripts of commands"},
		{"github.com/prometheus/client_golang", anywhere, ""},
		{"golang.org/x/net/nettest", []string{"integration/memnet"}, ""},
		{"github.com/santhosh-tekuri/jsonschema/v6", []string{"integration/sim"}, "holds an example against its schema"},
		{"github.com/goccy/go-yaml", []string{"integration/firmware", "integration/holds", "integration/rack", "internal/guard"}, "the examples; rows of tests"},
		{"github.com/insomniacslk/dhcp", []string{"integration/firmware"}, "reads captures"},
		{"golang.org/x/net/ipv6", []string{"integration/firmware"}, "is the router of a segment"},
		{"github.com/insomniacslk/dhcp", []string{"agent/discover", "integration/rack"}, "simulated BMCs ask for leases"},
		{"github.com/insomniacslk/dhcp", []string{"integration/alone"}, "an intruder's messages"},
		{"go.opentelemetry.io/proto/slim/otlp", []string{"integration/rack"}, "is a collector"},
		{"google.golang.org/protobuf", []string{"integration/rack"}, "reads what a collector gets"},
		{"github.com/ProtonMail/go-crypto", []string{"integration/site"}, "is the vendor who signs files"},
		{"github.com/google/go-containerregistry", []string{"integration/packaging"}, "reads the images that are built"},
		{"golang.org/x/sys", []string{"integration/packaging"}, "an attribute of files"},
		{"golang.org/x/sys", []string{"cmd/internal/cli"}, "a terminal that screens are read from"},
		{"golang.org/x/sys", []string{"integration/alone"}, "an intruder's frames"},
		{"filippo.io/age", []string{"hub/backup"}, "makes keys"},
		{"github.com/standard-webhooks/standard-webhooks/libraries", []string{"hub/webhooks"}, "verifies what is signed"},
		{"github.com/go-jose/go-jose/v4", []string{"hub/people"}, "signs what is wrong"},
		{"github.com/mochi-mqtt/server/v2", []string{"protocol/link", "integration/faults", "integration/upgrade"}, "a broker inside the bubble, and one of a test's own hub"},
		{"github.com/google/go-tpm/tpm2", []string{"agent/tpm", "integration/tpm"}, "areas of keys; and is the machine that commands its TPM"},
		{"github.com/eclipse/paho.mqtt.golang", []string{"hub/broker", "integration/brokers"}, "another client than ours"},
		{"github.com/nats-io/nats-server/v2", []string{"state/jetstream", "hub/contents"}, "the server the store runs on"},
		{"github.com/nats-io/nats-server/v2/conf", []string{"hub/accounts"}, "reads the accounts that are written"},
		{"github.com/nats-io/nats.go", []string{"hub/contents", "integration/brokers"}, "the store on a cluster whose leaders are killed"},
		{"github.com/nats-io/jwt/v2", []string{"integration/brokers"}, "credentials as nsc writes them"},
		{"github.com/nats-io/nkeys", []string{"integration/brokers"}, "their keys"},
	}
}

// A library that is new, or imported elsewhere, is a decision that belongs here.
func TestLibraries(t *testing.T) {
	report(t, libraryProblems(golist(t, "./..."), libraries(), testLibraries()))
}

// libraryProblems judges what packages and their tests import from outside.
func libraryProblems(all []listed, rows, more []library) []string {
	var problems []string
	used := map[string]bool{} // by table and pattern
	check := func(p listed, imports []string, tables map[string][]library, what string) {
		for _, i := range imports {
			if ours(i) || standard(i) {
				continue
			}
			owned := false
			for table, rows := range tables {
				for _, r := range rows {
					for _, o := range r.owners {
						if match(r.path+"/...", i) && (o == "..." || match(o, p.name())) {
							owned, used[table+r.path+o] = true, true
						}
					}
				}
			}
			if !owned {
				problems = append(problems, fmt.Sprintf("%s %s imports %s; the table of libraries gives it to others", what, p.name(), i))
			}
		}
	}
	for _, p := range all {
		check(p, p.Imports, map[string][]library{"": rows}, "package")
		check(p, p.ownTests(), map[string][]library{"": rows, "test ": more}, "a test of")
	}
	for table, rows := range map[string][]library{"": rows, "test ": more} {
		for _, r := range rows {
			if len(r.owners) > 1 && r.why == "" {
				problems = append(problems, fmt.Sprintf("%slibrary %s has %d owners and no reason", table, r.path, len(r.owners)))
			}
			for _, o := range r.owners {
				if !used[table+r.path+o] {
					problems = append(problems, fmt.Sprintf("%slibrary %s is not imported by %s", table, r.path, o))
				}
			}
		}
	}
	return problems
}

func TestLibrariesCanFail(t *testing.T) {
	tree := []listed{
		{ImportPath: "rackboot/a", Imports: []string{"fmt", "x.org/lib/sub", "rackboot/b"}},
		{ImportPath: "rackboot/b", TestImports: []string{"x.org/cmp"}},
	}
	for _, c := range []struct {
		name       string
		rows, more []library
		want       string
	}{
		{"good", []library{{path: "x.org/lib", owners: []string{"a"}}}, []library{{path: "x.org/cmp", owners: []string{"..."}}}, ""},
		{"no owner", nil, []library{{path: "x.org/cmp", owners: []string{"b"}}}, "package a imports x.org/lib/sub"},
		{"test without owner", []library{{path: "x.org/lib", owners: []string{"a"}}}, nil, "a test of b imports x.org/cmp"},
		{"a prefix is not the module", []library{{path: "x.org/lib", owners: []string{"a"}}}, []library{{path: "x.org/c", owners: []string{"b"}}, {path: "x.org/cmp", owners: []string{"b"}}}, "x.org/c is not imported"},
		{"owner that does not use it", []library{{path: "x.org/lib", owners: []string{"a", "b"}, why: "two"}}, []library{{path: "x.org/cmp", owners: []string{"..."}}}, "not imported by b"},
		{"two owners, no reason", []library{{path: "x.org/lib", owners: []string{"a", "a/..."}}}, []library{{path: "x.org/cmp", owners: []string{"..."}}}, "no reason"},
	} {
		t.Run(c.name, func(t *testing.T) {
			expect(t, libraryProblems(tree, c.rows, c.more), c.want)
		})
	}
}

// A shut says what a command does not contain, however far down.
type shut struct {
	cmd string
	out []string
	why string
}

func shuts() []shut {
	const mod = module + "/"
	simulators := []string{mod + "bmc/sim", mod + "bmc/sim/...", mod + "netboot/firmware", mod + "integration/..."}
	return []shut{
		{"rackboot-agent", simulators, "what runs in a rack drives real servers"},
		{"rackboot-hub", simulators, "what runs in production has no simulator"},
		{"rackboot-agent", []string{"github.com/nats-io/nats-server/v2/...", "github.com/danielgtaylor/huma/v2/..."}, "the agent serves no broker and no API"},
		{"rackboot-launcher", []string{mod + "state/badger", mod + "protocol/wire", mod + "bmc/...", mod + "netboot/...", "github.com/prometheus/client_golang/...", "github.com/spf13/cobra/..."}, "it is what an agent returns to: little of it can fail"},
		{"rackboot-probe", []string{mod + "state/...", "github.com/prometheus/client_golang/...", "github.com/spf13/cobra/..."}, "it is small, and in every initramfs"},
		{"rackctl", []string{"github.com/dgraph-io/badger/v4/...", "github.com/nats-io/nats-server/v2/..."}, "a small command without a store or a broker"},
	}
}

func TestCommandsDoNotContain(t *testing.T) {
	known := golist(t, "-deps", "-test", "./...")
	for _, s := range shuts() {
		report(t, shutProblems(s, golist(t, "-deps", "./cmd/"+s.cmd), known))
	}
}

// shutProblems judges the dependencies of a command. A pattern that fits nothing
// in the whole module is an error too.
func shutProblems(s shut, deps, known []listed) []string {
	var problems []string
	for _, pattern := range s.out {
		fits := func(l listed) bool { return match(pattern, l.ImportPath) }
		if i := slices.IndexFunc(deps, fits); i >= 0 {
			via := slices.IndexFunc(deps, func(l listed) bool { return slices.Contains(l.Imports, deps[i].ImportPath) })
			problems = append(problems, strings.TrimSpace(fmt.Sprintf("%s contains %s by way of %s: %s", s.cmd, deps[i].ImportPath, deps[max(via, 0)].ImportPath, s.why)))
		}
		if !slices.ContainsFunc(known, fits) {
			problems = append(problems, fmt.Sprintf("%s: %s fits no package at all", s.cmd, pattern))
		}
	}
	return problems
}

func TestCommandsDoNotContainCanFail(t *testing.T) {
	known := []listed{{ImportPath: "rackboot/cmd/x", Imports: []string{"rackboot/sim"}}, {ImportPath: "rackboot/sim"}, {ImportPath: "y.org/lib/sub"}}
	expect(t, shutProblems(shut{cmd: "x", out: []string{"y.org/lib/..."}}, known[:2], known), "")
	expect(t, shutProblems(shut{cmd: "x", out: []string{"rackboot/sim"}}, known[:2], known), "x contains rackboot/sim by way of rackboot/cmd/x")
	expect(t, shutProblems(shut{cmd: "x", out: []string{"rackboot/gone"}}, known[:2], known), "fits no package")
}
