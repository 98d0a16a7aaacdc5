package netns

import (
	"context"
	"fmt"
	"strings"
)

// Port is one end of a cable. Address is CIDR; empty for none.
type Port struct {
	Namespace *Namespace
	Name      string
	Address   string
}

// Cable connects two namespaces, or one with itself, by a veth pair.
func Cable(ctx context.Context, a, b Port) error {
	add := fmt.Sprintf("ip link add %s type veth peer name %s netns %s", a.Name, b.Name, b.Namespace.path())
	if err := a.Namespace.Run(ctx, add); err != nil {
		return err
	}
	for _, p := range []Port{a, b} {
		if err := p.up(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Bridge makes a bridge that forwards from the first moment, with an address.
func Bridge(ctx context.Context, p Port) error {
	if err := p.Namespace.Run(ctx, "ip link add "+p.Name+" type bridge stp_state 0 forward_delay 0 mcast_snooping 0"); err != nil {
		return err
	}
	return p.up(ctx)
}

// Tap makes a tap interface for a virtual machine on a bridge.
func (n *Namespace) Tap(ctx context.Context, name, bridge string) error {
	if err := n.Run(ctx, "ip tuntap add dev "+name+" mode tap"); err != nil {
		return err
	}
	return n.Join(ctx, name, bridge)
}

// Join makes an interface a port of a bridge.
func (n *Namespace) Join(ctx context.Context, name, bridge string) error {
	return n.Run(ctx, "ip link set "+name+" master "+bridge+" up")
}

// Forwards says whether a port of a bridge forwards. The kernel notices a cable that
// was just plugged in up to a second later.
func (n *Namespace) Forwards(ctx context.Context, name string) (bool, error) {
	out, err := n.Output(ctx, "ip -d link show dev "+name)
	return strings.Contains(out, "bridge_slave state forwarding"), err
}

func (p Port) up(ctx context.Context) error {
	if p.Address != "" {
		if err := p.Namespace.Run(ctx, "ip address add "+p.Address+" dev "+p.Name); err != nil {
			return err
		}
	}
	return p.Namespace.Run(ctx, "ip link set "+p.Name+" up")
}
