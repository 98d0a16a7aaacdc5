package redfish_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/protocol"
)

// Whoever records a BMC is told of what it answered to reads, and of nothing else.
func TestSeen(t *testing.T) {
	var mu sync.Mutex
	var uris []string
	r := makeRig(t, sim.Config{Personality: sim.Plain()}, post, redfish.Config{Seen: func(uri string, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		uris = append(uris, uri)
		if !strings.HasPrefix(strings.TrimSpace(string(body)), "{") {
			t.Errorf("%s: %s", uri, body)
		}
	}})
	if _, err := r.driver.Observe(deadline(t)); err != nil {
		t.Fatal(err)
	}
	r.arm(t, protocol.TargetPxe)
	if !slices.Contains(uris, "/redfish/v1/Systems") || slices.ContainsFunc(uris, func(u string) bool { return strings.Contains(u, "Sessions") }) {
		t.Errorf("seen %q", uris)
	}
	refused := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	d := open(t, redfish.Config{Seen: func(uri string, _ []byte) { t.Errorf("%s was refused", uri) }}, refused)
	if _, err := d.Observe(deadline(t)); err == nil {
		t.Error("observed nothing")
	}
}
