package sim

import (
	"net"
	"testing"
	"time"

	"rackboot/bmc/sim/tree"
	"rackboot/protocol"
)

func TestFleet(t *testing.T) {
	p := Plain()
	p.Latency = Latency{P50: time.Millisecond, P90: 2 * time.Millisecond, P99: 3 * time.Millisecond, Max: 4 * time.Millisecond}
	f, err := NewFleet(FleetConfig{Size: 20, Personality: p, Username: "u", Password: "p"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	addresses := map[string]bool{}
	for _, b := range f.BMCs() {
		u := userOf(t, b)
		u.want(u.do("GET", tree.SystemURI, ""), 200, "")
		addresses[b.Address()] = true
	}
	if len(addresses) != 20 {
		t.Errorf("%d addresses", len(addresses))
	}
	// What one does is not seen at another.
	u := userOf(t, f.BMCs()[0])
	u.want(u.reset("On"), 204, "")
	if s := f.BMCs()[1].PowerState(); s != protocol.PowerOff {
		t.Errorf("the neighbour is %s", s)
	}
}

func TestFleetFailsAsAWhole(t *testing.T) {
	opened := 0
	_, err := NewFleet(FleetConfig{Size: 3, Listen: func(i int) (net.Listener, error) {
		if i == 2 {
			return nil, net.ErrClosed
		}
		opened++
		return newDeaf()
	}})
	if protocol.CodeOf(err) != protocol.CodeUnavailable || opened != 2 {
		t.Errorf("%d opened, %v", opened, err)
	}
	if _, err := NewFleet(FleetConfig{}); protocol.CodeOf(err) != protocol.CodeInvalid {
		t.Errorf("an empty fleet: %v", err)
	}
}

// BenchmarkFleet starts and closes 200 BMCs.
func BenchmarkFleet(b *testing.B) {
	for b.Loop() {
		f, err := NewFleet(FleetConfig{Size: 200, Personality: Plain()})
		if err != nil {
			b.Fatal(err)
		}
		if err := f.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
