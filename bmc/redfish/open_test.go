package redfish_test

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

func TestOpenChecksTheTarget(t *testing.T) {
	pin := "sha256:" + strings.Repeat("ab", 32)
	tests := []struct {
		name   string
		target bmc.Target
		want   protocol.Code
	}{
		{"pinned", bmc.Target{Address: "https://192.0.2.1", Fingerprint: pin}, ""},
		{"port", bmc.Target{Address: "https://[2001:db8::1]:8443/", Fingerprint: pin}, ""},
		{"http on loopback", bmc.Target{Address: "http://127.0.0.1:8000"}, ""},
		{"http elsewhere", bmc.Target{Address: "http://192.0.2.1"}, protocol.CodeInvalid},
		{"http by name", bmc.Target{Address: "http://localhost"}, protocol.CodeInvalid},
		{"no pin, no CA", bmc.Target{Address: "https://192.0.2.1"}, protocol.CodeInvalid},
		{"pin and CA", bmc.Target{Address: "https://192.0.2.1", Fingerprint: pin, CA: []byte("x")}, protocol.CodeInvalid},
		{"short pin", bmc.Target{Address: "https://192.0.2.1", Fingerprint: "sha256:abcd"}, protocol.CodeInvalid},
		{"pin of another kind", bmc.Target{Address: "https://192.0.2.1", Fingerprint: strings.Repeat("ab", 32)}, protocol.CodeInvalid},
		{"CA without certificate", bmc.Target{Address: "https://192.0.2.1", CA: []byte("none")}, protocol.CodeInvalid},
		{"path", bmc.Target{Address: "https://192.0.2.1/redfish/v1", Fingerprint: pin}, protocol.CodeInvalid},
		{"no scheme", bmc.Target{Address: "192.0.2.1", Fingerprint: pin}, protocol.CodeInvalid},
		{"credentials in the URL", bmc.Target{Address: "https://root:" + password + "@192.0.2.1", Fingerprint: pin}, protocol.CodeInvalid},
		{"ipmi", bmc.Target{Address: "ipmi://192.0.2.1"}, protocol.CodeUnsupported},
		{"system on another host", bmc.Target{Address: "https://192.0.2.1", Fingerprint: pin, SystemURI: "//192.0.2.9/x"}, protocol.CodeInvalid},
	}
	dialer, err := redfish.New(redfish.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := dialer.Open(tt.target)
			wantCode(t, err, tt.want)
			if err == nil {
				_ = d.Close()
				return
			}
			if protocol.HintOf(err) == "" || strings.Contains(err.Error(), password) {
				t.Errorf("bad error: %v", err)
			}
		})
	}
}

const offSystem = `{"@odata.id":"/redfish/v1/Systems/1","PowerState":"Off","Boot":{"BootSourceOverrideTarget":"None"},"Actions":{"#ComputerSystem.Reset":{"target":"/reset"}}}`

// A certificate other than the pinned one: nothing is sent.
func TestPinIsChecked(t *testing.T) {
	var requests atomic.Int32
	target := serve(t, func(w http.ResponseWriter, _ *http.Request) { requests.Add(1); fmt.Fprint(w, offSystem) })
	target.Fingerprint = "sha256:" + strings.Repeat("00", 32)
	_, err := open(t, redfish.Config{}, target).Observe(deadline(t))
	wantCode(t, err, protocol.CodeDenied)
	wantText(t, err, "pinned is "+target.Fingerprint)
	if requests.Load() != 0 {
		t.Error("credentials were sent to an unknown certificate")
	}
}

func TestCA(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, offSystem) }))
	defer s.Close()
	good := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	target := bmc.Target{Server: "s1", Address: s.URL, SystemURI: "/redfish/v1/Systems/1", CA: good}
	if _, err := open(t, redfish.Config{}, target).Observe(deadline(t)); err != nil {
		t.Error(err)
	}
	target.CA = otherCA(t)
	_, err := open(t, redfish.Config{}, target).Observe(deadline(t))
	wantCode(t, err, protocol.CodeDenied)
}

// otherCA is a certificate that signed nothing here.
func otherCA(t *testing.T) []byte {
	t.Helper()
	r := newRig(t, sim.Plain())
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificateOf(t, r.bmc.Address())})
}

// All servers of httptest show the same certificate, so that the pin does not
// stop the redirect here. gofish sends its token to another host on a redirect; iLO 5 before 1.40
// needs 308 for a missing slash.
func TestRedirects(t *testing.T) {
	var stolen atomic.Int32
	thief := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	defer thief.Close()
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redfish/v1/Systems/1":
			http.Redirect(w, r, "/redfish/v1/Systems/1/", http.StatusPermanentRedirect)
		case "/redfish/v1/Systems/1/":
			fmt.Fprint(w, offSystem)
		default:
			http.Redirect(w, r, thief.URL, http.StatusTemporaryRedirect)
		}
	})
	if _, err := open(t, redfish.Config{}, target).Observe(deadline(t)); err != nil {
		t.Errorf("redirect on the same host: %v", err)
	}
	target.SystemURI = "/elsewhere"
	_, err := open(t, redfish.Config{}, target).Observe(deadline(t))
	wantCode(t, err, protocol.CodeUnavailable)
	if stolen.Load() != 0 {
		t.Error("another host was asked")
	}
}

// Two systems of one BMC share its queue: never two requests at once, bodies
// included.
func TestOneExchangeAtATime(t *testing.T) {
	var at, most atomic.Int32
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := at.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		fmt.Fprint(w, offSystem[:10])
		w.(http.Flusher).Flush()
		at.Add(-1)
		fmt.Fprint(w, offSystem[10:])
	})
	registry := prometheus.NewRegistry()
	dialer, err := redfish.New(redfish.Config{Registerer: registry})
	if err != nil {
		t.Fatal(err)
	}
	ctx := deadline(t)
	var wg sync.WaitGroup
	for range 2 {
		d, err := dialer.Open(target)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		for range 4 {
			wg.Go(func() {
				if _, err := d.Observe(ctx); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d requests at once", most.Load())
	}
	const want = "rackboot_bmc_requests_total"
	if n, err := testutil.GatherAndCount(registry, want); err != nil || n != 1 {
		t.Errorf("%s has %d series, %v", want, n, err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) != 0 {
		t.Errorf("metrics lint: %v %v", problems, err)
	}
}

func TestClosed(t *testing.T) {
	r := newRig(t, sim.Plain())
	if err := r.driver.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := r.driver.Observe(deadline(t))
	wantCode(t, err, protocol.CodeUnavailable)
	wantText(t, err, "closed")
}
