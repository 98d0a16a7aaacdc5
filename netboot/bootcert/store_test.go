package bootcert

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/netboot"
	"rackboot/protocol"
)

// open opens a store whose clock begins at the tests' time and goes on with the
// bubble's.
func open(t *testing.T, f Folder, names Names, log *bytes.Buffer) (*Store, error) {
	t.Helper()
	begun := time.Now()
	return openStore(StoreConfig{
		Folder: f, Names: func() Names { return names }, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Registerer: prometheus.NewRegistry(), Clock: func() time.Time { return testTime().Add(time.Since(begun)) },
	}, testKey)
}

// TestStoreFollows: handshakes get what the files are, within a look.
func TestStoreFollows(t *testing.T) {
	other := Names{Addrs: []netip.Addr{netip.MustParseAddr("10.7.0.1"), netip.MustParseAddr("10.8.0.1")}, DNS: testNames().DNS}
	authority, _ := testPairs()
	for _, row := range []struct {
		name     string
		change   func(t *testing.T, f Folder)
		wait     time.Duration
		replaced bool // the ECDSA certificate
		there    bool
		warns    string
	}{
		{"nothing", func(*testing.T, Folder) {}, lookEvery, false, true, ""},
		{"another certificate", func(t *testing.T, f Folder) {
			p, err := authority.Issue(netboot.KeyECDSA, other, testTime())
			if err != nil {
				t.Fatal(err)
			}
			if err := f.writePair(netboot.KeyECDSA, p); err != nil {
				t.Fatal(err)
			}
		}, lookEvery, true, true, ""},
		{"half of another", func(t *testing.T, f Folder) {
			if err := os.Remove(f.path("ecdsa.key")); err != nil {
				t.Fatal(err)
			}
		}, lookEvery, false, true, "no private key"},
		{"taken away", func(t *testing.T, f Folder) {
			for _, name := range []string{"ecdsa.key", "ecdsa.pem"} {
				if err := os.Remove(f.path(name)); err != nil {
					t.Fatal(err)
				}
			}
		}, lookEvery, true, false, ""},
		{"one that firmware refuses", func(t *testing.T, f Folder) {
			p, err := authority.Issue(netboot.KeyECDSA, Names{Addrs: []netip.Addr{netip.MustParseAddr("10.9.0.1")}}, testTime())
			if err != nil {
				t.Fatal(err)
			}
			if err := f.writePair(netboot.KeyECDSA, p); err != nil {
				t.Fatal(err)
			}
		}, lookEvery, false, true, "not for the address 10.7.0.1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := madeFolder(t)
			if err := os.Remove(f.path("ca.key")); err != nil { // so that nothing is repaired
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				s, err := open(t, f, testNames(), &log)
				if err != nil {
					t.Fatal(err)
				}
				before := s.Certificate(netboot.KeyECDSA)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- s.Run(ctx) }()
				row.change(t, f)
				time.Sleep(3*row.wait + time.Second)
				synctest.Wait()
				after := s.Certificate(netboot.KeyECDSA)
				if (after != nil) != row.there || (after != before) != row.replaced {
					t.Errorf("before %p, after %p", before, after)
				}
				if s.Certificate(netboot.KeyRSA) == nil {
					t.Error("the other certificate is gone")
				}
				if got := testutil.ToFloat64(s.metrics.failures); (got > 0) != (row.warns != "") {
					t.Errorf("%v failures", got)
				}
				if n := strings.Count(log.String(), "level=WARN"); n != min(1, len(row.warns)) || !strings.Contains(log.String(), row.warns) {
					t.Errorf("warned %d times, want %q once:\n%s", n, row.warns, &log)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStoreRenews: with the authority's key, a rack that is left alone for years
// never shows a certificate that has ended.
func TestStoreRenews(t *testing.T) {
	f := madeFolder(t)
	now := testTime()
	s, err := openStore(StoreConfig{Folder: f, Names: testNames, Clock: func() time.Time { return now }}, testKey)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for round := range 2 {
		if round > 0 {
			now = now.Add(leafValidity - renewBefore)
			if err := s.look(); err != nil {
				t.Fatal(err)
			}
		}
		for _, kind := range kinds {
			c := s.Certificate(kind)
			if problems := Check(kind, Pair{Chain: []*x509.Certificate{c.Leaf}, Key: c.PrivateKey.(crypto.Signer)}, testNames(), nil, now); len(problems) > 0 {
				t.Fatalf("%s at %s: %v", kind, now, problems)
			}
			seen[c.Leaf.SerialNumber.String()] = true
		}
	}
	if len(seen) != 4 {
		t.Errorf("%d certificates were shown with a renewal, want 4", len(seen))
	}
}

func TestOpenStoreRefuses(t *testing.T) {
	for name, row := range map[string]struct {
		change func(f Folder) error
		names  Names
		code   protocol.Code
	}{
		"good":                      {func(Folder) error { return nil }, testNames(), ""},
		"nothing is there":          {func(f Folder) error { return os.RemoveAll(string(f)) }, testNames(), protocol.CodeInvalid},
		"RSA alone":                 {func(f Folder) error { return os.Remove(f.path("ecdsa.pem")) }, testNames(), ""},
		"both are for other names":  {func(f Folder) error { return os.Remove(f.path("ca.key")) }, Names{Addrs: []netip.Addr{netip.MustParseAddr("10.9.0.1")}}, protocol.CodeInvalid},
		"names are not known yet":   {func(f Folder) error { return os.Remove(f.path("ca.key")) }, Names{}, ""},
		"a key for everybody":       {func(f Folder) error { return os.Chmod(f.path("rsa.key"), 0o604) }, Names{}, protocol.CodeDenied},
		"a key for a group of ours": {func(f Folder) error { return os.Chmod(f.path("rsa.key"), 0o640) }, Names{}, ""},
	} {
		f := madeFolder(t)
		if err := row.change(f); err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, f, row.names, &bytes.Buffer{}); protocol.CodeOf(err) != row.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMetricNames(t *testing.T) {
	reg := prometheus.NewRegistry()
	s, err := OpenStore(StoreConfig{Folder: madeFolder(t), Registerer: reg, Clock: testTime})
	if err != nil {
		t.Fatal(err)
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if n, err := testutil.GatherAndCount(reg); n != 3 || err != nil {
		t.Errorf("%d series, %v", n, err)
	}
	if _, err := OpenStore(StoreConfig{Folder: s.cfg.Folder, Registerer: reg, Clock: testTime}); protocol.CodeOf(err) != protocol.CodeConflict {
		t.Errorf("a second store in one registry: %v", err)
	}
}
