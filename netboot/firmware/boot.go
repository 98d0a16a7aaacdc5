package firmware

import (
	"context"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"rackboot/protocol"
)

// Result is a file that was loaded and would run now.
type Result struct {
	URL         string
	SHA256      string // hex
	Size        int64
	ContentType string
	Address     netip.Addr
	Server      netip.Addr // option 54 of the offer that won
	Duration    time.Duration
	// Head is how the file begins, at most headBytes, of [Client.Fetch]: loaders read
	// their configuration.
	Head []byte
}

const headBytes = 64 << 10

// HTTPBoot boots as UEFI HTTP boot does. The URL is the OFFER's, the ACK is not
// parsed. Errors wrap ErrNoOffer (timeout), ErrNak (conflict), ErrRefused
// (not_found) or ErrProtocol; else they are unavailable, timeout or ctx's.
func (c *Client) HTTPBoot(ctx context.Context) (Result, error) {
	start := time.Now()
	won, _, err := c.exchange(ctx, prefixHTTP, ArchX64HTTP)
	if err != nil {
		return Result{}, err
	}
	leased := *c
	leased.From = addr4(won.offer.YourIPAddr)
	r, err := leased.load(ctx, won.uri)
	if err != nil {
		return Result{}, err
	}
	r.Address = leased.From
	r.Server = addr4(won.offer.Options.Get(dhcpv4.OptionServerIdentifier))
	r.Duration = time.Since(start)
	return r, nil
}

// PXEBoot boots as UEFI PXE does, by TFTP. The file is the ACK's. Errors wrap
// ErrLocalBoot (denied), which is a quick refusal, ErrNoOffer (timeout), the absence
// of any boot data, ErrNak (conflict), ErrRefused (not_found) or ErrProtocol; else
// they are unavailable, timeout or ctx's.
func (c *Client) PXEBoot(ctx context.Context) (Result, error) {
	start := time.Now()
	_, ack, err := c.exchange(ctx, prefixPXE, ArchX64)
	if err != nil {
		return Result{}, err
	}
	if offersLocalBoot(ack) { // PXE reads the ACK, not the OFFER
		return Result{}, protocol.Errorf(protocol.CodeDenied, "firmware", "%w", ErrLocalBoot)
	}
	server := c.TFTP
	if !server.IsValid() {
		server = netip.AddrPortFrom(bootServer(ack), tftpPort)
	}
	r, err := c.transfer(ctx, server, bootfile(ack))
	if err != nil {
		return Result{}, err
	}
	r.Address = addr4(ack.YourIPAddr)
	r.Server = addr4(ack.Options.Get(dhcpv4.OptionServerIdentifier))
	r.Duration = time.Since(start)
	return r, nil
}

// Plain gets a lease as an operating system does, from the first offer. Errors are
// those of HTTPBoot's DHCP part.
func (c *Client) Plain(ctx context.Context) (Lease, error) {
	_, ack, err := c.exchange(ctx, "", 0)
	if err != nil {
		return Lease{}, err
	}
	return leaseOf(ack), nil
}

// exchange is DISCOVER to ACK.
func (c *Client) exchange(ctx context.Context, class string, arch uint16) (choice, *dhcpv4.DHCPv4, error) {
	if err := c.check(); err != nil {
		return choice{}, nil, err
	}
	if c.Arch != 0 {
		arch = c.Arch
	}
	s, err := c.open(ctx)
	if err != nil {
		return choice{}, nil, err
	}
	defer s.conn.Close()
	xid, garbage := newXID()
	discover := c.packet(dhcpv4.MessageTypeDiscover, xid, class, arch, garbage)
	var won choice
	pick := func(offers []*dhcpv4.DHCPv4) (ok bool) {
		switch class {
		case prefixHTTP:
			won, ok = choose(offers, c.BootURI)
		case prefixPXE:
			won, ok = choosePXE(offers)
		default:
			won, ok = choosePlain(offers)
		}
		return ok
	}
	if err := s.discover(ctx, c, discover, class == "", pick); err != nil {
		return choice{}, nil, err
	}
	ack, err := s.request(ctx, c, discover, won.offer)
	return won, ack, err
}

func choosePlain(offers []*dhcpv4.DHCPv4) (choice, bool) {
	for _, o := range offers {
		if !o.YourIPAddr.IsUnspecified() {
			return choice{offer: o}, true
		}
	}
	return choice{}, false
}
