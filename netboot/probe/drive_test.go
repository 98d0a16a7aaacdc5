package probe

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"rackboot/netboot/iso"
	"rackboot/protocol"
)

// The config image is found among disks, CDs and drives without a medium, by its label.
func TestDriveURL(t *testing.T) {
	image := func(label string) []byte {
		t.Helper()
		b, err := iso.Write(label, []iso.File{{Name: protocol.ConfigURL, Content: []byte("http://10.7.0.1/b/t/\n")}}, time.Unix(0, 0))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, row := range map[string]struct {
		drives map[string][]byte
		want   string
	}{
		"a CD drive beside another":  {map[string][]byte{"sr0": image("INSTALL"), "sr1": image(protocol.ConfigLabel)}, "http://10.7.0.1/b/t/"},
		"a stick beside a disk":      {map[string][]byte{"sda": make([]byte, 64<<10), "sdb": image(protocol.ConfigLabel)}, "http://10.7.0.1/b/t/"},
		"an empty drive":             {map[string][]byte{"sr0": nil}, ""},
		"a partition is no drive":    {map[string][]byte{"sda1": image(protocol.ConfigLabel)}, ""},
		"none":                       {nil, ""},
		"another image of this form": {map[string][]byte{"sr0": image("OTHER")}, ""},
	} {
		dir := t.TempDir()
		for drive, content := range row.drives {
			if err := os.WriteFile(filepath.Join(dir, drive), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := driveURL(dir); got != row.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
