package redfish_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/integration/memnet"
)

// bubble runs a test of what ends with time: of a BMC that is only a handler, behind a
// network in memory. Nothing but the test's own waits takes time there.
func bubble(t *testing.T, config redfish.Config, h http.HandlerFunc, test func(t *testing.T, d bmc.Driver)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("bmc")
		config.DialContext = dials(l)
		test(t, open(t, config, served(t, &httptest.Server{Listener: l, Config: &http.Server{Handler: h}})))
	})
}

// bubbleRig is bubble with a simulated BMC.
func bubbleRig(t *testing.T, p sim.Personality, config redfish.Config, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := memnet.Listen("bmc")
		config.DialContext = dials(l)
		listen := func() (net.Listener, error) { return l, nil }
		test(t, makeRig(t, sim.Config{Personality: p, Listen: listen}, post, config))
	})
}

func dials(l *memnet.Listener) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, _, _ string) (net.Conn, error) { return l.Dial(ctx) }
}
