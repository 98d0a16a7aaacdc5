//go:build host

package packaging

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// limit is many times of what anything here takes, builds apart.
const limit = 40 * time.Second

// The version that packages have, and one that comes after it.
const (
	thisVersion  = "0.1.0-dev"
	laterVersion = "0.1.0"
)

// scratch is the folder of everything that is built.
var scratch string

func TestMain(m *testing.M) {
	code := func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "rackboot-packaging-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		return m.Run()
	}()
	os.Exit(code)
}

// run runs a command and returns what it says on either output.
func run(cmd *exec.Cmd) (string, error) {
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out), err
}

// made is `make TARGET` for this architecture; it returns the folder with the files.
func made(target, version, name string, env ...string) (string, error) {
	dist := filepath.Join(scratch, name, "dist")
	cmd := exec.Command("make", "--no-print-directory", "-C", "../..", target, "VERSION="+version, "ARCHES="+runtime.GOARCH, "DIST="+dist, "RELEASE="+filepath.Join(scratch, name, "bin"))
	cmd.Env = append(os.Environ(), env...)
	_, err := run(cmd)
	return dist, err
}

var (
	thisRelease  = sync.OnceValues(func() (string, error) { return made("dist", thisVersion, "this") })
	sameRelease  = sync.OnceValues(func() (string, error) { return made("dist", thisVersion, "same", "TZ=Asia/Tokyo", "LC_ALL=C") })
	laterRelease = sync.OnceValues(func() (string, error) { return made("packages", laterVersion, "later", "FORMATS=deb") })
)

// dist is the folder of a release, which the first test that asks builds.
func dist(t *testing.T, release func() (string, error)) string {
	t.Helper()
	dir, err := release()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func read(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
