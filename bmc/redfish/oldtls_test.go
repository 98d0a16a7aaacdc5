//go:debug x509negativeserial=1

package redfish_test

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"

	"rackboot/bmc/oldtls"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// TestOldTLS: a BMC whose TLS is too old is not spoken with: the refusal names what is old, and
// nothing was sent. Where it is asked for, the BMC is read; the pin counts for it as for any.
func TestOldTLS(t *testing.T) {
	only := func(version, suite uint16) *tls.Config {
		return &tls.Config{MinVersion: version, MaxVersion: version, CipherSuites: []uint16{suite}}
	}
	for _, row := range []struct {
		name string
		tls  *tls.Config
		old  oldtls.Old
		no   bool // also where it is asked for
	}{
		{"TLS 1.3", &tls.Config{MinVersion: tls.VersionTLS13}, oldtls.Old{}, false},
		{"TLS 1.2", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256), oldtls.Old{}, false},
		{"TLS 1.1", only(tls.VersionTLS11, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA), oldtls.Old{Version: tls.VersionTLS11}, false},
		{"TLS 1.0", only(tls.VersionTLS10, tls.TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA), oldtls.Old{Version: tls.VersionTLS10}, false},
		{"keys by RSA", only(tls.VersionTLS12, tls.TLS_RSA_WITH_AES_128_GCM_SHA256), oldtls.Old{KeyExchange: tls.TLS_RSA_WITH_AES_128_GCM_SHA256}, false},
		{"3DES", only(tls.VersionTLS12, tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA), oldtls.Old{KeyExchange: tls.TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA}, false},
		{"RC4", only(tls.VersionTLS12, tls.TLS_RSA_WITH_RC4_128_SHA), oldtls.Old{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			var heard atomic.Int32
			var first atomic.Pointer[[]uint16] // the cipher suites of the first handshake
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				heard.Add(1)
				w.WriteHeader(http.StatusServiceUnavailable)
			}))
			// A BMC may prefer the old suites that it has: who is not said to be old is offered none.
			row.tls.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				first.CompareAndSwap(nil, &hello.CipherSuites)
				return nil, nil
			}
			s.TLS, s.Config.ErrorLog = row.tls, slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			to := served(t, s)
			_, err := open(t, redfish.Config{}, to).Observe(deadline(t))
			for _, suite := range tls.InsecureCipherSuites() {
				if offered := first.Load(); offered == nil || slices.Contains(*offered, suite.ID) {
					t.Errorf("%s is offered", suite.Name)
				}
			}
			switch {
			case row.no:
				if err == nil || heard.Load() > 0 {
					t.Errorf("%v, %d requests", err, heard.Load())
				}
			case row.old == oldtls.Old{}:
				if heard.Load() == 0 {
					t.Errorf("a BMC that is not old was not asked: %v", err)
				}
			default:
				refused(t, err, row.old)
				if n := heard.Load(); n > 0 {
					t.Errorf("it was sent %d requests", n)
				}
			}
			heard.Store(0)
			to.LegacyTLS = true
			_, err = open(t, redfish.Config{}, to).Observe(deadline(t))
			// The newest BMCs speak TLS 1.3 alone, and are not old.
			if want := !row.no && row.tls.MinVersion < tls.VersionTLS13; (heard.Load() > 0) != want {
				t.Errorf("asked for: %d requests, %v", heard.Load(), err)
			}
			heard.Store(0)
			to.Fingerprint = "sha256:" + fingerprint
			if _, err = open(t, redfish.Config{}, to).Observe(deadline(t)); heard.Load() > 0 || !row.no && row.tls.MinVersion < tls.VersionTLS13 && protocol.CodeOf(err) != protocol.CodeDenied {
				t.Errorf("with another pin: %d requests, %v", heard.Load(), err)
			}
		})
	}
	t.Run("all of it", func(t *testing.T) {
		p, _ := sim.Preset("OldTLS")
		r := newRig(t, p)
		if o, err := r.driver.Observe(deadline(t)); err != nil || o.Power != protocol.PowerOff {
			t.Errorf("asked for: %v, %v", o.Power, err)
		}
		_, err := open(t, redfish.Config{}, target(r.bmc)).Observe(deadline(t))
		refused(t, err, oldtls.Old{Version: tls.VersionTLS10, KeyExchange: tls.TLS_RSA_WITH_AES_128_CBC_SHA, NegativeSerial: true})
	})
}

// fingerprint is nobody's.
const fingerprint = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

func refused(t *testing.T, err error, want oldtls.Old) {
	t.Helper()
	var old *oldtls.Error
	if !errors.As(err, &old) || old.Old != want || protocol.CodeOf(err) != protocol.CodeDenied || protocol.HintOf(err) == "" {
		t.Errorf("refused with %v, want %s", err, want)
	}
}
