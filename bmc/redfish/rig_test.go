package redfish_test

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"rackboot/bmc"
	"rackboot/bmc/redfish"
	"rackboot/bmc/sim"
	"rackboot/bmc/sim/hardware"
	"rackboot/protocol"
)

const (
	username = "operator-account"
	password = "correct horse"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// post is how long POST takes, if nothing else is said.
const post = 60 * time.Millisecond

// rig is a driver, the simulated BMC that it talks to, and the machine.
type rig struct {
	driver  bmc.Driver
	config  redfish.Config // of driver
	bmc     *sim.BMC
	machine *hardware.Simulated
}

func newRig(t *testing.T, p sim.Personality) *rig {
	t.Helper()
	return newRigOf(t, p, post)
}

// newRigOf is newRig with a machine whose POST takes another time.
func newRigOf(t *testing.T, p sim.Personality, post time.Duration) *rig {
	t.Helper()
	return makeRig(t, sim.Config{Personality: p}, post, redfish.Config{})
}

func makeRig(t *testing.T, simulated sim.Config, post time.Duration, config redfish.Config) *rig {
	t.Helper()
	machine := hardware.NewSimulated(hardware.SimulatedConfig{Post: post, Shutdown: 20 * time.Millisecond})
	machine.Disk().Install("sha256:installed")
	simulated.Machine, simulated.Username, simulated.Password = machine, username, password
	b, err := sim.New(simulated)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	to := target(b)
	to.LegacyTLS = simulated.Personality.Wire.OldTLS
	return &rig{driver: open(t, config, to), config: config, bmc: b, machine: machine}
}

func target(b *sim.BMC) bmc.Target {
	return bmc.Target{
		Server: "s1", Address: b.Address(), Fingerprint: b.Fingerprint(),
		Credentials: bmc.Credentials{Username: username, Password: password},
	}
}

func open(t *testing.T, config redfish.Config, target bmc.Target) bmc.Driver {
	t.Helper()
	if config.RequestTimeout == 0 {
		config.RequestTimeout = patience
	}
	dialer, err := redfish.New(config)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dialer.Open(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// serve starts a BMC that is only a handler, over TLS.
func serve(t *testing.T, h http.HandlerFunc) bmc.Target {
	t.Helper()
	return served(t, httptest.NewUnstartedServer(h))
}

func served(t *testing.T, s *httptest.Server) bmc.Target {
	t.Helper()
	s.StartTLS()
	t.Cleanup(s.Close)
	sum := sha256.Sum256(s.Certificate().Raw)
	return bmc.Target{
		Server: "s1", Address: s.URL, SystemURI: "/redfish/v1/Systems/1",
		Fingerprint: "sha256:" + hex.EncodeToString(sum[:]),
		Credentials: bmc.Credentials{Username: username, Password: password},
	}
}

// patience is how long what must come may take: a handshake alone takes seconds on a
// machine that has much else to do.
const patience = time.Minute

func deadline(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// await reads until the BMC reports the power state.
func (r *rig) await(t *testing.T, want protocol.PowerState) {
	t.Helper()
	for ctx := deadline(t); ; time.Sleep(time.Millisecond) { // between looks
		o, err := r.driver.Observe(ctx)
		if err != nil {
			t.Fatalf("waiting for %s: %v", want, err)
		}
		if o.Power == want {
			return
		}
	}
}

// awaitMachine waits for the machine's own state.
func (r *rig) awaitMachine(t *testing.T, want hardware.State) {
	t.Helper()
	for ctx := deadline(t); r.machine.State() != want; time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatalf("machine is %s, want %s", r.machine.State(), want)
		}
	}
}

func (r *rig) reset(t *testing.T, reset bmc.ResetType) {
	t.Helper()
	if err := r.driver.Reset(deadline(t), reset); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) arm(t *testing.T, target protocol.BootTarget) protocol.Override {
	t.Helper()
	result, err := r.driver.SetBoot(deadline(t), protocol.Override{Target: target, Enabled: protocol.OverrideOnce})
	if err != nil {
		t.Fatal(err)
	}
	return result.Stored
}

func wantCode(t *testing.T, err error, want protocol.Code) {
	t.Helper()
	if got := protocol.CodeOf(err); got != want {
		t.Fatalf("error code is %q, want %q: %v", got, want, err)
	}
}

// certificateOf is the certificate that a server shows, in DER.
func certificateOf(t *testing.T, address string) []byte {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(address, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Raw
}

func wantHint(t *testing.T, err error, want string) {
	t.Helper()
	if got := protocol.HintOf(err); !strings.Contains(got, want) {
		t.Errorf("hint %q lacks %q", got, want)
	}
}

func wantBusy(t *testing.T, err error) *bmc.Busy {
	t.Helper()
	var busy *bmc.Busy
	if !errors.As(err, &busy) {
		t.Fatalf("not busy: %v", err)
	}
	return busy
}
