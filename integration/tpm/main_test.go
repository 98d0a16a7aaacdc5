package tpm

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var required = flag.String("require", "", "comma separated resources whose absence is a failure instead of a skip: swtpm, images, logs")

// missing skips the test, or fails it where the resource is required.
func missing(t *testing.T, resource, what string) {
	t.Helper()
	text := what + "; run integration/packages as root, then go test ./integration/tpm -require=swtpm,images,logs"
	if slices.Contains(strings.Split(*required, ","), resource) {
		t.Fatal(text)
	}
	t.Skip(text)
}

// program is the path of an installed program.
func program(t *testing.T, resource, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, resource, name+" is not installed")
	}
	return path
}

// unpacked is a file of a Debian package that integration/packages unpacked: the newest that
// fits the pattern.
func unpacked(t *testing.T, pattern string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(cache, "rackboot", "integration", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		missing(t, "images", pattern+" is not there")
	}
	return found[len(found)-1]
}
