//go:build host

package alone

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"rackboot/protocol/resource"
)

// knownServers are as many as the pool has addresses; the one that boots has another.
const knownServers = 15

// heapBound is how much more an agent may have in use after a flood than before: the
// connections, queues and tables that its limits allow, far below what a flood sends.
const heapBound = 16 << 20

// goroutineBound is likewise: one for each connection that the flood's addresses may
// hold, 64 each, one for each of 256 transfers, and some.
const goroutineBound = 600

// TestFlood: while strangers send garbage and well-formed requests of random machines
// to every socket, known machines still get leases and boot files, no address goes to
// a stranger, and what the agent keeps of all that is bounded and counted.
func TestFlood(t *testing.T) {
	sum := sha256.Sum256(bootFile())
	want := hex.EncodeToString(sum[:])
	for _, boot := range []resource.FirstBoot{resource.FirstBootUefiHTTP, resource.FirstBootPxe} {
		t.Run(string(boot), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*limit)
			defer cancel()
			n := newNetwork(ctx, t)
			for i := range floodSources {
				if err := n.machine.Run(ctx, fmt.Sprintf("ip address add %s/16 dev %s", floodSource(i), clientDevice)); err != nil {
					t.Fatal(err)
				}
			}
			ref := hear[string](start(t, n.world, childRegistry, nil))
			machine := start(t, n.machine, childMachine, nil)
			first := netip.MustParseAddr(clientAddress).Next()
			c := rackConfig{Dir: t.TempDir(), BMC: hear[machineAt](machine), Image: ref, Boot: boot, PoolFrom: first}
			for i := range knownServers {
				c.Known = append(c.Known, fmt.Sprintf("52:54:00:bb:00:%02x", i+1))
				c.PoolTo = netip.AddrFrom4([4]byte{10, 7, 0, byte(101 + i)})
			}
			agent := start(t, n.rack, childAgent, c)
			hear[string](agent)
			hear[string](machine) // it is on, and waits
			before := vitalsOf(agent)

			flood := start(t, n.machine, childFlood, nil)
			hear[string](flood)
			machine.say("go")
			if got := hear[booted](machine); got.Err != "" || got.SHA256 != want {
				t.Errorf("booted %+v, want %s", got, want)
			}
			for _, mac := range c.Known {
				machine.say(mac)
				if got := hear[booted](machine); got.Err != "" {
					t.Errorf("%s has no lease: %s", mac, got.Err)
				}
			}
			during := vitalsOf(agent)
			flood.say("stop")
			sent := hear[sent](flood)
			after := vitalsOf(agent)

			t.Logf("sent %+v; %d KiB and %d goroutines before, %d and %d during, %d and %d after", sent,
				before.Heap>>10, before.Goroutines, during.Heap>>10, during.Goroutines, after.Heap>>10, after.Goroutines)
			for when, v := range map[string]vitals{"during": during, "after": after} {
				if v.Heap > before.Heap+heapBound || v.Goroutines > before.Goroutines+goroutineBound {
					t.Errorf("%s the flood %d KiB and %d goroutines, before it %d and %d", when, v.Heap>>10, v.Goroutines, before.Heap>>10, before.Goroutines)
				}
			}
			if got := int(after.Metrics["rackboot_dhcp_leases{}"]); got != knownServers+1 {
				t.Errorf("%d leases, want those of the %d known machines", got, knownServers+1)
			}
			for _, prefix := range []string{
				"rackboot_dhcp_packets_total{malformed", "rackboot_dhcp_packets_total{silence", "rackboot_tftp_requests_total{stray",
				"rackboot_tftp_requests_total{rate", "rackboot_http_boot_refused_total{", "rackboot_http_boot_requests_total{404",
			} {
				if grown(before, after, prefix) == 0 {
					t.Errorf("no metric shows %s}", prefix)
				}
			}
			if t.Failed() {
				t.Logf("%+v", after.Metrics)
			}
		})
	}
}

func vitalsOf(agent *process) vitals {
	agent.say("vitals")
	return hear[vitals](agent)
}

// grown is by how much the metrics grew whose name and first label value begin so.
func grown(before, after vitals, prefix string) (by float64) {
	for name, v := range after.Metrics {
		if strings.HasPrefix(name, prefix) {
			by += v - before.Metrics[name]
		}
	}
	return by
}
