package firmware

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// childVar names what a copy of the test program does instead of testing: it is
// the process that runs inside a namespace.
const childVar = "RACKBOOT_TEST_CHILD"

var required = flag.String("require", "", "comma separated resources whose absence is a failure instead of a skip: root, qemu")

func TestMain(m *testing.M) {
	if name := os.Getenv(childVar); name != "" {
		if err := child(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	os.Exit(m.Run())
}

// need skips the test, or fails it if the resource is required, where something
// that it needs is not there; more are files that not all tests need.
func need(t *testing.T, more ...string) {
	t.Helper()
	missing := func(resource, what string) {
		t.Helper()
		text := fmt.Sprintf("%s; run integration/packages as root, as make soak does for its own tests, then go test ./integration/firmware -require=root,qemu", what)
		if slices.Contains(strings.Split(*required, ","), resource) {
			t.Fatal(text)
		}
		t.Skip(text)
	}
	if os.Geteuid() != 0 {
		missing("root", "network namespaces need root")
	}
	for _, tool := range []string{"qemu-system-x86_64", "objcopy", "mkfs.vfat", "sfdisk", "mcopy", "ip", "nft", "tcpdump", "atftp", "tftp", "dhclient", "udhcpc", "dhcrelay", "dnsmasq", "xorriso"} {
		if _, err := exec.LookPath(tool); err != nil {
			missing("qemu", tool+" is not installed")
		}
	}
	for _, file := range append(more, ovmfCode, ovmfVars, secureCode, secureVars, unpacked(t, newerCode), unpacked(t, "usr/bin/docker-registry"), loaderOf(t, "trixie-amd64", "usr/lib/ipxe/snponly.efi"), loaderOf(t, "bookworm-amd64", installerFiles+"/linux")) {
		if _, err := os.Stat(file); err != nil {
			missing("qemu", file+" is not there")
		}
	}
}

// unpacked is a file of a Debian package that integration/packages unpacked.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "rackboot", "integration", "root", path)
}
