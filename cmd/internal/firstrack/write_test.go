package firstrack

import (
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"rackboot/cmd/internal/manifest"
	"rackboot/protocol"
	"rackboot/protocol/resource"
)

func site(system protocol.Inventory) *Site {
	s := &Site{
		Rack: "rack-1", Address: netip.MustParsePrefix("10.7.0.2/24"), Interface: "eth1", Dir: "/srv/lab",
		Account: resource.BMCAccount{Username: "admin", Password: `a "quoted": #password\`},
		Hosts: []Host{{
			Name: "server-1", Address: "https://10.6.0.21", BootMAC: "02:00:00:00:00:01", System: system,
			TLS: resource.BMCTLS{Fingerprint: "sha256:" + strings.Repeat("0f", 32)},
		}},
	}
	s.Defaults()
	return s
}

// objects reads the manifests of the folder itself, as rackctl apply -f does, and holds
// them to what the hub wants of them.
func objects(t testing.TB, files []File) []resource.Object {
	t.Helper()
	var sources []manifest.Source
	for _, f := range files {
		if filepath.Dir(f.Path) == "." || filepath.Dir(f.Path) == "try" {
			sources = append(sources, manifest.Source{Name: f.Path, Data: []byte(f.Text)})
		}
	}
	set, err := manifest.Parse(sources)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range set.Objects() {
		o.Default()
		if wrong := o.Validate(); len(wrong) > 0 {
			t.Errorf("%s: %v", o.Head().Metadata.Name, wrong)
		}
	}
	return set.Objects()
}

func TestFiles(t *testing.T) {
	for name, local := range map[string]bool{"usual": false, "local": true} {
		t.Run(name, func(t *testing.T) {
			s := site(protocol.Inventory{})
			s.Local = local
			files, err := s.Files()
			if err != nil {
				t.Fatal(err)
			}
			if got := objects(t, files); len(got) != 5 {
				t.Errorf("%d objects, want Rack, Segment, BMC, Server and Claim", len(got))
			}
			for _, f := range files {
				if strings.Contains(f.Text, "${") {
					t.Errorf("%s has a value that somebody is to fill in", f.Path)
				}
				if secret := strings.Contains(f.Text, "quoted"); secret != (f.Mode == 0o600) {
					t.Errorf("%s has mode %o", f.Path, f.Mode)
				}
			}
		})
	}
}

// Nothing is written over, and nothing is written at all where one file is there.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lab")
	files, err := site(protocol.Inventory{}).Files()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(dir, "rack.yaml")
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, files, false); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Fatalf("written over: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("%d files were written beside it, %v", len(entries), err)
	}
	if err := Write(dir, files, true); err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]fs.FileMode{"rack.yaml": 0o644, "agent/credentials": 0o700, "agent/credentials/rack-1": 0o600} {
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want mode %o", path, info, err, mode)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestWord(t *testing.T) {
	for in, want := range map[string]string{"lab": "lab", "": "''", "my lab": "'my lab'", "it's": `'it'\''s'`, "-x": "'-x'", "a$(b)c": "'a$(b)c'"} {
		if got := Word(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// What a BMC says of its system stays what it is: no words of a BMC become another object,
// another key or a line of their own.
func FuzzFiles(f *testing.F) {
	f.Add("Dell Inc.", "PowerEdge R750", "ABC\n---\nkind: Claim", "1", "02:00:00:00:00:02", "x86_64")
	f.Add("\u2028", "a: b # c", "\x00\x1b[2J", "\"}\n---", "ff:ff:ff:ff:ff:ff", "")
	f.Fuzz(func(t *testing.T, vendor, model, serial, uri, mac, arch string) {
		s := site(protocol.Inventory{Vendor: vendor, Model: model, Serial: serial, SystemURI: "/redfish/v1/Systems/" + uri, Architecture: arch, UUID: serial, Interfaces: []protocol.Interface{{MAC: mac}}})
		files, err := s.Files()
		if err != nil {
			t.Fatal(err)
		}
		var sources []manifest.Source
		for _, file := range files {
			if filepath.Dir(file.Path) == "." {
				sources = append(sources, manifest.Source{Name: file.Path, Data: []byte(file.Text)})
			}
		}
		set, err := manifest.Parse(sources)
		if err != nil {
			t.Fatal(err)
		}
		if len(set.Objects()) != 4 {
			t.Fatalf("%d objects", len(set.Objects()))
		}
	})
}
