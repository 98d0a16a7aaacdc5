package probe

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"

	"rackboot/netboot/probe/host"
	"rackboot/protocol"
)

const (
	cardTimeout = 30 * time.Second // until the drivers have found an interface
	// linkTimeout is until a link is there: 25GBASE-T and ports with spanning tree
	// take their time.
	linkTimeout = 10 * time.Second
	dhcpTimeout = 4 * time.Second // of one try
	dhcpTries   = 3
	dhcpPause   = 2 * time.Second // between rounds over all interfaces
	lookAgain   = 200 * time.Millisecond
)

// cards are the network interfaces of the machine.
func cards(architecture string) (out []card) {
	for _, i := range host.Collect(os.DirFS("/"), architecture).Interfaces {
		out = append(out, card{name: i.Name, mac: i.MAC, link: i.Link})
	}
	return out
}

// raise brings all links up, and waits until each is there, for linkTimeout at most.
func raise(ctx context.Context, architecture string, log *slog.Logger) ([]card, error) {
	all := cards(architecture)
	for end := time.Now().Add(cardTimeout); len(all) == 0; all = cards(architecture) {
		if time.Now().After(end) || !pause(ctx, lookAgain) {
			return nil, protocol.Errorf(protocol.CodeUnavailable, "bring links up", "no network interface in %s", cardTimeout).
				WithHint("put the module of the network card into the initramfs")
		}
	}
	for end, done := time.Now().Add(linkTimeout), map[string]bool{}; ; all = cards(architecture) {
		linked := 0
		for _, c := range all { // more may have come
			if !done[c.name] {
				done[c.name] = true
				if err := setUp(c.name); err != nil {
					log.Warn("link not up", "interface", c.name, "err", err)
				}
			}
			if c.link {
				linked++
			}
		}
		if linked == len(all) || time.Now().After(end) || !pause(ctx, lookAgain) {
			return all, ctx.Err()
		}
	}
}

// pause waits; false if ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// connect gets leases until one leads to the base URL, or gives it where base is
// empty, and sets the best one's address. It returns the base URL.
func connect(ctx context.Context, all []card, bootif, base string, log *slog.Logger) (string, error) {
	const op = "get an address"
	if u := base; isIPv6(u) {
		return base, nil // router advertisements give the address
	}
	for {
		var best offer
		found := false
		for _, c := range inOrder(all, bootif) {
			o, err := lease(ctx, c.name)
			if err != nil {
				log.Warn("no lease", "interface", c.name, "err", err)
				continue
			}
			if n := o.rank(base); n > 0 && (!found || n > best.rank(base)) {
				best, found = o, true
			}
			if found && best.rank(base) == 3 {
				break
			}
		}
		if found {
			log.Info("address", "interface", best.device, "address", best.address.String(), "url_by_dhcp", best.url != "")
			return orElse(base, best.url), best.use()
		}
		if !pause(ctx, dhcpPause) {
			return "", protocol.Errorf(protocol.CodeTimeout, op, "no lease that leads to the report URL on %d interfaces", len(all)).
				WithHint("the boot must be open at the agent, and kernel argument " + argumentURL + " or DHCP option 67 say its URL")
		}
	}
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// lease asks for a lease on an interface.
func lease(ctx context.Context, device string) (offer, error) {
	client, err := nclient4.New(device, nclient4.WithTimeout(dhcpTimeout), nclient4.WithRetry(dhcpTries))
	if err != nil {
		return offer{}, err
	}
	defer client.Close()
	l, err := client.Request(ctx, dhcpv4.WithRequestedOptions(dhcpv4.OptionBootfileName, dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter))
	if err != nil {
		return offer{}, err
	}
	return offerOf(device, l.ACK)
}

// offerOf reads an ACK.
func offerOf(device string, ack *dhcpv4.DHCPv4) (offer, error) {
	address, ok := netip.AddrFromSlice(ack.YourIPAddr.To4())
	bits, of := ack.SubnetMask().Size()
	if !ok || of != 32 {
		return offer{}, protocol.Errorf(protocol.CodeInvalid, "read lease", "no address, or no subnet mask")
	}
	o := offer{device: device, address: netip.PrefixFrom(address, bits), url: ack.BootFileNameOption()}
	if routers := ack.Router(); len(routers) > 0 {
		o.router, _ = netip.AddrFromSlice(routers[0].To4())
	}
	return o, nil
}

// use gives the interface the address, and the router.
func (o offer) use() error {
	if err := setAddress(o.device, o.address); err != nil || !o.router.IsValid() {
		return err
	}
	i, err := net.InterfaceByName(o.device)
	if err != nil {
		return err
	}
	return setRoute(o.router, i.Index)
}

// inform asks for option 67 without a lease (RFC 2131 section 3.4): the system has its
// addresses. It needs CAP_NET_RAW.
func inform(ctx context.Context, all []card, bootif string, log *slog.Logger) (string, error) {
	for _, c := range inOrder(all, bootif) {
		i, err := net.InterfaceByName(c.name)
		if err != nil {
			continue
		}
		addresses, err := i.Addrs()
		if err != nil {
			continue
		}
		for _, a := range addresses {
			ip, ok := a.(*net.IPNet)
			if !ok || ip.IP.To4() == nil {
				continue
			}
			client, err := nclient4.New(c.name, nclient4.WithTimeout(dhcpTimeout), nclient4.WithRetry(dhcpTries))
			if err != nil {
				log.Warn("DHCP cannot be asked", "interface", c.name, "err", err)
				break
			}
			ack, err := client.Inform(ctx, ip.IP, dhcpv4.WithRequestedOptions(dhcpv4.OptionBootfileName))
			_ = client.Close()
			if err == nil && ack.BootFileNameOption() != "" {
				return ack.BootFileNameOption(), nil
			}
			log.Warn("no report URL by DHCP", "interface", c.name, "err", err)
		}
	}
	return "", protocol.Errorf(protocol.CodeNotFound, "find report URL", "neither the kernel's command line nor DHCP (option 67) says one").
		WithHint("give --url, or boot with kernel argument " + argumentURL)
}
