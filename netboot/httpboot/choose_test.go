package httpboot

import (
	"bytes"
	"crypto/elliptic"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"go/parser"
	gotoken "go/token"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"rackboot/netboot"
)

// TestChooseTable compares the comment of choose with the code for all
// combinations.
func TestChooseTable(t *testing.T) {
	f, err := parser.ParseFile(gotoken.NewFileSet(), "choose.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for _, c := range f.Comments {
		for line := range strings.Lines(c.Text()) {
			if cells := strings.Split(line, "|"); len(cells) == 6 {
				for i := range cells {
					cells[i] = strings.TrimSpace(cells[i])
				}
				rows = append(rows, cells)
			}
		}
	}
	if len(rows) != 6 {
		t.Fatalf("%d rows with the head: %q", len(rows), rows)
	}
	rows = rows[1:]
	decides := make([]bool, len(rows))
	for bits := range 1 << 5 {
		in := make([]string, 5)
		on := func(i int) bool { return bits>>i&1 == 1 }
		for i := range in {
			if in[i] = "no"; on(i) {
				in[i] = "yes"
			}
		}
		row := slices.IndexFunc(rows, func(r []string) bool {
			return !slices.ContainsFunc([]int{0, 1, 2, 3, 4}, func(i int) bool { return r[i] != "*" && r[i] != in[i] })
		})
		if row < 0 {
			t.Fatalf("no row for %v", in)
		}
		decides[row] = true
		got := choose(on(0), on(1), offer{suite: on(2), curve: on(3), signature: on(4)})
		if want := rows[row][5]; helloLabel(got) != want {
			t.Errorf("%v: got %s, want %s", in, helloLabel(got), want)
		}
	}
	if slices.Contains(decides, false) {
		t.Errorf("a row decides nothing: %v", decides)
	}
}

// replay is a connection on which a captured ClientHello comes in.
type replay struct {
	net.Conn
	in *bytes.Reader
}

func (r replay) Read(p []byte) (int, error)     { return r.in.Read(p) }
func (replay) Write(p []byte) (int, error)      { return len(p), nil }
func (replay) SetWriteDeadline(time.Time) error { return nil }

// parseHello has crypto/tls read a ClientHello.
func parseHello(t *testing.T, record []byte) *tls.ClientHelloInfo {
	t.Helper()
	var hello *tls.ClientHelloInfo
	seen := errors.New("seen")
	err := tls.Server(replay{in: bytes.NewReader(record)}, &tls.Config{GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		hello = h
		return nil, seen
	}}).Handshake()
	if !errors.Is(err, seen) {
		t.Fatalf("not a ClientHello: %v", err)
	}
	return hello
}

func TestChooseCaptured(t *testing.T) {
	raw, err := os.ReadFile("testdata/hellos.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var name, want, record string
		if _, err := fmt.Sscan(line, &name, &want, &record); err != nil {
			t.Fatal(err)
		}
		n++
		data, err := hex.DecodeString(record)
		if err != nil {
			t.Fatal(err)
		}
		if got := choose(true, true, offerOf(parseHello(t, data), elliptic.P256())); string(got) != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if n < 5 {
		t.Errorf("%d captures", n)
	}
}

// TestChooseConstructed: what decides, one thing at a time.
func TestChooseConstructed(t *testing.T) {
	type hello = tls.ClientHelloInfo
	// edk2-stable202405 and newer: TLS 1.3 and ECDHE, P-256 to P-521.
	edk2 := func(change func(*hello)) *hello {
		h := &hello{
			SupportedVersions: []uint16{tls.VersionTLS13, tls.VersionTLS12},
			CipherSuites:      []uint16{tls.TLS_AES_256_GCM_SHA384, tls.TLS_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, tls.TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384},
			SupportedCurves:   []tls.CurveID{tls.CurveP256, tls.CurveP384, tls.CurveP521},
			SupportedPoints:   []uint8{0},
			SignatureSchemes:  []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256, tls.PSSWithSHA256, tls.PKCS1WithSHA256},
		}
		change(h)
		return h
	}
	tls12 := func(h *hello) { h.SupportedVersions = []uint16{tls.VersionTLS12} }
	for _, row := range []struct {
		name   string
		hello  *hello
		curve  elliptic.Curve
		wanted netboot.KeyKind
	}{
		{"new EDK2", edk2(func(*hello) {}), elliptic.P256(), netboot.KeyECDSA},
		{"new EDK2 at TLS 1.2", edk2(tls12), elliptic.P256(), netboot.KeyECDSA},
		{"TLS 1.3 with RSA signatures only", edk2(func(h *hello) { h.SignatureSchemes = h.SignatureSchemes[1:] }), elliptic.P256(), netboot.KeyRSA},
		{"TLS 1.3 for a P-384 key needs that scheme", edk2(func(*hello) {}), elliptic.P384(), netboot.KeyRSA},
		{"TLS 1.2 names no curve with the signature", edk2(tls12), elliptic.P384(), netboot.KeyECDSA},
		{"without the key's curve", edk2(func(h *hello) { tls12(h); h.SupportedCurves = []tls.CurveID{tls.X25519} }), elliptic.P256(), netboot.KeyRSA},
		{"without curves at all", edk2(func(h *hello) { tls12(h); h.SupportedCurves = nil }), elliptic.P256(), netboot.KeyRSA},
		{"compressed points only", edk2(func(h *hello) { tls12(h); h.SupportedPoints = []uint8{1} }), elliptic.P256(), netboot.KeyRSA},
		{"no point formats said", edk2(func(h *hello) { tls12(h); h.SupportedPoints = nil }), elliptic.P256(), netboot.KeyECDSA},
		{"ECDHE with RSA only", edk2(func(h *hello) { tls12(h); h.CipherSuites = []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256} }), elliptic.P256(), netboot.KeyRSA},
		{"ECDHE_ECDSA with CBC, which is not served", edk2(func(h *hello) { tls12(h); h.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA} }), elliptic.P256(), netboot.KeyRSA},
		{"SHA-1 signatures only", edk2(func(h *hello) { tls12(h); h.SignatureSchemes = []tls.SignatureScheme{tls.ECDSAWithSHA1} }), elliptic.P256(), netboot.KeyRSA},
	} {
		if got := choose(true, true, offerOf(row.hello, row.curve)); got != row.wanted {
			t.Errorf("%s: %s, want %s", row.name, got, row.wanted)
		}
	}
}
