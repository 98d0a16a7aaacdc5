package chain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func TestStop(t *testing.T) {
	all := site(RoleShim, RoleGRUB)
	plain := site(RoleShim, RoleGRUB)
	plain[RoleGRUB] = Loader{Digest: "sha256:grub"}
	for _, row := range []struct {
		name string
		have Loaders
		http bool
		want string // or a part of the error
		ok   bool
	}{
		{"HTTP", all, true, "shimx64.efi=shim grubx64.efi=grub", true},
		{"TFTP", plain, false, "shimx64.efi=shim grubx64.efi=grub", true},
		{"a GRUB that stops at a prompt after HTTP boot (Debian 12)", plain, true, "cannot load by UEFI HTTP boot", false},
		{"GRUB alone is refused by Secure Boot", site(RoleGRUB), false, "is not there", false},
		{"nothing", nil, true, "is not there", false},
	} {
		c, err := Stop("amd64", row.have, row.http)
		switch {
		case row.ok && (err != nil || listed(c) != row.want || c.First != "shimx64.efi"):
			t.Errorf("%s: %q, %v", row.name, listed(c), err)
		case !row.ok && (protocol.CodeOf(err) != protocol.CodeUnsupported || !strings.Contains(err.Error(), row.want)):
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// TestLookupStop: the names that loaders ask for lead to what waits, and to no kernel.
func TestLookupStop(t *testing.T) {
	c, err := Stop("amd64", site(RoleShim, RoleGRUB), true)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"shimx64.efi": "shim", "grubx64.efi": "grub", "grub.cfg": "config", "grub/grub.cfg": "config", "grub.cfg-01-52-54-00-12-34-56": "config",
		"autoexec.ipxe": "script", "kernel": "", "initrd": "", "boot.efi": "", "revocations_sbat.efi": "", "": "",
	} {
		f, waits, ok := LookupStop(c, name, "server-1", 0)
		got := strings.TrimPrefix(f.Digest, "sha256:")
		switch {
		case strings.HasPrefix(f.Text, "#!ipxe\n"):
			got = "script"
		case f.Text != "":
			got = "config"
		}
		if got != want || ok != (want != "") || waits != (f.Text != "") {
			t.Errorf("%q is %q (%t, waits %t), want %q", name, got, ok, waits, want)
		}
	}
}

func TestStopText(t *testing.T) {
	for name, got := range map[string]string{
		"stop.cfg": StopConfig("server-1", 0), "stopoff.cfg": StopConfig("server-1", 90*time.Second),
		"stop.ipxe": stopScript("server-1", 0), "stopoff.ipxe": stopScript("server-1", 1500*time.Millisecond),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || got != string(want) {
			t.Errorf("%s (%v):\n%s", name, err, got)
		}
	}
}
