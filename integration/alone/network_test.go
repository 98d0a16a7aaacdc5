//go:build host

package alone

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"rackboot/integration/netns"
)

// Addresses.
const (
	bootAddress     = "10.7.0.1" // of the agent
	clientAddress   = "10.7.0.100"
	bmcAddress      = "10.8.0.2:443"
	registryAddress = "10.9.1.1:5000"
	bootDevice      = "boot0"
	clientDevice    = "eth0"
	bootMAC         = "52:54:00:aa:00:01"

	bootAddress6      = "fd07::1"
	neighbourAddress  = "10.7.0.66"
	neighbourAddress6 = "fd07::66"
	neighbourMAC      = "52:54:00:ee:00:66"
)

// network is an agent's host between its machine and the rest of the world:
//
//	world: 10.9.1.1 ── up0 :rack: boot0 ── eth0 :machine
//	                             bmc0 ── bmc0
//
// The world is also its way to everywhere else.
type network struct {
	t                    *testing.T
	rack, machine, world *netns.Namespace
	neighbour            *netns.Namespace // nil without one
}

func newNetwork(ctx context.Context, t *testing.T) *network {
	t.Helper()
	n := &network{t: t}
	n.make(ctx, map[string]**netns.Namespace{"rack": &n.rack, "machine": &n.machine, "world": &n.world})
	if err := netns.Cable(ctx, port{Namespace: n.rack, Name: bootDevice, Address: bootAddress + "/16"}, port{Namespace: n.machine, Name: clientDevice, Address: clientAddress + "/16"}); err != nil {
		t.Fatal(err)
	}
	n.connect(ctx)
	return n
}

// newNeighbourhood is a network whose boot segment is a bridge with one more machine:
//
//	rack: boot0 (bridge) ── eth0 :machine
//	                     └─ eth0 :neighbour
//
// The bridge learns no addresses: as on a hub, or at a switch that somebody floods, each
// hears everything.
func newNeighbourhood(ctx context.Context, t *testing.T) *network {
	t.Helper()
	n := &network{t: t}
	n.make(ctx, map[string]**netns.Namespace{"rack": &n.rack, "machine": &n.machine, "world": &n.world, "neighbour": &n.neighbour})
	if err := errors.Join(
		netns.Bridge(ctx, port{Namespace: n.rack, Name: bootDevice, Address: bootAddress + "/16"}),
		n.rack.Run(ctx, "ip link set "+bootDevice+" type bridge ageing_time 0"),
		netns.Cable(ctx, port{Namespace: n.rack, Name: "machine"}, port{Namespace: n.machine, Name: clientDevice, Address: clientAddress + "/16"}),
		netns.Cable(ctx, port{Namespace: n.rack, Name: "neighbour"}, port{Namespace: n.neighbour, Name: clientDevice, Address: neighbourAddress + "/16"}),
		n.neighbour.Run(ctx, "ip link set "+clientDevice+" address "+neighbourMAC),
		n.rack.Join(ctx, "machine", bootDevice), n.rack.Join(ctx, "neighbour", bootDevice),
		n.rack.Set("ipv6/conf/"+bootDevice+"/disable_ipv6", "0"), n.neighbour.Set("ipv6/conf/"+clientDevice+"/disable_ipv6", "0"),
		n.rack.Run(ctx, "ip address add "+bootAddress6+"/64 dev "+bootDevice+" nodad"),
		n.neighbour.Run(ctx, "ip address add "+neighbourAddress6+"/64 dev "+clientDevice+" nodad"),
	); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"machine", "neighbour"} {
		n.until(name+" is connected", func() (bool, error) { return n.rack.Forwards(ctx, name) })
	}
	n.connect(ctx)
	return n
}

type port = netns.Port

// make makes namespaces that are closed when the test ends.
func (n *network) make(ctx context.Context, names map[string]**netns.Namespace) {
	n.t.Helper()
	for name, ns := range names {
		var err error
		if *ns, err = netns.New(ctx, name); err != nil {
			n.t.Fatal(err)
		}
		n.t.Cleanup(func() {
			if err := (*ns).Close(); err != nil {
				n.t.Error(err)
			}
		})
	}
}

// connect makes what every network has beside its boot segment.
func (n *network) connect(ctx context.Context) {
	n.t.Helper()
	if err := errors.Join(
		netns.Cable(ctx, port{Namespace: n.rack, Name: "bmc0", Address: "10.8.0.1/24"}, port{Namespace: n.machine, Name: "bmc0", Address: "10.8.0.2/24"}),
		netns.Cable(ctx, port{Namespace: n.rack, Name: "up0", Address: "10.9.1.2/24"}, port{Namespace: n.world, Name: "rack", Address: "10.9.1.1/24"}),
		n.machine.Run(ctx, "ip link set "+clientDevice+" address "+bootMAC),
		n.rack.Run(ctx, "ip route add default via 10.9.1.1"),
		n.rack.Run(ctx, "nft add table inet guard"),
		n.rack.Run(ctx, "nft add chain inet guard out { type filter hook output priority 0 ; policy accept ; }"),
	); err != nil {
		n.t.Fatal(err)
	}
	n.until("the boot segment is up", func() (bool, error) {
		out, err := n.rack.Output(ctx, "ip link show dev "+bootDevice)
		return strings.Contains(out, "state UP"), err
	})
}

func (n *network) until(what string, ok func() (bool, error)) {
	n.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(time.Millisecond) { // between looks
		is, err := ok()
		switch {
		case err != nil:
			n.t.Fatalf("%s: %v", what, err)
		case is:
			return
		case time.Now().After(end):
			n.t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// cut lets nothing that the agent's host sends go anywhere but onto the boot segment.
// What goes to BMCs is dropped without being counted: they are polled whatever
// happens. Everything else is remote, this host itself included.
func (n *network) cut(ctx context.Context) {
	n.t.Helper()
	if err := errors.Join(
		n.rack.Run(ctx, "nft add rule inet guard out oifname bmc0 drop"),
		n.rack.Run(ctx, "nft add rule inet guard out oifname != "+bootDevice+" counter drop"),
	); err != nil {
		n.t.Fatal(err)
	}
}

// heal ends the cut.
func (n *network) heal(ctx context.Context) {
	n.t.Helper()
	if err := n.rack.Run(ctx, "nft flush chain inet guard out"); err != nil {
		n.t.Error(err)
	}
}

var counted = regexp.MustCompile(`counter packets (\d+)`)

// remote is how many packets went elsewhere since the cut.
func (n *network) remote(ctx context.Context) int {
	n.t.Helper()
	out, err := n.rack.Output(ctx, "nft list chain inet guard out")
	found := counted.FindStringSubmatch(out)
	if err != nil || found == nil {
		n.t.Fatalf("%s, %v", out, err)
	}
	packets, err := strconv.Atoi(found[1])
	if err != nil {
		n.t.Fatal(err)
	}
	return packets
}
