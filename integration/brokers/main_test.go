package brokers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

var required = flag.String("require", "", "comma separated services whose absence is a failure instead of a skip: mosquitto, nats, registry")

// programs is the folder that holds what the run builds.
var programs string

// building is held by the test that builds: two would write one file.
var building sync.Mutex

func TestMain(m *testing.M) {
	flag.Parse()
	if *asHub != "" {
		os.Exit(beHub(*asHub))
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "rackboot-brokers-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	programs = dir
	return m.Run()
}

// missing skips the test, or fails it where the resource is required.
func missing(t *testing.T, resource, what string) {
	t.Helper()
	text := fmt.Sprintf("%s; run integration/packages as root, then go test ./integration/brokers -require=mosquitto,nats,registry", what)
	if slices.Contains(strings.Split(*required, ","), resource) {
		t.Fatal(text)
	}
	t.Skip(text)
}

// mosquittoProgram is Debian's; /usr/sbin is not in everybody's path.
func mosquittoProgram(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"mosquitto", "/usr/sbin/mosquitto"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "mosquitto", "mosquitto is not installed")
	return ""
}

// natsProgram builds the server from the module that go.mod names.
func natsProgram(t *testing.T) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	path := filepath.Join(programs, "nats-server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		missing(t, "nats", fmt.Sprintf("nats-server cannot be built: %v\n%s", err, out))
	}
	return path
}

// registryProgram is Debian's docker-registry, unpacked by integration/packages or
// installed.
func registryProgram(t *testing.T) string {
	t.Helper()
	if cache, err := os.UserCacheDir(); err == nil {
		path := filepath.Join(cache, "rackboot", "integration", "root", "usr", "bin", "docker-registry")
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	path, err := exec.LookPath("docker-registry")
	if err != nil {
		missing(t, "registry", "docker-registry is not installed")
	}
	return path
}
