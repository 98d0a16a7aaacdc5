package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/protocol"
)

func testTime() time.Time { return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC) }

func openAt(t *testing.T, dir string, now time.Time, names ...string) *PKI {
	t.Helper()
	p, err := open(dir, names, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(data)
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o (%v)", e.Name(), info.Mode().Perm(), err)
		}
	}
	return all
}

func TestOpenMakesKeysOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	p := openAt(t, dir, testTime(), "hub.example", "10.0.0.1", "HUB.example")
	first := files(t, dir)
	if len(first) != 5 {
		t.Errorf("files %v", first)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder mode %v, %v", info.Mode(), err)
	}
	if got := p.hub.cert.DNSNames; !slices.Equal(got, []string{"hub.example", "localhost"}) || len(p.hub.cert.IPAddresses) != 3 {
		t.Errorf("names %v %v", got, p.hub.cert.IPAddresses)
	}
	if p.ca.cert.NotAfter.Sub(testTime()) != caValidity || !p.ca.cert.MaxPathLenZero {
		t.Errorf("authority until %s", p.ca.cert.NotAfter)
	}
	again := openAt(t, dir, testTime(), "10.0.0.1", "hub.example") // another order
	if second := files(t, dir); !equalFiles(first, second, nil) {
		t.Error("opening again changed files")
	}
	if again.AdminToken() != p.AdminToken() || len(p.AdminToken()) != 43 || !bytes.Equal(p.Signer().Public(), again.Signer().Public()) {
		t.Error("token or signing key differ")
	}
	if data, err := os.ReadFile(p.AdminTokenPath()); err != nil || strings.TrimSpace(string(data)) != p.AdminToken() {
		t.Errorf("token file: %v", err)
	}
}

func equalFiles(a, b map[string]string, except []string) bool {
	for name, data := range a {
		if slices.Contains(except, name) == (b[name] == data) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestHubCertificateIsIssuedAgain(t *testing.T) {
	for _, row := range []struct {
		name  string
		names []string
		after time.Duration
		again bool
	}{
		{"nothing changed", []string{"hub.example"}, 0, false},
		{"31 days left", []string{"hub.example"}, hubValidity - 31*24*time.Hour, false},
		{"29 days left", []string{"hub.example"}, hubValidity - 29*24*time.Hour, true},
		{"ended", []string{"hub.example"}, hubValidity + time.Hour, true},
		{"another name", []string{"hub2.example"}, 0, true},
		{"one name more", []string{"hub.example", "10.0.0.1"}, 0, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pki")
			openAt(t, dir, testTime(), "hub.example")
			before := files(t, dir)
			p := openAt(t, dir, testTime().Add(row.after), row.names...)
			var except []string
			if row.again {
				except = []string{hubFile}
			}
			if !equalFiles(before, files(t, dir), except) {
				t.Error("wrong files changed")
			}
			if err := p.hub.cert.VerifyHostname(row.names[0]); err != nil {
				t.Error(err)
			}
		})
	}
}

// A hub that runs for a year shows a fresh certificate without a restart.
func TestRunningHubRenews(t *testing.T) {
	now := testTime()
	p, err := open(filepath.Join(t.TempDir(), "pki"), nil, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	first, err := p.BrokerTLS().GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(hubValidity - time.Hour)
	second, err := p.ClientTLS().GetClientCertificate(nil)
	if err != nil || first.Leaf.Equal(second.Leaf) || second.Leaf.NotAfter.Sub(now) < hubValidity {
		t.Errorf("valid until %s (%v)", second.Leaf.NotAfter, err)
	}
}

// Crash points of the first Open, and losses afterwards.
func TestDamagedFolder(t *testing.T) {
	remove := func(names ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, n := range names {
				if err := os.Remove(filepath.Join(dir, n)); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	put := func(name, data string, mode os.FileMode) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(data), mode); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, row := range []struct {
		name   string
		damage func(*testing.T, string)
		code   protocol.Code
		change []string // files that Open makes anew
	}{
		{"crash while a file was written", put(".new-"+caFile+"-1", "half", 0o600), "", nil},
		{"crash before the hub's certificate", remove(hubFile), "", []string{hubFile}},
		{"crash before the authority", remove(hubFile, caFile), "", []string{hubFile, caFile}},
		{"crash before the token", remove(hubFile, caFile, tokenFile), "", []string{hubFile, caFile, tokenFile}},
		{"token removed to have a new one", remove(tokenFile), "", []string{tokenFile}},
		{"hub's certificate damaged", put(hubFile, "x", 0o600), "", []string{hubFile}},
		{"authority lost", remove(caFile), protocol.CodeInvalid, nil},
		{"signing key lost", remove(signingFile), protocol.CodeInvalid, nil},
		{"authority damaged", put(caFile, "x", 0o600), protocol.CodeInvalid, nil},
		{"authority emptied", put(caFile, "", 0o600), protocol.CodeInvalid, nil},
		{"signing key damaged", put(signingFile, "x", 0o600), protocol.CodeInvalid, nil},
		{"token damaged", put(tokenFile, "x", 0o600), protocol.CodeInvalid, nil},
		{"authority far too long", put(caFile, strings.Repeat("x", maxFile+1), 0o600), protocol.CodeInvalid, nil},
		{"token readable by others", func(t *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, tokenFile), 0o644); err != nil {
				t.Fatal(err)
			}
		}, protocol.CodeDenied, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pki")
			openAt(t, dir, testTime())
			before := files(t, dir)
			row.damage(t, dir)
			_, err := open(dir, nil, testTime)
			if protocol.CodeOf(err) != row.code {
				t.Fatalf("got %v", err)
			}
			if err != nil {
				if protocol.HintOf(err) == "" {
					t.Errorf("%v has no hint", err)
				}
				return
			}
			if !equalFiles(before, files(t, dir), row.change) {
				t.Error("wrong files changed")
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	for _, name := range []string{"", "a b", "https://hub.example", "hub.example:8443", "*.example", "fe80::1%eth0", "a/b"} {
		if _, err := Open(filepath.Join(t.TempDir(), "pki"), []string{name}); protocol.CodeOf(err) != protocol.CodeInvalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(file, nil); protocol.CodeOf(err) != protocol.CodeUnavailable {
		t.Errorf("a file as folder: %v", err)
	}
	dir := filepath.Join(t.TempDir(), "pki")
	openAt(t, dir, testTime())
	if _, err := open(dir, nil, func() time.Time { return testTime().Add(caValidity + time.Hour) }); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("authority ended: %v", err)
	}
}

func TestCAPEM(t *testing.T) {
	p := openAt(t, filepath.Join(t.TempDir(), "pki"), testTime())
	block, rest := pem.Decode(p.CAPEM())
	if block == nil || len(rest) != 0 {
		t.Fatal("not one PEM block")
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !cert.IsCA || bytes.Contains(p.CAPEM(), []byte("PRIVATE")) {
		t.Errorf("%v, %v", cert, err)
	}
}
