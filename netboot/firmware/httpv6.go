package firmware

import (
	"context"
	"net/netip"
	"net/url"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"

	"rackboot/protocol"
)

// routeTimeout is how long EDK2 waits for a router advertisement with a route to the
// server (HTTP_BOOT_IP6_ROUTE_TABLE_TIMEOUT).
const routeTimeout = 10 * time.Second

// HTTPv6Boot boots as UEFI HTTP boot does over IPv6: SOLICIT, REQUEST, a route by a
// router advertisement, then HEAD and GET. The URL is the ADVERTISE's. Server must be
// an IPv6 address, to which the client is its own relay. Errors are those of HTTPBoot,
// and ErrNoRoute (timeout).
func (c *Client) HTTPv6Boot(ctx context.Context) (Result, error) {
	start := time.Now()
	won, addr, err := c.sarr(ctx, prefixHTTP)
	if err != nil {
		return Result{}, err
	}
	uri := won.uri
	if c.BootURI != "" {
		uri = c.BootURI
	}
	if c.NoRouter {
		select {
		case <-ctx.Done():
			return Result{}, ctx.Err()
		case <-time.After(c.scaled(routeTimeout)):
		}
		return Result{}, protocol.Errorf(protocol.CodeTimeout, "firmware", "%w", ErrNoRoute)
	}
	r, err := c.load(ctx, uri)
	if err != nil {
		return Result{}, err
	}
	r.Address, r.Duration = addr, time.Since(start)
	return r, nil
}

// Plain6 gets a lease over IPv6 as an operating system does, whose DUID is another one
// than the firmware's. Of the Lease there are Address and Bootfile, which is option 59.
func (c *Client) Plain6(ctx context.Context) (Lease, error) {
	won, addr, err := c.sarr(ctx, "")
	if err != nil {
		return Lease{}, err
	}
	return Lease{Address: addr, Bootfile: won.uri}, nil
}

// sarr is SOLICIT, ADVERTISE, REQUEST and REPLY. It returns what won, with the URL of
// the ADVERTISE for firmware, and the address of the REPLY.
func (c *Client) sarr(ctx context.Context, class string) (won offer6, addr netip.Addr, err error) {
	if err := c.check(); err != nil {
		return won, addr, err
	}
	s, err := c.open6(ctx)
	if err != nil {
		return won, addr, err
	}
	defer s.conn.Close()
	x := c.newExchange6(class)
	fits := func(o offer6) bool {
		switch {
		case !o.addr.IsValid():
			return false // a proxy's; those are not simulated
		case class == "", c.BootURI != "":
			return true
		}
		return o.http && (o.dns || literal6(o.uri))
	}
	won, err = s.ask(ctx, c, x, dhcpv6.MessageTypeSolicit, dhcpv6.MessageTypeAdvertise, offer6{}, fits)
	if err != nil {
		return won, addr, err
	}
	granted, err := s.ask(ctx, c, x, dhcpv6.MessageTypeRequest, dhcpv6.MessageTypeReply, won, func(o offer6) bool {
		return string(o.server) == string(won.server)
	})
	switch {
	case err != nil:
		return won, addr, err
	case !granted.addr.IsValid():
		return won, addr, protocol.Errorf(protocol.CodeConflict, "firmware", "%w: %s", ErrNak, won.addr)
	case class == "":
		won.uri = granted.uri
	}
	return won, granted.addr, nil
}

// literal6 says whether the URL's host is an IPv6 literal, for which no DNS is needed.
func literal6(uri string) bool {
	u, err := url.Parse(uri)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return err == nil && a.Is6()
}
