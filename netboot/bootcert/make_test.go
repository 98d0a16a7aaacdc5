package bootcert

import (
	"bytes"
	"crypto/x509"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
	"rackboot/protocol"
)

// madeFolder is a folder with the pairs of all tests.
func madeFolder(t testing.TB) Folder {
	t.Helper()
	a, pairs := testPairs()
	f := Folder(t.TempDir())
	if err := f.writeAuthority(a); err != nil {
		t.Fatal(err)
	}
	for kind, p := range pairs {
		if err := f.writePair(kind, p); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func issued(made Made) string {
	var out []string
	if made.Authority {
		out = append(out, "ca")
	}
	for _, k := range made.Issued {
		out = append(out, string(k))
	}
	return strings.Join(out, " ")
}

func TestMakeFromNothing(t *testing.T) {
	f := Folder(filepath.Join(t.TempDir(), "https"))
	made, err := f.make(testNames(), testTime(), testKey)
	if err != nil || issued(made) != "ca ecdsa rsa" {
		t.Fatalf("made %q, %v", issued(made), err)
	}
	roots, err := f.Roots()
	if err != nil || len(roots) != 1 {
		t.Fatal(roots, err)
	}
	for _, kind := range kinds {
		p, ok, err := f.Pair(kind)
		if err != nil || !ok {
			t.Fatalf("%s: %v", kind, err)
		}
		if problems := Check(kind, p, testNames(), roots, testTime()); len(problems) > 0 {
			t.Errorf("%s: %v", kind, problems)
		}
	}
	der, list, _ := f.Enrolled()
	if raw, err := os.ReadFile(der); err != nil || !bytes.Equal(raw, roots[0].Raw) {
		t.Errorf("ca.cer is not the authority (%v)", err)
	}
	raw, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	if lists, err := parseSignatureLists(raw); err != nil || len(lists) != 1 || !bytes.Equal(lists[0].Signatures[0].Data, roots[0].Raw) {
		t.Errorf("ca.esl: %v, %v", lists, err)
	}
	for name, want := range map[string]os.FileMode{"ca.key": 0o600, "ecdsa.key": 0o600, "rsa.key": 0o600, "ca.pem": 0o644, "ca.esl": 0o644, "": 0o700} {
		if info, err := os.Stat(f.path(name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
	}
}

func TestMakeAgain(t *testing.T) {
	another := Names{Addrs: []netip.Addr{netip.MustParseAddr("10.8.0.1")}}
	later := testTime().Add(leafValidity - renewBefore)
	last := testTime().Add(caValidity - 24*time.Hour)
	remove := func(names ...string) func(*testing.T, Folder) {
		return func(t *testing.T, f Folder) {
			for _, n := range names {
				if err := os.Remove(f.path(n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	foreign := func(t *testing.T, f Folder) { // a certificate that signs itself
		p, _, err := f.Pair(netboot.KeyECDSA)
		if err != nil {
			t.Fatal(err)
		}
		own := &x509.Certificate{NotBefore: testTime(), NotAfter: later, IPAddresses: testNames().ips(), DNSNames: testNames().DNS}
		cert, err := sign(own, own, p.Key.Public(), p.Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.writePair(netboot.KeyECDSA, Pair{Chain: []*x509.Certificate{cert}, Key: p.Key}); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		name   string
		change func(*testing.T, Folder)
		names  Names
		now    time.Time
		want   string // what was made
		code   protocol.Code
	}{
		{"nothing to do", nil, testNames(), testTime(), "", ""},
		{"a day before it is due", nil, testNames(), later.Add(-24 * time.Hour), "", ""},
		{"due", nil, testNames(), later, "ecdsa rsa", ""},
		{"the authority is about to end, and they with it", nil, testNames(), last, "ecdsa rsa", ""},
		{"other names", nil, another, testTime(), "ecdsa rsa", ""},
		{"one is gone", remove("ecdsa.pem", "ecdsa.key"), testNames(), testTime(), "ecdsa", ""},
		{"a crash between key and certificate", remove("ecdsa.pem"), testNames(), testTime(), "ecdsa", ""},
		{"the authority's key is away, and nothing to do", remove("ca.key"), testNames(), testTime(), "", ""},
		{"the authority's key is away, and due", remove("ca.key"), testNames(), later, "", protocol.CodeConflict},
		{"the authority is gone, and certificates are not", remove("ca.key", "ca.pem"), testNames(), testTime(), "", protocol.CodeConflict},
		{"a certificate of somebody else", foreign, testNames(), testTime(), "", protocol.CodeConflict},
		{"a certificate of somebody else, without its key", func(t *testing.T, f Folder) { foreign(t, f); remove("ecdsa.key")(t, f) }, testNames(), testTime(), "", protocol.CodeInvalid},
		{"a key that everybody may read", func(t *testing.T, f Folder) {
			if err := os.Chmod(f.path("ca.key"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, testNames(), testTime(), "", protocol.CodeDenied},
		{"no names", nil, Names{}, testTime(), "", protocol.CodeInvalid},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := madeFolder(t)
			if row.change != nil {
				row.change(t, f)
			}
			made, err := f.make(row.names, row.now, testKey)
			if issued(made) != row.want || protocol.CodeOf(err) != row.code {
				t.Fatalf("made %q, %v", issued(made), err)
			}
			if err != nil {
				if protocol.HintOf(err) == "" {
					t.Errorf("no hint: %v", err)
				}
				return
			}
			if made, err = f.make(row.names, row.now, testKey); err != nil || issued(made) != "" {
				t.Errorf("made again %q, %v", issued(made), err)
			}
		})
	}
}
